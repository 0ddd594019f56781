/* SPDX-License-Identifier: MIT */
/* Handshakes that cross, overtake each other, are repeated or come from a clock that went back. */
#include "tests/unit/core/tunnel/world.h"

#include "core/base/bytes.h"
#include "core/tunnel/state.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

/* ---- both initiate at once ---- */

/* What is under way in a simultaneous handshake, by who made it: initiations, responses, and the first packet
 * after a response (a keepalive). */
enum event { I0, I1, R0, R1, K0, K1, EVENT_COUNT };

struct crossing {
	struct world *world;
	struct message message[EVENT_COUNT];
	bool made[EVENT_COUNT], taken[EVENT_COUNT];
};

static void crossing_take(struct crossing *crossing, enum event event)
{
	struct world *world = crossing->world;
	int from = event & 1, to = !from;
	struct received received;

	crossing->taken[event] = true;
	/* In no order does anything fail: each message is good wherever it arrives. */
	assert_int_equal(take(world, to, &crossing->message[event], &received), VERDICT_OK);
	switch (event) {
	case I0:
	case I1:
		assert_int_equal(received.kind, RECEIVED_INITIATION);
		assert_int_equal(make_response(world, to, &crossing->message[R0 + to]), VERDICT_OK);
		crossing->made[R0 + to] = true;
		break;
	case R0:
	case R1:
		assert_int_equal(received.kind, RECEIVED_RESPONSE);
		assert_int_equal(make_keepalive(world, to, &crossing->message[K0 + to]), VERDICT_OK);
		crossing->made[K0 + to] = true;
		break;
	case K0:
	case K1:
		assert_int_equal(received.kind, RECEIVED_KEEPALIVE);
		break;
	case EVENT_COUNT:
		break;
	}
}

/* Sends one packet each way; each arrives, and counts as the newest. */
static void exchange(struct world *world)
{
	struct message message;
	struct received received;

	for (int from = 0; from < 2; from++) {
		assert_int_equal(make_data(world, from, 1, 60, &message), VERDICT_OK);
		assert_int_equal(take(world, !from, &message, &received), VERDICT_OK);
		assert_int_equal(received.kind, RECEIVED_DATA);
		assert_true(received.newest);
	}
}

static bool converged(const struct world *world)
{
	return world->side[0].peer->current->session->local_index ==
	       world->side[1].peer->current->session->remote_index;
}

/* Takes the messages in every order that the way allows. */
static void cross_in_order(const uint8_t *choices, size_t count, size_t *options)
{
	struct world world;
	struct crossing crossing = { .world = &world };
	size_t taken = 0;

	world_init(&world);
	assert_int_equal(make_initiation(&world, 0, &crossing.message[I0]), VERDICT_OK);
	assert_int_equal(make_initiation(&world, 1, &crossing.message[I1]), VERDICT_OK);
	crossing.made[I0] = crossing.made[I1] = true;
	for (;;) {
		enum event ready[EVENT_COUNT];
		size_t n = 0;

		for (int event = I0; event < EVENT_COUNT; event++) {
			if (crossing.made[event] && !crossing.taken[event])
				ready[n++] = (enum event)event;
		}
		options[taken] = n;
		if (n == 0)
			break;
		crossing_take(&crossing, ready[taken < count ? choices[taken] : 0]);
		taken++;
	}
	exchange(&world);
	exchange(&world);
	assert_true(converged(&world));
	/* And a rekey from it works from the side that has to make it. */
	int initiator = world.side[0].peer->current->session->initiator ? 0 : 1;

	assert_true(world.side[initiator].peer->current->session->initiator);
	assert_false(world.side[!initiator].peer->current->session->initiator);
	world.ms += 120000;
	send_data(&world, initiator, 2);
	world_run(&world, world.ms + 1);
	assert_true(converged(&world));
	exchange(&world);
	world_free(&world);
}

static void simultaneous_initiations_converge_in_every_order(void **state)
{
	uint8_t choices[EVENT_COUNT] = { 0 };
	size_t options[EVENT_COUNT + 1], runs = 0;
	int at;

	(void)state;
	do {
		memset(options, 0, sizeof(options));
		cross_in_order(choices, EVENT_COUNT, options);
		runs++;
		/* The next choice, like a counter with a changing base. */
		for (at = EVENT_COUNT - 1; at >= 0; at--) {
			if (options[at] > 0 && choices[at] + 1u < options[at])
				break;
			choices[at] = 0;
		}
		if (at >= 0)
			choices[at]++;
	} while (at >= 0);
	assert_in_range(runs, 20, 90); /* 6! / (3! 3!) orders of two chains of three */
}

