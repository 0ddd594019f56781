/* SPDX-License-Identifier: MIT */
/* Inner echoes to one peer over the last 60 s: which are due, and what they say. Pure. */
#ifndef WGTCP_CLIENT_DAEMON_LATENCY_H
#define WGTCP_CLIENT_DAEMON_LATENCY_H

#include "core/base/time.h"

#include <stdbool.h>
#include <stdint.h>

#define LATENCY_WINDOW_MS 60000
/* Without an answer for so long an echo counts as lost. */
#define LATENCY_LOST_MS 2000
/* More than one a second for the whole window. */
#define LATENCY_KEPT 64

struct latency_echo {
	uint64_t id; /* 0: none */
	struct mono sent;
	uint32_t rtt_us; /* 0: not answered */
};

/* All zero is its start. */
struct latency {
	struct latency_echo echoes[LATENCY_KEPT];
	unsigned next;
	unsigned silent; /* unanswered since the last answer */
	bool answered;   /* ever */
	struct mono last;
};

struct latency_figures {
	uint32_t echoes; /* decided, in the window */
	uint32_t lost;
	uint32_t loss_permille, jitter_us;
	uint32_t rtt_us; /* of the newest answer in the last 5 s; 0: none */
};

/* Whether to ask now. One that has never answered is not asked each second for ever: what it is sent would
 * look like a carrier that passes nothing back. */
bool latency_due(const struct latency *latency, struct mono now);
void latency_sent(struct latency *latency, uint64_t id, struct mono now);
/* The round trip, at least 1; 0: that echo is not known, or was answered. */
uint32_t latency_answered(struct latency *latency, uint64_t id, struct mono now);
void latency_read(const struct latency *latency, struct mono now, struct latency_figures *out);

#endif
