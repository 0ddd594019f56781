/* SPDX-License-Identifier: MIT */
/* A small graph in one line of text. Pure. */
#ifndef WGTCP_CLIENT_CLI_GRAPH_H
#define WGTCP_CLIENT_CLI_GRAPH_H

#include "client/cli/text.h"

/* The newest `columns` of count values, the newest at the right edge, scaled to the largest shown: one column
 * each. Blocks of Unicode, or with utf8 false ASCII. 0 is a blank where zero_is_gap (not known), else the
 * lowest step. */
void graph_add(
	struct text *out, const uint64_t *values, size_t count, size_t columns, bool utf8, bool zero_is_gap);

#endif
