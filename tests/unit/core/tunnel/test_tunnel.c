/* SPDX-License-Identifier: MIT */
/* Two tunnels over a virtual day: connect, data, rekey, expiry, retries, keepalives, configuration. */
#include "tests/unit/core/tunnel/world.h"

#include "core/base/bytes.h"
#include "core/tunnel/state.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

static struct peer_stats stats_of(const struct world *world, int side)
{
	struct peer_stats stats;

	peer_stats(world->side[side].peer, world_now(world), &stats);
	return stats;
}

static unsigned sent(const struct world *world, enum message_type type)
{
	return world->side[0].sent[type] + world->side[1].sent[type];
}

static void connects_and_carries_data_both_ways(void **state)
{
	struct world world;

	(void)state;
	world_init(&world);
	assert_true(world_idle(&world));
	send_data(&world, 0, 0);
	assert_int_equal(world.side[1].got_data, 1);
	send_data(&world, 1, 7);
	assert_int_equal(world.side[0].got_data, 1);
	assert_int_equal(world.side[0].got_id, 7);
	assert_int_equal(sent(&world, MESSAGE_INITIATION), 1);
	/* 148 + 96 one way, 92 + 96 the other: a 60-byte packet is padded to 64 */
	assert_int_equal(stats_of(&world, 0).tx_bytes, 148 + 96);
	assert_int_equal(stats_of(&world, 0).rx_bytes, 92 + 96);
	assert_int_equal(stats_of(&world, 1).rx_bytes, 148 + 96);
	assert_int_equal(stats_of(&world, 1).tx_bytes, 92 + 96);
	assert_int_equal(stats_of(&world, 0).last_handshake.s, WALL_START + 1);
	assert_int_equal(stats_of(&world, 1).last_handshake.s, WALL_START + 1);
	assert_true(stats_of(&world, 0).has_session && stats_of(&world, 1).has_session);
	world_free(&world);
}

static void responder_sends_only_after_confirmation(void **state)
{
	struct world world;
	struct message message;
	struct received received;

	(void)state;
	world_init(&world);
	assert_int_equal(make_initiation(&world, 0, &message), VERDICT_OK);
	world.ms += 40;
	assert_int_equal(take(&world, 1, &message, &received), VERDICT_OK);
	assert_int_equal(make_response(&world, 1, &message), VERDICT_OK);
	assert_false(stats_of(&world, 1).has_session);
	assert_int_equal(make_data(&world, 1, 1, 60, &message), VERDICT_NO_SESSION);
	world_free(&world);
}

static void preshared_key_takes_part(void **state)
{
	struct world world;
	struct message message;
	struct received received;
	const uint8_t psk[KEY_LEN] = { 1, 2, 3 };

	(void)state;
	world_init(&world);
	peer_set_preshared_key(world.side[0].peer, psk);
	assert_int_equal(make_initiation(&world, 0, &message), VERDICT_OK);
	assert_int_equal(take(&world, 1, &message, &received), VERDICT_OK);
	assert_int_equal(make_response(&world, 1, &message), VERDICT_OK);
	assert_int_equal(take(&world, 0, &message, &received), VERDICT_BAD_HANDSHAKE);
	assert_null(received.peer);

	peer_set_preshared_key(world.side[1].peer, psk);
	world.ms += 5000;
	world_connect(&world, 0);
	/* A change touches only the next handshake. */
	peer_set_preshared_key(world.side[1].peer, (uint8_t[KEY_LEN]){ 0 });
	assert_int_equal(make_data(&world, 0, 1, 60, &message), VERDICT_OK);
	assert_int_equal(take(&world, 1, &message, &received), VERDICT_OK);
	world_free(&world);
}

