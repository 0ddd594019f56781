/* SPDX-License-Identifier: MIT */
/* The ring of samples and how it is drawn. The clock is a number. */
#include "gui/model/graph.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))
#define T 1000000u

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-9;
}

static void fill(struct history *history, uint64_t from, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct rpc_sample sample = { .time = from + i, .rx_bps = 1000 * (i + 1), .tx_bps = 10, .rtt_us = 2000 };

		history_add(history, &sample, 1);
	}
}

static void test_the_ring_keeps_the_newest_300(void **state)
{
	struct history history = { 0 };

	(void)state;
	fill(&history, T, 450);
	assert_int_equal(history.count, HISTORY_SECONDS);
	assert_int_equal(history_at(&history, 0)->time, T + 150);
	assert_int_equal(history_at(&history, 299)->time, T + 449);
	assert_null(history_at(&history, 300));
}

static void test_samples_that_come_again_are_skipped(void **state)
{
	struct history history = { 0 };

	(void)state;
	fill(&history, T, 100);
	fill(&history, T + 50, 100); /* the daemon's ring, after a reconnect */
	assert_int_equal(history.count, 150);
	for (size_t i = 1; i < history.count; i++)
		assert_true(history_at(&history, i)->time > history_at(&history, i - 1)->time);
}

static void test_a_clock_that_goes_far_back_starts_anew(void **state)
{
	struct history history = { 0 };
	struct rpc_sample hour_ago = { .time = T - 3600 }, just_before = { .time = T + 5 };

	(void)state;
	fill(&history, T, 100);
	history_add(&history, &just_before, 1);
	assert_int_equal(history.count, 100);
	history_add(&history, &hour_ago, 1);
	assert_int_equal(history.count, 1);
}

static void test_summary(void **state)
{
	struct history history = { 0 };
	struct history_summary summary;
	struct rpc_sample slow = { .time = T + 100, .rx_bps = 5, .tx_bps = 99, .rtt_us = 8000 };
	struct rpc_sample silent = { .time = T + 101, .rtt_us = 0 };

	(void)state;
	fill(&history, T, 100);
	history_add(&history, &slow, 1);
	history_add(&history, &silent, 1);
	history_summarize(&history, T + 101, &summary);
	assert_int_equal(summary.rx_now, 0);
	assert_int_equal(summary.rx_peak, 100000);
	assert_int_equal(summary.tx_peak, 99);
	assert_int_equal(summary.rtt_least, 2000);
	assert_int_equal(summary.rtt_most, 8000);
	assert_int_equal(summary.rtt_mean, 2059);
	/* Nothing comes any more: there is no "now", and what is too old does not count. */
	history_summarize(&history, T + 390, &summary);
	assert_int_equal(summary.rtt_now, 0);
	assert_int_equal(summary.rtt_least, 2000);
	history_summarize(&history, T + 1000, &summary);
	assert_int_equal(summary.rx_peak, 0);
}

static void test_tops_are_short_numbers(void **state)
{
	static const struct {
		uint64_t peak, least, top;
		unsigned parts;
	} rows[] = {
		{ 0, GRAPH_RATE_LEAST, 10000, 4 },
		{ 10001, GRAPH_RATE_LEAST, 20000, 4 },
		{ 21000, GRAPH_RATE_LEAST, 50000, 5 },
		{ 50000, GRAPH_RATE_LEAST, 50000, 5 },
		{ 51000, GRAPH_RATE_LEAST, 100000, 4 },
		{ 940000000, GRAPH_RATE_LEAST, 1000000000, 4 },
		{ UINT64_MAX, GRAPH_RATE_LEAST, UINT64_MAX, 4 },
		{ 1, 1, 1, 4 },
	};

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		assert_true(graph_top(rows[i].peak, rows[i].least) == rows[i].top);
		assert_int_equal(graph_parts(rows[i].top), rows[i].parts);
	}
}

static void test_a_scale_grows_at_once_and_shrinks_late(void **state)
{
	static const struct {
		uint64_t at, peak, top;
	} rows[] = {
		{ 0, 4000000, 5000000 },
		{ 1, 9000000, 10000000 },
		{ 2, 100000, 10000000 },
		{ 11, 100000, 10000000 },
		{ 12, 100000, 100000 },
		{ 13, 90000, 100000 },
		{ 14, 400000, 500000 },
		{ 20, 10, 500000 },
		{ 25, 300000, 500000 }, /* busy again: the wait starts anew */
		{ 26, 10, 500000 },
		{ 35, 10, 500000 },
		{ 36, 10, 10000 },
	};
	struct graph_scale scale = { 0 };

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		uint64_t top = graph_scale_step(&scale, rows[i].peak, GRAPH_RATE_LEAST, T + rows[i].at);

		if (top != rows[i].top)
			fail_msg("at %u: %u instead of %u", (unsigned)rows[i].at, (unsigned)top, (unsigned)rows[i].top);
	}
}

