/* SPDX-License-Identifier: MIT */
/* Round trips as a person reads them. Pure. */
#ifndef WGTCP_CLIENT_SPEEDTEST_FIGURES_H
#define WGTCP_CLIENT_SPEEDTEST_FIGURES_H

#include <stddef.h>
#include <stdint.h>

struct speedtest_latency {
	uint32_t count, lost; /* answered, and not */
	uint32_t min_us, p50_us, p95_us, p99_us, max_us;
	uint32_t jitter_us;  /* mean distance of one from the next */
	uint32_t trimmed_us; /* mean without the largest twentieth */
};

/* rtts_us in the order in which they were sent; sorted when it returns. 0 in it: lost. Without an answer all
 * figures are 0. Percentiles are those of the nearest rank. */
void speedtest_latency_of(uint32_t *rtts_us, size_t count, struct speedtest_latency *out);
/* Round trips a minute under load, from the trimmed mean; 0: not measured. Source:
 * draft-ietf-ippm-responsiveness, Responsiveness (one probe in the tunnel stands in for its several kinds of
 * probes). */
uint32_t speedtest_rpm(const struct speedtest_latency *loaded);
/* Of count values, sorted when it returns; the mean of the middle two for an even number. */
uint64_t speedtest_median(uint64_t *values, size_t count);

#endif
