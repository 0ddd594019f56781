/* SPDX-License-Identifier: MIT */
/* The thirteen faults that another userspace implementation published in 2026, each as a test that this one
 * does not have it. Oversized datagrams are also sent to a whole engine
 * (netns/attacks/every_datagram_length). */
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
#include <string.h>

static struct session *current(struct world *world, int side)
{
	return world->side[side].peer->current->session;
}

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

static void put_under_load(struct world *world, int to)
{
	struct endpoint source = { { IP_V4, { 203, 0, 113, 1 } }, 1000, 0 };
	struct message message;
	struct received received;

	for (int i = 0; i <= LOAD_INITIATIONS_PER_S; i++) {
		strange_initiation(world, to, &message);
		source.port++;
		take_from(world, to, CARRIER_UDP, &source, &message, &received, NULL);
	}
	assert_true(load_is_high(&world->side[to].tunnel->load, world_now(world)));
}

static void make_cookie_reply(struct world *world, int from, const struct endpoint *source,
	const struct message *initiation, struct message *out)
{
	struct packet *packet = packet_take(world->pool);

	tunnel_create_cookie_reply(world->side[from].tunnel, initiation->bytes, initiation->len, source,
		world_now(world), packet);
	memcpy(out->bytes, packet->data, packet->len);
	out->len = packet->len;
	packet_give(world->pool, packet);
}

static void the_limit_of_data_counters_is_enforced(void **state)
{
	struct world world;
	struct message message;
	struct received received;

	(void)state;
	world_init(&world);
	world_connect(&world, 0);
	current(&world, 0)->send_counter = REJECT_AFTER_MESSAGES - 1;
	assert_int_equal(make_data(&world, 0, 1, 60, &message), VERDICT_OK);
	assert_int_equal(take(&world, 1, &message, &received), VERDICT_OK);
	assert_int_equal(make_data(&world, 0, 2, 60, &message), VERDICT_NO_SESSION);
	assert_int_equal(make_keepalive(&world, 0, &message), VERDICT_NO_SESSION);
	/* And where it is received, whatever the sender thinks of it. */
	aead_seal(
		&current(&world, 0)->send, message.bytes + 16, message.bytes + 16, 0, REJECT_AFTER_MESSAGES);
	put_le32(message.bytes, MESSAGE_DATA);
	put_le32(message.bytes + 4, current(&world, 0)->remote_index);
	put_le64(message.bytes + 8, REJECT_AFTER_MESSAGES);
	message.len = DATA_MIN_LEN;
	assert_int_equal(take(&world, 1, &message, &received), VERDICT_EXPIRED);
	/* Long before that a new session is asked for. */
	current(&world, 1)->send_counter = REKEY_AFTER_MESSAGES;
	world.ms += 5000;
	assert_int_equal(make_data(&world, 1, 3, 60, &message), VERDICT_OK);
	struct due due;

	assert_true(tunnel_next_due(world.side[1].tunnel, world_now(&world), &due));
	assert_true(due.what & DUE_INITIATION);
	world_free(&world);
}

static void an_oversized_datagram_does_not_end_receiving(void **state)
{
	static const uint32_t lens[] = { 0, 1, 15, 16, 31, 32, 2031, 2032, 2033, 2063, 2064, 4096, 9000,
		65507, 65535 };
	static uint8_t bytes[65535];
	struct world world;
	struct message message;
	struct received received;

	(void)state;
	world_init(&world);
	world_connect(&world, 0);
	for (size_t i = 0; i < sizeof(lens) / sizeof(*lens); i++) {
		struct packet *plain = packet_take(world.pool);

		memset(bytes, 0x55, sizeof(bytes));
		put_le32(bytes, MESSAGE_DATA);
		put_le32(bytes + 4, current(&world, 0)->remote_index);
		put_le64(bytes + 8, i);
		enum verdict verdict = tunnel_receive(world.side[1].tunnel, CARRIER_UDP, &world.side[0].at,
			bytes, lens[i], world_now(&world), world_wall(&world, 1), plain, &received);

		packet_give(world.pool, plain);
		assert_int_not_equal(verdict, VERDICT_OK);
		/* The next one is taken as if nothing had been. */
		assert_int_equal(make_data(&world, 0, (uint32_t)i, 60, &message), VERDICT_OK);
		assert_int_equal(take(&world, 1, &message, &received), VERDICT_OK);
	}
	world_free(&world);
}

