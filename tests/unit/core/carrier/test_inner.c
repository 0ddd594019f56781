/* SPDX-License-Identifier: MIT */
/* ECN of inner packets (RFC 6040 figure 4) and which packets make a flow. */
#include "core/carrier/inner.h"

#include "core/base/bytes.h"
#include "core/carrier/queue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

/* RFC 1071, over a whole IPv4 header: 0 when its checksum is right. */
static uint16_t sum(const uint8_t *header)
{
	uint32_t total = 0;

	for (size_t i = 0; i < (size_t)(header[0] & 15) * 4; i += 2)
		total += get_be16(header + i);
	while (total >> 16)
		total = (total & 0xffff) + (total >> 16);
	return (uint16_t)~total;
}

static void make_v4(uint8_t out[28], uint8_t tos, uint16_t id)
{
	memset(out, 0, 28);
	out[0] = 0x45;
	out[1] = tos;
	out[3] = 28;
	put_be16(out + 4, id);
	out[8] = 64;
	out[9] = 17;
	put_be32(out + 12, 0x0a000001);
	put_be32(out + 16, 0x0a000002);
	put_be16(out + 20, 1000);
	put_be16(out + 22, 2000);
	put_be16(out + 10, sum(out));
}

static void make_v6(uint8_t out[48], uint8_t class)
{
	memset(out, 0, 48);
	put_be32(out, 0x60000000u | (uint32_t) class << 20);
	out[5] = 8;
	out[6] = 17;
	out[7] = 64;
	out[23] = 1;
	out[39] = 2;
	put_be16(out + 40, 1000);
	put_be16(out + 42, 2000);
}

enum { NOT = 0, ECT1 = 1, ECT0 = 2, CE = 3, DROP = 4 };

static void combine(void **unused)
{
	/* [inner][outer] */
	static const int figure_4[4][4] = {
		[NOT] = { [NOT] = NOT, [ECT0] = NOT, [ECT1] = NOT, [CE] = DROP },
		[ECT0] = { [NOT] = ECT0, [ECT0] = ECT0, [ECT1] = ECT1, [CE] = CE },
		[ECT1] = { [NOT] = ECT1, [ECT0] = ECT1, [ECT1] = ECT1, [CE] = CE },
		[CE] = { [NOT] = CE, [ECT0] = CE, [ECT1] = CE, [CE] = CE },
	};

	(void)unused;
	for (uint8_t inner = 0; inner < 4; inner++) {
		for (uint8_t outer = 0; outer < 4; outer++) {
			uint8_t v4[28], v6[48];
			int want = figure_4[inner][outer];

			make_v4(v4, (uint8_t)(0xb8 | inner), 7);
			make_v6(v6, (uint8_t)(0xb8 | inner));
			assert_int_equal(inner_ecn(v4, sizeof(v4)), inner);
			assert_int_equal(inner_ecn(v6, sizeof(v6)), inner);
			assert_int_equal(inner_ecn_combine(v4, sizeof(v4), outer), want != DROP);
			assert_int_equal(inner_ecn_combine(v6, sizeof(v6), outer), want != DROP);
			if (want == DROP)
				want = inner;
			assert_int_equal(v4[1], 0xb8 | want); /* the DSCP is left alone */
			assert_int_equal(get_be32(v6) >> 20 & 0xff, 0xb8 | want);
			assert_int_equal(sum(v4), 0);
		}
	}
}

static void marking_mends_every_checksum(void **unused)
{
	(void)unused;
	for (uint32_t id = 0; id < 0x10000; id++) {
		for (uint8_t ecn = 0; ecn < 4; ecn++) {
			uint8_t v4[28];

			make_v4(v4, ecn, (uint16_t)id);
			assert_int_equal(inner_mark_ce(v4, sizeof(v4)), ecn != NOT);
			assert_int_equal(v4[1], ecn == NOT ? NOT : CE);
			assert_int_equal(sum(v4), 0);
		}
	}
}

static void not_ip_is_left_alone(void **unused)
{
	static const struct {
		uint8_t first;
		size_t len;
	} rows[] = { { 0x45, 19 }, { 0x60, 39 }, { 0x00, 48 }, { 0x50, 48 }, { 0x45, 0 } };

	(void)unused;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t bytes[48], before[48];

		memset(bytes, 0xff, sizeof(bytes));
		bytes[0] = rows[i].first;
		memcpy(before, bytes, sizeof(bytes));
		assert_int_equal(inner_ecn(bytes, rows[i].len), NOT);
		assert_true(inner_ecn_combine(bytes, rows[i].len, CE));
		assert_false(inner_mark_ce(bytes, rows[i].len));
		(void)inner_flow_hash(bytes, rows[i].len, 1);
		assert_memory_equal(bytes, before, sizeof(bytes));
	}
}

