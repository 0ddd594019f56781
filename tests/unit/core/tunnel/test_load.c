/* SPDX-License-Identifier: MIT */
/* Under load: cookies on UDP, the rate limit of a proved source, and neither where there is no load. */
#include "tests/unit/core/tunnel/world.h"

#include "core/base/bytes.h"
#include "core/noise/cookie.h"
#include "core/tunnel/limit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

/* An initiation of a stranger: mac1 is right, since our public key is public, the rest is noise. */
static void strange_initiation(const struct world *world, int to, struct message *out)
{
	struct cookie_maker maker;

	random_fill(out->bytes, sizeof(struct initiation));
	put_le32(out->bytes, MESSAGE_INITIATION);
	out->len = sizeof(struct initiation);
	cookie_maker_init(&maker, world->side[to].public_key);
	cookie_maker_sign(&maker, out->bytes, out->len, world_now(world));
}

/* So many that the next one finds the tunnel under load. */
static void flood(struct world *world, int to)
{
	struct endpoint source = { { IP_V4, { 203, 0, 113, 1 } }, 1000, 0 };
	struct message message;
	struct received received;

	for (int i = 0; i < LOAD_INITIATIONS_PER_S; i++) {
		strange_initiation(world, to, &message);
		source.port++;
		assert_int_equal(take_from(world, to, CARRIER_UDP, &source, &message, &received, NULL),
			VERDICT_NOT_FOR_US);
	}
	strange_initiation(world, to, &message);
	assert_int_equal(
		take_from(world, to, CARRIER_UDP, &source, &message, &received, NULL), VERDICT_COOKIE_WANTED);
}

static void cookie_reply(struct world *world, int from, const struct endpoint *source,
	const struct message *initiation, struct message *out)
{
	struct packet *packet = packet_take(world->pool);

	tunnel_create_cookie_reply(world->side[from].tunnel, initiation->bytes, initiation->len, source,
		world_now(world), packet);
	assert_int_equal(packet->len, sizeof(struct cookie_reply));
	memcpy(out->bytes, packet->data, packet->len);
	out->len = packet->len;
	packet_give(world->pool, packet);
}

static void cookie_opens_the_door_under_load(void **state)
{
	struct world world;
	struct message initiation, reply, again;
	struct received received;

	(void)state;
	world_init(&world);
	struct endpoint elsewhere = world.side[0].at;

	elsewhere.port++;
	flood(&world, 1);
	assert_int_equal(make_initiation(&world, 0, &initiation), VERDICT_OK);
	assert_int_equal(take(&world, 1, &initiation, &received), VERDICT_COOKIE_WANTED);
	cookie_reply(&world, 1, &world.side[0].at, &initiation, &reply);
	assert_int_equal(take(&world, 0, &reply, &received), VERDICT_OK);
	assert_int_equal(received.kind, RECEIVED_COOKIE);
	assert_ptr_equal(received.peer, world.side[0].peer);
	assert_int_equal(take(&world, 0, &reply, &received), VERDICT_BAD_COOKIE); /* once */
	world.ms += 20;
	assert_int_equal(make_initiation(&world, 0, &again), VERDICT_OK);
	/* The cookie is for that address and port. */
	assert_int_equal(take_from(&world, 1, CARRIER_UDP, &elsewhere, &again, &received, NULL),
		VERDICT_COOKIE_WANTED);
	assert_int_equal(take(&world, 1, &again, &received), VERDICT_OK);
	assert_int_equal(received.kind, RECEIVED_INITIATION);
	world_free(&world);
}

static void load_passes(void **state)
{
	struct world world;
	struct message initiation;
	struct received received;

	(void)state;
	world_init(&world);
	flood(&world, 1);
	world.ms += LOAD_HOLD_MS - 1;
	assert_int_equal(make_initiation(&world, 0, &initiation), VERDICT_OK);
	assert_int_equal(take(&world, 1, &initiation, &received), VERDICT_COOKIE_WANTED);
	world.ms += 1002; /* that one was the only one of the last second */
	assert_int_equal(take(&world, 1, &initiation, &received), VERDICT_OK);
	world_free(&world);
}