static void stock_peer_forgets_its_own_initiation(void **state)
{
	struct world world;
	struct message own, ours, response, message;
	struct received received;

	(void)state;
	/* The other side answers ours and drops its own handshake, as most implementations do; whichever key
	 * is smaller. */
	for (int us = 0; us < 2; us++) {
		int them = !us;

		world_init(&world);
		assert_int_equal(make_initiation(&world, us, &ours), VERDICT_OK);
		assert_int_equal(make_initiation(&world, them, &own), VERDICT_OK);
		assert_int_equal(take(&world, us, &own, &received), VERDICT_OK);
		assert_int_equal(make_response(&world, us, &message), VERDICT_OK); /* ignored over there */
		assert_int_equal(take(&world, them, &ours, &received), VERDICT_OK);
		assert_int_equal(make_response(&world, them, &response), VERDICT_OK);
		tunnel_restart_handshake(world.side[them].tunnel, world.side[them].peer);
		assert_int_equal(take(&world, them, &message, &received), VERDICT_UNKNOWN_INDEX);
		assert_int_equal(take(&world, us, &response, &received), VERDICT_OK);
		assert_int_equal(make_keepalive(&world, us, &message), VERDICT_OK);
		assert_int_equal(take(&world, them, &message, &received), VERDICT_OK);
		assert_true(received.confirmed);
		exchange(&world);
		assert_true(converged(&world));
		world_free(&world);
	}
}

/* The larger key begins anew right after the smaller one's handshake. It may look like a crossing; data
 * passes in any case, and when the time of crossing is over both use the later session. */
static void later_handshake_is_followed_in_the_end(void **state)
{
	(void)state;
	for (int times = 1; times <= 3; times++) {
		struct world world;
		struct message message;
		struct received received;

		world_init(&world);
		world_connect(&world, 0);
		exchange(&world);
		world.ms += 1000;
		for (int i = 0; i < times; i++) {
			assert_int_equal(make_initiation(&world, 1, &message), VERDICT_OK);
			assert_int_equal(take(&world, 0, &message, &received), VERDICT_OK);
			assert_int_equal(make_response(&world, 0, &message), VERDICT_OK);
			assert_int_equal(take(&world, 1, &message, &received), VERDICT_OK);
			assert_int_equal(received.kind, RECEIVED_RESPONSE);
			for (uint32_t id = 0; id < 4; id++) {
				int from = !(id & 1);

				assert_int_equal(make_data(&world, from, id, 60, &message), VERDICT_OK);
				assert_int_equal(take(&world, !from, &message, &received), VERDICT_OK);
			}
			world.ms += 20;
		}
		assert_false(times == 1 && converged(&world));
		world.ms += 5000;
		assert_int_equal(make_data(&world, 1, 9, 60, &message), VERDICT_OK);
		assert_int_equal(take(&world, 0, &message, &received), VERDICT_OK);
		assert_true(received.newest);
		assert_true(converged(&world));
		exchange(&world);
		world_free(&world);
	}
}

/* ---- superseded ---- */

static void superseded_responses_are_recognised_once(void **state)
{
	struct world world;
	struct message initiation[5], response[5], message;
	struct received received;

	(void)state;
	world_init(&world);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(make_initiation(&world, 0, &initiation[i]), VERDICT_OK);
		assert_int_equal(take(&world, 1, &initiation[i], &received), VERDICT_OK);
		assert_int_equal(make_response(&world, 1, &response[i]), VERDICT_OK);
		world.ms += 20;
	}
	/* The last three before the newest; the first is forgotten. */
	assert_int_equal(take(&world, 0, &response[0], &received), VERDICT_UNKNOWN_INDEX);
	for (int i = 1; i < 4; i++) {
		assert_int_equal(take(&world, 0, &response[i], &received), VERDICT_OK);
		assert_int_equal(received.kind, RECEIVED_SUPERSEDED);
		assert_ptr_equal(received.peer, world.side[0].peer);
		assert_false(received.newest);
		/* Replayed, it would be evidence for a carrier that may be dead. */
		assert_int_equal(take(&world, 0, &response[i], &received), VERDICT_UNKNOWN_INDEX);
	}
	assert_int_equal(make_data(&world, 0, 1, 60, &message), VERDICT_NO_SESSION);
	assert_int_equal(take(&world, 0, &response[4], &received), VERDICT_OK);
	assert_int_equal(received.kind, RECEIVED_RESPONSE);
	assert_true(received.newest);
	exchange(&world);
	world_free(&world);
}

