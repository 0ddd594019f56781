/* SPDX-License-Identifier: MIT */
/* The order of things in a speed test. One thread, the caller's. */
#include "client/speedtest/test_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IDLE_MS 2500
/* After a move, and between runs: what still waits in queues goes its way first. */
#define SETTLE_MS 500
/* A server that has just been in a test may need a moment to be ready for the next. */
#define BUSY_RETRY_MS 1500
#define LIVE_MS 500
/* As long as a tunnel needs to find another carrier. */
#define AWAY_MS 5000

struct speedtest *speedtest_new(const struct speedtest_plan *plan, uint64_t now_ms)
{
	struct speedtest *test = calloc(1, sizeof(*test));

	if (!test)
		return NULL;
	test->plan = *plan;
	test->carrier = plan->carrier;
	test->phase_ms = now_ms;
	test->result.round_count = plan->both_carriers ? 4 : 1;
	return test;
}

void speedtest_free(struct speedtest *test)
{
	if (!test)
		return;
	speedtest_run_close(test->run);
	free(test->echoes);
	free(test->scratch);
	free(test);
}

/* ---- what the daemon says ---- */

void speedtest_take_counters(struct speedtest *test, uint64_t now_ms, uint64_t rx_bytes, uint64_t tx_bytes,
	uint64_t cpu_ms, enum carrier carrier)
{
	test->counters[test->next] = (struct speedtest_counters){ now_ms, rx_bytes, tx_bytes };
	test->next = (test->next + 1) % SPEEDTEST_COUNTERS;
	if (test->seen < SPEEDTEST_COUNTERS)
		test->seen++;
	test->cpu_ms = cpu_ms;
	if (carrier != CARRIER_NONE)
		test->carrier = carrier;
}

static bool make_room(struct speedtest *test)
{
	size_t room = test->echo_room ? 2 * test->echo_room : 256;
	struct speedtest_sent *echoes;
	uint32_t *scratch;

	if (test->echo_count < test->echo_room)
		return true;
	if (room > SPEEDTEST_ECHOES_MAX)
		return false;
	scratch = realloc(test->scratch, room * sizeof(*scratch));
	if (!scratch)
		return false;
	test->scratch = scratch;
	echoes = realloc(test->echoes, room * sizeof(*echoes));
	if (!echoes)
		return false;
	test->echoes = echoes;
	test->echo_room = room;
	return true;
}

void speedtest_take_echo(struct speedtest *test, uint64_t sent_ms, uint32_t rtt_us)
{
	if (make_room(test))
		test->echoes[test->echo_count++] = (struct speedtest_sent){ sent_ms, rtt_us };
}

void speedtest_take_state(struct speedtest *test, uint64_t now_ms, bool up)
{
	/* A move of our own passes through other states. */
	if (up || test->moving)
		test->away_ms = 0;
	else if (!test->away_ms)
		test->away_ms = now_ms;
	else if (now_ms > test->away_ms + AWAY_MS)
		test->lost = true;
}

void speedtest_lose(struct speedtest *test)
{
	test->lost = true;
}

/* ---- phases ---- */

static struct speedtest_span *span(struct speedtest *test)
{
	return &test->spans[test->round][test->phase];
}

static enum speedtest_step fail(struct speedtest *test, enum speedtest_trouble trouble, const char *text)
{
	speedtest_run_close(test->run);
	test->run = NULL;
	test->result.trouble = trouble;
	snprintf(test->result.text, sizeof(test->result.text), "%s", text);
	return test->state = SPEEDTEST_FAILED;
}

static enum carrier carrier_of_round(const struct speedtest *test)
{
	/* It begins with the one in use: one move less. */
	if (test->plan.both_carriers)
		return (test->plan.carrier == CARRIER_TCP) == (test->round % 2 == 0) ? CARRIER_TCP
										     : CARRIER_UDP;
	return test->plan.only_carrier;
}

static enum speedtest_direction direction_of(enum speedtest_phase phase)
{
	switch (phase) {
	case SPEEDTEST_PHASE_IDLE:
	case SPEEDTEST_PHASE_DOWN:
		return SPEEDTEST_DOWN;
	case SPEEDTEST_PHASE_UP:
		return SPEEDTEST_UP;
	case SPEEDTEST_PHASE_BOTH:
		return SPEEDTEST_BOTH;
	}
	return SPEEDTEST_DOWN;
}

static enum speedtest_step start_run(struct speedtest *test, uint64_t now_ms)
{
	const struct speedtest_order order = { .direction = direction_of(test->phase),
		.streams = test->plan.streams,
		.duration_s = test->plan.duration_s,
		.udp = test->plan.udp,
		.rate_bps = test->plan.rate_bps };
	int err = speedtest_run_open(&test->plan.target, &order, now_ms, &test->run);

	if (err)
		return fail(test, err == -ENOENT ? SPEEDTEST_NO_PROGRAM : SPEEDTEST_OTHER,
			err == -ENOENT ? "" : strerror(-err));
	span(test)->from_ms = now_ms;
	span(test)->from_cpu_ms = test->cpu_ms;
	return SPEEDTEST_RUNS;
}

static void begin_phase(struct speedtest *test, enum speedtest_phase phase, uint64_t now_ms)
{
	test->phase = phase;
	test->phase_ms = now_ms;
}

static enum speedtest_step next_phase(struct speedtest *test, uint64_t now_ms)
{
	enum speedtest_phase last = test->plan.both_carriers ? SPEEDTEST_PHASE_UP : SPEEDTEST_PHASE_BOTH;

