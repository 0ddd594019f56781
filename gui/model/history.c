/* SPDX-License-Identifier: MIT */
#include "gui/model/history.h"

/* A sample older than this says nothing about now. */
#define STALE_S 5

const struct rpc_sample *history_at(const struct history *history, size_t index)
{
	if (index >= history->count)
		return NULL;
	return &history->samples[(history->first + index) % HISTORY_SECONDS];
}

static void add_one(struct history *history, const struct rpc_sample *sample)
{
	const struct rpc_sample *newest = history->count ? history_at(history, history->count - 1) : NULL;

	if (newest && sample->time + HISTORY_SECONDS < newest->time)
		*history = (struct history){ 0 };
	else if (newest && sample->time <= newest->time)
		return;
	if (history->count < HISTORY_SECONDS) {
		history->samples[(history->first + history->count++) % HISTORY_SECONDS] = *sample;
	} else {
		history->samples[history->first] = *sample;
		history->first = (history->first + 1) % HISTORY_SECONDS;
	}
}

void history_add(struct history *history, const struct rpc_sample *samples, size_t count)
{
	for (size_t i = 0; i < count; i++)
		add_one(history, &samples[i]);
}

void history_summarize(const struct history *history, uint64_t now, struct history_summary *out)
{
	struct history_summary summary = { 0 };
	uint64_t rtt_sum = 0, rtt_count = 0;

	for (size_t i = 0; i < history->count; i++) {
		const struct rpc_sample *sample = history_at(history, i);

		if (sample->time + HISTORY_SECONDS < now)
			continue;
		if (sample->rx_bps > summary.rx_peak)
			summary.rx_peak = sample->rx_bps;
		if (sample->tx_bps > summary.tx_peak)
			summary.tx_peak = sample->tx_bps;
		if (sample->time + STALE_S >= now) {
			summary.rx_now = sample->rx_bps;
			summary.tx_now = sample->tx_bps;
		}
		if (!sample->rtt_us)
			continue;
		if (!rtt_count || sample->rtt_us < summary.rtt_least)
			summary.rtt_least = sample->rtt_us;
		if (sample->rtt_us > summary.rtt_most)
			summary.rtt_most = sample->rtt_us;
		if (sample->time + STALE_S >= now)
			summary.rtt_now = sample->rtt_us;
		rtt_sum += sample->rtt_us;
		rtt_count++;
	}
	if (rtt_count)
		summary.rtt_mean = (uint32_t)(rtt_sum / rtt_count);
	*out = summary;
}
