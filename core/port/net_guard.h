/* SPDX-License-Identifier: MIT */
/* What others take away of a machine's addresses, routes, rules and links, and what is left of them. The
 * owner's thread. 0 or -errno. */
#ifndef WGTCP_CORE_PORT_NET_GUARD_H
#define WGTCP_CORE_PORT_NET_GUARD_H

#include "core/port/net_config.h"

/* What may be gone: whatever belongs to one of these. 0: to none. */
struct net_loss {
	uint32_t interface; /* its link has changed (down, another name), or an address or a route of it is
			       gone */
	uint32_t table;     /* a route in it is gone, or another one has taken its place */
	uint32_t mark;      /* a policy rule that names it is gone */
	bool rule;          /* a policy rule came or went, or a route came: another one may be asked first */
	bool unknown;       /* more was told than could be heard */
};

struct net_guard;
int net_guard_open(struct net_guard **out);
/* NULL is allowed. */
void net_guard_close(struct net_guard *guard);
/* Becomes readable. */
int net_guard_handle(const struct net_guard *guard);
/* Tells each loss that waits. */
void net_guard_take(
	struct net_guard *guard, void (*lost)(const struct net_loss *loss, void *user), void *user);

/* Calls take for each address of the interface, as it was set (host bits and length). */
int net_addresses_each(struct net_config *net, uint32_t interface,
	void (*take)(const struct ip_prefix *address, void *user), void *user);
/* Calls take for each route that leads to the interface and would be in the way of one that is added. */
int net_routes_each(struct net_config *net, uint32_t interface,
	void (*take)(const struct net_route *route, void *user), void *user);
/* As net_route_add, but in the place of whatever has that destination in that table. */
int net_route_take_over(struct net_config *net, const struct net_route *route);

#endif
