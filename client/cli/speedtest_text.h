/* SPDX-License-Identifier: MIT */
/* A speed test for a person: the line while it runs, and the table at the end. Pure. */
#ifndef WGTCP_CLIENT_CLI_SPEEDTEST_TEXT_H
#define WGTCP_CLIENT_CLI_SPEEDTEST_TEXT_H

#include "client/cli/text.h"
#include "client/rpc/types.h"
#include "client/speedtest/test.h"

struct speedtest_style {
	size_t width; /* columns; 0: no limit */
	bool utf8;
};

/* At most width - 1 columns, without a newline. */
void speedtest_live_text(
	const struct speedtest_live *live, const struct speedtest_style *style, struct text *out);
void speedtest_result_text(const struct rpc_prepared *prepared, const struct speedtest_plan *plan,
	const struct speedtest_result *result, const struct speedtest_style *style, struct text *out);

#endif