static void overlapping_allowed_ips_let_no_peer_speak_for_another(void **state)
{
	static const struct {
		uint8_t last; /* of the inner source */
		enum verdict before, after;
	} rows[] = {
		{ 1, VERDICT_OK, VERDICT_OK },
		{ 8, VERDICT_OK, VERDICT_OK },                 /* within the wide prefix */
		{ 9, VERDICT_OK, VERDICT_SOURCE_NOT_ALLOWED }, /* the other's, which is narrower */
		{ 77, VERDICT_OK, VERDICT_SOURCE_NOT_ALLOWED },
		{ 128, VERDICT_OK, VERDICT_OK },
	};
	const struct ip_prefix wide = { { IP_V4, { 10, 0, 0, 0 } }, 24 },
			       narrow = { { IP_V4, { 10, 0, 0, 9 } }, 32 },
			       middle = { { IP_V4, { 10, 0, 0, 64 } }, 26 };
	uint8_t key[KEY_LEN], public_key[KEY_LEN];
	struct world world;

	(void)state;
	world_init(&world);
	world_connect(&world, 0);
	struct tunnel *tunnel = world.side[1].tunnel;

	dh_generate(key);
	dh_public(public_key, key);
	struct peer *other = tunnel_peer_add(tunnel, public_key);

	assert_true(tunnel_allow(tunnel, world.side[1].peer, &wide));
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
			uint8_t plain[60];
			struct message message;
			struct received received;

			inner_write(0, 1, sizeof(plain), plain);
			plain[15] = rows[i].last;
			assert_int_equal(make_plain(&world, 0, plain, sizeof(plain), &message), VERDICT_OK);
			assert_int_equal(
				take(&world, 1, &message, &received), round ? rows[i].after : rows[i].before);
		}
		assert_true(tunnel_allow(tunnel, other, &narrow));
		assert_true(tunnel_allow(tunnel, other, &middle));
	}
	world_free(&world);
}

static void a_cookie_covers_the_source_port(void **state)
{
	struct world world;
	struct message initiation, reply, again;
	struct received received;

	(void)state;
	world_init(&world);
	struct endpoint home = world.side[0].at, next_door = home;

	next_door.port ^= 0x0100; /* each byte of it counts */
	put_under_load(&world, 1);
	assert_int_equal(make_initiation(&world, 0, &initiation), VERDICT_OK);
	make_cookie_reply(&world, 1, &home, &initiation, &reply);
	assert_int_equal(take(&world, 0, &reply, &received), VERDICT_OK);
	world.ms += INITIATION_SPACING_MS;
	assert_int_equal(make_initiation(&world, 0, &again), VERDICT_OK);
	assert_int_equal(take_from(&world, 1, CARRIER_UDP, &next_door, &again, &received, NULL),
		VERDICT_COOKIE_WANTED);
	next_door.port = home.port ^ 0x0001;
	assert_int_equal(take_from(&world, 1, CARRIER_UDP, &next_door, &again, &received, NULL),
		VERDICT_COOKIE_WANTED);
	assert_int_equal(take_from(&world, 1, CARRIER_UDP, &home, &again, &received, NULL), VERDICT_OK);
	world_free(&world);
}

static void counters_and_nonces_have_64_bits(void **state)
{
	static const uint64_t starts[] = { UINT32_MAX - 1ull, 1ull << 33, (1ull << 59) + 5 };
	struct world world;

	(void)state;
	world_init(&world);
	world_connect(&world, 0);
	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++) {
		struct message messages[4];
		struct received received;

		current(&world, 0)->send_counter = starts[i];
		for (uint64_t n = 0; n < 4; n++) {
			assert_int_equal(make_data(&world, 0, 7, 60, &messages[n]), VERDICT_OK);
			assert_true(get_le64(messages[n].bytes + 8) == starts[i] + n);
			/* The same plaintext never looks the same. */
			for (uint64_t before = 0; before < n; before++)
				assert_memory_not_equal(
					messages[n].bytes + 16, messages[before].bytes + 16, 64);
			assert_int_equal(take(&world, 1, &messages[n], &received), VERDICT_OK);
			assert_int_equal(take(&world, 1, &messages[n], &received), VERDICT_REPLAYED);
		}
	}
	world_free(&world);
}

