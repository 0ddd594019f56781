/* SPDX-License-Identifier: MIT */
/* One run of iperf3 as our child. Nothing here waits: there is a handle to poll and a step to call. */
#ifndef WGTCP_CLIENT_SPEEDTEST_RUN_H
#define WGTCP_CLIENT_SPEEDTEST_RUN_H

#include "client/speedtest/report.h"

/* As the daemon's speedtest.prepare says. */
struct speedtest_target {
	char interface[16];
	char source[46], address[46]; /* numeric */
	uint32_t port;
};

struct speedtest_order {
	enum speedtest_direction direction;
	uint32_t streams, duration_s;
	bool udp;
	uint64_t rate_bps; /* of UDP */
};

struct speedtest_run;

/* now_ms: any clock that only goes forward, the same in all calls. 0; -ENOENT: there is no iperf3 on this
 * machine; -errno. */
int speedtest_run_open(const struct speedtest_target *target, const struct speedtest_order *order,
	uint64_t now_ms, struct speedtest_run **out);
/* To be polled for reading; -1: there is none, step by the clock. */
int speedtest_run_handle(const struct speedtest_run *run);
/* Call when the handle is readable, and at least each second. True: it is over, and *report says how; the
 * process is gone when speedtest_run_close returns. */
bool speedtest_run_step(struct speedtest_run *run, uint64_t now_ms, struct speedtest_report *report);
/* Ends it whatever it does, within 200 ms. NULL is allowed. */
void speedtest_run_close(struct speedtest_run *run);

#endif
