/* SPDX-License-Identifier: MIT */
/* Used by test.c; any thread. */
#include "client/speedtest/figures.h"

#include <stdlib.h>

static int by_size(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return (left > right) - (left < right);
}

static int by_size64(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

static uint32_t percentile(const uint32_t *sorted, size_t count, unsigned percent)
{
	size_t rank = (count * percent + 99) / 100;

	return sorted[rank ? rank - 1 : 0];
}

/* Over neighbours that were both answered. */
static uint32_t jitter(const uint32_t *rtts, size_t count)
{
	uint64_t sum = 0, pairs = 0;

	for (size_t i = 1; i < count; i++) {
		if (!rtts[i] || !rtts[i - 1])
			continue;
		sum += rtts[i] > rtts[i - 1] ? rtts[i] - rtts[i - 1] : rtts[i - 1] - rtts[i];
		pairs++;
	}
	return pairs ? (uint32_t)(sum / pairs) : 0;
}

void speedtest_latency_of(uint32_t *rtts_us, size_t count, struct speedtest_latency *out)
{
	struct speedtest_latency latency = { .jitter_us = jitter(rtts_us, count) };
	const uint32_t *answered;
	uint64_t sum = 0;
	size_t lost = 0, kept;

	if (count)
		qsort(rtts_us, count, sizeof(*rtts_us), by_size);
	while (lost < count && !rtts_us[lost])
		lost++;
	answered = rtts_us + lost;
	count -= lost;
	latency.lost = (uint32_t)lost;
	latency.count = (uint32_t)count;
	if (count) {
		latency.min_us = answered[0];
		latency.max_us = answered[count - 1];
		latency.p50_us = percentile(answered, count, 50);
		latency.p95_us = percentile(answered, count, 95);
		latency.p99_us = percentile(answered, count, 99);
		kept = count - count / 20;
		for (size_t i = 0; i < kept; i++)
			sum += answered[i];
		latency.trimmed_us = (uint32_t)(sum / kept);
	}
	*out = latency;
}

uint32_t speedtest_rpm(const struct speedtest_latency *loaded)
{
	return loaded->trimmed_us ? 60000000u / loaded->trimmed_us : 0;
}

uint64_t speedtest_median(uint64_t *values, size_t count)
{
	if (!count)
		return 0;
	qsort(values, count, sizeof(*values), by_size64);
	return count % 2 ? values[count / 2] : values[count / 2 - 1] / 2 + values[count / 2] / 2;
}