/* One source that sends too much takes nothing from another. */
static void rates_are_limited_for_each_source(void **state)
{
	struct world world;
	struct message message;
	struct received received;
	struct endpoint greedy = { { IP_V4, { 198, 51, 100, 7 } }, 443, 0 };
	unsigned refused = 0;

	(void)state;
	world_init(&world);
	put_under_load(&world, 1);
	for (int i = 0; i < 1000; i++) {
		strange_initiation(&world, 1, &message);
		refused += take_from(&world, 1, CARRIER_TCP, &greedy, &message, &received, NULL) ==
			   VERDICT_RATE_LIMITED;
	}
	assert_int_equal(refused, 1000 - LIMIT_BURST);
	assert_int_equal(make_initiation(&world, 0, &message), VERDICT_OK);
	assert_int_equal(
		take_from(&world, 1, CARRIER_TCP, &world.side[0].at, &message, &received, NULL), VERDICT_OK);
	world_free(&world);
}

/* Everything that a peer's record holds, bit for bit. */
static void nothing_changes_before_authentication(void **state)
{
	struct world world;
	struct message initiation, response, data, messages[6];
	struct received received;
	static struct peer before;
	size_t count = 0;

	(void)state;
	world_init(&world);
	world_connect(&world, 0);
	world.ms += 5000;
	assert_int_equal(make_data(&world, 0, 1, 60, &data), VERDICT_OK);
	assert_int_equal(make_initiation(&world, 0, &initiation), VERDICT_OK);
	assert_int_equal(take(&world, 1, &initiation, &received), VERDICT_OK);
	assert_int_equal(make_response(&world, 1, &response), VERDICT_OK);
	assert_int_equal(make_initiation(&world, 1, &initiation),
		VERDICT_OK); /* so that there is an index to answer */

	struct cookie_maker maker;

	cookie_maker_init(&maker, world.side[1].public_key);
	strange_initiation(&world, 1, &messages[count++]);
	/* A known peer's static key with a timestamp that is not authentic. */
	messages[count] = initiation;
	messages[count].bytes[100] ^= 1;
	cookie_maker_sign(&maker, messages[count].bytes, messages[count].len, world_now(&world));
	count++;
	/* A response to our initiation by somebody who only knows its index. */
	messages[count] = response;
	memcpy(messages[count].bytes + 8, initiation.bytes + 4, 4);
	cookie_maker_sign(&maker, messages[count].bytes, messages[count].len, world_now(&world));
	count++;
	/* Data and keepalive with the right index and a counter far ahead. */
	messages[count] = data;
	put_le64(messages[count++].bytes + 8, 100000);
	messages[count] = data;
	messages[count++].len = DATA_MIN_LEN;
	messages[count] =
		(struct message){ .bytes = { MESSAGE_COOKIE_REPLY }, .len = sizeof(struct cookie_reply) };
	memcpy(messages[count++].bytes + 4, initiation.bytes + 4, 4);
	for (size_t i = 0; i < count; i++) {
		struct session was;

		memcpy(&was, current(&world, 1), sizeof(was)); /* the padding, too */
		memcpy(&before, world.side[1].peer, sizeof(before));
		assert_int_not_equal(take(&world, 1, &messages[i], &received), VERDICT_OK);
		assert_null(received.peer);
		assert_false(received.newest || received.confirmed);
		before.misfits = world.side[1].peer->misfits; /* a count for diagnosis, by which nothing is decided */
		assert_memory_equal(&before, world.side[1].peer, sizeof(before));
		assert_memory_equal(&was, current(&world, 1), sizeof(was));
	}
	world_free(&world);
}

