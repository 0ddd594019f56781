/* SPDX-License-Identifier: MIT */
/* A history as lines in a box of 1 by 1, the scale beside it, and the same in words for those who hear it.
 * Pure. */
#ifndef WGTCP_GUI_MODEL_GRAPH_H
#define WGTCP_GUI_MODEL_GRAPH_H

#include "gui/model/history.h"

enum graph_series { GRAPH_RX, GRAPH_TX, GRAPH_RTT };

/* Never fewer: an idle line must not look like a mountain range. */
#define GRAPH_RATE_LEAST 10000u /* bit/s */
#define GRAPH_RTT_LEAST 10000u  /* us */

struct graph_point {
	double x, y;  /* x: 0 is five minutes ago, 1 is now; y: 0 is the bottom, 1 the top of the scale */
	bool is_start; /* no line leads here: nothing is known of the time before */
};

/* The top of the scale: the least of 1, 2 and 5 times a power of ten that is not below peak or least. */
uint64_t graph_top(uint64_t peak, uint64_t least);
/* Parts that grid lines divide a scale into, so that each falls on a short number. */
unsigned graph_parts(uint64_t top);

/* A scale that moves: up at once, down when the peak has been low for a while. All zero: new. */
struct graph_scale {
	uint64_t top;
	uint64_t low_since; /* Unix time, s; 0: is not low */
};
uint64_t graph_scale_step(struct graph_scale *scale, uint64_t peak, uint64_t least, uint64_t now);

/* At most HISTORY_SECONDS points, oldest first; how many. */
size_t graph_points(const struct history *history, enum graph_series series, uint64_t now, uint64_t top,
	struct graph_point out[HISTORY_SECONDS]);

/* The last `seconds` of both directions together in `count` columns of 0 to 1, the newest last. False: nothing
 * to show. */
bool graph_spark(const struct history *history, uint64_t now, unsigned seconds, double *out, size_t count);

#define GRAPH_WORDS_LEN 400
/* "Receiving 1.2 Mbit/s, sending 40 kbit/s. In the last 5 minutes at most ..." */
void graph_words_rate(const struct history *history, uint64_t now, char *out, size_t size);
/* "Round trip 23 ms. In the last 5 minutes between 20 ms and 80 ms, 25 ms on average." */
void graph_words_rtt(const struct history *history, uint64_t now, char *out, size_t size);

#endif
