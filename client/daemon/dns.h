/* SPDX-License-Identifier: MIT */
/* Who answers names on this machine, while tunnels are up that say so: the one place that changes it, by the
 * first of these that the machine has: systemd-resolved (each link has its own servers), resolvconf (the
 * newest tunnel's hold), or resolv.conf itself (the same). What a killed daemon left is put right by the next
 * one's dns_new. Main thread. */
#ifndef WGTCP_CLIENT_DAEMON_DNS_H
#define WGTCP_CLIENT_DAEMON_DNS_H

#include "client/daemon/dns_text.h"

struct daemon;
struct dns;

enum dns_way { DNS_WAY_NONE, DNS_WAY_RESOLVED, DNS_WAY_RESOLVCONF, DNS_WAY_FILE };

struct dns_settings {
	const char *interface;
	uint32_t index;
	struct dns_servers dns; /* at least one server */
	bool all;               /* every name, not only those in the domains */
};

struct dns *dns_new(struct daemon *daemon);
/* Puts back what is still set. NULL is allowed. */
void dns_free(struct dns *dns);

/* done: once, from the main loop or before this returns, unless dns_unset comes first; warning: NULL, or a
 * sentence about what could not be done. The settings are copied. */
void dns_set(struct dns *dns, const struct dns_settings *settings,
	void (*done)(const char *warning, void *user), void *user);
/* Nothing set for it is no error. */
void dns_unset(struct dns *dns, const char *interface);

/* How names are looked up on this machine now. */
enum dns_way dns_way(const struct dns *dns);
/* Whether a tunnel of ours has set something by this way. */
bool dns_has(const struct dns *dns, enum dns_way way);
/* Whether this link is a tunnel that has set its servers. */
bool dns_is_ours(const struct dns *dns, uint32_t link);

#endif