static void padding_stops_at_the_mtu(void **state)
{
	static const struct {
		uint32_t mtu;
		size_t len, message_len;
	} rows[] = {
		{ 1420, 1420, 1452 },
		{ 1420, 1417, 1452 },
		{ 1420, 84, 128 },
		{ 1420, 96, 128 },
		{ 1420, 1408, 1440 },
		{ 1420, 1409, 1452 },
		{ 1400, 1420, 1452 },
		{ 90, 84, 122 },
	};
	struct world world;
	struct message message, inner;
	struct received received;

	(void)state;
	world_init(&world);
	world_connect(&world, 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		tunnel_set_mtu(world.side[0].tunnel, rows[i].mtu);
		assert_int_equal(make_data(&world, 0, 9, rows[i].len, &message), VERDICT_OK);
		assert_int_equal(message.len, rows[i].message_len);
		assert_int_equal(
			take_from(&world, 1, CARRIER_UDP, &world.side[0].at, &message, &received, &inner),
			VERDICT_OK);
		assert_int_equal(inner.len, rows[i].len);
	}
	world_free(&world);
}

static void initiator_rekeys_at_120_s_when_sending(void **state)
{
	struct world world;

	(void)state;
	world_init(&world);
	send_data(&world, 0, 0);
	world_run(&world, 1000 + 119000);
	send_data(&world, 0, 1);
	send_data(&world, 1, 1);
	assert_int_equal(sent(&world, MESSAGE_INITIATION), 1);
	world_run(&world, 1000 + 120000);
	send_data(&world, 1, 2); /* the responder never rekeys by age */
	world_run(&world, world.ms + 1000);
	assert_int_equal(sent(&world, MESSAGE_INITIATION), 1);
	send_data(&world, 0, 3);
	world_run(&world, world.ms + 1);
	assert_int_equal(world.side[0].sent[MESSAGE_INITIATION], 2);
	assert_int_equal(world.side[1].sent[MESSAGE_INITIATION], 0);
	world_free(&world);
}

static void initiator_rekeys_at_165_s_when_receiving(void **state)
{
	struct world world;

	(void)state;
	world_init(&world);
	send_data(&world, 0, 0);
	/* Side 1 sends from 155.5 s on. The first passive keepalive of side 0 is due at 165.5 s, so until
	 * then it sends nothing, and only what comes in can make it rekey. */
	for (uint64_t ms = 1000 + 155500; ms < 1000 + 165000; ms += 500) {
		world_run(&world, ms);
		send_data(&world, 1, 1);
	}
	assert_int_equal(world.side[0].sent[MESSAGE_INITIATION], 1);
	world_run(&world, 1000 + 165000);
	send_data(&world, 1, 2);
	world_run(&world, world.ms + 1);
	assert_int_equal(world.side[0].sent[MESSAGE_INITIATION], 2);
	world_free(&world);
}

static void session_ends_at_180_s(void **state)
{
	struct world world;
	struct message message, late;
	struct received received;

	(void)state;
	world_init(&world);
	world_connect(&world, 0);
	world.ms = 1000 + 179999;
	assert_int_equal(make_data(&world, 0, 1, 60, &message), VERDICT_OK);
	assert_int_equal(make_data(&world, 0, 1, 60, &late), VERDICT_OK);
	assert_int_equal(take(&world, 1, &message, &received), VERDICT_OK);
	world.ms = 1000 + 180000;
	assert_int_equal(take(&world, 1, &late, &received), VERDICT_EXPIRED);
	assert_int_equal(make_data(&world, 0, 1, 60, &message), VERDICT_NO_SESSION);
	assert_false(stats_of(&world, 0).has_session);
	world_free(&world);
}

static void rekeys_by_message_count(void **state)
{
	struct world world;

	(void)state;
	world_init(&world);
	send_data(&world, 0, 0);
	world.side[1].peer->current->session->send_counter = REKEY_AFTER_MESSAGES - 1;
	world_run(&world, world.ms + 6000);
	send_data(&world, 1, 1); /* the responder too: it is about its own counter */
	world_run(&world, world.ms + 1);
	assert_int_equal(world.side[1].sent[MESSAGE_INITIATION], 1);
	assert_int_equal(world.side[1].peer->current->session->send_counter, 1); /* a new one */
	world_free(&world);
}