	if (test->phase != last) {
		begin_phase(test, test->phase + 1, now_ms);
		return SPEEDTEST_RUNS;
	}
	if (test->round + 1 == test->result.round_count)
		return test->state = SPEEDTEST_DONE;
	test->round++;
	begin_phase(test, SPEEDTEST_PHASE_IDLE, now_ms);
	return SPEEDTEST_RUNS;
}

static enum speedtest_step step_idle(struct speedtest *test, uint64_t now_ms)
{
	enum carrier wanted = carrier_of_round(test);

	if (wanted != CARRIER_NONE && wanted != test->carrier && !test->moved_ok) {
		test->wanted = wanted;
		test->moving = true;
		return SPEEDTEST_MOVE;
	}
	if (!span(test)->from_ms) {
		span(test)->from_ms = now_ms + (test->moved_ok ? SETTLE_MS : 0);
		test->phase_ms = span(test)->from_ms;
	}
	if (now_ms < span(test)->from_ms + IDLE_MS)
		return SPEEDTEST_RUNS;
	span(test)->to_ms = now_ms;
	test->result.rounds[test->round].carrier = test->carrier;
	test->moved_ok = false;
	return next_phase(test, now_ms);
}

static enum speedtest_step step_run(struct speedtest *test, uint64_t now_ms)
{
	struct speedtest_part *part = &test->result.rounds[test->round].parts[test->phase];
	struct speedtest_report report;

	if (!test->run) {
		if (now_ms < test->phase_ms + SETTLE_MS)
			return SPEEDTEST_RUNS;
		return start_run(test, now_ms);
	}
	if (!speedtest_run_step(test->run, now_ms, &report))
		return SPEEDTEST_RUNS;
	speedtest_run_close(test->run);
	test->run = NULL;
	if (report.trouble == SPEEDTEST_BUSY && !part->report.trouble &&
		(test->phase != SPEEDTEST_PHASE_DOWN || test->round)) {
		/* Busy with the end of our own last run: once more, then it is somebody else's. */
		part->report = report;
		test->phase_ms = now_ms + BUSY_RETRY_MS - SETTLE_MS;
		return SPEEDTEST_RUNS;
	}
	part->report = report;
	if (report.trouble != SPEEDTEST_FINE)
		return fail(test, report.trouble, report.text);
	span(test)->to_ms = now_ms;
	span(test)->to_cpu_ms = test->cpu_ms;
	part->done = true;
	return next_phase(test, now_ms);
}

enum speedtest_step speedtest_step(struct speedtest *test, uint64_t now_ms)
{
	if (test->state != SPEEDTEST_RUNS)
		return test->state;
	if (test->lost)
		return fail(test, SPEEDTEST_LOST, "");
	if (test->moving)
		return SPEEDTEST_MOVE;
	switch (test->phase) {
	case SPEEDTEST_PHASE_IDLE:
		return step_idle(test, now_ms);
	case SPEEDTEST_PHASE_DOWN:
	case SPEEDTEST_PHASE_UP:
	case SPEEDTEST_PHASE_BOTH:
		return step_run(test, now_ms);
	}
	return test->state;
}

enum carrier speedtest_wanted(const struct speedtest *test)
{
	return test->wanted;
}

void speedtest_moved(struct speedtest *test, bool ok)
{
	test->moving = false;
	test->moved_ok = ok;
	if (ok)
		test->carrier = test->wanted;
	else
		fail(test, SPEEDTEST_NO_ANSWER, "");
}

int speedtest_handle(const struct speedtest *test)
{
	return test->run ? speedtest_run_handle(test->run) : -1;
}

/* ---- for people ---- */

void speedtest_live(const struct speedtest *test, struct speedtest_live *out)
{
	struct speedtest_live live = { .round = test->round,
		.round_count = test->result.round_count,
		.phase = test->phase,
		.carrier = test->carrier,
		.total_ms = test->phase == SPEEDTEST_PHASE_IDLE ? IDLE_MS : test->plan.duration_s * 1000 };
	const struct speedtest_counters *newest =
		&test->counters[(test->next + SPEEDTEST_COUNTERS - 1) % SPEEDTEST_COUNTERS];
	uint64_t began = test->run ? test->spans[test->round][test->phase].from_ms : test->phase_ms;

	if (test->seen && newest->at_ms > began)
		live.elapsed_ms = (uint32_t)(newest->at_ms - began);
	if (live.elapsed_ms > live.total_ms)
		live.elapsed_ms = live.total_ms;
	for (size_t i = test->seen; i > 1; i--) {
		const struct speedtest_counters *older =
			&test->counters[(test->next + SPEEDTEST_COUNTERS - i) % SPEEDTEST_COUNTERS];
		uint64_t ms = newest->at_ms - older->at_ms;

		if (ms > LIVE_MS + 50 || !ms || newest->rx_bytes < older->rx_bytes ||
			newest->tx_bytes < older->tx_bytes)
			continue;
		live.down_bps = (newest->rx_bytes - older->rx_bytes) * 8000 / ms;
		live.up_bps = (newest->tx_bytes - older->tx_bytes) * 8000 / ms;
		break;
	}
	if (test->echo_count && test->echoes[test->echo_count - 1].sent_ms + 2000 > newest->at_ms)
		live.rtt_us = test->echoes[test->echo_count - 1].rtt_us;
	*out = live;
}

const struct speedtest_result *speedtest_result(struct speedtest *test)
{
	speedtest_reckon(test);
	return &test->result;
}