static void superseded_response_must_be_authentic(void **state)
{
	struct world world;
	struct message initiation, response;
	struct received received;

	(void)state;
	world_init(&world);
	assert_int_equal(make_initiation(&world, 0, &initiation), VERDICT_OK);
	assert_int_equal(take(&world, 1, &initiation, &received), VERDICT_OK);
	assert_int_equal(make_response(&world, 1, &response), VERDICT_OK);
	world.ms += 20;
	assert_int_equal(make_initiation(&world, 0, &initiation), VERDICT_OK);
	peer_set_preshared_key(world.side[0].peer, (uint8_t[KEY_LEN]){ 1 });
	assert_int_equal(take(&world, 0, &response, &received), VERDICT_BAD_HANDSHAKE);
	assert_null(received.peer);
	/* A forgery costs the true one nothing. */
	peer_set_preshared_key(world.side[0].peer, (uint8_t[KEY_LEN]){ 0 });
	assert_int_equal(take(&world, 0, &response, &received), VERDICT_OK);
	assert_int_equal(received.kind, RECEIVED_SUPERSEDED);
	world_free(&world);
}

static void answered_twice_the_first_answer_still_works(void **state)
{
	struct world world;
	struct message first, second, message;
	struct received received;

	(void)state;
	world_init(&world);
	assert_int_equal(make_initiation(&world, 0, &first), VERDICT_OK);
	assert_int_equal(take(&world, 1, &first, &received), VERDICT_OK);
	assert_int_equal(make_response(&world, 1, &message), VERDICT_OK);
	assert_int_equal(take(&world, 0, &message, &received), VERDICT_OK);
	/* A session stands at 0; a second handshake is answered, and that answer is lost. */
	world.ms += 20;
	assert_int_equal(make_initiation(&world, 0, &second), VERDICT_OK);
	assert_int_equal(take(&world, 1, &second, &received), VERDICT_OK);
	assert_int_equal(make_response(&world, 1, &message), VERDICT_OK);
	assert_int_equal(make_data(&world, 0, 3, 60, &message), VERDICT_OK);
	assert_int_equal(take(&world, 1, &message, &received), VERDICT_OK);
	assert_true(received.confirmed);
	exchange(&world);
	assert_true(converged(&world));
	world_free(&world);
}

static void restart_forgets_the_handshake(void **state)
{
	struct world world;
	struct message initiation, response;
	struct received received;

	(void)state;
	world_init(&world);
	struct side *side = &world.side[0];

	assert_true(tunnel_want(side->tunnel, side->peer, world_now(&world)));
	assert_int_equal(make_initiation(&world, 0, &initiation), VERDICT_OK);
	assert_int_equal(take(&world, 1, &initiation, &received), VERDICT_OK);
	assert_int_equal(make_response(&world, 1, &response), VERDICT_OK);
	world.ms += 1000;
	assert_false(tunnel_want(side->tunnel, side->peer, world_now(&world)));
	tunnel_restart_handshake(side->tunnel, side->peer);
	assert_int_equal(tunnel_deadline(world.side[0].tunnel).ns > world_now(&world).ns, true);
	assert_true(tunnel_want(side->tunnel, side->peer, world_now(&world)));
	assert_int_equal(take(&world, 0, &response, &received), VERDICT_UNKNOWN_INDEX);
	world_connect(&world, 0);
	world_free(&world);
}

/* ---- timestamps ---- */

static void timestamps_rise_whatever_the_clock_does(void **state)
{
	static const struct {
		uint64_t ms; /* since the row before */
		int64_t offset_s;
	} rows[] = {
		{ 20, 0 },
		{ 20, 0 },
		{ 20, -3600 },
		{ 20, -3600 },
		{ 5000, -3600 },
		{ 20, 0 },
		{ 20, 86400 },
		{ 20, 0 },
		{ 20, -1700000000 },
	};
	struct world world;
	struct message message;
	struct received received;

	(void)state;
	world_init(&world);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		world.ms += rows[i].ms;
		world.wall_offset_s[0] = rows[i].offset_s;
		assert_int_equal(make_initiation(&world, 0, &message), VERDICT_OK);
		assert_int_equal(take(&world, 1, &message, &received), VERDICT_OK);
	}
	world_free(&world);
}