static void retries_then_gives_up(void **state)
{
	struct world world;

	(void)state;
	world_init(&world);
	world.cut[0] = true;
	send_data(&world, 0, 0);
	world_run(&world, 1000 + 89000);
	assert_int_equal(world.side[0].gave_up, 0);
	assert_in_range(world.side[0].sent[MESSAGE_INITIATION], 16, 18); /* 89 / 5.0 to 5.334 */
	world_run(&world, 1000 + 96000);
	assert_int_equal(world.side[0].gave_up, 1);
	assert_in_range(world.side[0].sent[MESSAGE_INITIATION], 17, 19);
	assert_true(world_idle(&world));
	assert_null(world.side[0].peer->initiated); /* no key of it is left */
	/* A new packet starts over. */
	world.cut[0] = false;
	send_data(&world, 0, 5);
	assert_int_equal(world.side[1].got_data, 1);
	world_free(&world);
}

static void passive_keepalive_without_ping_pong(void **state)
{
	struct world world;

	(void)state;
	world_init(&world);
	send_data(&world, 0, 0);
	assert_int_equal(sent(&world, MESSAGE_NONE), 0); /* the data confirmed the session */
	world_run(&world, 1000 + 9999);
	assert_int_equal(sent(&world, MESSAGE_NONE), 0);
	world_run(&world, 1000 + 10000);
	assert_int_equal(world.side[1].sent[MESSAGE_NONE], 1);
	/* And then silence for ever: one packet, one keepalive, no handshake. */
	world_run(&world, 86400000);
	assert_int_equal(sent(&world, MESSAGE_NONE), 1);
	assert_int_equal(sent(&world, MESSAGE_INITIATION), 1);
	assert_int_equal(world.side[0].zeroed, 1);
	assert_int_equal(world.side[1].zeroed, 1);
	assert_null(world.side[0].peer->current);
	assert_true(world_idle(&world));
	world_free(&world);
}

static void no_answer_makes_a_new_handshake(void **state)
{
	struct world world;

	(void)state;
	world_init(&world);
	send_data(&world, 0, 0);
	world_run(&world, 31000);
	world.cut[1] = true; /* the way back is gone */
	send_data(&world, 0, 1);
	world_run(&world, 31000 + 14999);
	assert_int_equal(world.side[0].sent[MESSAGE_INITIATION], 1);
	world_run(&world, 31000 + 15334);
	assert_int_equal(world.side[0].sent[MESSAGE_INITIATION], 2);
	world.cut[1] = false;
	world_run(&world, 31000 + 15334 + 5334);
	assert_int_equal(world.side[0].sent[MESSAGE_INITIATION], 3);
	world_run(&world, 31000 + 80000);
	assert_int_equal(world.side[0].sent[MESSAGE_INITIATION], 3);
	world_free(&world);
}

static void persistent_keepalive(void **state)
{
	struct world world;
	uint64_t end = 1000 + 3600000;

	(void)state;
	world_init(&world);
	peer_set_persistent_keepalive(world.side[0].tunnel, world.side[0].peer, 25, world_now(&world));
	world_run(&world, 1001);
	assert_true(stats_of(&world, 0).has_session); /* at once, without a packet */
	world_run(&world, end);
	/* one in 25 s from side 0; a rekey each 125 s confirms with one as well; side 1 owes nothing for them
	 */
	assert_in_range(world.side[0].sent[MESSAGE_NONE], 144, 144 + 32);
	assert_int_equal(world.side[1].sent[MESSAGE_NONE], 0);
	assert_in_range(sent(&world, MESSAGE_INITIATION), 25, 30);
	assert_int_equal(sent(&world, MESSAGE_INITIATION), sent(&world, MESSAGE_RESPONSE));
	/* The same value again makes no traffic; 0 ends it. */
	unsigned before = sent(&world, MESSAGE_NONE);

	peer_set_persistent_keepalive(world.side[0].tunnel, world.side[0].peer, 25, world_now(&world));
	world_run(&world, end + 1);
	assert_int_equal(sent(&world, MESSAGE_NONE), before);
	peer_set_persistent_keepalive(world.side[0].tunnel, world.side[0].peer, 0, world_now(&world));
	world_run(&world, end + 3600000);
	assert_int_equal(sent(&world, MESSAGE_NONE), before);
	assert_true(world_idle(&world));
	world_free(&world);
}

