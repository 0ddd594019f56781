/* SPDX-License-Identifier: MIT */
/* Our messages inside a session: bytes against fields, both ways, and through two tunnels. */
#include "tests/unit/core/tunnel/world.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#define MAGIC 0x57, 0x47, 0x54, 0x58
#define COUNT(x) (sizeof(x) / sizeof(*(x)))

static const struct {
	uint8_t bytes[32];
	struct extension fields;
} good[] = {
	{ { 0, 1, 0, 16, MAGIC, 0, 0, 0, 9, 0, 8, 5, 0x8c },
		{ .type = EXTENSION_HELLO,
			.len = 16,
			.capabilities = CAPABILITY_ECHO | CAPABILITY_LEADS,
			.streams_max = 8,
			.inner_max = 1420 } },
	{ { 0, 2, 0, 26, MAGIC, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 1, 2, 5, 0x8c },
		{ .type = EXTENSION_ECHO_REQUEST,
			.len = 26,
			.id = 0x0102030405060708,
			.clock_ns = 0x0102,
			.reply_len = 1420 } },
	{ { 0, 3, 0, 32, MAGIC, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x80 },
		{ .type = EXTENSION_ECHO_REPLY, .len = 32, .id = UINT64_MAX, .clock_ns = 1ull << 63 } },
	{ { 0, 4, 0, 16, MAGIC, 0, 0, 0, 0, 0, 0, 0, 77 },
		{ .type = EXTENSION_STAMP, .len = 16, .clock_ns = 77 } },
	{ { 0, 5, 0, 16, MAGIC, 5, 0x64 }, { .type = EXTENSION_BURST, .len = 16, .segment = 1380 } },
};

static void fields_equal(const struct extension *a, const struct extension *b)
{
	assert_int_equal(a->type, b->type);
	assert_int_equal(a->len, b->len);
	assert_int_equal(a->capabilities, b->capabilities);
	assert_int_equal(a->streams_max, b->streams_max);
	assert_int_equal(a->inner_max, b->inner_max);
	assert_int_equal(a->id, b->id);
	assert_int_equal(a->clock_ns, b->clock_ns);
	assert_int_equal(a->reply_len, b->reply_len);
	assert_int_equal(a->segment, b->segment);
}

static void bytes_and_fields_agree(void **state)
{
	uint8_t out[40];
	struct extension parsed;

	(void)state;
	for (size_t i = 0; i < COUNT(good); i++) {
		uint16_t len = good[i].fields.len;

		memset(out, 0xee, sizeof(out));
		assert_true(extension_write(&good[i].fields, out, sizeof(out)));
		assert_memory_equal(out, good[i].bytes, len);
		assert_int_equal(out[len], 0xee); /* and not a byte more */
		assert_false(extension_write(&good[i].fields, out, len - 1u));
		for (size_t padded = len; padded <= 32; padded++) {
			assert_true(extension_parse(good[i].bytes, padded, &parsed));
			fields_equal(&parsed, &good[i].fields);
		}
		for (size_t shorter = 0; shorter < len; shorter++)
			assert_false(extension_parse(good[i].bytes, shorter, &parsed));
	}
}

static void malformed_is_refused_and_nothing_written(void **state)
{
	static const uint8_t rows[][32] = {
		{ 1, 1, 0, 16, MAGIC }, /* first byte */
		{ 0x0f, 1, 0, 16, MAGIC },
		{ 0, 0, 0, 16, MAGIC }, /* types that we do not know */
		{ 0, 6, 0, 16, MAGIC },
		{ 0, 255, 0, 16, MAGIC },
		{ 0, 1, 0, 15, MAGIC }, /* too short for its type */
		{ 0, 1, 0, 0, MAGIC },
		{ 0, 2, 0, 25, MAGIC },
		{ 0, 3, 0, 25, MAGIC },
		{ 0, 4, 0, 15, MAGIC },
		{ 0, 5, 0, 15, MAGIC, 5, 0x64 },
		{ 0, 5, 0, 33, MAGIC, 5, 0x64 },
		{ 0, 5, 0, 16, MAGIC, 0, 0 }, /* a burst of nothing at a time */
		{ 0, 1, 0, 33, MAGIC }, /* longer than what is there */
		{ 0, 2, 0xff, 0xff, MAGIC },
		{ 0, 1, 0, 16, 0x57, 0x47, 0x54, 0x59 }, /* magic */
		{ 0 },
	};
	struct extension out, before;

	(void)state;
	memset(&out, 0x5a, sizeof(out));
	before = out;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_false(extension_parse(rows[i], sizeof(rows[i]), &out));
		assert_memory_equal(&out, &before, sizeof(out));
	}
}

static void unwritable_is_refused(void **state)
{
	static const struct extension rows[] = {
		{ .type = EXTENSION_HELLO, .len = 15 },
		{ .type = EXTENSION_ECHO_REQUEST, .len = 25 },
		{ .type = EXTENSION_STAMP, .len = 0 },
		{ .type = (enum extension_type)0, .len = 32 },
		{ .type = EXTENSION_BURST, .len = 15 },
		{ .type = (enum extension_type)6, .len = 32 },
	};
	uint8_t out[64];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_false(extension_write(&rows[i], out, sizeof(out)));
}

