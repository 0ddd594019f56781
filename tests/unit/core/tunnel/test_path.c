/* SPDX-License-Identifier: MIT */
/* received.newest: only a packet that is newer than all before may move a path (docs/wire.md section 2). */
#include "tests/unit/core/tunnel/world.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

static bool newest(struct world *world, int to, const struct message *message, enum verdict expected)
{
	struct received received;

	assert_int_equal(take(world, to, message, &received), expected);
	return received.newest;
}

static void late_and_replayed_packets_are_not_newest(void **state)
{
	static const struct {
		int packet;
		enum verdict verdict;
		bool newest;
	} rows[] = {
		{ 0, VERDICT_OK, true },
		{ 1, VERDICT_OK, true },
		{ 1, VERDICT_REPLAYED, false },
		{ 4, VERDICT_OK, true },
		{ 2, VERDICT_OK, false }, /* late, but good */
		{ 4, VERDICT_REPLAYED, false },
		{ 2, VERDICT_REPLAYED, false },
		{ 5, VERDICT_OK, true },
		{ 3, VERDICT_OK, false },
	};
	struct world world;
	struct message messages[6];

	(void)state;
	world_init(&world);
	world_connect(&world, 0);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(make_data(&world, 0, i, 60, &messages[i]), VERDICT_OK);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(
			newest(&world, 1, &messages[rows[i].packet], rows[i].verdict), rows[i].newest);
	world_free(&world);
}

static void counters_start_anew_with_each_session(void **state)
{
	struct world world;
	struct message old[3], fresh;

	(void)state;
	world_init(&world);
	world_connect(&world, 0);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(make_data(&world, 0, i, 60, &old[i]), VERDICT_OK);
	assert_true(newest(&world, 1, &old[1], VERDICT_OK));
	world.ms += 5000;
	world_connect(&world, 0);
	/* Counter 1 of the new session is newer than counter 2 of the old one, which is late. */
	assert_int_equal(make_data(&world, 0, 9, 60, &fresh), VERDICT_OK);
	assert_false(newest(&world, 1, &old[2], VERDICT_OK));
	assert_true(newest(&world, 1, &fresh, VERDICT_OK));
	assert_false(newest(&world, 1, &old[0], VERDICT_OK));
	world_free(&world);
}

static void handshakes_count_as_newer(void **state)
{
	struct world world;
	struct message initiation, response;

	(void)state;
	world_init(&world);
	world_connect(&world, 0);
	world.ms += 5000;
	assert_int_equal(make_initiation(&world, 0, &initiation), VERDICT_OK);
	assert_true(newest(&world, 1, &initiation, VERDICT_OK));
	assert_int_equal(make_response(&world, 1, &response), VERDICT_OK);
	assert_true(newest(&world, 0, &response, VERDICT_OK));
	assert_false(newest(&world, 1, &initiation, VERDICT_STALE_TIMESTAMP));
	assert_false(newest(&world, 0, &response, VERDICT_UNKNOWN_INDEX));
	world_free(&world);
}

/* The leader tries a carrier with an initiation, hears nothing, and takes the path back with one packet of
 * the session that it still uses. */
static void old_session_takes_the_path_back(void **state)
{
	struct world world;
	struct message initiation, response, keepalive;

	(void)state;
	world_init(&world);
	world_connect(&world, 0);
	world.ms += 5000;
	assert_int_equal(make_initiation(&world, 0, &initiation), VERDICT_OK);
	assert_true(newest(&world, 1, &initiation, VERDICT_OK));
	assert_int_equal(make_response(&world, 1, &response), VERDICT_OK); /* lost */
	assert_int_equal(make_keepalive(&world, 0, &keepalive), VERDICT_OK);
	assert_true(newest(&world, 1, &keepalive, VERDICT_OK));
	world_free(&world);
}

static void authentic_but_useless_packets_still_tell_the_path(void **state)
{
	struct world world;
	struct message message;
	struct received received;
	uint8_t plain[64];

	(void)state;
	world_init(&world);
	world_connect(&world, 0);
	inner_write(1, 1, 60, plain); /* not the sender's address */
	assert_int_equal(make_plain(&world, 0, plain, 60, &message), VERDICT_OK);
	assert_int_equal(take(&world, 1, &message, &received), VERDICT_SOURCE_NOT_ALLOWED);
	assert_int_equal(received.kind, RECEIVED_NOTHING);
	assert_ptr_equal(received.peer, world.side[1].peer);
	assert_true(received.newest);
	world_free(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(late_and_replayed_packets_are_not_newest),
		cmocka_unit_test(counters_start_anew_with_each_session),
		cmocka_unit_test(handshakes_count_as_newer),
		cmocka_unit_test(old_session_takes_the_path_back),
		cmocka_unit_test(authentic_but_useless_packets_still_tell_the_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
