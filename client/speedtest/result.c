/* SPDX-License-Identifier: MIT */
/* From echoes and reports to figures and words. Used by test.c and by those who show them. */
#include "client/speedtest/test_state.h"

#include <stdio.h>

/* A flow needs a moment to find its speed. */
#define SLOW_START_MS 1000

/* Copies the round trips of echoes sent in a time behind the `count` that are there. */
static size_t gather(struct speedtest *test, uint64_t from_ms, uint64_t to_ms, size_t count)
{
	for (size_t i = 0; i < test->echo_count && count < test->echo_room; i++) {
		if (test->echoes[i].sent_ms >= from_ms && test->echoes[i].sent_ms < to_ms)
			test->scratch[count++] = test->echoes[i].rtt_us;
	}
	return count;
}

/* The end of a run is known, its beginning is not: iperf3 may have waited for its server first. */
static size_t gather_loaded(struct speedtest *test, const struct speedtest_span *span, size_t count)
{
	uint64_t duration_ms = test->plan.duration_s * 1000u;
	uint64_t skip_ms = duration_ms / 2 < SLOW_START_MS ? duration_ms / 2 : SLOW_START_MS;
	uint64_t from_ms = span->to_ms > duration_ms ? span->to_ms - duration_ms : 0;

	if (!span->to_ms)
		return count;
	if (from_ms < span->from_ms)
		from_ms = span->from_ms;
	return gather(test, from_ms + skip_ms, span->to_ms - 200, count);
}

static void reckon_round(struct speedtest *test, size_t round)
{
	struct speedtest_round *of = &test->result.rounds[round];
	const struct speedtest_span *spans = test->spans[round];

	if (spans[SPEEDTEST_PHASE_IDLE].from_ms)
		speedtest_latency_of(test->scratch,
			gather(test, spans[SPEEDTEST_PHASE_IDLE].from_ms,
				spans[SPEEDTEST_PHASE_IDLE].to_ms ? spans[SPEEDTEST_PHASE_IDLE].to_ms
								  : UINT64_MAX,
				0),
			&of->idle);
	for (int phase = SPEEDTEST_PHASE_DOWN; phase <= SPEEDTEST_PHASE_BOTH; phase++) {
		const struct speedtest_span *span = &spans[phase];

		speedtest_latency_of(test->scratch, gather_loaded(test, span, 0), &of->parts[phase].loaded);
		if (span->to_ms > span->from_ms && span->to_cpu_ms > span->from_cpu_ms)
			of->parts[phase].cpu_permille = (uint32_t)((span->to_cpu_ms - span->from_cpu_ms) *
								   1000 / (span->to_ms - span->from_ms));
	}
}

/* carrier NONE: over all rounds. */
static void summarise(struct speedtest *test, enum carrier carrier)
{
	struct speedtest_summary *summary = &test->result.summary[carrier];
	uint64_t down[SPEEDTEST_ROUNDS_MAX], up[SPEEDTEST_ROUNDS_MAX];
	size_t downs = 0, ups = 0, echoes = 0;

	*summary = (struct speedtest_summary){ 0 };
	for (size_t i = 0; i <= test->round; i++) {
		const struct speedtest_round *round = &test->result.rounds[i];

		if (carrier != CARRIER_NONE && round->carrier != carrier)
			continue;
		if (round->parts[SPEEDTEST_PHASE_DOWN].done)
			down[downs++] = round->parts[SPEEDTEST_PHASE_DOWN].report.down.bps;
		if (round->parts[SPEEDTEST_PHASE_UP].done)
			up[ups++] = round->parts[SPEEDTEST_PHASE_UP].report.up.bps;
		for (int phase = SPEEDTEST_PHASE_DOWN; phase <= SPEEDTEST_PHASE_BOTH; phase++)
			echoes = gather_loaded(test, &test->spans[i][phase], echoes);
	}
	summary->measured = downs && ups;
	summary->down_bps = speedtest_median(down, downs);
	summary->up_bps = speedtest_median(up, ups);
	speedtest_latency_of(test->scratch, echoes, &summary->loaded);
	test->result.rpm[carrier] = speedtest_rpm(&summary->loaded);
	echoes = 0;
	for (size_t i = 0; i <= test->round; i++) {
		const struct speedtest_span *idle = &test->spans[i][SPEEDTEST_PHASE_IDLE];

		if ((carrier == CARRIER_NONE || test->result.rounds[i].carrier == carrier) && idle->to_ms)
			echoes = gather(test, idle->from_ms, idle->to_ms, echoes);
	}
	speedtest_latency_of(test->scratch, echoes, &summary->idle);
}

void speedtest_reckon(struct speedtest *test)
{
	struct speedtest_result *result = &test->result;

	for (size_t i = 0; i <= test->round; i++)
		reckon_round(test, i);
	summarise(test, CARRIER_NONE);
	summarise(test, CARRIER_UDP);
	summarise(test, CARRIER_TCP);
	if (test->plan.both_carriers && test->state == SPEEDTEST_DONE)
		result->better = speedtest_better(&result->summary[CARRIER_UDP],
			&result->summary[CARRIER_TCP], result->sentence, sizeof(result->sentence));
}

void speedtest_explain(enum speedtest_trouble trouble, const char *text,
	const struct speedtest_target *target, char *out, size_t size)
{
	const char *address = target->address;
	unsigned port = (unsigned)target->port;

	switch (trouble) {
	case SPEEDTEST_FINE:
		snprintf(out, size, "nothing is wrong");
		return;
	case SPEEDTEST_NO_SERVER:
		snprintf(out, size,
			"no speed test server answers at %s port %u: start one there with `iperf3 -s -B %s`, "
			"or set "
			"SpeedTestServer = on in the profile of that side's wgtcp",
			address, port, address);
		return;
	case SPEEDTEST_NO_ANSWER:
		snprintf(out, size,
			"nothing comes back from %s port %u: start `iperf3 -s -B %s` there, and let port %u "
			"(TCP and UDP) "
			"through that side's firewall from the tunnel",
			address, port, address, port);
		return;
	case SPEEDTEST_BUSY:
		snprintf(out, size,
			"the speed test server at %s is busy with another test: try again in a minute",
			address);
		return;
	case SPEEDTEST_LOST:
		snprintf(out, size,
			"the connection to the speed test server at %s broke in the middle: `wgtcp-cli "
			"status` says how "
			"the tunnel is, and then try again",
			address);
		return;
	case SPEEDTEST_NO_PROGRAM:
		snprintf(out, size,
			"the speed test needs iperf3, which is not installed here: `sudo apt install "
			"iperf3`");
		return;
	case SPEEDTEST_NOT_IPERF:
		snprintf(out, size,
			"what answers at %s port %u does not speak as iperf3 does%s%s%s: both sides need "
			"iperf3 3.10 or "
			"newer",
			address, port, text[0] ? " (" : "", text, text[0] ? ")" : "");
		return;
	case SPEEDTEST_ENDLESS:
		snprintf(out, size,
			"the speed test server at %s did not end the test when its time was over, so it was "
			"stopped: "
			"restart iperf3 there",
			address);
		return;
	case SPEEDTEST_OTHER:
		snprintf(out, size, "the speed test against %s failed: %s", address,
			text[0] ? text : "iperf3 does not say why");
		return;
	}
}
