/* SPDX-License-Identifier: MIT */
/* Every verdict, provoked. A message that is not authentic changes nothing of the peer. */
#include "tests/unit/core/tunnel/world.h"

#include "core/base/bytes.h"
#include "core/noise/cookie.h"
#include "core/tunnel/limit.h"
#include "core/tunnel/state.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

/* The linker puts this before calloc (--wrap). */
static bool memory_is_short;
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

void *__wrap_calloc(size_t count, size_t size)
{
	return memory_is_short ? NULL : __real_calloc(count, size);
}

static struct world world;

/* ---- what comes in at side 1; each makes the message and says what to expect ---- */

static void sign(struct message *message)
{
	struct cookie_maker maker;

	cookie_maker_init(&maker, world.side[1].public_key);
	cookie_maker_sign(&maker, message->bytes, message->len, world_now(&world));
}

static void initiation(struct message *message)
{
	world.ms += 20;
	assert_int_equal(make_initiation(&world, 0, message), VERDICT_OK);
}

static void data(struct message *message)
{
	assert_int_equal(make_data(&world, 0, 1, 60, message), VERDICT_OK);
}

static void short_one(struct message *message)
{
	data(message);
	message->len = 31;
}

static void reserved_bytes(struct message *message)
{
	data(message);
	message->bytes[2] = 1;
}

static void strange_type(struct message *message)
{
	data(message);
	message->bytes[0] = 5;
}

static void bad_mac1(struct message *message)
{
	initiation(message);
	message->bytes[120] ^= 1;
}

static void bad_static(struct message *message)
{
	initiation(message);
	message->bytes[50] ^= 1;
	sign(message);
}

static void low_order_ephemeral(struct message *message)
{
	initiation(message);
	memset(message->bytes + 8, 0, KEY_LEN);
	sign(message);
}

static void bad_timestamp(struct message *message)
{
	initiation(message);
	message->bytes[100] ^= 1;
	sign(message);
}

static void response_to_nothing(struct message *message)
{
	memset(message->bytes, 0, sizeof(struct response));
	message->bytes[0] = MESSAGE_RESPONSE;
	message->len = sizeof(struct response);
	sign(message);
}

static void unknown_index(struct message *message)
{
	data(message);
	message->bytes[4] ^= 1;
}

static void index_zero(struct message *message)
{
	data(message);
	memset(message->bytes + 4, 0, 4);
}

static void bad_cookie(struct message *message)
{
	memset(message->bytes, 0, sizeof(struct cookie_reply));
	message->bytes[0] = MESSAGE_COOKIE_REPLY;
	put_le32(message->bytes + 4, world.side[1].peer->current->index);
	message->len = sizeof(struct cookie_reply);
}

static void cookie_for_nobody(struct message *message)
{
	bad_cookie(message);
	message->bytes[4] ^= 1;
}

static void forged(struct message *message)
{
	data(message);
	message->bytes[message->len - 1] ^= 1;
}

static void forged_counter(struct message *message)
{
	data(message);
	put_le64(message->bytes + 8, 1ull << 40);
}

static void counter_past_the_end(struct message *message)
{
	data(message);
	put_le64(message->bytes + 8, REJECT_AFTER_MESSAGES);
}