static void test_points(void **state)
{
	const struct rpc_sample samples[] = {
		{ .time = T - 400, .rx_bps = 9, .tx_bps = 9, .rtt_us = 9 }, /* too old */
		{ .time = T - 300, .rx_bps = 5000, .tx_bps = 0, .rtt_us = 1000 },
		{ .time = T - 299, .rx_bps = 10000, .tx_bps = 0, .rtt_us = 0 },
		{ .time = T - 150, .rx_bps = 20000, .tx_bps = 0, .rtt_us = 5000 }, /* nothing is known of the time before */
		{ .time = T, .rx_bps = 2500, .tx_bps = 0, .rtt_us = 2000 },
	};
	struct graph_point points[HISTORY_SECONDS];
	struct history history = { 0 };

	(void)state;
	history_add(&history, samples, ROWS(samples));
	assert_int_equal(graph_points(&history, GRAPH_RX, T, 10000, points), 4);
	assert_true(near(points[0].x, 0) && near(points[0].y, 0.5) && points[0].is_start);
	assert_true(near(points[1].y, 1) && !points[1].is_start);
	assert_true(near(points[2].x, 0.5) && near(points[2].y, 1) && points[2].is_start); /* cut at the top */
	assert_true(near(points[3].x, 1) && near(points[3].y, 0.25));
	/* A round trip that is not known is a hole, not a zero. */
	assert_int_equal(graph_points(&history, GRAPH_RTT, T, 10000, points), 3);
	assert_true(points[1].is_start);
}

static void test_spark(void **state)
{
	const struct rpc_sample samples[] = { { .time = T - 60, .rx_bps = 1, .tx_bps = 1, .rtt_us = 0 }, { .time = T - 59, .rx_bps = 50000, .tx_bps = 50000, .rtt_us = 0 }, { .time = T - 58, .rx_bps = 10, .tx_bps = 0, .rtt_us = 0 },
		{ .time = T, .rx_bps = 20000, .tx_bps = 5000, .rtt_us = 0 } };
	struct history history = { 0 };
	double levels[30];

	(void)state;
	assert_false(graph_spark(&history, T, 60, levels, 30));
	history_add(&history, samples, ROWS(samples));
	assert_true(graph_spark(&history, T, 60, levels, 30));
	assert_true(near(levels[0], 1)); /* the busiest of the seconds that share a column */
	assert_true(near(levels[1], 0));
	assert_true(near(levels[29], 0.25));
}

static void test_a_graph_can_be_heard(void **state)
{
	struct history history = { 0 };
	struct rpc_sample silent = { .time = T + 20 };
	char words[GRAPH_WORDS_LEN];

	(void)state;
	graph_words_rate(&history, T, words, sizeof(words));
	assert_string_equal(words, "Nothing measured yet.");
	fill(&history, T, 10);
	graph_words_rate(&history, T + 9, words, sizeof(words));
	assert_string_equal(
		words, "Receiving 10.0 kbit/s, sending 10 bit/s. In the last 5 minutes at most 10.0 kbit/s and 10 bit/s.");
	graph_words_rtt(&history, T + 9, words, sizeof(words));
	assert_string_equal(words,
		"Round trip 2.0 ms. In the last 5 minutes between 2.0 ms and 2.0 ms, 2.0 ms on average.");
	history_add(&history, &silent, 1);
	graph_words_rtt(&history, T + 20, words, sizeof(words));
	assert_string_equal(words,
		"No answer at the moment. In the last 5 minutes between 2.0 ms and 2.0 ms, 2.0 ms on average.");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_ring_keeps_the_newest_300),
		cmocka_unit_test(test_samples_that_come_again_are_skipped),
		cmocka_unit_test(test_a_clock_that_goes_far_back_starts_anew),
		cmocka_unit_test(test_summary),
		cmocka_unit_test(test_tops_are_short_numbers),
		cmocka_unit_test(test_a_scale_grows_at_once_and_shrinks_late),
		cmocka_unit_test(test_points),
		cmocka_unit_test(test_spark),
		cmocka_unit_test(test_a_graph_can_be_heard),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
