/* SPDX-License-Identifier: MIT */
/* Wrong clocks: ours, a peer's, and what is accepted whatever they say. */
#include "tests/unit/core/tunnel/world.h"

#include "core/tunnel/stamps.h"
#include "core/tunnel/state.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#define DAY 86400ull
#define YEAR (365 * DAY)
#define T 1800000000ull /* today */

static void one_bad_reading_drags_nothing(void **state)
{
	static const struct {
		uint64_t after_s, reading, want; /* want 0: the reading */
	} rows[] = {
		{ 0, T, 0 }, { 10, T + 10, 0 }, { 10, T + 80 * YEAR, T + 20 }, /* one bad one */
		{ 10, T + 30, 0 },
		{ 10, T - 5 * YEAR, 0 }, /* back is never doubted: the mark holds against it */
		{ 10, T + 50, 0 },       /* and right again is no jump, since the mark has been there */
		{ 10, T + 29 * DAY, 0 }, /* a month is not years */
		{ 10, T + 5 * YEAR, T + 29 * DAY + 10 }, { 30, T + 5 * YEAR + 30, T + 29 * DAY + 40 },
		{ 10, T + 60 * YEAR, T + 29 * DAY + 50 }, /* another one: it begins anew */
		{ 10, T + 5 * YEAR + 50, T + 29 * DAY + 60 }, { 59, T + 5 * YEAR + 109, T + 29 * DAY + 119 },
		{ 1, T + 5 * YEAR + 110, 0 }, /* it has said so for a minute */
		{ 10, 1ull << 34, T + 5 * YEAR + 120 },
		{ 100, (1ull << 34) + 100, T + 5 * YEAR + 220 }, /* never */
	};
	struct stamps_clock clock = { 0 };
	struct wall mark = { 0 };
	struct mono now = mono_add_ms(MONO_UNSET, 1000);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		now = mono_add_ms(now, rows[i].after_s * 1000);
		struct wall got = stamps_now(&clock, (struct wall){ rows[i].reading, 5 }, now, mark);

		assert_int_equal(got.s, rows[i].want ? rows[i].want : rows[i].reading);
		mark = tai64n_after(got, mark);
	}
}

static void first_readings_are_held_against_the_mark(void **state)
{
	static const struct {
		uint64_t mark, reading, want;
	} rows[] = {
		{ 0, T, T },
		{ 0, T + 70 * YEAR, T + 70 * YEAR }, /* nothing to hold it against */
		{ T, T + 300 * DAY, T + 300 * DAY },
		{ T, T + 2 * YEAR, T },
		{ T, T - 2 * YEAR, T - 2 * YEAR },
		{ T, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct stamps_clock clock = { 0 };
		struct wall mark = { rows[i].mark, 0 };
		struct mono now = mono_add_ms(MONO_UNSET, 1000);

		assert_int_equal(
			stamps_now(&clock, (struct wall){ rows[i].reading, 0 }, now, mark).s, rows[i].want);
		/* After a year in a drawer it is believed a minute later. */
		now = mono_add_ms(now, 60000);
		assert_int_equal(stamps_now(&clock, (struct wall){ rows[i].reading + 60, 0 }, now, mark).s,
			rows[i].reading + 60);
	}
}

static void of(uint64_t s, uint8_t out[TAI64N_LEN])
{
	tai64n_write((struct wall){ s, 0 }, out);
}

/* A peer's timestamps as they come in at a server whose clock says `wall`. */
static void a_peer_that_was_in_the_future_comes_back(void **state)
{
	static const struct {
		uint64_t wall, stamp;
		bool fresh;
	} rows[] = {
		{ T, T - 100, true },
		{ T, T - 100, false },
		{ T, T - 101, false },
		{ T, T + 3600, true },      /* a clock that is a little ahead */
		{ T, T + 80 * YEAR, true }, /* wrong by far */
		{ T, T + 80 * YEAR, false },
		{ T, T + 3600, false }, /* what was before stays replayed */
		{ T, T + 3599, false },
		{ T, T + 79 * YEAR, false }, /* nor below within what is ahead */
		{ T + 10, T + 3610, true },  /* its clock is right again */
		{ T + 10, T + 3610, false },
		{ T + 11, T + 3609, false },
		{ T + 12, T + 80 * YEAR, false }, /* and the wrong ones are not to be had again */
		{ T + 13, T + 80 * YEAR + 1, true },
		{ T + 14, T + 80 * YEAR, false },
		{ T + 15, T + 3620, true },
		/* The server's own clock goes wrong: still nothing twice. */
		{ T + 90 * YEAR, T + 80 * YEAR, false },
		{ T + 90 * YEAR, T + 80 * YEAR + 1, false },
		{ T + 90 * YEAR, T + 3620, false },
		{ T + 20, T + 3630, true },
		{ 0, T + 3631, false }, /* all is ahead of a clock that stands at its beginning */
		{ 0, T + 80 * YEAR + 2, true },
	};
	struct stamps stamps = { 0 };
	uint8_t stamp[TAI64N_LEN];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct wall wall = { rows[i].wall, 0 };

		of(rows[i].stamp, stamp);
		assert_int_equal(stamps_fresh(&stamps, stamp, wall), rows[i].fresh);
		if (rows[i].fresh)
			stamps_accept(&stamps, stamp, wall);
	}
}

