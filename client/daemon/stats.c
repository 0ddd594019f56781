/* SPDX-License-Identifier: MIT */
/* Rates from counters. Used by tunnel.c. Pure. */
#include "client/daemon/stats.h"

static uint64_t bits_a_second(uint64_t before, uint64_t after, uint64_t ms)
{
	/* A counter that went back belongs to a new engine. */
	return after < before || ms == 0 ? 0 : (after - before) * 8000 / ms;
}

void stats_rate_read(struct stats_rate *rate, struct mono now, uint64_t rx_bytes, uint64_t tx_bytes)
{
	uint64_t ms = mono_since_ms(now, rate->last);

	/* Two readings in one instant are one. */
	if (mono_is_set(rate->last) && ms < 200)
		return;
	if (!mono_is_set(rate->last) || ms > STATS_GAP_MS) {
		rate->rx_bps = rate->tx_bps = 0;
	} else {
		rate->rx_bps = bits_a_second(rate->rx_bytes, rx_bytes, ms);
		rate->tx_bps = bits_a_second(rate->tx_bytes, tx_bytes, ms);
	}
	rate->last = now;
	rate->rx_bytes = rx_bytes;
	rate->tx_bytes = tx_bytes;
}

const struct rpc_sample *stats_add(struct stats *stats, struct mono now, uint64_t rx_bytes, uint64_t tx_bytes,
	const struct rpc_sample *read)
{
	struct rpc_sample sample = *read, *newest = NULL;
	struct mono last = stats->rate.last;
	uint64_t seconds, i;

	stats_rate_read(&stats->rate, now, rx_bytes, tx_bytes);
	if (!mono_is_set(last) || mono_since_ms(now, last) > STATS_GAP_MS || stats->rate.last.ns == last.ns)
		return NULL;
	sample.rx_bps = stats->rate.rx_bps;
	sample.tx_bps = stats->rate.tx_bps;
	seconds = (mono_since_ms(now, last) + 500) / 1000;
	for (i = seconds ? seconds : 1; i > 0; i--) {
		newest = &stats->ring[stats->next];
		*newest = sample;
		newest->time -= newest->time < i ? 0 : i - 1;
		stats->next = (stats->next + 1) % STATS_SAMPLES;
		if (stats->count < STATS_SAMPLES)
			stats->count++;
	}
	return newest;
}

size_t stats_samples(const struct stats *stats, struct rpc_sample out[STATS_SAMPLES])
{
	size_t first = (stats->next + STATS_SAMPLES - stats->count) % STATS_SAMPLES, i;

	for (i = 0; i < stats->count; i++)
		out[i] = stats->ring[(first + i) % STATS_SAMPLES];
	return stats->count;
}
