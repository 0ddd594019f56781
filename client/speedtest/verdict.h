/* SPDX-License-Identifier: MIT */
/* Which carrier suits better, and why, in a sentence. Pure. */
#ifndef WGTCP_CLIENT_SPEEDTEST_VERDICT_H
#define WGTCP_CLIENT_SPEEDTEST_VERDICT_H

#include "client/speedtest/figures.h"
#include "core/base/carrier.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What was measured over one carrier; 0: not measured. */
struct speedtest_summary {
	bool measured;
	uint64_t down_bps, up_bps;
	struct speedtest_latency idle, loaded;
};

/* CARRIER_NONE: they are alike, or one was not measured. sentence: with a capital and a full stop. */
enum carrier speedtest_better(const struct speedtest_summary *udp, const struct speedtest_summary *tcp,
	char *sentence, size_t size);

#endif
