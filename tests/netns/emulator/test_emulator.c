/* SPDX-License-Identifier: MIT */
/* The emulated link against its description, with a number for a clock. */
#include "tests/netns/emulator/direction.h"
#include "tests/netns/emulator/settings.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

/* A packet that is one frame. */
static void push(struct direction *direction, uint32_t number, size_t len, uint64_t now)
{
	const struct virtio_net_hdr header = { 0 };
	uint8_t *room = direction_room(direction);
	struct burst burst;

	memset(room, (int)(number & 0xff), len);
	memcpy(room, &number, sizeof(number));
	assert_true(burst_measure(&burst, &header, room, len));
	direction_push(direction, &burst, now);
}

/* The number of the packet that is due, checked byte by byte and popped; -1: none. */
static int64_t take(struct direction *direction, uint64_t now, size_t expect_len)
{
	struct direction_row due;
	struct burst_row row;
	uint32_t number;
	const uint8_t *packet;

	if (!direction_due(direction, now, &due))
		return -1;
	burst_form(due.burst, due.bytes, due.first, due.end, &row);
	assert_int_equal(row.iov_count, 2);
	assert_int_equal(row.iov[1].iov_len, expect_len);
	packet = row.iov[1].iov_base;
	memcpy(&number, packet, sizeof(number));
	for (size_t i = sizeof(number); i < expect_len; i++)
		assert_int_equal(packet[i], number & 0xff);
	direction_pop(direction, &due);
	return number;
}

static void test_delay_is_exact(void **state)
{
	struct direction_settings settings = { .delay_us = 20000, .queue_bytes = 10000 };
	struct direction *direction = direction_new(&settings, 1, 16);

	(void)state;
	assert_int_equal(direction_deadline(direction), UINT64_MAX);
	push(direction, 7, 100, 5 * MS);
	assert_int_equal(direction_deadline(direction), 25 * MS);
	assert_int_equal(take(direction, 25 * MS - 1, 100), -1);
	assert_int_equal(take(direction, 25 * MS, 100), 7);
	assert_int_equal(take(direction, 99 * MS, 100), -1);
	direction_free(direction);
}

static void test_shorter_delay_does_not_overtake(void **state)
{
	struct direction_settings settings = { .delay_us = 50000, .queue_bytes = 10000 };
	struct direction *direction = direction_new(&settings, 1, 16);

	(void)state;
	push(direction, 1, 100, 0);
	settings.delay_us = 1000;
	direction_set(direction, &settings);
	push(direction, 2, 100, 10 * MS);
	assert_int_equal(take(direction, 49 * MS, 100), -1);
	assert_int_equal(take(direction, 50 * MS, 100), 1);
	assert_int_equal(take(direction, 50 * MS, 100), 2);
	push(direction, 3, 100, 60 * MS);
	assert_int_equal(take(direction, 61 * MS, 100), 3);
	direction_free(direction);
}

static void test_rate_spaces_packets(void **state)
{
	/* 1000 bytes at 8 Mb/s take 1 ms. */
	struct direction_settings settings = { .rate_bps = 8000000, .queue_bytes = 100000, .delay_us = 2000 };
	struct direction *direction = direction_new(&settings, 1, 64);

	(void)state;
	for (uint32_t i = 0; i < 10; i++)
		push(direction, i, 1000, 0);
	for (uint32_t i = 0; i < 10; i++) {
		assert_int_equal(direction_deadline(direction), (i + 3) * MS);
		assert_int_equal(take(direction, (i + 3) * MS - 1, 1000), -1);
		assert_int_equal(take(direction, (i + 3) * MS, 1000), i);
	}
	direction_free(direction);
}

static void test_queue_is_bounded_in_bytes(void **state)
{
	struct direction_settings settings = { .rate_bps = 8000000, .queue_bytes = 3000 };
	struct direction *direction = direction_new(&settings, 1, 64);
	struct direction_stats stats;

	(void)state;
	for (uint32_t i = 0; i < 10; i++)
		push(direction, i, 1000, 0);
	direction_stats(direction, &stats);
	assert_int_equal(stats.dropped, 7);
	/* One has left after 1 ms, so one fits again. */
	push(direction, 10, 1000, 1 * MS);
	push(direction, 11, 1000, 1 * MS);
	direction_stats(direction, &stats);
	assert_int_equal(stats.dropped, 8);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(take(direction, 100 * MS, 1000), i);
	assert_int_equal(take(direction, 100 * MS, 1000), 10);
	assert_int_equal(take(direction, 100 * MS, 1000), -1);
	direction_free(direction);
}

static void test_ring_is_bounded_and_wraps(void **state)
{
	struct direction_settings settings = { .delay_us = 1000 };
	struct direction *direction = direction_new(&settings, 1, 4);
	struct direction_stats stats;
	uint32_t next = 0;

	(void)state;
	for (uint64_t round = 0; round < 100; round++) {
		for (uint32_t i = 0; i < 6; i++)
			push(direction, next + i, 64, round * 10 * MS);
		for (uint32_t i = 0; i < 4; i++)
			assert_int_equal(take(direction, round * 10 * MS + MS, 64), next + i);
		assert_int_equal(take(direction, round * 10 * MS + MS, 64), -1);
		next += 6;
	}
	direction_stats(direction, &stats);
	assert_int_equal(stats.dropped, 200);
	assert_int_equal(stats.delivered, 400);
	direction_free(direction);
}

