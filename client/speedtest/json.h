/* SPDX-License-Identifier: MIT */
/* A speed test's result as text, for --json: see client/rpc/protocol.md, Speed test. */
#ifndef WGTCP_CLIENT_SPEEDTEST_JSON_H
#define WGTCP_CLIENT_SPEEDTEST_JSON_H

#include "client/speedtest/test.h"

struct speedtest_about {
	const char *name, *backend; /* backend: a word of the protocol */
	uint32_t mtu;
};

/* One line, no newline at the end. Freed by free. NULL when memory is short. */
char *speedtest_json(const struct speedtest_plan *plan, const struct speedtest_about *about,
	const struct speedtest_result *result);

#endif
