/* SPDX-License-Identifier: MIT */
/* A wall around this machine: what does not go through a tunnel does not leave it. The system holds it, not a
 * process: it stays when whoever made it is killed, and goes when the machine starts anew. */
#ifndef WGTCP_CORE_PORT_KILL_SWITCH_H
#define WGTCP_CORE_PORT_KILL_SWITCH_H

#include "core/base/address.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KILL_SWITCH_TUNNELS_MAX 64
#define KILL_SWITCH_WHY_LEN 200
#define KILL_SWITCH_NETWORKS_MAX 32

struct kill_switch_tunnel {
	char interface[16]; /* what goes into it may pass, but for its own carrier's packets; need not be
			       there yet */
	uint32_t mark;      /* of its carrier's sockets, which may pass; 0: none */
};

/* A network that begins at an interface of this machine. */
struct kill_switch_network {
	char interface[16];
	struct ip_prefix prefix;
};

struct kill_switch {
	const struct kill_switch_tunnel *tunnels; /* borrowed */
	size_t count;
	/* That may be reached, but for name look-ups, with the groups that their machines find each other by.
	 */
	const struct kill_switch_network *networks; /* borrowed */
	size_t network_count;
	uint32_t open_s; /* everything may pass for so many seconds from now on, then nothing again, whoever
			  * has died meanwhile; 0: no time */
};

/* Puts it in place, or another one in the place of the one that is there, without a moment between. Loopback,
 * DHCP and IPv6 neighbour discovery pass always; no destination ever does. 0; or -errno with a sentence in
 * why, and what was there before is there still: -EPERM; -EOPNOTSUPP: this system has no such thing. */
int kill_switch_set(const struct kill_switch *settings, char why[KILL_SWITCH_WHY_LEN]);
/* Takes it away. 0 also when there is none. */
int kill_switch_remove(char why[KILL_SWITCH_WHY_LEN]);

/* The private networks (RFC 1918, 3927, 4193, link-local) that the links of this machine are in, by their own
 * addresses: no route makes one, and links that lead to one other end only, as tunnels are, have none.
 * Returns how many. */
size_t kill_switch_networks(struct kill_switch_network *out, size_t max);

/* Hears when somebody else takes the kill switch away (a firewall that starts anew with an empty set of
 * rules); its descriptor becomes readable. */
struct kill_switch_watch;
int kill_switch_watch_open(struct kill_switch_watch **out);
/* NULL is allowed. */
void kill_switch_watch_close(struct kill_switch_watch *watch);
int kill_switch_watch_handle(const struct kill_switch_watch *watch);
/* Takes what waits: whether it may have gone. Putting a new one in the place of an old one counts too. */
bool kill_switch_watch_take(struct kill_switch_watch *watch);
/* Whether it is there. */
bool kill_switch_is_there(void);

#endif
