/* SPDX-License-Identifier: MIT */
#include "gui/model/graph.h"

#include "gui/model/translate.h"
#include "gui/model/units.h"

#include <stdio.h>

/* Two samples further apart than this have nothing between them. */
#define GAP_S 3
/* The scale comes down after so long, so that it does not jump with each burst. */
#define SHRINK_S 10

uint64_t graph_top(uint64_t peak, uint64_t least)
{
	uint64_t wanted = peak > least ? peak : least, power = 1;

	for (;;) {
		if (wanted <= power)
			return power;
		if (wanted <= 2 * power)
			return 2 * power;
		if (wanted <= 5 * power)
			return 5 * power;
		if (power > UINT64_MAX / 100)
			return UINT64_MAX;
		power *= 10;
	}
}

unsigned graph_parts(uint64_t top)
{
	uint64_t digit = top;

	while (digit >= 10)
		digit /= 10;
	return digit == 5 ? 5 : 4;
}

uint64_t graph_scale_step(struct graph_scale *scale, uint64_t peak, uint64_t least, uint64_t now)
{
	uint64_t wanted = graph_top(peak, least);

	if (wanted >= scale->top) {
		scale->top = wanted;
		scale->low_since = 0;
	} else if (!scale->low_since || now < scale->low_since) {
		scale->low_since = now;
	} else if (now - scale->low_since >= SHRINK_S) {
		scale->top = wanted;
		scale->low_since = 0;
	}
	return scale->top;
}

static uint64_t value_of(const struct rpc_sample *sample, enum graph_series series)
{
	switch (series) {
	case GRAPH_RX:
		return sample->rx_bps;
	case GRAPH_TX:
		return sample->tx_bps;
	case GRAPH_RTT:
		return sample->rtt_us;
	}
	return 0;
}

size_t graph_points(const struct history *history, enum graph_series series, uint64_t now, uint64_t top,
	struct graph_point out[HISTORY_SECONDS])
{
	uint64_t before = 0;
	size_t count = 0;

	for (size_t i = 0; i < history->count; i++) {
		const struct rpc_sample *sample = history_at(history, i);
		uint64_t value = value_of(sample, series);
		double y = top ? (double)value / (double)top : 0;

		/* An unknown round trip is a hole, a rate of zero is a value. */
		if (sample->time + HISTORY_SECONDS < now || sample->time > now + GAP_S ||
			(series == GRAPH_RTT && !value))
			continue;
		out[count].x = 1 - ((double)now - (double)sample->time) / HISTORY_SECONDS;
		if (out[count].x > 1)
			out[count].x = 1;
		out[count].y = y > 1 ? 1 : y;
		out[count].is_start = !before || sample->time > before + GAP_S;
		before = sample->time;
		count++;
	}
	return count;
}

bool graph_spark(const struct history *history, uint64_t now, unsigned seconds, double *out, size_t count)
{
	uint64_t peak = 0;
	bool any = false;
	double top;

	for (size_t i = 0; i < count; i++)
		out[i] = 0;
	for (size_t i = 0; i < history->count; i++) {
		const struct rpc_sample *sample = history_at(history, i);
		uint64_t age = now > sample->time ? now - sample->time : 0;
		uint64_t value = sample->rx_bps + sample->tx_bps;
		size_t column;

		if (age >= seconds)
			continue;
		column = count - 1 - (size_t)(age * count / seconds);
		any = true;
		/* Of the seconds that share a column the busiest counts. */
		if ((double)value > out[column])
			out[column] = (double)value;
		if (value > peak)
			peak = value;
	}
	top = (double)graph_top(peak, GRAPH_RATE_LEAST);
	for (size_t i = 0; i < count; i++)
		out[i] /= top;
	return any;
}

void graph_words_rate(const struct history *history, uint64_t now, char *out, size_t size)
{
	char rx[UNITS_LEN], tx[UNITS_LEN], rx_peak[UNITS_LEN], tx_peak[UNITS_LEN];
	struct history_summary summary;

	if (!history->count) {
		snprintf(out, size, "%s", _("Nothing measured yet."));
		return;
	}
	history_summarize(history, now, &summary);
	units_rate(summary.rx_now, rx, sizeof(rx));
	units_rate(summary.tx_now, tx, sizeof(tx));
	units_rate(summary.rx_peak, rx_peak, sizeof(rx_peak));
	units_rate(summary.tx_peak, tx_peak, sizeof(tx_peak));
	snprintf(out, size, _("Receiving %s, sending %s. In the last 5 minutes at most %s and %s."), rx, tx, rx_peak,
		tx_peak);
}

void graph_words_rtt(const struct history *history, uint64_t now, char *out, size_t size)
{
	char current[UNITS_LEN], least[UNITS_LEN], most[UNITS_LEN], mean[UNITS_LEN];
	struct history_summary summary;

	history_summarize(history, now, &summary);
	if (!summary.rtt_most) {
		snprintf(out, size, "%s", _("Nothing measured yet."));
		return;
	}
	units_rtt(summary.rtt_least, least, sizeof(least));
	units_rtt(summary.rtt_most, most, sizeof(most));
	units_rtt(summary.rtt_mean, mean, sizeof(mean));
	if (!summary.rtt_now) {
		snprintf(out, size, _("No answer at the moment. In the last 5 minutes between %s and %s, %s on average."),
			least, most, mean);
		return;
	}
	units_rtt(summary.rtt_now, current, sizeof(current));
	snprintf(out, size, _("Round trip %s. In the last 5 minutes between %s and %s, %s on average."), current, least,
		most, mean);
}
