/* SPDX-License-Identifier: MIT */
/* Used by ask.c. */
#include "client/daemon/latency.h"

#define SILENT_MAX 3
#define SILENT_PAUSE_MS 60000
#define FRESH_MS 5000
/* Beats are a second apart, give or take. */
#define PAUSE_MS 900

bool latency_due(const struct latency *latency, struct mono now)
{
	bool mute = !latency->answered && latency->silent >= SILENT_MAX;

	return !mono_is_set(latency->last) ||
	       mono_since_ms(now, latency->last) >= (mute ? SILENT_PAUSE_MS : PAUSE_MS);
}

void latency_sent(struct latency *latency, uint64_t id, struct mono now)
{
	latency->echoes[latency->next++ % LATENCY_KEPT] = (struct latency_echo){ .id = id, .sent = now };
	latency->last = now;
	latency->silent++;
}

uint32_t latency_answered(struct latency *latency, uint64_t id, struct mono now)
{
	for (unsigned i = 0; id && i < LATENCY_KEPT; i++) {
		struct latency_echo *echo = &latency->echoes[i];

		if (echo->id != id || echo->rtt_us)
			continue;
		if (mono_since_ms(now, echo->sent) >= LATENCY_LOST_MS)
			return 0;
		echo->rtt_us = (uint32_t)(mono_since_ns(now, echo->sent) / 1000);
		if (!echo->rtt_us)
			echo->rtt_us = 1;
		latency->silent = 0;
		latency->answered = true;
		return echo->rtt_us;
	}
	return 0;
}

void latency_read(const struct latency *latency, struct mono now, struct latency_figures *out)
{
	struct latency_figures figures = { 0 };
	uint64_t distance = 0, pairs = 0;
	uint32_t before = 0;

	/* In the order in which they were sent. */
	for (unsigned i = 0; i < LATENCY_KEPT; i++) {
		const struct latency_echo *echo = &latency->echoes[(latency->next + i) % LATENCY_KEPT];
		uint64_t age_ms = echo->id ? mono_since_ms(now, echo->sent) : 0;

		if (!echo->id || age_ms > LATENCY_WINDOW_MS || (!echo->rtt_us && age_ms < LATENCY_LOST_MS))
			continue;
		figures.echoes++;
		if (!echo->rtt_us) {
			figures.lost++;
			before = 0;
			continue;
		}
		if (before) {
			distance += echo->rtt_us > before ? echo->rtt_us - before : before - echo->rtt_us;
			pairs++;
		}
		before = echo->rtt_us;
		if (age_ms <= FRESH_MS)
			figures.rtt_us = echo->rtt_us;
	}
	if (figures.echoes)
		figures.loss_permille = figures.lost * 1000 / figures.echoes;
	if (pairs)
		figures.jitter_us = (uint32_t)(distance / pairs);
	/* Nobody answers there at all: that is a peer that does not answer echoes, not a loss. */
	if (!latency->answered)
		figures = (struct latency_figures){ 0 };
	*out = figures;
}
