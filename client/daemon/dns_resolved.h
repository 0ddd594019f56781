/* SPDX-License-Identifier: MIT */
/* systemd-resolved, by its bus interface. Main thread. Source: org.freedesktop.resolve1(5). */
#ifndef WGTCP_CLIENT_DAEMON_DNS_RESOLVED_H
#define WGTCP_CLIENT_DAEMON_DNS_RESOLVED_H

#include "client/daemon/dns_text.h"

#include <gio/gio.h>

/* Gives a link its servers and domains. all: every name that no other link has a domain for is asked there,
 * and nowhere else; else only names in the domains. done: once, unless cancelled; why: NULL, or what resolved
 * said. */
void dns_resolved_set(GDBusConnection *connection, uint32_t link, const struct dns_servers *dns, bool all,
	GCancellable *cancel, void (*done)(const char *why, void *user), void *user);
/* The link is as resolved found it. Not waited for. */
void dns_resolved_revert(GDBusConnection *connection, uint32_t link);

/* A server of a link (0: of none, the machine's own). */
struct dns_resolved_server {
	uint32_t link;
	struct ip_address address;
};

/* All servers that resolved knows; NULL when it does not answer. */
void dns_resolved_servers(GDBusConnection *connection, GCancellable *cancel,
	void (*done)(const struct dns_resolved_server *servers, size_t count, void *user), void *user);

#endif
