/* SPDX-License-Identifier: MIT */
/* Percentiles, responsiveness, and which carrier suits better. */
#include "tests/contract/cmocka_all.h"

#include "client/speedtest/verdict.h"

#include <string.h>

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

static void percentiles(void **state)
{
	static const struct {
		uint32_t rtts[20];
		size_t count;
		struct speedtest_latency want;
	} table[] = {
		{ { 0 }, 0, { 0 } },
		{ { 5 }, 1, { 1, 0, 5, 5, 5, 5, 5, 0, 5 } },
		/* Order counts for the jitter only. */
		{ { 40, 10, 20, 30 }, 4, { 4, 0, 10, 20, 40, 40, 40, 16, 25 } },
		{ { 0, 0, 0 }, 3, { .lost = 3 } },
		/* Over a gap there is no neighbour. */
		{ { 10, 0, 90 }, 3, { 2, 1, 10, 10, 90, 90, 90, 0, 50 } },
		/* The largest of twenty is left out of the mean. */
		{ { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 999 }, 20,
			{ 20, 0, 1, 1, 1, 999, 999, 998 / 19, 1 } },
	};

	(void)state;
	for (size_t i = 0; i < ROWS(table); i++) {
		struct speedtest_latency got;
		uint32_t rtts[20];

		memcpy(rtts, table[i].rtts, sizeof(rtts));
		speedtest_latency_of(rtts, table[i].count, &got);
		if (memcmp(&got, &table[i].want, sizeof(got)) != 0)
			fail_msg("row %zu: p50 %u p95 %u p99 %u jitter %u mean %u", i, got.p50_us, got.p95_us,
				got.p99_us, got.jitter_us, got.trimmed_us);
	}
}

static void responsiveness(void **state)
{
	(void)state;
	assert_int_equal(speedtest_rpm(&(struct speedtest_latency){ .trimmed_us = 100000 }), 600);
	assert_int_equal(speedtest_rpm(&(struct speedtest_latency){ 0 }), 0);
}

static void medians(void **state)
{
	uint64_t odd[] = { 9, 1, 5 }, even[] = { 4, 1, 2, 100 };

	(void)state;
	assert_int_equal(speedtest_median(odd, 3), 5);
	assert_int_equal(speedtest_median(even, 4), 3);
	assert_int_equal(speedtest_median(even, 0), 0);
}

static void which_suits_better(void **state)
{
	static const struct {
		const char *what;
		uint64_t udp_down, udp_up, tcp_down, tcp_up; /* Mbit/s; 0: not measured */
		uint32_t udp_ms, tcp_ms;
		enum carrier better;
		const char *words;
	} table[] = {
		{ "alike", 100, 100, 95, 102, 30, 35, CARRIER_NONE, "equally well" },
		{ "UDP carries more", 100, 100, 50, 50, 30, 30, CARRIER_UDP,
			"UDP suits better here: it carries 100 % more" },
		{ "TCP carries more and answers sooner", 20, 20, 40, 40, 200, 50, CARRIER_TCP,
			"answers sooner under load" },
		{ "one way each", 100, 50, 50, 100, 30, 30, CARRIER_NONE, "equally well" },
		{ "same rate, TCP waits", 100, 100, 100, 100, 30, 120, CARRIER_UDP,
			"UDP suits better here: both carry the same" },
		{ "a trade", 100, 100, 200, 200, 30, 300, CARRIER_NONE,
			"TCP carries more (400.0 against 200.0 Mbit/s)" },
		{ "TCP not measured", 100, 100, 0, 0, 30, 0, CARRIER_NONE, "TCP was not measured" },
		{ "small round trips differ by nothing felt", 100, 100, 100, 100, 1, 5, CARRIER_NONE,
			"equally well" },
	};

	(void)state;
	for (size_t i = 0; i < ROWS(table); i++) {
		struct speedtest_summary udp = { .measured = table[i].udp_down > 0,
			.down_bps = table[i].udp_down * 1000000,
			.up_bps = table[i].udp_up * 1000000,
			.loaded.p50_us = table[i].udp_ms * 1000 };
		struct speedtest_summary tcp = { .measured = table[i].tcp_down > 0,
			.down_bps = table[i].tcp_down * 1000000,
			.up_bps = table[i].tcp_up * 1000000,
			.loaded.p50_us = table[i].tcp_ms * 1000 };
		char sentence[320];

		if (speedtest_better(&udp, &tcp, sentence, sizeof(sentence)) != table[i].better ||
			!strstr(sentence, table[i].words))
			fail_msg("%s: %s", table[i].what, sentence);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(percentiles),
		cmocka_unit_test(responsiveness),
		cmocka_unit_test(medians),
		cmocka_unit_test(which_suits_better),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
