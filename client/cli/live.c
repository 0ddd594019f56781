/* SPDX-License-Identifier: MIT */
#include "client/cli/live.h"

#include "client/cli/graph.h"
#include "client/cli/sentence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LABEL_COLUMNS 24
#define GRAPH_COLUMNS_MIN 8
#define GRAPH_COLUMNS_MAX 120

void live_free(struct live *live)
{
	free(live->tunnels);
	*live = (struct live){ 0 };
}

static struct live_tunnel *find(const struct live *live, const char *name)
{
	for (size_t i = 0; i < live->count; i++) {
		if (!strcmp(live->tunnels[i].name, name))
			return &live->tunnels[i];
	}
	return NULL;
}

static struct live_tunnel *find_or_add(struct live *live, const char *name)
{
	struct live_tunnel *tunnel = find(live, name), *tunnels;

	if (tunnel)
		return tunnel;
	tunnels = realloc(live->tunnels, (live->count + 1) * sizeof(*tunnels));
	if (!tunnels)
		return NULL;
	live->tunnels = tunnels;
	tunnel = &tunnels[live->count++];
	*tunnel = (struct live_tunnel){ 0 };
	snprintf(tunnel->name, sizeof(tunnel->name), "%s", name);
	return tunnel;
}

void live_take(struct live *live, const struct rpc_notice *notice)
{
	struct live_tunnel *tunnel = find_or_add(live, notice->stats.name);

	for (size_t i = 0; tunnel && i < notice->stats.sample_count; i++) {
		if (tunnel->count == LIVE_SAMPLES) {
			memmove(tunnel->samples, tunnel->samples + 1,
				(LIVE_SAMPLES - 1) * sizeof(tunnel->samples[0]));
			tunnel->count--;
		}
		tunnel->samples[tunnel->count++] = notice->stats.samples[i];
	}
}

void live_forget(struct live *live, const char *name)
{
	struct live_tunnel *tunnel = find(live, name);

	if (tunnel)
		tunnel->count = 0;
}

static uint64_t value_of(const struct rpc_sample *sample, int which)
{
	return which == 0 ? sample->rx_bps : which == 1 ? sample->tx_bps : sample->rtt_us;
}

void live_text(const struct live *live, const char *name, const struct status_style *style, bool utf8,
	struct text *out)
{
	static const char *const labels[] = { "down", "up", "round trip" };
	static const char *const colours[] = { "\033[32m", "\033[34m", "\033[33m" };
	const struct live_tunnel *tunnel = find(live, name);
	size_t columns = style->width > LABEL_COLUMNS + 1 ? style->width - LABEL_COLUMNS - 1 : 0;
	uint64_t values[LIVE_SAMPLES];

	if (!tunnel || !tunnel->count || columns < GRAPH_COLUMNS_MIN)
		return;
	if (columns > GRAPH_COLUMNS_MAX)
		columns = GRAPH_COLUMNS_MAX;
	for (int which = 0; which < 3; which++) {
		struct text label = { 0 };
		uint64_t now = value_of(&tunnel->samples[tunnel->count - 1], which);

		for (size_t i = 0; i < tunnel->count; i++)
			values[i] = value_of(&tunnel->samples[i], which);
		text_addf(&label, "  %s ", labels[which]);
		if (which < 2)
			sentence_rate(now, &label);
		else if (now)
			sentence_rtt((uint32_t)now, &label);
		if (label.bytes)
			text_addf(out, "%-*.*s", LABEL_COLUMNS, LABEL_COLUMNS, label.bytes);
		text_free(&label);
		if (style->colour)
			text_addf(out, "%s", colours[which]);
		graph_add(out, values, tunnel->count, columns, utf8, which == 2);
		text_addf(out, "%s\n", style->colour ? "\033[0m" : "");
	}
}

void live_line(const struct rpc_notice *notice, struct text *out)
{
	const struct rpc_sample *sample;

	if (!notice->stats.sample_count)
		return;
	sample = &notice->stats.samples[notice->stats.sample_count - 1];
	text_add_clean(out, notice->stats.name);
	text_addf(out, ": ");
	sentence_rate(sample->rx_bps, out);
	text_addf(out, " down, ");
	sentence_rate(sample->tx_bps, out);
	text_addf(out, " up");
	if (sample->rtt_us) {
		text_addf(out, ", round trip ");
		sentence_rtt(sample->rtt_us, out);
	}
	if (sample->echoes)
		text_addf(out, ", %.1f %% lost", sample->loss_permille / 10.0);
}

void live_screen(const char *text, size_t lines, struct text *out)
{
	for (size_t line = 0; *text && (!lines || line < lines); line++) {
		size_t len = strcspn(text, "\n");

		/* The last one without a newline: that would move everything up. */
		if (line)
			text_addf(out, "\n");
		text_add(out, text, len);
		text_addf(out, "\033[K");
		text += len + (text[len] == '\n');
	}
	text_addf(out, "\033[J");
}