static void tcp_needs_no_cookie_but_has_a_limit(void **state)
{
	struct world world;
	struct message message;
	struct received received;

	(void)state;
	world_init(&world);
	struct endpoint other = { { IP_V4, { 198, 51, 100, 7 } }, 443, 0 };

	/* Not under load nobody is limited: */
	for (int i = 0; i < 2 * LIMIT_BURST; i++) {
		strange_initiation(&world, 1, &message);
		assert_int_equal(take_from(&world, 1, CARRIER_TCP, &other, &message, &received, NULL),
			VERDICT_NOT_FOR_US);
	}
	world.ms += 5000;
	flood(&world, 1);
	for (int i = 0; i < 2 * LIMIT_BURST; i++) {
		strange_initiation(&world, 1, &message);
		other.port++; /* of no help: the address counts */
		assert_int_equal(take_from(&world, 1, CARRIER_TCP, &other, &message, &received, NULL),
			i < LIMIT_BURST ? VERDICT_NOT_FOR_US : VERDICT_RATE_LIMITED);
	}
	/* Another source is not concerned. */
	assert_int_equal(make_initiation(&world, 0, &message), VERDICT_OK);
	assert_int_equal(
		take_from(&world, 1, CARRIER_TCP, &world.side[0].at, &message, &received, NULL), VERDICT_OK);
	world_free(&world);
}

static void load_is_measured_over_the_last_second(void **state)
{
	struct load load = { .count = 0 };
	struct mono now = mono_add_ms(MONO_UNSET, 500);

	(void)state;
	/* A little less than the limit, evenly and for long, is no load. */
	for (int i = 0; i < 10 * LOAD_INITIATIONS_PER_S; i++) {
		load_note(&load, now);
		assert_false(load_is_high(&load, now));
		now = mono_add_ns(now, 1010000000 / LOAD_INITIATIONS_PER_S);
	}
	/* Two bursts of two thirds, on either side of a turn of the window, are. */
	now = mono_add_ms(now, 10000);
	for (int i = 0; i < LOAD_INITIATIONS_PER_S * 2 / 3; i++)
		load_note(&load, now);
	assert_false(load_is_high(&load, now));
	now = mono_add_ms(now, 1050);
	for (int i = 0; i < LOAD_INITIATIONS_PER_S * 2 / 3; i++)
		load_note(&load, now);
	assert_true(load_is_high(&load, now));
	assert_true(load_is_high(&load, mono_add_ms(now, LOAD_HOLD_MS - 1)));
	assert_false(load_is_high(&load, mono_add_ms(now, LOAD_HOLD_MS)));
}

static void buckets_fill_again(void **state)
{
	static const struct {
		uint64_t ms; /* since the row before */
		struct ip_address source;
		unsigned asked, allowed;
	} rows[] = {
		{ 0, { IP_V4, { 1, 2, 3, 4 } }, 10, LIMIT_BURST },
		{ 0, { IP_V4, { 1, 2, 3, 5 } }, 10, LIMIT_BURST },
		{ 49, { IP_V4, { 1, 2, 3, 4 } }, 3, 0 },
		{ 1, { IP_V4, { 1, 2, 3, 4 } }, 3, 1 },
		{ 100, { IP_V4, { 1, 2, 3, 4 } }, 3, 2 },
		{ 60000, { IP_V4, { 1, 2, 3, 4 } }, 10, LIMIT_BURST },
		{ 0, { IP_V6, { 0x20, 1, 0xd, 0xb8, 0, 0, 0, 1, 1 } }, 10, LIMIT_BURST },
		{ 0, { IP_V6, { 0x20, 1, 0xd, 0xb8, 0, 0, 0, 1, 2 } }, 10, 0 }, /* the same /64 */
		{ 0, { IP_V6, { 0x20, 1, 0xd, 0xb8, 0, 0, 0, 2, 1 } }, 10, LIMIT_BURST },
	};
	struct limit *limit = limit_new();
	struct mono now = mono_add_ms(MONO_UNSET, 1000);

	(void)state;
	assert_non_null(limit);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		unsigned allowed = 0;

		now = mono_add_ms(now, rows[i].ms);
		for (unsigned n = 0; n < rows[i].asked; n++)
			allowed += limit_allow(limit, &rows[i].source, now);
		assert_int_equal(allowed, rows[i].allowed);
	}
	/* A hundred thousand sources cost no memory and upset nobody: the table is of fixed size. */
	for (uint32_t i = 0; i < 100000; i++) {
		struct ip_address source = { .family = IP_V4 };

		put_be32(source.bytes, i);
		assert_true(limit_allow(limit, &source, now));
	}
	limit_free(limit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cookie_opens_the_door_under_load),
		cmocka_unit_test(load_passes),
		cmocka_unit_test(tcp_needs_no_cookie_but_has_a_limit),
		cmocka_unit_test(load_is_measured_over_the_last_second),
		cmocka_unit_test(buckets_fill_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
