/* SPDX-License-Identifier: MIT */
/* The text of resolv.conf, read and written. Pure. Source: resolv.conf(5). */
#ifndef WGTCP_CLIENT_DAEMON_DNS_TEXT_H
#define WGTCP_CLIENT_DAEMON_DNS_TEXT_H

#include "client/daemon/probe.h"
#include "core/config/profile.h"

/* Who answers names. Everything is borrowed. */
struct dns_servers {
	const struct ip_address *servers;
	size_t server_count;
	const struct profile_texts *domains; /* to search; one that begins with ~ is only for routing */
};

/* A resolv.conf with these and nobody else's; the options lines of `before` (NULL: none) are kept. comment:
 * what stands in its first line, NULL: nothing. NULL when memory is short; freed by the caller. */
char *dns_text_write(const char *comment, const struct dns_servers *dns, const char *before);
/* The servers that a resolv.conf names, in their order, at most max; how many. scope: finds the number of an
 * interface of that name, 0: none. */
size_t dns_text_servers(
	const char *text, struct probe_server *out, size_t max, uint32_t (*scope)(const char *interface));
/* Its search list, with blanks between; "" if it has none. */
void dns_text_search(const char *text, char *out, size_t size);
/* Whether it leads to systemd-resolved's stub on this machine. */
bool dns_text_is_resolved(const char *text);

#endif