/* Whatever both clocks do, no timestamp is accepted twice, and of plausible ones none after a later one. */
static void nothing_is_accepted_twice(void **state)
{
	enum { KINDS = 64 };
	uint64_t random = 88172645463325252;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		struct stamps stamps = { 0 };
		bool accepted[KINDS] = { false };

		for (int step = 0; step < 200; step++) {
			uint8_t stamp[TAI64N_LEN];

			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			struct wall wall = { T + (random >> 8) % KINDS * DAY / 2, 0 };
			unsigned kind = (unsigned)(random >> 20) % KINDS;

			of(T + kind * DAY, stamp);
			if (!stamps_fresh(&stamps, stamp, wall))
				continue;
			assert_false(accepted[kind]);
			accepted[kind] = true;
			stamps_accept(&stamps, stamp, wall);
		}
	}
}

/* The same between two tunnels: the client's clock was 80 years ahead, its state is lost, and it gets in
 * again. */
static void not_locked_out_for_ever(void **state)
{
	struct world world;
	struct message old, initiation;
	struct received received;

	(void)state;
	world_init(&world);
	assert_int_equal(make_initiation(&world, 0, &old), VERDICT_OK);
	assert_int_equal(take(&world, 1, &old, &received), VERDICT_OK);
	world.ms += 1000;
	/* The client begins anew with a wrong clock and no mark. */
	for (int round = 0; round < 2; round++) {
		world.side[0].tunnel->timestamp_mark = (struct wall){ 0 };
		world.side[0].tunnel->stamps_clock = (struct stamps_clock){ 0 };
		world.wall_offset_s[0] = round ? 0 : (int64_t)(80 * YEAR);
		world.ms += 5000;
		assert_int_equal(make_initiation(&world, 0, &initiation), VERDICT_OK);
		assert_int_equal(take(&world, 1, &initiation, &received), VERDICT_OK);
		assert_int_equal(take(&world, 1, &old, &received), VERDICT_STALE_TIMESTAMP);
	}
	world_free(&world);
}

static void a_kept_mark_that_makes_no_sense_is_not_used(void **state)
{
	struct world world;
	struct message initiation;
	struct received received;

	(void)state;
	world_init(&world);
	tunnel_set_timestamp_floor(world.side[0].tunnel, (struct wall){ UINT64_MAX, 999999999 });
	tunnel_set_timestamp_floor(world.side[0].tunnel, (struct wall){ STAMPS_WALL_MAX, 0 });
	assert_int_equal(tunnel_timestamp_mark(world.side[0].tunnel).s, 0);
	assert_int_equal(make_initiation(&world, 0, &initiation), VERDICT_OK);
	assert_int_equal(take(&world, 1, &initiation, &received), VERDICT_OK);
	world_free(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_bad_reading_drags_nothing),
		cmocka_unit_test(first_readings_are_held_against_the_mark),
		cmocka_unit_test(a_peer_that_was_in_the_future_comes_back),
		cmocka_unit_test(nothing_is_accepted_twice),
		cmocka_unit_test(not_locked_out_for_ever),
		cmocka_unit_test(a_kept_mark_that_makes_no_sense_is_not_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
