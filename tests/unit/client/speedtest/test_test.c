/* SPDX-License-Identifier: MIT */
/* The order of a speed test, on a clock that is a number, with an iperf3 that is a table. */
#include "tests/contract/cmocka_all.h"

#include "client/speedtest/json.h"
#include "core/port/child.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

/* ---- the double ---- */

#define RUNS_MAX 16

static struct {
	int start_error;
	const char *answer; /* what each run says at its end; NULL: one that fits how it was called */
	bool hangs, floods;
	char arguments[RUNS_MAX][400];
	size_t runs, living;
	uint64_t now_ms; /* the test's clock */
} iperf;

struct child {
	uint64_t ends_ms;
	char text[600];
	size_t sent;
};

int child_start(const char *name, char *const arguments[], struct child **out)
{
	struct child *child;
	char *line = iperf.arguments[iperf.runs];
	bool both = false;

	assert_string_equal(name, "iperf3");
	if (iperf.start_error)
		return iperf.start_error;
	line[0] = 0;
	for (size_t i = 0; arguments[i]; i++) {
		snprintf(line + strlen(line), 400 - strlen(line), "%s%s", i ? " " : "", arguments[i]);
		both |= !strcmp(arguments[i], "--bidir");
	}
	iperf.runs++;
	iperf.living++;
	child = calloc(1, sizeof(*child));
	assert_non_null(child);
	child->ends_ms = iperf.now_ms + 2100;
	snprintf(child->text, sizeof(child->text), "%s",
		iperf.answer ? iperf.answer
		: both       ? "{\"end\":{\"sum_received\":{\"bits_per_second\":7e6},\"sum_received_bidir_"
			       "reverse\":{"
			       "\"bits_per_second\":8e6}}}"
			     : "{\"end\":{\"sum_received\":{\"bits_per_second\":9e6,\"bytes\":1}}}");
	*out = child;
	return 0;
}

int child_handle(const struct child *child)
{
	(void)child;
	return 42;
}

long child_read(struct child *child, char *out, size_t size)
{
	size_t len = strlen(child->text) - child->sent;

	if (iperf.floods) {
		memset(out, '[', size);
		return (long)size;
	}
	if (iperf.hangs || iperf.now_ms < child->ends_ms)
		return -EAGAIN;
	len = len < size ? len : size;
	memcpy(out, child->text + child->sent, len);
	child->sent += len;
	return (long)len;
}

void child_end(struct child *child)
{
	if (!child)
		return;
	iperf.living--;
	free(child);
}

int child_confine(void)
{
	return 0;
}

/* ---- the stories ---- */

static struct speedtest_plan plan(void)
{
	memset(&iperf, 0, sizeof(iperf));
	iperf.now_ms = 1000000;
	return (struct speedtest_plan){ .target = { "wg0", "10.8.0.2", "10.8.0.1", 5201 },
		.carrier = CARRIER_UDP,
		.streams = 2,
		.duration_s = 2 };
}

/* Lets time pass in notices until the test is over or wants to be moved. */
static enum speedtest_step run(struct speedtest *test)
{
	enum speedtest_step step = SPEEDTEST_RUNS;

	for (int i = 0; i < 3000 && step == SPEEDTEST_RUNS; i++) {
		iperf.now_ms += 100;
		speedtest_take_counters(test, iperf.now_ms, iperf.now_ms * 100, iperf.now_ms * 10,
			iperf.now_ms / 4, CARRIER_NONE);
		speedtest_take_state(test, iperf.now_ms, true);
		speedtest_take_echo(test, iperf.now_ms - 50, speedtest_handle(test) < 0 ? 20000 : 50000);
		step = speedtest_step(test, iperf.now_ms);
	}
	return step;
}

static void down_up_and_both(void **state)
{
	struct speedtest_plan of = plan();
	struct speedtest *test = speedtest_new(&of, iperf.now_ms);
	const struct speedtest_result *result;
	struct speedtest_live live;
	char *json;

	(void)state;
	assert_int_equal(run(test), SPEEDTEST_DONE);
	assert_int_equal(iperf.runs, 3);
	assert_string_equal(iperf.arguments[0], "iperf3 --client 10.8.0.1 --port 5201 --bind 10.8.0.2 "
						"--bind-dev wg0 --json --interval 0 --time 2 --parallel 2 "
						"--connect-timeout 5000 --reverse");
	assert_null(strstr(iperf.arguments[1], "--reverse"));
	assert_non_null(strstr(iperf.arguments[2], "--bidir"));
	result = speedtest_result(test);
	assert_int_equal(result->round_count, 1);
	assert_int_equal(result->rounds[0].idle.p50_us, 20000);
	assert_true(result->rounds[0].idle.count > 20);
	assert_int_equal(result->rounds[0].parts[SPEEDTEST_PHASE_DOWN].report.down.bps, 9000000);
	assert_int_equal(result->rounds[0].parts[SPEEDTEST_PHASE_DOWN].loaded.p50_us, 50000);
	assert_int_equal(result->rounds[0].parts[SPEEDTEST_PHASE_BOTH].report.down.bps, 8000000);
	assert_int_equal(result->rounds[0].parts[SPEEDTEST_PHASE_BOTH].report.up.bps, 7000000);
	assert_in_range(result->rounds[0].parts[SPEEDTEST_PHASE_UP].cpu_permille, 240, 260);
	assert_int_equal(result->rpm[CARRIER_NONE], 1200);
	assert_int_equal(result->summary[CARRIER_UDP].up_bps, 9000000);
	assert_false(result->summary[CARRIER_TCP].measured);
	speedtest_live(test, &live);
	assert_int_equal(live.down_bps, 100 * 8000);
	assert_int_equal(live.up_bps, 10 * 8000);
	json = speedtest_json(&of, &(struct speedtest_about){ "office", "userspace", 1420 }, result);
	assert_non_null(strstr(json, "\"responsiveness_rpm\":1200"));
	assert_non_null(strstr(json, "\"p50_ms\":50.000"));
	free(json);
	speedtest_free(test);
	assert_int_equal(iperf.living, 0);
}

