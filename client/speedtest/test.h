/* SPDX-License-Identifier: MIT */
/* A whole speed test, for the command line and for the window: idle latency, down, up, both at once, over one
 * carrier or over both in turns (A B A B). It runs iperf3 and reckons; the caller brings what the daemon
 * says, and moves the tunnel when asked. Nothing here waits, so it can live in a main loop:
 *
 *     speedtest.prepare -> fill in a plan; speedtest_new()
 *     each `speedtest` notice:  speedtest_take_counters(), _take_state(), _take_echo() for each echo; _lose()
 * if the state is down or failed; then switch (speedtest_step(test, notice.time_ms)): RUNS    show
 * speedtest_live(); the next notice comes in 100 ms MOVE    tunnel.switch to speedtest_wanted(); when it is
 * answered: speedtest_moved() DONE, FAILED    speedtest_result(); speedtest.end; speedtest_free()
 *
 * Its one clock is the notices' time_ms. speedtest_free at any time ends all, within 200 ms. */
#ifndef WGTCP_CLIENT_SPEEDTEST_TEST_H
#define WGTCP_CLIENT_SPEEDTEST_TEST_H

#include "client/speedtest/figures.h"
#include "client/speedtest/report.h"
#include "client/speedtest/run.h"
#include "client/speedtest/verdict.h"

#define SPEEDTEST_ROUNDS_MAX 4
#define SPEEDTEST_STREAMS_MAX 32
#define SPEEDTEST_DURATION_MAX_S 300

struct speedtest_plan {
	struct speedtest_target target;
	enum carrier carrier;      /* in use */
	bool both_carriers;        /* A B A B, without `both at once` */
	enum carrier only_carrier; /* CARRIER_NONE: as it is */
	uint32_t streams, duration_s;
	bool udp; /* measures loss and jitter of datagrams at a rate, instead of how much passes */
	uint64_t rate_bps;
};

enum speedtest_phase { SPEEDTEST_PHASE_IDLE, SPEEDTEST_PHASE_DOWN, SPEEDTEST_PHASE_UP, SPEEDTEST_PHASE_BOTH };

#define SPEEDTEST_PHASES 4

/* What one iperf3 run showed. Round trips are those from its second second on. */
struct speedtest_part {
	bool done;
	struct speedtest_report report;
	struct speedtest_latency loaded;
	uint32_t cpu_permille; /* of one processor, what moves the tunnel's packets; 0: the kernel, or not
				  known */
};

struct speedtest_round {
	enum carrier carrier;
	struct speedtest_latency idle;
	struct speedtest_part parts[SPEEDTEST_PHASES]; /* [SPEEDTEST_PHASE_IDLE] is not used */
};

struct speedtest_result {
	struct speedtest_round rounds[SPEEDTEST_ROUNDS_MAX];
	size_t round_count;
	struct speedtest_summary summary[3]; /* by carrier, over its rounds; [CARRIER_NONE]: over all */
	uint32_t rpm[3];
	enum carrier better; /* both_carriers */
	char sentence[320];  /* the same in words; "" with one carrier */
	enum speedtest_trouble trouble;
	char text[200]; /* of trouble: iperf3's words, or "" */
};

struct speedtest_live {
	size_t round, round_count;
	enum speedtest_phase phase;
	enum carrier carrier;
	uint32_t elapsed_ms, total_ms; /* of the phase */
	uint64_t down_bps, up_bps;     /* over the last half second */
	uint32_t rtt_us;               /* of the newest echo; 0: none answered lately */
};

enum speedtest_step { SPEEDTEST_RUNS, SPEEDTEST_MOVE, SPEEDTEST_DONE, SPEEDTEST_FAILED };

struct speedtest;

/* NULL when memory is short. */
struct speedtest *speedtest_new(const struct speedtest_plan *plan, uint64_t now_ms);
/* NULL is allowed. */
void speedtest_free(struct speedtest *test);

void speedtest_take_counters(struct speedtest *test, uint64_t now_ms, uint64_t rx_bytes, uint64_t tx_bytes,
	uint64_t cpu_ms, enum carrier carrier);
/* Whether the tunnel is up (or degraded), at each notice: one that is not for 5 s ends the test. */
void speedtest_take_state(struct speedtest *test, uint64_t now_ms, bool up);
/* rtt_us 0: lost. */
void speedtest_take_echo(struct speedtest *test, uint64_t sent_ms, uint32_t rtt_us);
enum speedtest_step speedtest_step(struct speedtest *test, uint64_t now_ms);
/* After SPEEDTEST_MOVE. */
enum carrier speedtest_wanted(const struct speedtest *test);
void speedtest_moved(struct speedtest *test, bool ok);
/* The tunnel has gone: the next step fails. */
void speedtest_lose(struct speedtest *test);
/* Readable when a step may have something to do before the next notice; -1: none. It changes from step to
 * step. */
int speedtest_handle(const struct speedtest *test);
void speedtest_live(const struct speedtest *test, struct speedtest_live *out);
/* Valid until speedtest_free; whole after SPEEDTEST_DONE, else what there is so far. */
const struct speedtest_result *speedtest_result(struct speedtest *test);

/* What a person is told about trouble, with the cure; ends without a full stop. */
void speedtest_explain(enum speedtest_trouble trouble, const char *text,
	const struct speedtest_target *target, char *out, size_t size);

#endif
