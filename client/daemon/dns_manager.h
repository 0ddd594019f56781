/* SPDX-License-Identifier: MIT */
/* Whom NetworkManager would ask for names outside of tunnels, where it writes resolv.conf and has a tunnel of its own up.
 * Main thread. Source: NetworkManager's D-Bus reference, org.freedesktop.NetworkManager.DnsManager. */
#ifndef WGTCP_CLIENT_DAEMON_DNS_MANAGER_H
#define WGTCP_CLIENT_DAEMON_DNS_MANAGER_H

#include "client/daemon/probe.h"

#include <gio/gio.h>

/* answered: once, from the main loop, unless cancelled: then never. count 0: it does not run, or knows none. */
void dns_manager_servers(GDBusConnection *connection, GCancellable *cancel,
	void (*answered)(const struct probe_server *servers, size_t count, void *user), void *user);

#endif