static void carriers_in_turns(void **state)
{
	static const enum carrier order[] = { CARRIER_UDP, CARRIER_TCP, CARRIER_UDP, CARRIER_TCP };
	struct speedtest_plan of = plan();
	struct speedtest *test;
	const struct speedtest_result *result;
	size_t moves = 0;

	(void)state;
	of.both_carriers = true;
	test = speedtest_new(&of, iperf.now_ms);
	while (run(test) == SPEEDTEST_MOVE) {
		moves++;
		assert_int_equal(speedtest_wanted(test), order[moves]);
		speedtest_moved(test, true);
	}
	assert_int_equal(moves, 3);
	assert_int_equal(iperf.runs, 8);
	result = speedtest_result(test);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(result->rounds[i].carrier, order[i]);
	assert_int_equal(result->better, CARRIER_NONE);
	assert_non_null(strstr(result->sentence, "equally well"));
	speedtest_free(test);
}

static void another_carrier_that_does_not_work(void **state)
{
	struct speedtest_plan of = plan();
	struct speedtest *test;

	(void)state;
	of.only_carrier = CARRIER_TCP;
	test = speedtest_new(&of, iperf.now_ms);
	assert_int_equal(run(test), SPEEDTEST_MOVE);
	speedtest_moved(test, false);
	assert_int_equal(run(test), SPEEDTEST_FAILED);
	assert_int_equal(speedtest_result(test)->trouble, SPEEDTEST_NO_ANSWER);
	speedtest_free(test);
}

static void ends_of_other_kinds(void **state)
{
	static const struct {
		const char *what;
		int start_error;
		const char *answer;
		bool hangs, floods, lost;
		enum speedtest_trouble want;
	} table[] = {
		{ "not installed", -ENOENT, NULL, 0, 0, 0, SPEEDTEST_NO_PROGRAM },
		{ "cannot be started", -EAGAIN, NULL, 0, 0, 0, SPEEDTEST_OTHER },
		{ "refused", 0, "{\"error\":\"unable to connect to server: Connection refused\"}", 0, 0, 0,
			SPEEDTEST_NO_SERVER },
		{ "busy", 0, "{\"error\":\"the server is busy running a test. try again later\"}", 0, 0, 0,
			SPEEDTEST_BUSY },
		{ "junk", 0, "junk", 0, 0, 0, SPEEDTEST_NOT_IPERF },
		{ "never ends", 0, NULL, true, 0, 0, SPEEDTEST_ENDLESS },
		{ "floods", 0, NULL, 0, true, 0, SPEEDTEST_NOT_IPERF },
		{ "tunnel gone", 0, NULL, 0, 0, true, SPEEDTEST_LOST },
	};

	(void)state;
	for (size_t i = 0; i < ROWS(table); i++) {
		struct speedtest_plan of = plan();
		struct speedtest *test = speedtest_new(&of, iperf.now_ms);

		iperf.start_error = table[i].start_error;
		iperf.answer = table[i].answer;
		iperf.hangs = table[i].hangs;
		iperf.floods = table[i].floods;
		if (table[i].lost)
			speedtest_lose(test);
		if (run(test) != SPEEDTEST_FAILED || speedtest_result(test)->trouble != table[i].want ||
			iperf.living)
			fail_msg("%s: %d", table[i].what, speedtest_result(test)->trouble);
		speedtest_free(test);
	}
}

/* A tunnel that looks for another carrier has 5 s. */
static void away_for_a_while(void **state)
{
	struct speedtest_plan of = plan();
	struct speedtest *test = speedtest_new(&of, iperf.now_ms);
	int ms;

	(void)state;
	for (ms = 0; ms < 4900; ms += 100) {
		speedtest_take_state(test, iperf.now_ms + (uint64_t)ms, false);
		assert_int_equal(speedtest_step(test, iperf.now_ms + (uint64_t)ms), SPEEDTEST_RUNS);
	}
	speedtest_take_state(test, iperf.now_ms + 5000, true);
	speedtest_take_state(test, iperf.now_ms + 5100, false);
	assert_int_equal(speedtest_step(test, iperf.now_ms + 5100), SPEEDTEST_RUNS);
	speedtest_take_state(test, iperf.now_ms + 11000, false);
	assert_int_equal(speedtest_step(test, iperf.now_ms + 11000), SPEEDTEST_FAILED);
	speedtest_free(test);
	assert_int_equal(iperf.living, 0);
}

static void freed_in_the_middle(void **state)
{
	struct speedtest_plan of = plan();
	struct speedtest *test = speedtest_new(&of, iperf.now_ms);

	(void)state;
	iperf.hangs = true;
	for (int i = 0; i < 40; i++) {
		iperf.now_ms += 100;
		speedtest_step(test, iperf.now_ms);
	}
	assert_int_equal(iperf.living, 1);
	assert_int_equal(speedtest_handle(test), 42);
	speedtest_free(test);
	assert_int_equal(iperf.living, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(down_up_and_both),
		cmocka_unit_test(carriers_in_turns),
		cmocka_unit_test(another_carrier_that_does_not_work),
		cmocka_unit_test(ends_of_other_kinds),
		cmocka_unit_test(away_for_a_while),
		cmocka_unit_test(freed_in_the_middle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
