/* SPDX-License-Identifier: MIT */
/* A table where there is room for one, else a paragraph for each line of it. */
#include "client/cli/speedtest_text.h"

#include "client/cli/sentence.h"

#include <stdio.h>
#include <string.h>

#define TABLE_COLUMNS 72

static const char *const phase_names[] = { "idle", "down", "up", "both" };

/* ---- while it runs ---- */

static void add_side(struct text *out, const char *arrow, const char *word, bool utf8, uint64_t bps)
{
	text_addf(out, "  %s %.1f Mbit/s", utf8 ? arrow : word, (double)bps / 1e6);
}

void speedtest_live_text(
	const struct speedtest_live *live, const struct speedtest_style *style, struct text *out)
{
	struct text line = { 0 };
	size_t room = style->width ? style->width - 1 : SIZE_MAX;

	if (live->round_count > 1)
		text_addf(&line, "%u/%u ", (unsigned)live->round + 1, (unsigned)live->round_count);
	text_addf(&line, "%s %-4s %4.1f/%us",
		live->carrier == CARRIER_NONE ? "-" : sentence_carrier(live->carrier),
		phase_names[live->phase], live->elapsed_ms / 1e3, (live->total_ms + 999) / 1000);
	if (live->phase != SPEEDTEST_PHASE_UP && live->phase != SPEEDTEST_PHASE_IDLE)
		add_side(&line, "\xe2\x86\x93", "down", style->utf8, live->down_bps);
	if (live->phase != SPEEDTEST_PHASE_DOWN && live->phase != SPEEDTEST_PHASE_IDLE)
		add_side(&line, "\xe2\x86\x91", "up", style->utf8, live->up_bps);
	if (live->rtt_us)
		text_addf(&line, "  %.1f ms", live->rtt_us / 1e3);
	if (!line.bytes)
		return;
	/* Cut between characters; all that is not ASCII is one column wide. */
	size_t len = 0;

	for (size_t columns = 0; line.bytes[len]; columns++) {
		if (columns == room)
			break;
		len++;
		while (((unsigned char)line.bytes[len] & 0xc0) == 0x80)
			len++;
	}
	text_add(out, line.bytes, len);
	text_free(&line);
}

/* ---- at the end ---- */

/* One line of the table. */
struct line {
	char name[24];
	const struct speedtest_flow *flow; /* NULL: idle */
	const struct speedtest_latency *latency;
	const struct speedtest_part *part; /* NULL: CPU is not told here */
};

static void add_cell(struct text *out, int width, bool there, double value, int digits)
{
	if (there)
		text_addf(out, " %*.*f", width, digits, value);
	else
		text_addf(out, " %*s", width, "-");
}

static int digits_of(double value)
{
	/* By what is left after rounding: 9.999 is written 10.0. */
	return value < 9.995 ? 2 : value < 999.95 ? 1 : 0;
}

static void add_head(bool udp, struct text *out)
{
	text_addf(out, "%-13s %9s %7s %7s %7s %7s %7s %5s\n", "", "Mbit/s", udp ? "lost %" : "retrans",
		udp ? "jitter" : "", "p50 ms", "p95 ms", "p99 ms", "CPU %");
}

static void add_line(const struct line *line, bool udp, struct text *out)
{
	const struct speedtest_flow *flow = line->flow;
	const struct speedtest_latency *latency = line->latency;
	double mbit = flow ? (double)flow->bps / 1e6 : 0;

	text_addf(out, "%-13s", line->name);
	add_cell(out, 9, flow, mbit, digits_of(mbit));
	if (udp)
		add_cell(out, 7, flow && flow->has_loss && flow->packets,
			flow && flow->packets ? (double)flow->lost * 100 / (double)flow->packets : 0, 2);
	else
		add_cell(out, 7, flow && flow->has_retransmits, flow ? (double)flow->retransmits : 0, 0);
	if (udp)
		add_cell(out, 7, flow && flow->has_loss, flow ? flow->jitter_us / 1e3 : 0, 2);
	else
		text_addf(out, " %7s", "");
	add_cell(out, 7, latency->count, latency->p50_us / 1e3, 1);
	add_cell(out, 7, latency->count, latency->p95_us / 1e3, 1);
	add_cell(out, 7, latency->count, latency->p99_us / 1e3, 1);
	add_cell(out, 5, line->part && line->part->cpu_permille,
		line->part ? line->part->cpu_permille / 10.0 : 0, 0);
	text_addf(out, "\n");
}

static void add_paragraph(const struct line *line, size_t width, struct text *out)
{
	const struct speedtest_flow *flow = line->flow;
	const struct speedtest_latency *latency = line->latency;
	struct text value = { 0 };

	if (flow) {
		text_addf(&value, "%.*f Mbit/s", digits_of((double)flow->bps / 1e6), (double)flow->bps / 1e6);
		if (flow->has_loss && flow->packets)
			text_addf(&value, ", %.2f %% lost, jitter %.2f ms",
				(double)flow->lost * 100 / (double)flow->packets, flow->jitter_us / 1e3);
		if (flow->has_retransmits)
			text_addf(&value, ", %llu retransmit%s", (unsigned long long)flow->retransmits,
				flow->retransmits == 1 ? "" : "s");
		text_addf(&value, ", ");
	}
	if (latency->count)
		text_addf(&value, "round trip p50 %.1f, p95 %.1f, p99 %.1f ms", latency->p50_us / 1e3,
			latency->p95_us / 1e3, latency->p99_us / 1e3);
	else
		text_addf(&value, "no echo came back");
	if (line->part && line->part->cpu_permille)
		text_addf(&value, ", CPU %.0f %%", line->part->cpu_permille / 10.0);
	text_addf(out, "%s: ", line->name);
	if (value.bytes)
		text_add_wrapped(out, value.bytes, strlen(line->name) + 2, 2, width);
	text_addf(out, "\n");
	text_free(&value);
}

