/* SPDX-License-Identifier: MIT */
/* Rates and the ring of samples, with a number for a clock. */
#include "client/daemon/stats.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct mono at(uint64_t ms)
{
	return (struct mono){ (ms + 1) * 1000000 };
}

static void rates_from_counters(void **state)
{
	static const struct {
		uint64_t ms, rx, tx;
		bool sample;
		uint64_t rx_bps, tx_bps;
	} cases[] = {
		{ 0, 1000, 500, false, 0, 0 }, /* the first reading says nothing about "now" */
		{ 1000, 2000, 500, true, 8000, 0 },
		{ 1500, 2000, 1500, true, 0, 16000 },
		{ 1510, 9000, 9000, false, 0, 16000 }, /* the same instant */
		{ 2500, 0, 0, true, 0, 0 },            /* a new engine */
		{ 3500, 125, 0, true, 1000, 0 },
		{ 39000, 99999, 0, false, 0, 0 }, /* the machine slept in between */
		{ 40000, 99999, 10, true, 0, 80 },
	};
	static struct stats stats;
	size_t i, samples = 0;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct rpc_sample read = { .time = 1000 + i, .rtt_us = 7 };
		const struct rpc_sample *sample =
			stats_add(&stats, at(cases[i].ms), cases[i].rx, cases[i].tx, &read);

		if (!sample != !cases[i].sample)
			fail_msg("at %d ms", (int)cases[i].ms);
		if (!sample)
			continue;
		samples++;
		assert_int_equal(sample->time, 1000 + i);
		assert_int_equal(sample->rx_bps, cases[i].rx_bps);
		assert_int_equal(sample->tx_bps, cases[i].tx_bps);
		assert_int_equal(sample->rtt_us, 7);
	}
	assert_int_equal(stats.count, samples);
}

static void keeps_the_last_300(void **state)
{
	static struct stats stats;
	static struct rpc_sample samples[STATS_SAMPLES];
	size_t i;

	(void)state;
	for (i = 0; i < STATS_SAMPLES + 21; i++)
		stats_add(&stats, at(i * 1000), 0, 0, &(struct rpc_sample){ .time = i });
	assert_int_equal(stats_samples(&stats, samples), STATS_SAMPLES);
	for (i = 0; i < STATS_SAMPLES; i++)
		assert_int_equal(samples[i].time, i + 21);
}

static void fills_quiet_seconds_with_the_mean(void **state)
{
	static struct stats stats;
	static struct rpc_sample samples[STATS_SAMPLES];
	size_t i;

	(void)state;
	stats_add(&stats, at(1000), 0, 0, &(struct rpc_sample){ .time = 100 });
	stats_add(&stats, at(31000), 3000, 30, &(struct rpc_sample){ .time = 130 });
	assert_int_equal(stats_samples(&stats, samples), 30);
	for (i = 0; i < 30; i++) {
		assert_int_equal(samples[i].time, 101 + i);
		assert_int_equal(samples[i].rx_bps, 800);
		assert_int_equal(samples[i].tx_bps, 8);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates_from_counters),
		cmocka_unit_test(keeps_the_last_300),
		cmocka_unit_test(fills_quiet_seconds_with_the_mean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