static void a_message_that_is_not_authentic_changes_nothing(void **state)
{
	static const struct {
		const char *name;
		void (*make)(struct message *message);
		enum verdict verdict;
	} rows[] = {
		{ "short", short_one, VERDICT_NOT_WIREGUARD },
		{ "reserved bytes", reserved_bytes, VERDICT_NOT_WIREGUARD },
		{ "type", strange_type, VERDICT_NOT_WIREGUARD },
		{ "mac1", bad_mac1, VERDICT_BAD_MAC1 },
		{ "static", bad_static, VERDICT_NOT_FOR_US },
		{ "low order", low_order_ephemeral, VERDICT_NOT_FOR_US },
		{ "timestamp", bad_timestamp, VERDICT_BAD_HANDSHAKE },
		{ "response to nothing", response_to_nothing, VERDICT_UNKNOWN_INDEX },
		{ "index", unknown_index, VERDICT_UNKNOWN_INDEX },
		{ "index 0", index_zero, VERDICT_UNKNOWN_INDEX },
		{ "cookie", bad_cookie, VERDICT_BAD_COOKIE },
		{ "cookie for nobody", cookie_for_nobody, VERDICT_UNKNOWN_INDEX },
		{ "forged", forged, VERDICT_FORGED },
		{ "forged counter", forged_counter, VERDICT_FORGED },
		{ "counter used up", counter_past_the_end, VERDICT_EXPIRED },
	};
	struct received received;
	struct message message;

	(void)state;
	world_init(&world);
	world_connect(&world, 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct tunnel *tunnel = world.side[1].tunnel;
		struct session *session = world.side[1].peer->current->session;
		uint64_t counted = tunnel_verdicts(tunnel)[rows[i].verdict];

		rows[i].make(&message);
		struct peer before = *world.side[1].peer;
		struct session session_before = *session;
		enum verdict verdict = take(&world, 1, &message, &received);

		if (verdict != rows[i].verdict)
			fail_msg("%s: %s", rows[i].name, verdict_name(verdict));
		assert_null(received.peer);
		assert_int_equal(received.kind, RECEIVED_NOTHING);
		assert_int_equal(tunnel_verdicts(tunnel)[rows[i].verdict], counted + 1);
		assert_memory_equal(&before, world.side[1].peer, sizeof(before));
		assert_memory_equal(&session_before, session, sizeof(session_before));
	}
	/* And the session lives. */
	data(&message);
	assert_int_equal(take(&world, 1, &message, &received), VERDICT_OK);
	world_free(&world);
}

static void stale_flooding_unknown_peer_no_key(void **state)
{
	struct message first, second;
	struct received received;

	(void)state;
	world_init(&world);
	initiation(&first);
	initiation(&second);
	assert_int_equal(take(&world, 1, &first, &received), VERDICT_OK);
	struct peer before = *world.side[1].peer;

	assert_int_equal(take(&world, 1, &second, &received), VERDICT_FLOODING);
	assert_int_equal(take(&world, 1, &first, &received), VERDICT_STALE_TIMESTAMP);
	assert_memory_equal(&before, world.side[1].peer, sizeof(before));
	tunnel_peer_remove(world.side[1].tunnel, world.side[1].peer);
	assert_int_equal(take(&world, 1, &second, &received), VERDICT_UNKNOWN_PEER);
	tunnel_set_private_key(world.side[1].tunnel, NULL);
	assert_int_equal(take(&world, 1, &second, &received), VERDICT_NOT_FOR_US);
	response_to_nothing(&first);
	assert_int_equal(take(&world, 1, &first, &received), VERDICT_NOT_FOR_US);
	world_free(&world);
}

static void answer_without_a_question(void **state)
{
	struct message message;

	(void)state;
	world_init(&world);
	assert_int_equal(make_response(&world, 1, &message), VERDICT_BAD_HANDSHAKE);
	assert_int_equal(make_keepalive(&world, 1, &message), VERDICT_NO_SESSION);
	world_free(&world);
}

static void replay_too_large_expired(void **state)
{
	struct message message;
	struct received received;

	(void)state;
	world_init(&world);
	world_connect(&world, 0);
	data(&message);
	assert_int_equal(take(&world, 1, &message, &received), VERDICT_OK);
	assert_int_equal(take(&world, 1, &message, &received), VERDICT_REPLAYED);
	assert_null(received.peer);

	/* A pool for inner packets of 64 bytes. */
	struct packet *packet;
	struct packet_pool *small = packet_pool_new(1, 64);

	assert_int_equal(make_data(&world, 0, 1, 80, &message), VERDICT_OK);
	packet = packet_take(small);
	assert_int_equal(tunnel_receive(world.side[1].tunnel, CARRIER_UDP, &world.side[0].at, message.bytes,
				 message.len, world_now(&world), world_wall(&world, 1), packet, &received),
		VERDICT_TOO_LARGE);
	assert_int_equal(tunnel_create_initiation(world.side[1].tunnel, world.side[1].peer, world_now(&world),
				 world_wall(&world, 1), packet),
		VERDICT_TOO_LARGE);
	packet_give(small, packet);
	packet_pool_free(small);
	packet = packet_take(world.pool);
	packet->len = packet->room + 1;
	assert_int_equal(tunnel_seal(world.side[0].tunnel, world.side[0].peer, packet, world_now(&world)),
		VERDICT_TOO_LARGE);
	packet_give(world.pool, packet);

	data(&message);
	world.ms += REJECT_AFTER_MS;
	assert_int_equal(take(&world, 1, &message, &received), VERDICT_EXPIRED);
	world_free(&world);
}

