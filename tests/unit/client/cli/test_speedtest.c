/* SPDX-License-Identifier: MIT */
/* A speed test's result and its line at several widths, graphs, and the screen of --watch. */
#include "tests/contract/cmocka_all.h"

#include "client/cli/graph.h"
#include "client/cli/live.h"
#include "client/cli/speedtest_text.h"

#include <string.h>

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

static const struct rpc_prepared prepared = { .name = "office", .backend = RPC_BACKEND_USERSPACE };
static const struct speedtest_plan plan = {
	.target = { "wg0", "10.8.0.2", "10.8.0.1", 5201 }, .streams = 1, .duration_s = 5
};

static struct speedtest_result result_of_one_round(void)
{
	struct speedtest_result result = { .round_count = 1, .rpm[CARRIER_NONE] = 1200 };
	struct speedtest_round *round = &result.rounds[0];

	round->carrier = CARRIER_UDP;
	round->idle =
		(struct speedtest_latency){ .count = 25, .p50_us = 20000, .p95_us = 21000, .p99_us = 22000 };
	for (int phase = SPEEDTEST_PHASE_DOWN; phase <= SPEEDTEST_PHASE_BOTH; phase++) {
		struct speedtest_part *part = &round->parts[phase];

		part->done = true;
		part->cpu_permille = 250;
		part->loaded = (struct speedtest_latency){
			.count = 40, .p50_us = 50000, .p95_us = 80000, .p99_us = 90000
		};
		if (phase != SPEEDTEST_PHASE_UP)
			part->report.down =
				(struct speedtest_flow){ true, 94100000, 1, true, 12, false, 0, 0, 0 };
		if (phase != SPEEDTEST_PHASE_DOWN)
			part->report.up =
				(struct speedtest_flow){ true, 9999000, 1, true, 0, false, 0, 0, 0 };
	}
	result.summary[CARRIER_NONE].idle = round->idle;
	result.summary[CARRIER_NONE].loaded = round->parts[SPEEDTEST_PHASE_DOWN].loaded;
	return result;
}

static void table_and_paragraphs(void **state)
{
	static const char wide[] =
		"office against 10.8.0.1 over UDP, userspace, 1 stream, 5 s each.\n"
		"                 Mbit/s retrans          p50 ms  p95 ms  p99 ms CPU %\n"
		"idle                  -       -            20.0    21.0    22.0     -\n"
		"down               94.1      12            50.0    80.0    90.0    25\n"
		"up                 10.0       0            50.0    80.0    90.0    25\n"
		"both, down         94.1      12            50.0    80.0    90.0    25\n"
		"both, up           10.0       0            50.0    80.0    90.0    25\n"
		"Responsiveness: 1200 round trips a minute under load; a round trip takes 2.5\n"
		"times as long as without it.\n";
	struct speedtest_result result = result_of_one_round();
	struct speedtest_style style = { .width = 80 };
	struct text text = { 0 };
	size_t column = 0;

	(void)state;
	speedtest_result_text(&prepared, &plan, &result, &style, &text);
	assert_string_equal(text.bytes, wide);
	text_free(&text);
	style.width = 40;
	speedtest_result_text(&prepared, &plan, &result, &style, &text);
	for (const char *p = text.bytes; *p; p++) {
		column = *p == '\n' ? 0 : column + 1;
		assert_in_range(column, 0, 40);
	}
	assert_non_null(strstr(text.bytes, "\ndown: 94.1 Mbit/s, 12 retransmits, round\n  trip p50 50.0"));
	text_free(&text);
}

