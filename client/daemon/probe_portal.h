/* SPDX-License-Identifier: MIT */
/* Whether a captive portal is in the way: the network's own word where it offers one (RFC 8910, 8908), else
 * what comes back for an address that a person chose. Inside the probe process. */
#ifndef WGTCP_CLIENT_DAEMON_PROBE_PORTAL_H
#define WGTCP_CLIENT_DAEMON_PROBE_PORTAL_H

#include "client/daemon/probe.h"

#include <poll.h>

struct fetch_result;
struct portal;

struct portal *portal_new(const struct probe_message *request);
void portal_free(struct portal *portal);
/* True once it is known; then *url is the portal's address for a person, or "". */
bool portal_is_over(const struct portal *portal, enum probe_portal *out, const char **url);
size_t portal_wait(struct portal *portal, struct pollfd *out, int *timeout_ms);
void portal_turn(struct portal *portal, const struct pollfd *ready, size_t count);

/* What an answer to a person's check address says. Pure. */
enum probe_portal portal_judge(
	const char *check, const struct fetch_result *result, char url[PROBE_TEXT_LEN]);

#endif