static void idle_for_an_hour_then_data(void **state)
{
	struct world world;

	(void)state;
	world_init(&world);
	for (uint32_t i = 0; i < 50; i++) {
		send_data(&world, (int)(i & 1), i);
		assert_int_equal(world.side[!(i & 1)].got_data, i / 2 + 1);
		world_run(&world, world.ms + 3600000);
		assert_true(world_idle(&world));
	}
	world_free(&world);
}

static void data_every_second_for_a_day(void **state)
{
	struct world world;
	const unsigned seconds = 86400;

	(void)state;
	world_init(&world);
	for (unsigned i = 0; i < seconds; i++) {
		send_data(&world, 0, i);
		send_data(&world, 1, i);
		world_run(&world, world.ms + 1000);
	}
	assert_int_equal(world.side[0].got_data, seconds); /* not one is lost over 720 rekeys */
	assert_int_equal(world.side[1].got_data, seconds);
	assert_in_range(sent(&world, MESSAGE_INITIATION), 700, 730);
	assert_int_equal(sent(&world, MESSAGE_NONE), sent(&world, MESSAGE_INITIATION) - 1);
	world_free(&world);
}

static void own_key_is_no_peer(void **state)
{
	struct world world;
	struct side *side;
	uint8_t private_key[KEY_LEN], public_key[KEY_LEN];

	(void)state;
	world_init(&world);
	side = &world.side[0];
	assert_null(tunnel_peer_add(side->tunnel, side->public_key));
	assert_null(tunnel_peer_add(side->tunnel, world.side[1].public_key)); /* there already */
	/* Taking the key of a peer removes that peer, with its prefixes. */
	tunnel_set_private_key(side->tunnel, world.side[1].private_key);
	assert_int_equal(tunnel_peer_count(side->tunnel), 0);
	assert_null(tunnel_peer_find(side->tunnel, world.side[1].public_key));
	assert_true(tunnel_keys(side->tunnel, private_key, public_key));
	assert_memory_equal(public_key, world.side[1].public_key, KEY_LEN);
	tunnel_set_private_key(side->tunnel, NULL);
	assert_false(tunnel_keys(side->tunnel, private_key, public_key));
	world_free(&world);
}

static void new_key_ends_sessions(void **state)
{
	struct world world;
	struct message message, response;
	struct received received;

	(void)state;
	world_init(&world);
	world_connect(&world, 0);
	world.ms += 5000;
	assert_int_equal(make_data(&world, 1, 1, 60, &message), VERDICT_OK);
	assert_int_equal(make_initiation(&world, 0, &response), VERDICT_OK);
	assert_int_equal(take(&world, 1, &response, &received), VERDICT_OK);
	assert_int_equal(make_response(&world, 1, &response), VERDICT_OK);
	tunnel_set_private_key(world.side[0].tunnel, NULL);
	tunnel_set_private_key(world.side[0].tunnel, world.side[0].private_key);
	assert_int_equal(take(&world, 0, &message, &received), VERDICT_UNKNOWN_INDEX);
	assert_int_equal(take(&world, 0, &response, &received), VERDICT_UNKNOWN_INDEX);
	assert_true(tunnel_deadline(world.side[0].tunnel).ns > world_now(&world).ns);
	world.ms += 20;
	world_connect(&world, 0);
	world_free(&world);
}

static void peer_removed_during_a_handshake(void **state)
{
	struct world world;
	struct side *side;
	struct message message;
	struct received received;

	(void)state;
	world_init(&world);
	side = &world.side[0];
	assert_int_equal(make_initiation(&world, 0, &message), VERDICT_OK);
	assert_int_equal(take(&world, 1, &message, &received), VERDICT_OK);
	assert_int_equal(make_response(&world, 1, &message), VERDICT_OK);
	tunnel_peer_remove(side->tunnel, side->peer);
	assert_int_equal(take(&world, 0, &message, &received), VERDICT_UNKNOWN_INDEX);
	assert_int_equal(tunnel_deadline(side->tunnel).ns, MONO_NEVER.ns);
	/* The same key again is a stranger with a clean slate. */
	side->peer = tunnel_peer_add(side->tunnel, world.side[1].public_key);
	assert_non_null(side->peer);
	world.ms += 20;
	world_connect(&world, 0);
	world_free(&world);
}

