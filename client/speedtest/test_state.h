/* SPDX-License-Identifier: MIT */
/* What a speed test holds. Only for test.c and result.c. */
#ifndef WGTCP_CLIENT_SPEEDTEST_TEST_STATE_H
#define WGTCP_CLIENT_SPEEDTEST_TEST_STATE_H

#include "client/speedtest/test.h"

/* 10 a second, for the longest test there is. */
#define SPEEDTEST_ECHOES_MAX 40000
#define SPEEDTEST_COUNTERS 8

struct speedtest_sent {
	uint64_t sent_ms;
	uint32_t rtt_us;
};

/* When something ran, on the clock of the notices. */
struct speedtest_span {
	uint64_t from_ms, to_ms;
	uint64_t from_cpu_ms, to_cpu_ms;
};

struct speedtest_counters {
	uint64_t at_ms, rx_bytes, tx_bytes;
};

struct speedtest {
	struct speedtest_plan plan;
	enum speedtest_step state;
	size_t round;
	enum speedtest_phase phase;
	uint64_t phase_ms; /* since when */
	struct speedtest_run *run;
	enum carrier carrier, wanted;
	bool lost, moved_ok, moving;
	uint64_t away_ms; /* since when the tunnel is not up; 0: it is */
	struct speedtest_counters counters[SPEEDTEST_COUNTERS]; /* the newest at [next - 1] */
	size_t next, seen;
	uint64_t cpu_ms;
	struct speedtest_sent *echoes;
	size_t echo_count, echo_room;
	struct speedtest_span spans[SPEEDTEST_ROUNDS_MAX][SPEEDTEST_PHASES];
	uint32_t *scratch; /* as many as there is room for echoes */
	struct speedtest_result result;
};

/* ---- result.c ---- */
/* Reckons round trips, sums and the comparison from what there is. */
void speedtest_reckon(struct speedtest *test);

#endif