static void indices_can_not_be_predicted(void **state)
{
	enum { DRAWN = 2000 };
	static uint32_t indices[DRAWN];
	unsigned ones[32] = { 0 }, ascending = 0;
	struct world world;
	struct message message;

	(void)state;
	world_init(&world);
	for (int i = 0; i < DRAWN; i++) {
		world.ms += INITIATION_SPACING_MS;
		assert_int_equal(make_initiation(&world, 0, &message), VERDICT_OK);
		indices[i] = get_le32(message.bytes + 4);
		for (int bit = 0; bit < 32; bit++)
			ones[bit] += indices[i] >> bit & 1;
		ascending += i > 0 && indices[i] > indices[i - 1];
		for (int before = 0; before < i; before++)
			assert_true(indices[i] != indices[before] || i - before > 8);
	}
	/* Eight deviations from one half: a fair coin fails once in 10^14 runs. */
	for (int bit = 0; bit < 32; bit++)
		assert_in_range(ones[bit], DRAWN / 2 - 179, DRAWN / 2 + 179);
	assert_in_range(ascending, DRAWN / 2 - 179, DRAWN / 2 + 179);
	world_free(&world);
}

static void a_cookie_reply_moves_no_endpoint(void **state)
{
	const struct endpoint elsewhere = { { IP_V4, { 203, 0, 113, 66 } }, 4444, 0 };
	struct world world;
	struct message initiation, reply;
	struct received received;

	(void)state;
	world_init(&world);
	assert_int_equal(make_initiation(&world, 0, &initiation), VERDICT_OK);
	make_cookie_reply(&world, 1, &world.side[0].at, &initiation, &reply);
	/* By TCP it is none at all: there it would make a connection the peer's. */
	assert_int_equal(
		take_from(&world, 0, CARRIER_TCP, &elsewhere, &reply, &received, NULL), VERDICT_BAD_COOKIE);
	assert_null(received.peer);
	assert_int_equal(take_from(&world, 0, CARRIER_UDP, &elsewhere, &reply, &received, NULL), VERDICT_OK);
	assert_int_equal(received.kind, RECEIVED_COOKIE);
	assert_false(received.newest);
	assert_false(received.confirmed);
	world_free(&world);
}

static void a_new_preshared_key_is_taken_up(void **state)
{
	const uint8_t first[KEY_LEN] = { 1 }, second[KEY_LEN] = { 2 };
	struct world world;
	struct message initiation, response;
	struct received received;

	(void)state;
	world_init(&world);
	for (int side = 0; side < 2; side++)
		peer_set_preshared_key(world.side[side].peer, first);
	world_connect(&world, 0);
	/* Only one side has the new one: no session comes of that. */
	peer_set_preshared_key(world.side[1].peer, second);
	world.ms += 5000;
	assert_int_equal(make_initiation(&world, 0, &initiation), VERDICT_OK);
	assert_int_equal(take(&world, 1, &initiation, &received), VERDICT_OK);
	assert_int_equal(make_response(&world, 1, &response), VERDICT_OK);
	assert_int_equal(take(&world, 0, &response, &received), VERDICT_BAD_HANDSHAKE);
	/* The other takes it up while its initiation is under way: that is enough. */
	peer_set_preshared_key(world.side[0].peer, second);
	assert_int_equal(take(&world, 0, &response, &received), VERDICT_OK);
	assert_int_equal(received.kind, RECEIVED_RESPONSE);
	send_data(&world, 0, 1);
	assert_int_equal(world.side[1].got_data, 1);
	world_free(&world);
}

