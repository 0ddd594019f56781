/* SPDX-License-Identifier: MIT */
#include "client/cli/graph.h"

#define STEPS 8

static const char *const blocks[STEPS] = { "\xe2\x96\x81", "\xe2\x96\x82", "\xe2\x96\x83", "\xe2\x96\x84",
	"\xe2\x96\x85", "\xe2\x96\x86", "\xe2\x96\x87", "\xe2\x96\x88" };
static const char *const ascii[STEPS] = { "_", ".", ":", "-", "=", "+", "*", "#" };

void graph_add(
	struct text *out, const uint64_t *values, size_t count, size_t columns, bool utf8, bool zero_is_gap)
{
	size_t shown = count < columns ? count : columns;
	uint64_t top = 0;

	values += count - shown;
	for (size_t i = 0; i < shown; i++)
		top = values[i] > top ? values[i] : top;
	text_addf(out, "%*s", (int)(columns - shown), "");
	for (size_t i = 0; i < shown; i++) {
		size_t step = 0;

		if (!values[i] && zero_is_gap) {
			text_addf(out, " ");
			continue;
		}
		/* Something is never shown as nothing. */
		if (values[i])
			step = 1 + (size_t)((double)values[i] / (double)top * (STEPS - 1) - 0.5);
		if (step >= STEPS)
			step = STEPS - 1;
		text_addf(out, "%s", utf8 ? blocks[step] : ascii[step]);
	}
}
