/* SPDX-License-Identifier: MIT */
/* Throughput and latency of one tunnel over the last 300 samples, from counters that only grow (or start
 * again with a new engine). Pure. */
#ifndef WGTCP_CLIENT_DAEMON_STATS_H
#define WGTCP_CLIENT_DAEMON_STATS_H

#include "client/rpc/types.h"
#include "core/base/time.h"

#define STATS_SAMPLES 300
/* A tunnel that nobody watches and that moves nothing is read this often only; the seconds in between are
 * filled with the mean. */
#define STATS_QUIET_S 30
/* Longer apart, two readings say nothing about "now": the machine slept. */
#define STATS_GAP_MS 35000

/* One counter pair and its rate. All zero is its start. */
struct stats_rate {
	struct mono last;
	uint64_t rx_bytes, tx_bytes;
	uint64_t rx_bps, tx_bps; /* bits a second between the last two readings; 0: unknown */
};

struct stats {
	struct stats_rate rate;
	struct rpc_sample ring[STATS_SAMPLES];
	size_t next, count;
};

void stats_rate_read(struct stats_rate *rate, struct mono now, uint64_t rx_bytes, uint64_t tx_bytes);
/* Adds a sample, which is *read with rates; NULL when there is none to add yet (the first reading, or one
 * after a gap). Else the sample.
 */
const struct rpc_sample *stats_add(struct stats *stats, struct mono now, uint64_t rx_bytes, uint64_t tx_bytes,
	const struct rpc_sample *read);
/* All samples, the oldest first; the number. */
size_t stats_samples(const struct stats *stats, struct rpc_sample out[STATS_SAMPLES]);

#endif