static void inner_packets_are_checked(void **state)
{
	static const struct {
		const char *name;
		size_t len;
		uint8_t bytes[64];
		enum verdict verdict;
	} rows[] = {
		{ "v4", 24, { 0x45, 0, 0, 24, [12] = 10, 0, 0, 1, 10, 0, 0, 2 }, VERDICT_OK },
		{ "v4, shorter than there is", 24, { 0x45, 0, 0, 20, [12] = 10, 0, 0, 1, 10, 0, 0, 2 },
			VERDICT_OK },
		{ "v4 of somebody else", 24, { 0x45, 0, 0, 24, [12] = 10, 0, 0, 3, 10, 0, 0, 2 },
			VERDICT_SOURCE_NOT_ALLOWED },
		{ "v4 from its receiver", 24, { 0x45, 0, 0, 24, [12] = 10, 0, 0, 2, 10, 0, 0, 2 },
			VERDICT_SOURCE_NOT_ALLOWED },
		{ "v6 of nobody", 40, { 0x60, [8] = 0xfd }, VERDICT_SOURCE_NOT_ALLOWED },
		{ "v4, longer than there is", 24, { 0x45, 0, 0, 33, [12] = 10, 0, 0, 1 }, VERDICT_BAD_INNER },
		{ "v4, shorter than its header", 24, { 0x45, 0, 0, 19, [12] = 10, 0, 0, 1 },
			VERDICT_BAD_INNER },
		{ "v4, header too short", 24, { 0x44, 0, 0, 24, [12] = 10, 0, 0, 1 }, VERDICT_BAD_INNER },
		{ "v4, options cut off", 24, { 0x4f, 0, 0, 24, [12] = 10, 0, 0, 1 }, VERDICT_BAD_INNER },
		{ "v4, 16 bytes", 16, { 0x45, 0, 0, 16, [12] = 10, 0, 0, 1 }, VERDICT_BAD_INNER },
		{ "v6, 39 bytes padded to 48", 39, { 0x60, 0, 0, 0, 0, 9 }, VERDICT_BAD_INNER },
		{ "v6, 32 bytes", 32, { 0x60 }, VERDICT_BAD_INNER },
		{ "version 5", 40, { 0x50 }, VERDICT_BAD_INNER },
		{ "version 15", 1, { 0xff }, VERDICT_BAD_INNER },
		{ "version 0, no extension", 16, { 0 }, VERDICT_BAD_INNER },
		{ "unknown extension", 16, { 0, 9, 0, 16, 0x57, 0x47, 0x54, 0x58 }, VERDICT_BAD_INNER },
		{ "extension", 16, { 0, 4, 0, 16, 0x57, 0x47, 0x54, 0x58 }, VERDICT_OK },
	};
	struct message message, inner;
	struct received received;

	(void)state;
	world_init(&world);
	world_connect(&world, 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_int_equal(make_plain(&world, 0, rows[i].bytes, rows[i].len, &message), VERDICT_OK);
		enum verdict verdict =
			take_from(&world, 1, CARRIER_UDP, &world.side[0].at, &message, &received, &inner);

		if (verdict != rows[i].verdict)
			fail_msg("%s: %s", rows[i].name, verdict_name(verdict));
		assert_ptr_equal(received.peer, world.side[1].peer);
		if (verdict != VERDICT_OK)
			assert_int_equal(received.kind, RECEIVED_NOTHING);
		if (received.kind == RECEIVED_DATA)
			assert_int_equal(inner.len, rows[i].bytes[3]);
	}
	world_free(&world);
}