static void low_order_peer_is_no_partner(void **state)
{
	struct world world;
	struct side *side;
	struct packet *packet;

	(void)state;
	world_init(&world);
	side = &world.side[0];
	struct peer *peer = tunnel_peer_add(side->tunnel, (uint8_t[KEY_LEN]){ 0 });

	assert_non_null(peer);
	packet = packet_take(world.pool);
	assert_int_equal(tunnel_create_initiation(
				 side->tunnel, peer, world_now(&world), world_wall(&world, 0), packet),
		VERDICT_TOO_SOON);
	packet_give(world.pool, packet);
	world_free(&world);
}

#define PEERS 2000

static void thousands_of_peers(void **state)
{
	static struct peer *peers[PEERS];
	static uint64_t due_ms[PEERS];
	struct tunnel *tunnel = tunnel_new();
	uint8_t key[KEY_LEN] = { 9 };
	struct due due;
	size_t seen = 0;

	(void)state;
	assert_non_null(tunnel);
	for (uint32_t i = 0; i < PEERS; i++) {
		uint64_t ms = 1000 + i * 7919 % PEERS; /* a permutation */

		put_le32(key + 4, i);
		peers[i] = tunnel_peer_add(tunnel, key);
		assert_non_null(peers[i]);
		peer_set_persistent_keepalive(tunnel, peers[i], 60, mono_add_ms(MONO_UNSET, ms));
		peer_set_user(peers[i], &due_ms[i]);
		due_ms[i] = ms;
	}
	assert_int_equal(tunnel_peer_count(tunnel), PEERS);
	/* Every third goes; the others are found, in order, and come due in the order of their time. */
	for (uint32_t i = 0; i < PEERS; i += 3)
		tunnel_peer_remove(tunnel, peers[i]);
	struct peer *peer = tunnel_peer_next(tunnel, NULL);

	for (uint32_t i = 0; i < PEERS; i++) {
		put_le32(key + 4, i);
		if (i % 3 == 0) {
			assert_null(tunnel_peer_find(tunnel, key));
			continue;
		}
		assert_ptr_equal(tunnel_peer_find(tunnel, key), peers[i]);
		assert_ptr_equal(peer, peers[i]);
		peer = tunnel_peer_next(tunnel, peer);
	}
	assert_null(peer);
	for (uint64_t ms = 1000; ms < 1000 + PEERS; ms++) {
		struct mono now = mono_add_ms(MONO_UNSET, ms);

		while (tunnel_next_due(tunnel, now, &due)) {
			assert_int_equal(due.what, DUE_KEEPALIVE);
			assert_int_equal(*(uint64_t *)peer_user(due.peer), ms); /* not a moment late */
			seen++;
		}
		assert_true(tunnel_deadline(tunnel).ns > now.ns);
	}
	assert_int_equal(seen, PEERS - (PEERS + 2) / 3);
	tunnel_free(tunnel);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(connects_and_carries_data_both_ways),
		cmocka_unit_test(responder_sends_only_after_confirmation),
		cmocka_unit_test(preshared_key_takes_part),
		cmocka_unit_test(padding_stops_at_the_mtu),
		cmocka_unit_test(initiator_rekeys_at_120_s_when_sending),
		cmocka_unit_test(initiator_rekeys_at_165_s_when_receiving),
		cmocka_unit_test(session_ends_at_180_s),
		cmocka_unit_test(rekeys_by_message_count),
		cmocka_unit_test(retries_then_gives_up),
		cmocka_unit_test(passive_keepalive_without_ping_pong),
		cmocka_unit_test(no_answer_makes_a_new_handshake),
		cmocka_unit_test(persistent_keepalive),
		cmocka_unit_test(idle_for_an_hour_then_data),
		cmocka_unit_test(data_every_second_for_a_day),
		cmocka_unit_test(own_key_is_no_peer),
		cmocka_unit_test(new_key_ends_sessions),
		cmocka_unit_test(peer_removed_during_a_handshake),
		cmocka_unit_test(low_order_peer_is_no_partner),
		cmocka_unit_test(thousands_of_peers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
