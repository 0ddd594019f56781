/* SPDX-License-Identifier: MIT */
/* The daemon's part in a speed test (`speedtest.prepare`, `speedtest.end`): it says where to measure, sends
 * inner echoes and tells of them and of the counters ten times a second, and puts the carrier back when the
 * test ends. iperf3 is the client's. One at a time. Main thread, GLib main loop. */
#ifndef WGTCP_CLIENT_DAEMON_SPEED_H
#define WGTCP_CLIENT_DAEMON_SPEED_H

#include "client/daemon/listener.h"

struct daemon;

/* iperf3's own. */
#define SPEED_PORT 5201

/* This client moves the tunnel: if it is the one that tests, the carrier is put back afterwards. */
void speed_client_moves(struct daemon *daemon, const struct client *client, const char *name);
void speed_client_gone(struct daemon *daemon, const struct client *client);
/* The daemon ends. */
void speed_cancel(struct daemon *daemon);

#endif