static void passes_through_the_tunnel(void **state)
{
	struct world world;
	struct message message;
	struct received received;
	struct extension extension = {
		.type = EXTENSION_ECHO_REQUEST, .len = 1420, .id = 5, .reply_len = 1420
	};

	(void)state;
	world_init(&world);
	struct side *side = &world.side[0];
	struct packet *packet = packet_take(world.pool);

	assert_int_equal(
		tunnel_seal_extension(side->tunnel, side->peer, &extension, packet, world_now(&world)),
		VERDICT_NO_SESSION);
	assert_int_equal(packet->len, 0);
	world_connect(&world, 0);
	assert_int_equal(
		tunnel_seal_extension(side->tunnel, side->peer, &extension, packet, world_now(&world)),
		VERDICT_OK);
	assert_int_equal(packet->len, 1452); /* full size: padding stops at the MTU */
	memcpy(message.bytes, packet->data, packet->len);
	message.len = packet->len;
	packet_give(world.pool, packet);
	assert_int_equal(take(&world, 1, &message, &received), VERDICT_OK);
	assert_int_equal(received.kind, RECEIVED_EXTENSION);
	fields_equal(&received.extension, &extension);
	extension.len = MESSAGE_MAX + 1;
	packet = packet_take(world.pool);
	assert_int_equal(
		tunnel_seal_extension(side->tunnel, side->peer, &extension, packet, world_now(&world)),
		VERDICT_TOO_LARGE);
	packet_give(world.pool, packet);
	world_free(&world);
}

/* A burst of TCP with no more in it than the tunnel looks at. */
static void fill_burst(struct packet *burst, int side, size_t len)
{
	burst->len = (uint32_t)inner_write(side, 7, len, burst->data);
	for (size_t i = 40; i < len; i++)
		burst->data[i] = (uint8_t)(i * 7);
	burst->segment = 1380;
}

static void a_burst_passes_in_one_message(void **state)
{
	static const size_t lens[] = { 2000, 20000, BURST_MAX - 1, BURST_MAX };
	static uint8_t message[65535];
	struct packet_pool *pool = packet_pool_new(1, 2048);
	struct received received;
	struct world world;

	(void)state;
	assert_null(packet_take_burst(pool)); /* where nobody added any */
	assert_true(packet_pool_add_bursts(pool, 2, 65536));
	world_init(&world);
	struct side *from = &world.side[0], *to = &world.side[1];
	struct packet *burst = packet_take_burst(pool), *plain;

	fill_burst(burst, 0, 2000);
	assert_int_equal(tunnel_seal_burst(from->tunnel, from->peer, burst, world_now(&world)), VERDICT_NO_SESSION);
	assert_int_equal(burst->len, 2000); /* as it was */
	assert_int_equal(burst->data[0], 0x45);
	packet_give(pool, burst);
	world_connect(&world, 0);
	for (size_t i = 0; i < COUNT(lens); i++) {
		burst = packet_take_burst(pool);
		plain = packet_take_burst(pool);
		assert_null(packet_take_burst(pool));
		fill_burst(burst, 0, lens[i]);
		assert_int_equal(tunnel_seal_burst(from->tunnel, from->peer, burst, world_now(&world)), VERDICT_OK);
		assert_in_range(burst->len, lens[i] + 48, 65535);
		memcpy(message, burst->data, burst->len);
		assert_int_equal(tunnel_receive(to->tunnel, CARRIER_TCP, &from->at, message, burst->len,
					 world_now(&world), world_wall(&world, 1), plain, &received),
			VERDICT_OK);
		assert_int_equal(received.kind, RECEIVED_DATA);
		assert_int_equal(plain->len, lens[i]);
		assert_int_equal(plain->segment, 1380);
		packet_give(pool, burst);
		burst = packet_take_burst(pool);
		fill_burst(burst, 0, lens[i]);
		assert_memory_equal(plain->data, burst->data, lens[i]);
		packet_give(pool, burst);
		packet_give(pool, plain);
	}
	/* Too large for one message; and from an address that is not the peer's. */
	burst = packet_take_burst(pool);
	plain = packet_take_burst(pool);
	fill_burst(burst, 0, BURST_MAX + 1);
	assert_int_equal(tunnel_seal_burst(from->tunnel, from->peer, burst, world_now(&world)), VERDICT_TOO_LARGE);
	burst->data[12] ^= 0x40;
	burst->len = 3000;
	burst->data[2] = 3000 >> 8;
	burst->data[3] = 3000 & 0xff;
	assert_int_equal(tunnel_seal_burst(from->tunnel, from->peer, burst, world_now(&world)), VERDICT_OK);
	assert_int_equal(tunnel_receive(to->tunnel, CARRIER_TCP, &from->at, burst->data, burst->len, world_now(&world),
				 world_wall(&world, 1), plain, &received),
		VERDICT_SOURCE_NOT_ALLOWED);
	assert_int_equal(received.kind, RECEIVED_NOTHING);
	packet_give(pool, burst);
	packet_give(pool, plain);
	world_free(&world);
	packet_pool_free(pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_and_fields_agree),
		cmocka_unit_test(malformed_is_refused_and_nothing_written),
		cmocka_unit_test(unwritable_is_refused),
		cmocka_unit_test(passes_through_the_tunnel),
		cmocka_unit_test(a_burst_passes_in_one_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