static void routing(void **state)
{
	static const struct {
		size_t len;
		uint8_t bytes[64];
		enum verdict verdict;
		int peer; /* 0: 10.0.0.2/32, 1: 10.0.0.0/8 and fd00::/8 */
	} rows[] = {
		{ 20, { 0x45, 0, 0, 20, [16] = 10, 0, 0, 2 }, VERDICT_OK, 0 },
		{ 20, { 0x45, 0, 0, 20, [16] = 10, 0, 0, 3 }, VERDICT_OK, 1 },
		{ 40, { 0x60, [24] = 0xfd }, VERDICT_OK, 1 },
		{ 20, { 0x45, 0, 0, 20, [16] = 11 }, VERDICT_NO_ROUTE, 0 },
		{ 40, { 0x60, [24] = 0xfe }, VERDICT_NO_ROUTE, 0 },
		{ 0, { 0 }, VERDICT_NOT_IP, 0 },
		{ 20, { 0x45, 0, 0, 21, [16] = 10 }, VERDICT_NOT_IP, 0 },
		{ 19, { 0x45, 0, 0, 19, [16] = 10 }, VERDICT_NOT_IP, 0 },
		{ 40, { 0x60, 0, 0, 0, 0, 1 }, VERDICT_NOT_IP, 0 },
		{ 40, { 0x00 }, VERDICT_NOT_IP, 0 },
	};
	static const struct ip_prefix wide = { { IP_V4, { 10 } }, 8 }, wide6 = { { IP_V6, { 0xfd } }, 8 };

	(void)state;
	world_init(&world);
	struct side *side = &world.side[0];
	struct peer *peers[2] = { side->peer, tunnel_peer_add(side->tunnel, (uint8_t[KEY_LEN]){ 9 }) };

	assert_true(tunnel_allow(side->tunnel, peers[1], &wide));
	assert_true(tunnel_allow(side->tunnel, peers[1], &wide6));
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct packet *packet = packet_take(world.pool);
		struct peer *peer = NULL;

		memcpy(packet->data, rows[i].bytes, rows[i].len);
		packet->len = (uint32_t)rows[i].len;
		assert_int_equal(tunnel_route(side->tunnel, packet, &peer), rows[i].verdict);
		assert_ptr_equal(peer, rows[i].verdict == VERDICT_OK ? peers[rows[i].peer] : NULL);
		packet_give(world.pool, packet);
	}
	world_free(&world);
}

static void short_memory_loses_nothing(void **state)
{
	struct message message, response;
	struct received received;

	(void)state;
	world_init(&world);
	initiation(&message);
	assert_int_equal(take(&world, 1, &message, &received), VERDICT_OK);
	memory_is_short = true;
	assert_int_equal(make_response(&world, 1, &response), VERDICT_NO_MEMORY);
	assert_null(tunnel_peer_add(world.side[1].tunnel, (uint8_t[KEY_LEN]){ 9 }));
	memory_is_short = false;
	initiation(&message);
	assert_int_equal(take(&world, 1, &message, &received), VERDICT_OK);
	assert_int_equal(make_response(&world, 1, &response), VERDICT_OK);
	memory_is_short = true;
	assert_int_equal(take(&world, 0, &response, &received), VERDICT_NO_MEMORY);
	assert_null(received.peer);
	memory_is_short = false;
	assert_int_equal(take(&world, 0, &response, &received), VERDICT_OK); /* the handshake was kept */
	data(&message);
	assert_int_equal(take(&world, 1, &message, &received), VERDICT_OK);
	world_free(&world);
}

static void names_are_words(void **state)
{
	(void)state;
	for (int i = 0; i < VERDICT_COUNT; i++) {
		const char *name = verdict_name((enum verdict)i);

		assert_true(strlen(name) > 1 && strspn(name, "abcdefghijklmnopqrstuvwxyz_1") == strlen(name));
		assert_string_not_equal(name, "unknown");
		for (int j = 0; j < i; j++)
			assert_string_not_equal(name, verdict_name((enum verdict)j));
	}
	assert_string_equal(verdict_name(VERDICT_SOURCE_NOT_ALLOWED), "source_not_allowed");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_message_that_is_not_authentic_changes_nothing),
		cmocka_unit_test(stale_flooding_unknown_peer_no_key),
		cmocka_unit_test(answer_without_a_question),
		cmocka_unit_test(replay_too_large_expired),
		cmocka_unit_test(inner_packets_are_checked),
		cmocka_unit_test(routing),
		cmocka_unit_test(short_memory_loses_nothing),
		cmocka_unit_test(names_are_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
