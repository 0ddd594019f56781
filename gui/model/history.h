/* SPDX-License-Identifier: MIT */
/* The last five minutes of one tunnel, a sample a second. Pure. */
#ifndef WGTCP_GUI_MODEL_HISTORY_H
#define WGTCP_GUI_MODEL_HISTORY_H

#include "client/rpc/types.h"

#define HISTORY_SECONDS 300

/* All zero: empty. */
struct history {
	struct rpc_sample samples[HISTORY_SECONDS];
	size_t first, count;
};

struct history_summary {
	uint64_t rx_now, tx_now; /* bits a second */
	uint64_t rx_peak, tx_peak;
	uint32_t rtt_now, rtt_least, rtt_most, rtt_mean; /* us; 0: none was measured */
};

/* Samples may come again (after a reconnect the daemon sends its whole ring): what is not newer than the
 * newest is skipped. A clock that went back by more than the ring holds starts it anew. */
void history_add(struct history *history, const struct rpc_sample *samples, size_t count);
/* index from 0, the oldest; NULL behind the end. */
const struct rpc_sample *history_at(const struct history *history, size_t index);
/* Of what lies within the ring's time before now (Unix time, s). "now" figures are 0 when nothing came for a
 * few seconds. */
void history_summarize(const struct history *history, uint64_t now, struct history_summary *out);

#endif