static void line_while_it_runs(void **state)
{
	static const struct speedtest_live live = { .round = 1,
		.round_count = 4,
		.phase = SPEEDTEST_PHASE_BOTH,
		.carrier = CARRIER_TCP,
		.elapsed_ms = 1200,
		.total_ms = 5000,
		.down_bps = 94100000,
		.up_bps = 1000000,
		.rtt_us = 31400 };
	static const struct {
		size_t width;
		bool utf8;
		const char *text;
	} table[] = {
		{ 0, false, "2/4 TCP both  1.2/5s  down 94.1 Mbit/s  up 1.0 Mbit/s  31.4 ms" },
		{ 80, true,
			"2/4 TCP both  1.2/5s  \xe2\x86\x93 94.1 Mbit/s  \xe2\x86\x91 1.0 Mbit/s  31.4 ms" },
		{ 24, true, "2/4 TCP both  1.2/5s  \xe2\x86\x93" },
	};

	(void)state;
	for (size_t i = 0; i < ROWS(table); i++) {
		struct speedtest_style style = { table[i].width, table[i].utf8 };
		struct text text = { 0 };

		speedtest_live_text(&live, &style, &text);
		assert_string_equal(text.bytes, table[i].text);
		text_free(&text);
	}
}

static void graphs(void **state)
{
	static const struct {
		uint64_t values[8];
		size_t count, columns;
		bool utf8, gap;
		const char *text;
	} table[] = {
		{ { 0, 1, 50, 100 }, 4, 4, false, false, "_.=#" },
		{ { 0, 1, 50, 100 }, 4, 6, false, true, "   .=#" },
		{ { 9, 9, 0, 100 }, 4, 2, false, false, "_#" }, /* scaled to what is shown */
		{ { 0, 0 }, 2, 2, false, false, "__" },
		{ { 0, 100 }, 2, 2, true, false, "\xe2\x96\x81\xe2\x96\x88" },
		{ { 0 }, 0, 3, true, false, "   " },
	};

	(void)state;
	for (size_t i = 0; i < ROWS(table); i++) {
		struct text text = { 0 };

		graph_add(&text, table[i].values, table[i].count, table[i].columns, table[i].utf8,
			table[i].gap);
		if (strcmp(text.bytes, table[i].text) != 0)
			fail_msg("row %zu: '%s'", i, text.bytes);
		text_free(&text);
	}
}

static void graphs_of_a_tunnel(void **state)
{
	struct rpc_sample samples[400];
	struct rpc_notice notice = { .kind = RPC_NOTICE_STATS,
		.stats = { .name = "office", .samples = samples, .sample_count = 400 } };
	struct status_style style = { .width = 34 };
	struct live live = { 0 };
	struct text text = { 0 };

	(void)state;
	for (size_t i = 0; i < 400; i++)
		samples[i] = (struct rpc_sample){
			.time = i, .rx_bps = 1000 * i, .tx_bps = 8, .rtt_us = i % 2 ? 20000 : 0
		};
	live_take(&live, &notice);
	live_text(&live, "office", &style, false, &text);
	assert_string_equal(text.bytes, "  down 399 kbit/s       #########\n"
					"  up 8 bit/s            #########\n"
					"  round trip 20 ms      # # # # #\n");
	text_free(&text);
	/* No room, another tunnel, one that went down: nothing. */
	style.width = 30;
	live_text(&live, "office", &style, false, &text);
	style.width = 80;
	live_text(&live, "home", &style, false, &text);
	live_forget(&live, "office");
	live_text(&live, "office", &style, false, &text);
	assert_null(text.bytes);
	live_free(&live);
}

static void screen(void **state)
{
	struct text text = { 0 };

	(void)state;
	live_screen("a\nb\nc\n", 2, &text);
	assert_string_equal(text.bytes, "a\033[K\nb\033[K\033[J");
	text_free(&text);
	live_screen("a\nb\n", 0, &text);
	assert_string_equal(text.bytes, "a\033[K\nb\033[K\033[J");
	text_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_and_paragraphs),
		cmocka_unit_test(line_while_it_runs),
		cmocka_unit_test(graphs),
		cmocka_unit_test(graphs_of_a_tunnel),
		cmocka_unit_test(screen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