static void show(struct line *line, const struct speedtest_plan *plan, const struct speedtest_style *style,
	struct text *out)
{
	if (style->width && style->width < TABLE_COLUMNS)
		add_paragraph(line, style->width, out);
	else
		add_line(line, plan->udp, out);
}

static void name_line(
	struct line *line, const struct speedtest_result *result, size_t round, const char *what)
{
	if (result->round_count > 1)
		snprintf(line->name, sizeof(line->name), "%u %s %s", (unsigned)round + 1,
			sentence_carrier(result->rounds[round].carrier), what);
	else
		snprintf(line->name, sizeof(line->name), "%s", what);
}

static void add_round(const struct speedtest_plan *plan, const struct speedtest_result *result, size_t number,
	const struct speedtest_style *style, struct text *out)
{
	const struct speedtest_round *round = &result->rounds[number];
	struct line line = { .latency = &round->idle };

	name_line(&line, result, number, "idle");
	show(&line, plan, style, out);
	for (int phase = SPEEDTEST_PHASE_DOWN; phase <= SPEEDTEST_PHASE_BOTH; phase++) {
		const struct speedtest_part *part = &round->parts[phase];

		line.latency = &part->loaded;
		line.part = part;
		if (part->done && part->report.down.present) {
			line.flow = &part->report.down;
			name_line(
				&line, result, number, phase == SPEEDTEST_PHASE_BOTH ? "both, down" : "down");
			show(&line, plan, style, out);
		}
		if (part->done && part->report.up.present) {
			line.flow = &part->report.up;
			name_line(&line, result, number, phase == SPEEDTEST_PHASE_BOTH ? "both, up" : "up");
			show(&line, plan, style, out);
		}
	}
}

static void add_sentence(struct text *sentence, size_t width, struct text *out)
{
	if (sentence->bytes)
		text_add_wrapped(out, sentence->bytes, 0, 0, width);
	text_addf(out, "\n");
	text_free(sentence);
}

static void add_responsiveness(const struct speedtest_result *result, enum carrier carrier, const char *of,
	size_t width, struct text *out)
{
	const struct speedtest_summary *summary = &result->summary[carrier];
	struct text sentence = { 0 };

	if (!summary->loaded.count) {
		text_addf(&sentence,
			"Responsiveness%s: not known, since no echo came back: set ProbeAddress to an "
			"address "
			"inside that answers pings.",
			of);
	} else {
		text_addf(&sentence, "Responsiveness%s: %u round trips a minute under load", of,
			result->rpm[carrier]);
		if (summary->idle.p50_us)
			text_addf(&sentence, "; a round trip takes %.1f times as long as without it",
				(double)summary->loaded.p50_us / summary->idle.p50_us);
		if (summary->loaded.lost)
			text_addf(&sentence, "; %u of %u echoes lost", summary->loaded.lost,
				summary->loaded.lost + summary->loaded.count);
		text_addf(&sentence, ".");
	}
	add_sentence(&sentence, width, out);
}

static void add_where(const struct rpc_prepared *prepared, const struct speedtest_plan *plan,
	const struct speedtest_result *result, size_t width, struct text *out)
{
	struct text sentence = { 0 };
	const struct speedtest_report *down = &result->rounds[0].parts[SPEEDTEST_PHASE_DOWN].report;

	text_addf(&sentence, "%s against %s", prepared->name, plan->target.address);
	if (result->round_count == 1)
		text_addf(&sentence, " over %s", sentence_carrier(result->rounds[0].carrier));
	text_addf(&sentence, ", %s, %u stream%s, %u s each", rpc_backend_words[prepared->backend],
		plan->streams, plan->streams == 1 ? "" : "s", plan->duration_s);
	if (plan->udp) {
		text_addf(&sentence, ", UDP at ");
		sentence_rate(plan->rate_bps, &sentence);
	}
	if (down->has_cpu)
		text_addf(&sentence, "; iperf3 itself took %.0f %% of a processor here and %.0f %% there",
			down->cpu_here_permille / 10.0, down->cpu_there_permille / 10.0);
	text_addf(&sentence, ".");
	add_sentence(&sentence, width, out);
}

void speedtest_result_text(const struct rpc_prepared *prepared, const struct speedtest_plan *plan,
	const struct speedtest_result *result, const struct speedtest_style *style, struct text *out)
{
	struct text sentence = { 0 };

	add_where(prepared, plan, result, style->width, out);
	if (!style->width || style->width >= TABLE_COLUMNS)
		add_head(plan->udp, out);
	for (size_t i = 0; i < result->round_count; i++)
		add_round(plan, result, i, style, out);
	if (result->round_count == 1) {
		add_responsiveness(result, CARRIER_NONE, "", style->width, out);
		return;
	}
	add_responsiveness(result, CARRIER_UDP, " over UDP", style->width, out);
	add_responsiveness(result, CARRIER_TCP, " over TCP", style->width, out);
	text_addf(&sentence, "%s", result->sentence);
	add_sentence(&sentence, style->width, out);
}
