/* SPDX-License-Identifier: MIT */
/* Minutes and hours, their bounds, and the file. */
#include "tests/contract/cmocka_all.h"

#include "client/daemon/history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct rpc_point points[HISTORY_POINTS_MAX];

static void minutes_and_hours(void **state)
{
	struct history *history = history_new();
	uint64_t second;

	(void)state;
	/* Two hours, one reading each half minute, echoes in all but the first minute. */
	for (second = 0; second < 7200; second += 30)
		history_add(history, "office",
			&(struct history_reading){ .time = 36000 + second,
				.rx_bytes = 10,
				.tx_bytes = 1,
				.rx_bps = second,
				.rtt_us = second < 60 ? 0 : 20000 + (uint32_t)second,
				.echoes = second < 60 ? 0 : 60,
				.lost = second < 60 ? 0 : 6 });
	assert_int_equal(
		history_points(history, "office", RPC_RESOLUTION_MINUTE, 0, points, HISTORY_POINTS_MAX), 120);
	assert_int_equal(points[0].time, 36000);
	assert_int_equal(points[0].rx_bytes, 20);
	assert_int_equal(points[0].rtt_us, 0);
	assert_int_equal(points[1].rtt_us, 20075); /* the mean of 60 and 90 */
	assert_int_equal(points[1].rtt_max_us, 20090);
	assert_int_equal(points[1].echoes, 60);
	assert_int_equal(points[1].lost, 6);
	assert_int_equal(points[1].rx_max_bps, 90);
	assert_int_equal(
		history_points(history, "office", RPC_RESOLUTION_HOUR, 0, points, HISTORY_POINTS_MAX), 2);
	assert_int_equal(points[0].rx_bytes, 1200);
	assert_int_equal(points[1].tx_bytes, 120);
	assert_int_equal(points[0].echoes, 59 * 60);
	assert_int_equal(points[0].lost, 59 * 6);
	/* Page by page. */
	assert_int_equal(history_points(history, "office", RPC_RESOLUTION_MINUTE, 36000 + 600, points, 4), 4);
	assert_int_equal(points[0].time, 36000 + 360);
	assert_int_equal(history_points(history, "office", RPC_RESOLUTION_MINUTE, 36000, points, 4), 0);
	assert_int_equal(history_points(history, "nobody", RPC_RESOLUTION_MINUTE, 0, points, 4), 0);
	/* Nothing seen is no point; a clock that goes back adds to the newest. */
	assert_false(history_add(history, "office", &(struct history_reading){ .time = 99999, .rtt_us = 5 }));
	assert_true(
		history_add(history, "office", &(struct history_reading){ .time = 36000, .rx_bytes = 5 }));
	assert_int_equal(history_points(history, "office", RPC_RESOLUTION_MINUTE, 0, points, 1), 1);
	assert_int_equal(points[0].rx_bytes, 25);
	history_forget(history, "office");
	assert_int_equal(history_points(history, "office", RPC_RESOLUTION_HOUR, 0, points, 4), 0);
	history_free(history);
}

/* One reading years ahead; then the right clock again, for more than a day. */
static void a_clock_that_was_ahead(void **state)
{
	static const uint64_t begin = 1800000000, day = 86400;
	struct history *history = history_new();
	struct history_reading reading = { .rx_bytes = 1 };
	size_t count;

	(void)state;
	for (reading.time = begin; reading.time < begin + 7200; reading.time += 60)
		history_add(history, "office", &reading);
	reading.time = begin + 3000 * day;
	history_add(history, "office", &reading);
	for (reading.time = begin + 7200; reading.time < begin + 7200 + day / 2; reading.time += 600)
		history_add(history, "office", &reading);
	/* It may be this one that is wrong. */
	count = history_points(history, "office", RPC_RESOLUTION_HOUR, 0, points, HISTORY_POINTS_MAX);
	assert_int_equal(count, 3);
	assert_true(points[2].time > begin + 2999 * day);
	for (; reading.time < begin + 7200 + 2 * day; reading.time += 600)
		history_add(history, "office", &reading);
	count = history_points(history, "office", RPC_RESOLUTION_HOUR, 0, points, HISTORY_POINTS_MAX);
	assert_true(count > 24);
	assert_int_equal(points[0].time, begin);
	for (size_t i = 1; i < count; i++)
		assert_true(points[i].time > points[i - 1].time && points[i].time < begin + 3 * day);
	history_free(history);
}

