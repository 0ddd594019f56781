/* SPDX-License-Identifier: MIT */
/* The ICMP errors for inner packets that are too large: their bytes, and what is never answered. */
#include "core/carrier/too_big.h"

#include "core/base/bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ROOM 4096

static struct packet_pool *pool;

static int open_pool(void **state)
{
	(void)state;
	pool = packet_pool_new(2, ROOM);
	return pool ? 0 : -1;
}

static int close_pool(void **state)
{
	(void)state;
	packet_pool_free(pool);
	return 0;
}

static uint32_t sum(const uint8_t *bytes, size_t len, uint32_t start)
{
	for (size_t i = 0; i < len; i++)
		start += (uint32_t)bytes[i] << (i % 2 ? 0 : 8);
	while (start >> 16)
		start = (start & 0xffff) + (start >> 16);
	return start;
}

/* A UDP packet of len bytes. */
static struct packet *make(int version, uint32_t len)
{
	struct packet *packet = packet_take(pool);
	uint8_t *data = packet->data;

	memset(data, 0xab, len);
	packet->len = len;
	if (version == 4) {
		memset(data, 0, 20);
		data[0] = 0x45;
		data[6] = 0x40;
		data[9] = 17;
		memcpy(data + 12, "\x0a\x09\x00\x02\x0a\x09\x00\x01", 8);
	} else {
		memset(data, 0, 40);
		data[0] = 0x60;
		data[6] = 17;
		memcpy(data + 8, "\xfd\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02", 16);
		memcpy(data + 24, "\xfd\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01", 16);
	}
	return packet;
}

static void answers_are_whole(void **state)
{
	(void)state;
	for (int version = 4; version <= 6; version += 2)
		for (uint32_t len = version == 4 ? 21 : 41; len <= 3000; len += 7) {
			struct packet *inner = make(version, len), *answer = packet_take(pool);
			size_t header = version == 4 ? 20 : 40, address = version == 4 ? 4 : 16;
			const uint8_t *out = answer->data, *from = out + (version == 4 ? 12 : 8);
			const uint8_t *in_from = inner->data + (version == 4 ? 12 : 8);
			uint32_t pseudo = 0;

			assert_true(too_big_answer(inner, 1420, answer));
			assert_memory_equal(from, in_from + address, address);
			assert_memory_equal(from + address, in_from, address);
			assert_memory_equal(out + header + 8, inner->data, answer->len - header - 8);
			if (version == 4) {
				assert_int_equal(get_be16(out + 2), answer->len);
				assert_int_equal(sum(out, 20, 0), 0xffff);
				assert_int_equal(out[20] << 8 | out[21], 0x0304);
				assert_int_equal(get_be16(out + 26), 1420);
				assert_true(answer->len <= 576);
			} else {
				assert_int_equal(get_be16(out + 4) + 40u, answer->len);
				assert_int_equal(out[40] << 8 | out[41], 0x0200);
				assert_int_equal(get_be32(out + 44), 1420);
				assert_true(answer->len <= 1280);
				pseudo = sum(out + 8, 32, answer->len - 40 + 58);
			}
			assert_int_equal(sum(out + header, answer->len - header, pseudo), 0xffff);
			packet_give(pool, inner);
			packet_give(pool, answer);
		}
}

/* One byte of the packet set to this. */
static const struct {
	int version;
	size_t at;
	uint8_t value;
} never[] = {
	{ 4, 0, 0x44 }, /* header of 16 bytes */
	{ 4, 0, 0x55 }, /* version 5 */
	{ 4, 7, 0x10 }, /* a later fragment */
	{ 4, 16, 224 }, /* to many */
	{ 4, 12, 0 },   /* from nobody */
	{ 6, 24, 0xff },
	{ 6, 8, 0xff },
};

static void some_are_never_answered(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++) {
		struct packet *inner = make(never[i].version, 2000), *answer = packet_take(pool);

		inner->data[never[i].at] = never[i].value;
		assert_false(too_big_answer(inner, 1420, answer));
		packet_give(pool, inner);
		packet_give(pool, answer);
	}
	for (int version = 4; version <= 6; version += 2) {
		struct packet *inner = make(version, 2000), *answer = packet_take(pool);
		uint8_t *protocol = inner->data + (version == 4 ? 9 : 6),
			*type = inner->data + (version == 4 ? 20 : 40);

		*protocol = version == 4 ? 1 : 58;
		*type = version == 4 ? 3 : 1;
		assert_false(too_big_answer(inner, 1420, answer));
		*type = version == 4 ? 8 : 128;
		assert_true(too_big_answer(inner, 1420, answer));
		packet_give(pool, inner);
		packet_give(pool, answer);
	}
}

static void any_bytes_are_safe(void **state)
{
	(void)state;
	srand(1);
	for (int round = 0; round < 20000; round++) {
		struct packet *inner = packet_take(pool), *answer = packet_take(pool);

		inner->len = (uint32_t)(rand() % 200);
		for (uint32_t i = 0; i < inner->len; i++)
			inner->data[i] = (uint8_t)rand();
		if (inner->len)
			inner->data[0] = (uint8_t)(round % 2 ? 0x40 | (inner->data[0] & 15) : 0x60);
		if (too_big_answer(inner, 1280, answer))
			assert_in_range(answer->len, 28, ROOM);
		packet_give(pool, inner);
		packet_give(pool, answer);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_are_whole),
		cmocka_unit_test(some_are_never_answered),
		cmocka_unit_test(any_bytes_are_safe),
	};

	return cmocka_run_group_tests(tests, open_pool, close_pool);
}
