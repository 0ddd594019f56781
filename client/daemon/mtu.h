/* SPDX-License-Identifier: MIT */
/* The MTU of a tunnel whose profile leaves it to us. Pure. */
#ifndef WGTCP_CLIENT_DAEMON_MTU_H
#define WGTCP_CLIENT_DAEMON_MTU_H

#include "core/base/address.h"

/* docs/wire.md 2: the same over both carriers. */
#define MTU_DEFAULT 1420

/* A way to a peer: the family of its address, and the MTU of the route there. */
struct mtu_way {
	enum ip_family family;
	uint32_t route_mtu;
	bool tcp;
};

/* The largest that fits every way, at most MTU_DEFAULT: a route tells only of its first link. inner_ipv6:
 * IPv6 passes the tunnel, which needs 1280; the carrier's packets may be cut in pieces instead. */
uint32_t mtu_choose(const struct mtu_way *ways, size_t count, bool inner_ipv6);

#endif