static void stays_within_its_bounds(void **state)
{
	struct history *history = history_new(), *again = history_new();
	uint64_t minute;
	char name[16], *text, *second;
	size_t len, second_len;
	int tunnel;

	(void)state;
	/* 80 tunnels with more than a day of minutes each, and large numbers. */
	for (tunnel = 0; tunnel < 80; tunnel++) {
		snprintf(name, sizeof(name), "tunnel-%d", tunnel);
		for (minute = 0; minute < HISTORY_POINTS_MAX + 10; minute++)
			history_add(history, name,
				&(struct history_reading){
					.time = 1800000000 + 60 * minute + (uint64_t)tunnel,
					.rx_bytes = UINT64_MAX / 2,
					.tx_bytes = UINT64_MAX / 2,
					.rx_bps = UINT64_MAX,
					.tx_bps = UINT64_MAX,
					.rtt_us = UINT32_MAX,
					.echoes = UINT32_MAX,
					.lost = 1 });
	}
	assert_int_equal(
		history_points(history, "tunnel-79", RPC_RESOLUTION_MINUTE, 0, points, HISTORY_POINTS_MAX),
		HISTORY_POINTS_MAX);
	text = history_write(history, &len);
	assert_non_null(text);
	assert_in_range(len, HISTORY_BYTES_MAX / 2, HISTORY_BYTES_MAX);
	assert_true(history_read(again, text, len));
	second = history_write(again, &second_len);
	assert_int_equal(second_len, len);
	assert_memory_equal(text, second, len);
	free(text);
	free(second);
	history_free(history);
	history_free(again);
}

static void damaged_files(void **state)
{
	static const struct {
		const char *text;
		size_t kept; /* points of "a" by the minute */
	} table[] = {
		{ "", 0 },
		{ "something else\n", 0 },
		{ "wgtcp-history 2\nt a\nm 60 1 1 1 1 1 1 1 1 1\n", 0 },
		{ "wgtcp-history 1\nm 60 1 1 1 1 1 1 1 1 1\n", 0 },
		{ "wgtcp-history 1\nt a\nm 60 1 1 1 1 1 1 1 1 1\nm 60 1 1 1 1 1 1 1 1 1\n", 1 },
		{ "wgtcp-history 1\nt a\nm 60 1 1 1 1 1 1 1 1 1\nm 120 1 1 1 1 1 1 1 1 2\n", 1 },
		{ "wgtcp-history 1\nt a\nm 60 1 1 1 1 1 1 1 1 1\nm 120 1 1\n", 1 },
		{ "wgtcp-history 1\nt a\nm 60 1 1 1 1 1 1 1 1 1\nm 120 1 1 1 1 1 1 1 1 1",
			1 }, /* cut short */
		{ "wgtcp-history 1\nt a/b\nm 60 1 1 1 1 1 1 1 1 1\n", 0 },
		{ "wgtcp-history 1\nt a\nm -60 1 1 1 1 1 1 1 1 1\n", 0 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct history *history = history_new();

		if (history_read(history, table[i].text, strlen(table[i].text)) ||
			history_points(history, "a", RPC_RESOLUTION_MINUTE, 0, points, 9) != table[i].kept)
			fail_msg("%s", table[i].text);
		history_free(history);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(minutes_and_hours),
		cmocka_unit_test(a_clock_that_was_ahead),
		cmocka_unit_test(stays_within_its_bounds),
		cmocka_unit_test(damaged_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
