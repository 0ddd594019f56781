/* SPDX-License-Identifier: MIT */
/* One request and its answers on a netlink socket. Shared by routes, links and the front. */
#ifndef WGTCP_PLATFORM_LINUX_NETLINK_H
#define WGTCP_PLATFORM_LINUX_NETLINK_H

#include "core/port/net_config.h"

#include <libmnl/libmnl.h>

#define NETLINK_REQUEST_BYTES 1024

struct netlink {
	bool open; /* a zeroed one is closed */
	int handle;
	uint32_t port; /* our address on the bus; 0: whoever answers is not asked for it */
	uint32_t sequence;
};

/* bus: NETLINK_ROUTE and its like. */
int netlink_open(struct netlink *out, int bus);
/* The same on a descriptor behind which something else than the kernel answers, message for message; it is
 * ours then. */
void netlink_adopt(struct netlink *out, int handle);
void netlink_close(struct netlink *netlink);
/* An empty request of this type in buffer, which the caller fills and hands to netlink_talk. */
struct nlmsghdr *netlink_request(char buffer[NETLINK_REQUEST_BYTES], uint16_t type, uint16_t flags);
/* Sends it, calls take (may be NULL) for each part of the answer, and returns what the kernel said: 0 or
 * -errno. take returns MNL_CB_OK, or sets errno (not EPROTO) and returns MNL_CB_ERROR; what is left of a dump
 * is then thrown away. -EINTR: what was dumped changed meanwhile. The answer is wiped from memory afterwards:
 * it may hold keys. */
int netlink_talk(struct netlink *netlink, struct nlmsghdr *request, mnl_cb_t take, void *data);

/* A socket of its own on which a bus tells of changes (groups: a bit each, as in sockaddr_nl); it does not
 * block. 0 or -errno. Closed by mnl_socket_close. */
#define NETLINK_GROUP(number) (1u << ((number)-1))
int netlink_subscribe(int bus, uint32_t groups, struct mnl_socket **out);

/* -ENODEV: no such link. name NULL: by index. */
int netlink_link(struct netlink *netlink, const char *name, uint32_t index, struct net_link *out);
int netlink_link_set(struct netlink *netlink, uint32_t index, uint32_t mtu, bool up);
int netlink_link_rename(struct netlink *netlink, uint32_t index, const char *name);
/* How many segments the kernel may put in one burst for this link. */
int netlink_link_set_burst(struct netlink *netlink, uint32_t index, uint32_t segments);
/* No link-local address is made up for this link: it has no neighbours to talk to. */
int netlink_link_no_autoconf(struct netlink *netlink, uint32_t index);
int netlink_route_lookup(struct netlink *netlink, const struct ip_address *address, uint32_t mark,
	uint32_t *interface, uint32_t *mtu);

#endif