/* Fraction lost and number of loss bursts of 100,000 packets; order is checked on the way. */
static void run_loss(const struct direction_settings *settings, uint64_t seed, double *loss, double *burst)
{
	struct direction *direction = direction_new(settings, seed, 4);
	struct direction_stats stats;
	uint32_t lost = 0, bursts = 0;
	bool in_burst = false;

	for (uint32_t i = 0; i < 100000; i++) {
		int64_t got;

		push(direction, i, 64, i);
		got = take(direction, i, 64);
		if (got == -1) {
			lost++;
			bursts += !in_burst;
		} else {
			assert_int_equal(got, i);
		}
		in_burst = got == -1;
	}
	direction_stats(direction, &stats);
	assert_int_equal(stats.lost, lost);
	assert_int_equal(stats.delivered, 100000 - lost);
	*loss = lost / 100000.0;
	*burst = bursts ? (double)lost / bursts : 0;
	direction_free(direction);
}

static void test_loss_has_its_rate(void **state)
{
	static const double rates[] = { 0, 0.001, 0.01, 0.05, 0.5, 1 };
	double loss, burst, again;

	(void)state;
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		struct direction_settings settings = { .loss = rates[i] };
		double sigma = sqrt(rates[i] * (1 - rates[i]) / 100000);

		run_loss(&settings, 42, &loss, &burst);
		assert_true(fabs(loss - rates[i]) <= 5 * sigma);
		run_loss(&settings, 42, &again, &burst);
		assert_true(loss <= again && again <= loss);
	}
}

static void test_seeds_differ(void **state)
{
	struct direction_settings settings = { .loss = 0.5 };
	struct direction *a = direction_new(&settings, 1, 4), *b = direction_new(&settings, 2, 4);
	int differ = 0;

	(void)state;
	for (uint32_t i = 0; i < 1000; i++) {
		push(a, i, 64, i);
		push(b, i, 64, i);
		differ += take(a, i, 64) != take(b, i, 64);
	}
	assert_true(differ > 400 && differ < 600);
	direction_free(a);
	direction_free(b);
}

static void test_bursts_have_their_length(void **state)
{
	/* Bad 1/11 of the time, everything lost then: bursts of 10 packets on average. */
	struct direction_settings settings = { .bad_enter = 0.01, .bad_leave = 0.1, .bad_loss = 1 };
	double loss, burst;

	(void)state;
	run_loss(&settings, 7, &loss, &burst);
	assert_true(loss > 0.08 && loss < 0.102);
	assert_true(burst > 9 && burst < 11);
}

static void test_settings_text(void **state)
{
	static const struct {
		const char *text;
		bool good;
	} table[] = {
		{ "delay=20ms", true },
		{ "delay=1.5ms", true },
		{ "delay=0", true },
		{ "delay=20", false },
		{ "delay=-1ms", false },
		{ "delay=2min", false },
		{ "rate=100mbit", true },
		{ "rate=0", true },
		{ "rate=fast", false },
		{ "queue=256k", true },
		{ "queue=1500", true },
		{ "queue=", false },
		{ "loss=1%", true },
		{ "loss=0.01", true },
		{ "loss=101%", false },
		{ "loss=1x", false },
		{ "loss=nan", false },
		{ "ge=1%,10%,100%", true },
		{ "ge=off", true },
		{ "ge=1%,10%", false },
		{ "ge=1%,10%,100%,", false },
		{ "ge=1%,25%,90%,1%", true },
		{ "ge=1%,25%,90%,1%,1%", false },
		{ "queue=1bdp", true },
		{ "queue=0.5bdp", true },
		{ "queue=0bdp", false },
		{ "reorder=1%,5ms", true },
		{ "reorder=1%", false },
		{ "reorder=1%,5", false },
		{ "reorder=off", true },
		{ "speed=1", false },
		{ "delay", false },
		{ "", false },
	};
	struct direction_settings settings = { 0 }, again = { 0 };
	const char *problem;
	char text[256], *save;

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct direction_settings before = settings;

		problem = NULL;
		assert_int_equal(settings_parse(&settings, table[i].text, &problem), table[i].good);
		if (!table[i].good) {
			assert_memory_equal(&settings, &before, sizeof(before));
			assert_non_null(problem);
		}
	}
	assert_true(settings_parse(&settings, "ge=0.5%,20%,50%", &problem));
	assert_true(settings_parse(&settings, "queue=1.5bdp", &problem));
	assert_true(settings_parse(&settings, "reorder=2%,3ms", &problem));
	settings_write(&settings, text, sizeof(text));
	for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save))
		assert_true(settings_parse(&again, word, &problem));
	assert_int_equal(again.rate_bps, settings.rate_bps);
	assert_int_equal(again.delay_us, settings.delay_us);
	assert_true(fabs(again.queue_bdp - 1.5) < 1e-9 && fabs(again.reorder - 0.02) < 1e-9);
	assert_int_equal(again.reorder_us, 3000);
	assert_true(fabs(again.bad_enter - 0.005) < 1e-9 && fabs(again.bad_loss - 0.5) < 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_delay_is_exact),
		cmocka_unit_test(test_shorter_delay_does_not_overtake),
		cmocka_unit_test(test_rate_spaces_packets),
		cmocka_unit_test(test_queue_is_bounded_in_bytes),
		cmocka_unit_test(test_ring_is_bounded_and_wraps),
		cmocka_unit_test(test_loss_has_its_rate),
		cmocka_unit_test(test_seeds_differ),
		cmocka_unit_test(test_bursts_have_their_length),
		cmocka_unit_test(test_settings_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