static void floor_holds_over_a_restart(void **state)
{
	struct world world;
	struct message message;
	struct received received;
	struct ip_prefix prefix;
	size_t cursor = 0;
	struct wall mark;

	(void)state;
	world_init(&world);
	world_connect(&world, 0);
	mark = tunnel_timestamp_mark(world.side[0].tunnel);
	assert_true(tunnel_allowed_next(world.side[0].tunnel, world.side[0].peer, &cursor, &prefix));

	for (int with_floor = 0; with_floor < 2; with_floor++) {
		/* A new process, an hour back. */
		tunnel_free(world.side[0].tunnel);
		world.side[0].tunnel = tunnel_new();
		tunnel_set_private_key(world.side[0].tunnel, world.side[0].private_key);
		world.side[0].peer = tunnel_peer_add(world.side[0].tunnel, world.side[1].public_key);
		assert_true(tunnel_allow(world.side[0].tunnel, world.side[0].peer, &prefix));
		world.wall_offset_s[0] = -3600;
		world.ms += 20;
		if (with_floor)
			tunnel_set_timestamp_floor(world.side[0].tunnel, mark);
		assert_int_equal(make_initiation(&world, 0, &message), VERDICT_OK);
		assert_int_equal(take(&world, 1, &message, &received),
			with_floor ? VERDICT_OK : VERDICT_STALE_TIMESTAMP);
	}
	world_free(&world);
}

static void replayed_initiation_is_stale(void **state)
{
	struct world world;
	struct message first, second;
	struct received received;

	(void)state;
	world_init(&world);
	assert_int_equal(make_initiation(&world, 0, &first), VERDICT_OK);
	world.ms += 20;
	assert_int_equal(make_initiation(&world, 0, &second), VERDICT_OK);
	assert_int_equal(take(&world, 1, &second, &received), VERDICT_OK);
	world.ms += 1000;
	assert_int_equal(take(&world, 1, &second, &received), VERDICT_STALE_TIMESTAMP);
	assert_int_equal(take(&world, 1, &first, &received), VERDICT_STALE_TIMESTAMP);
	assert_null(received.peer);
	world_free(&world);
}

static void initiations_keep_20_ms_apart(void **state)
{
	struct world world;
	struct message first, second;
	struct received received;

	(void)state;
	world_init(&world);
	assert_int_equal(make_initiation(&world, 0, &first), VERDICT_OK);
	world.ms += 19;
	assert_int_equal(make_initiation(&world, 0, &second), VERDICT_TOO_SOON);
	world.ms += 1;
	assert_int_equal(make_initiation(&world, 0, &second), VERDICT_OK);
	assert_int_equal(take(&world, 1, &first, &received), VERDICT_OK);
	world.ms += 19;
	assert_int_equal(take(&world, 1, &second, &received), VERDICT_FLOODING);
	world.ms += 1; /* and it was not remembered as seen */
	assert_int_equal(take(&world, 1, &second, &received), VERDICT_OK);
	world_free(&world);
}

static void round_trip_is_measured(void **state)
{
	struct world world;
	struct message message;
	struct received received;
	struct peer_stats stats;

	(void)state;
	world_init(&world);
	assert_int_equal(make_initiation(&world, 0, &message), VERDICT_OK);
	world.ms += 20;
	assert_int_equal(take(&world, 1, &message, &received), VERDICT_OK);
	assert_int_equal(make_response(&world, 1, &message), VERDICT_OK);
	world.ms += 25;
	assert_int_equal(take(&world, 0, &message, &received), VERDICT_OK);
	peer_stats(world.side[0].peer, world_now(&world), &stats);
	assert_int_equal(stats.handshake_rtt_us, 45000);
	assert_int_equal(stats.last_handshake_mono.ns, world_now(&world).ns);
	peer_stats(world.side[1].peer, world_now(&world), &stats);
	assert_int_equal(stats.handshake_rtt_us, 0);
	world_free(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(simultaneous_initiations_converge_in_every_order),
		cmocka_unit_test(stock_peer_forgets_its_own_initiation),
		cmocka_unit_test(later_handshake_is_followed_in_the_end),
		cmocka_unit_test(superseded_responses_are_recognised_once),
		cmocka_unit_test(superseded_response_must_be_authentic),
		cmocka_unit_test(answered_twice_the_first_answer_still_works),
		cmocka_unit_test(restart_forgets_the_handshake),
		cmocka_unit_test(timestamps_rise_whatever_the_clock_does),
		cmocka_unit_test(floor_holds_over_a_restart),
		cmocka_unit_test(replayed_initiation_is_stale),
		cmocka_unit_test(initiations_keep_20_ms_apart),
		cmocka_unit_test(round_trip_is_measured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
