/* SPDX-License-Identifier: MIT */
/* SpeedTestServer = on: answers speed tests of the peers, by iperf3 on one address of the tunnel at a time.
 * It is started when somebody calls and ended when nobody tests any more. It is bound to the tunnel's
 * interface: what comes by another one does not reach it, and what comes by this one has been let in by a
 * peer's allowed IPs. Main thread, GLib main loop. */
#ifndef WGTCP_CLIENT_DAEMON_SPEED_SERVER_H
#define WGTCP_CLIENT_DAEMON_SPEED_SERVER_H

#include "core/base/address.h"

#include <stddef.h>

struct daemon;
struct speed_server;

/* tunnel: its name; interface: of that name and index. Never NULL; *missing: how many of the addresses cannot
 * be answered on, since some program has that port there. */
struct speed_server *speed_server_new(struct daemon *daemon, const char *tunnel, const char *interface,
	uint32_t index, const struct ip_address *addresses, size_t count, size_t *missing);
/* Ends a test under way. NULL is allowed. */
void speed_server_free(struct speed_server *server);

#endif