/* One for each message that asks, none to a reply, and none when the load has passed. */
static void cookie_replies_end(void **state)
{
	struct world world;
	struct message message, reply;
	struct received received;

	(void)state;
	world_init(&world);
	put_under_load(&world, 1);
	assert_int_equal(make_initiation(&world, 0, &message), VERDICT_OK);
	assert_int_equal(take(&world, 1, &message, &received), VERDICT_COOKIE_WANTED);
	make_cookie_reply(&world, 1, &world.side[0].at, &message, &reply);
	/* A reply that comes back is not answered. */
	assert_int_not_equal(take(&world, 1, &reply, &received), VERDICT_COOKIE_WANTED);
	/* It is used for the next initiation, not answered by one. */
	assert_int_equal(take(&world, 0, &reply, &received), VERDICT_OK);
	assert_false(tunnel_next_due(world.side[0].tunnel, world_now(&world), &(struct due){ 0 }));
	for (int i = 0; i < 100; i++)
		assert_int_equal(take(&world, 0, &reply, &received), VERDICT_BAD_COOKIE);
	/* Who is asked again and again sends no more than he would without. */
	world.side[0].sent[MESSAGE_INITIATION] = 0;
	world.cut[0] = true;
	world_run(&world, world.ms + 60000);
	assert_in_range(world.side[0].sent[MESSAGE_INITIATION], 8, 13);
	world.cut[0] = false;
	/* The load has passed: a source without a cookie is heard again. */
	assert_false(load_is_high(&world.side[1].tunnel->load, world_now(&world)));
	strange_initiation(&world, 1, &message);
	assert_int_equal(take(&world, 1, &message, &received), VERDICT_NOT_FOR_US);
	world_free(&world);
}

static void keepalives_do_not_answer_each_other(void **state)
{
	struct world world;

	(void)state;
	world_init(&world);
	send_data(&world, 0, 1);
	send_data(&world, 1, 2);
	world_run(&world, 170000);
	/* Each side owed at most one for the data that it got. */
	assert_true(world.side[0].sent[0] + world.side[1].sent[0] <= 2);
	assert_int_equal(world.side[0].sent[MESSAGE_INITIATION] + world.side[1].sent[MESSAGE_INITIATION], 1);
	world_free(&world);
}

static void a_clock_that_goes_back_breaks_nothing(void **state)
{
	struct world world;
	uint64_t ms;

	(void)state;
	world_init(&world);
	world.ms = 1000000;
	put_under_load(&world, 1);
	send_data(&world, 0, 1);
	world.ms += 100000;
	for (int side = 0; side < 2; side++)
		send_data(&world, side, 2);
	ms = world.ms;
	/* Both clocks, far and a little. */
	for (uint64_t back = 1; back < ms; back *= 7) {
		struct message message;
		struct received received;
		struct due due;

		world.ms = ms - back;
		world.wall_offset_s[0] = -(int64_t)back;
		world.wall_offset_s[1] = -1600000000;
		for (int side = 0; side < 2; side++) {
			while (tunnel_next_due(world.side[side].tunnel, world_now(&world), &due))
				;
			send_data(&world, side, 3);
			strange_initiation(&world, side, &message);
			take(&world, side, &message, &received);
			make_initiation(&world, side, &message);
			make_keepalive(&world, side, &message);
		}
	}
	/* And on from there. */
	world.ms = ms + 600000;
	world_run(&world, world.ms);
	for (int side = 0; side < 2; side++) {
		unsigned before = world.side[!side].got_data;

		send_data(&world, side, 4);
		assert_int_equal(world.side[!side].got_data, before + 1);
	}
	world_free(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_limit_of_data_counters_is_enforced),
		cmocka_unit_test(an_oversized_datagram_does_not_end_receiving),
		cmocka_unit_test(overlapping_allowed_ips_let_no_peer_speak_for_another),
		cmocka_unit_test(a_cookie_covers_the_source_port),
		cmocka_unit_test(counters_and_nonces_have_64_bits),
		cmocka_unit_test(rates_are_limited_for_each_source),
		cmocka_unit_test(nothing_changes_before_authentication),
		cmocka_unit_test(indices_can_not_be_predicted),
		cmocka_unit_test(a_cookie_reply_moves_no_endpoint),
		cmocka_unit_test(a_new_preshared_key_is_taken_up),
		cmocka_unit_test(cookie_replies_end),
		cmocka_unit_test(keepalives_do_not_answer_each_other),
		cmocka_unit_test(a_clock_that_goes_back_breaks_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
