/* SPDX-License-Identifier: MIT */
/* Whom this machine would ask for names if no tunnel had changed that: what the tunnels' own servers are
 * looked up with. Main thread. */
#ifndef WGTCP_CLIENT_DAEMON_UNDERLAY_H
#define WGTCP_CLIENT_DAEMON_UNDERLAY_H

#include "client/daemon/probe.h"

#include <stddef.h>

struct daemon;
struct underlay_query;

struct underlay {
	struct probe_server servers[PROBE_SERVERS_MAX];
	size_t count; /* 0: not known: as resolv.conf says */
	char search[PROBE_SEARCH_LEN];
};

/* found: once, maybe before this returns, which is then NULL; not after underlay_cancel. */
struct underlay_query *underlay_find(
	struct daemon *daemon, void (*found)(const struct underlay *underlay, void *user), void *user);
/* NULL is allowed. */
void underlay_cancel(struct underlay_query *query);

#endif
