/* SPDX-License-Identifier: MIT */
/* Which echoes are due, and what they say. */
#include "tests/contract/cmocka_all.h"

#include "client/daemon/latency.h"

#include <string.h>

static struct mono at(uint64_t ms)
{
	return (struct mono){ 1000000000000 + ms * 1000000 };
}

static void loss_and_jitter(void **state)
{
	static const uint32_t rtts_ms[] = { 20, 30, 0, 20, 24 }; /* 0: lost */
	struct latency latency = { 0 };
	struct latency_figures figures;
	uint64_t i;

	(void)state;
	for (i = 0; i < 5; i++) {
		latency_sent(&latency, i + 1, at(i * 1000));
		if (rtts_ms[i])
			assert_int_equal(latency_answered(&latency, i + 1, at(i * 1000 + rtts_ms[i])),
				rtts_ms[i] * 1000);
	}
	latency_read(&latency, at(4500), &figures);
	assert_int_equal(figures.echoes, 5);
	assert_int_equal(figures.lost, 1);
	assert_int_equal(figures.loss_permille, 200);
	assert_int_equal(figures.jitter_us, 7000); /* of 20-30 and 20-24; not over the gap */
	assert_int_equal(figures.rtt_us, 24000);
	/* What is old is forgotten: first as "now", then altogether. */
	latency_read(&latency, at(20000), &figures);
	assert_int_equal(figures.rtt_us, 0);
	assert_int_equal(figures.echoes, 5);
	latency_read(&latency, at(61500), &figures);
	assert_int_equal(figures.echoes, 3);
}

static void late_and_twice(void **state)
{
	struct latency latency = { 0 };

	(void)state;
	latency_sent(&latency, 7, at(0));
	assert_int_equal(latency_answered(&latency, 8, at(10)), 0);
	assert_int_equal(latency_answered(&latency, 0, at(10)), 0);
	assert_int_equal(latency_answered(&latency, 7, at(10)), 10000);
	assert_int_equal(latency_answered(&latency, 7, at(20)), 0);
	latency_sent(&latency, 9, at(1000));
	assert_int_equal(latency_answered(&latency, 9, at(3000)), 0); /* lost by then */
}

/* One that never answers is not asked each second for ever; one that has answered once is. */
static void silent_peers(void **state)
{
	struct latency latency = { 0 };
	struct latency_figures figures;
	uint64_t ms, sent = 0;

	(void)state;
	for (ms = 0; ms < 180000; ms += 1000)
		if (latency_due(&latency, at(ms)))
			latency_sent(&latency, ++sent, at(ms));
	assert_int_equal(sent, 5);
	latency_read(&latency, at(ms), &figures);
	assert_int_equal(figures.echoes, 0); /* it answers no echoes: that is no loss */
	latency_sent(&latency, 100, at(ms));
	assert_int_equal(latency_answered(&latency, 100, at(ms + 5)), 5000);
	for (sent = 0; sent < 30; sent++) {
		ms += 1000;
		assert_true(latency_due(&latency, at(ms)));
		latency_sent(&latency, 200 + sent, at(ms));
	}
	latency_read(&latency, at(ms + 2000), &figures);
	assert_true(figures.loss_permille > 900);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loss_and_jitter),
		cmocka_unit_test(late_and_twice),
		cmocka_unit_test(silent_peers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
