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
		{ 0, 5, 0, 16, MAGIC },
		{ 0, 255, 0, 16, MAGIC },
		{ 0, 1, 0, 15, MAGIC }, /* too short for its type */
		{ 0, 1, 0, 0, MAGIC },
		{ 0, 2, 0, 25, MAGIC },
		{ 0, 3, 0, 25, MAGIC },
		{ 0, 4, 0, 15, MAGIC },
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
		{ .type = (enum extension_type)5, .len = 32 },
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_and_fields_agree),
		cmocka_unit_test(malformed_is_refused_and_nothing_written),
		cmocka_unit_test(unwritable_is_refused),
		cmocka_unit_test(passes_through_the_tunnel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