/* A byte changed at an offset of a packet: the same flow, or another. */
static void flows_v4(void **unused)
{
	static const struct {
		uint16_t fragment; /* bytes 6 and 7 */
		uint8_t protocol;
		size_t offset;
		bool same;
	} rows[] = {
		{ 0, 17, 1, true },  /* TOS */
		{ 0, 17, 5, true },  /* id */
		{ 0, 17, 8, true },  /* TTL */
		{ 0, 17, 9, false }, /* protocol */
		{ 0, 17, 12, false },
		{ 0, 17, 19, false },
		{ 0, 17, 21, false }, /* source port */
		{ 0, 17, 23, false },
		{ 0, 6, 23, false },
		{ 0, 132, 23, false },
		{ 0, 17, 25, true },       /* behind the ports */
		{ 0, 1, 21, true },        /* ICMP has none */
		{ 0x4000, 17, 21, false }, /* don't fragment */
		{ 0x2000, 17, 21, true },  /* first fragment */
		{ 0x0010, 17, 21, true },  /* last fragment */
		{ 0x2000, 17, 12, false },
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t a[28], b[28];

		make_v4(a, 0, 7);
		put_be16(a + 6, rows[i].fragment);
		a[9] = rows[i].protocol;
		memcpy(b, a, sizeof(a));
		b[rows[i].offset] ^= 4;
		assert_int_equal(
			inner_flow_hash(a, sizeof(a), 42) == inner_flow_hash(b, sizeof(b), 42), rows[i].same);
	}
}

static void fragments_stay_together(void **unused)
{
	uint8_t first[28], last[28];

	(void)unused;
	make_v4(first, 0, 7);
	put_be16(first + 6, 0x2000);
	make_v4(last, 0, 7);
	put_be16(last + 6, 0x00b9);
	memset(last + 20, 0xdd, 8);
	assert_int_equal(inner_flow_hash(first, 28, 42), inner_flow_hash(last, 28, 42));
}

static void flows_v6(void **unused)
{
	static const struct {
		uint8_t headers[4]; /* extension headers, each of 8 bytes; 255: none */
		size_t offset;      /* of the changed byte, counted from behind them */
		bool same;
	} rows[] = {
		{ { 255 }, 1, false }, { { 255 }, 3, false }, { { 255 }, 5, true }, { { 0, 255 }, 1, false },
		{ { 43, 255 }, 1, false }, { { 0, 60, 255 }, 3, false }, { { 0, 60, 43, 255 }, 3, false },
		{ { 44, 255 }, 1, true }, { { 0, 44, 255 }, 1, true },
		{ { 51, 255 }, 1, true }, /* not walked: no ports seen, but one flow */
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t a[40 + 4 * 8 + 8], b[sizeof(a)];
		size_t at = 40;
		uint8_t *next = &a[6];

		make_v6(a, 0);
		memset(a + 40, 0, sizeof(a) - 40);
		for (size_t k = 0; k < 4 && rows[i].headers[k] != 255; k++) {
			*next = rows[i].headers[k];
			next = &a[at];
			at += 8;
		}
		*next = 17;
		put_be32(a + at, 0x03e807d0);
		memcpy(b, a, sizeof(a));
		b[at + rows[i].offset] ^= 4;
		assert_int_equal(
			inner_flow_hash(a, at + 8, 42) == inner_flow_hash(b, at + 8, 42), rows[i].same);
		b[at + rows[i].offset] ^= 4;
		b[30] ^= 4; /* destination */
		assert_int_not_equal(inner_flow_hash(a, at + 8, 42), inner_flow_hash(b, at + 8, 42));
	}
}

/* Which flows share a queue is not to be known from outside, and they spread well. */
static void seeded_and_spread(void **unused)
{
	unsigned count[64] = { 0 }, moved = 0;

	(void)unused;
	for (uint16_t port = 0; port < 6400; port++) {
		uint8_t a[28];
		uint32_t one, two;

		make_v4(a, 0, 7);
		put_be16(a + 20, port);
		one = inner_flow_hash(a, sizeof(a), 1) & 63;
		two = inner_flow_hash(a, sizeof(a), 2) & 63;
		count[one]++;
		moved += one != two;
	}
	for (size_t i = 0; i < 64; i++)
		assert_in_range(count[i], 60, 150); /* 100 expected */
	assert_in_range(moved, 6200, 6400);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(combine),
		cmocka_unit_test(marking_mends_every_checksum),
		cmocka_unit_test(not_ip_is_left_alone),
		cmocka_unit_test(flows_v4),
		cmocka_unit_test(fragments_stay_together),
		cmocka_unit_test(flows_v6),
		cmocka_unit_test(seeded_and_spread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
