/* SPDX-License-Identifier: MIT */
/* Addresses, routes and links of this machine, as the daemon sets them. 0 or -errno. */
#ifndef WGTCP_CORE_PORT_NET_CONFIG_H
#define WGTCP_CORE_PORT_NET_CONFIG_H

#include "core/base/address.h"

struct net_config;

struct net_link {
	uint32_t index;
	char name[16];
	uint32_t mtu;
	bool up;
	bool tun;         /* a TUN device */
	bool wireguard;   /* WireGuard inside the kernel */
	uint64_t rx_bytes, tx_bytes; /* that passed since it was made */
};

struct net_route {
	struct ip_prefix destination;
	uint32_t interface; /* index */
	uint32_t table;     /* 0: main */
	uint32_t metric;    /* 0: the system's default */
};

int net_config_open(struct net_config **out);
void net_config_close(struct net_config *net);

/* -ENODEV: no such link. */
int net_link_find(struct net_config *net, const char *name, struct net_link *out);
/* The link of this index, whatever it is called. -ENODEV: none. */
int net_link_at(struct net_config *net, uint32_t index, struct net_link *out);
/* -EEXIST: another link has that name. Afterwards it may be down, without its routes: not every system can
 * rename a link that is up. */
int net_link_rename(struct net_config *net, uint32_t index, const char *name);
int net_link_set(struct net_config *net, uint32_t index, uint32_t mtu, bool up); /* mtu 0: as it is */
int net_link_delete(struct net_config *net, uint32_t index);
/* Adding what is there already is done (0). Removing what is not there is done. */
int net_address_add(struct net_config *net, uint32_t index, const struct ip_prefix *address);
int net_address_remove(struct net_config *net, uint32_t index, const struct ip_prefix *address);
/* The same without the route to the address's network that the system adds by itself. */
int net_address_add_alone(struct net_config *net, uint32_t index, const struct ip_prefix *address);
int net_route_add(struct net_config *net, const struct net_route *route);
/* As net_route_add, but it takes the place of the route to the same destination by interface `from`, with no moment in
 * between; nobody else's. */
int net_route_take_from(struct net_config *net, const struct net_route *route, uint32_t from);
int net_route_remove(struct net_config *net, const struct net_route *route);
/* Interface and MTU of the route to address for packets with this mark. -ENETUNREACH: none. */
int net_route_lookup(struct net_config *net, const struct ip_address *address, uint32_t mark, uint32_t *interface,
	uint32_t *mtu);

/* A stream of "something about addresses, routes or links has changed"; its descriptor becomes readable. */
struct net_watch;
int net_watch_open(struct net_watch **out);
void net_watch_close(struct net_watch *watch);
int net_watch_handle(const struct net_watch *watch);
/* Nor does what happens to this interface matter from now on: a second one of ours, in place of the one before; 0: none. */
void net_watch_ignore(struct net_watch *watch, uint32_t index);
/* Takes what waits. 1: something changed that may matter to a carrier (routes, addresses, links, other than those of
 * interface `except`, 0: none); 0: nothing; -errno. *link_gone: index of a link that was deleted, else 0. */
int net_watch_take(struct net_watch *watch, uint32_t except, uint32_t *link_gone);

#endif
