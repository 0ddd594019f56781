/* SPDX-License-Identifier: MIT */
/* Used by up_network.c. Source: docs/wire.md 2; RFC 8200 5 (1280), RFC 791 (576). */
#include "client/daemon/mtu.h"

/* IP and UDP headers, and WireGuard's 16 bytes before and after. */
#define UDP_OVERHEAD_V4 (20 + 8 + 32)
#define UDP_OVERHEAD_V6 (40 + 8 + 32)
/* IP and TCP headers with timestamps, the record's header, and WireGuard's: one packet in one segment. */
#define TCP_OVERHEAD_V4 (20 + 32 + 8 + 32)
#define TCP_OVERHEAD_V6 (40 + 32 + 8 + 32)
/* The usual Ethernet, where the default is the default. */
#define USUAL_MTU 1500
#define SMALLEST_V4 576
#define SMALLEST_V6 1280

static uint32_t overhead(const struct mtu_way *way)
{
	if (way->tcp)
		return way->family == IP_V4 ? TCP_OVERHEAD_V4 : TCP_OVERHEAD_V6;
	return way->family == IP_V4 ? UDP_OVERHEAD_V4 : UDP_OVERHEAD_V6;
}

uint32_t mtu_choose(const struct mtu_way *ways, size_t count, bool inner_ipv6)
{
	uint32_t smallest = inner_ipv6 ? SMALLEST_V6 : SMALLEST_V4, mtu = MTU_DEFAULT;
	size_t i;

	for (i = 0; i < count; i++) {
		if (ways[i].route_mtu >= USUAL_MTU)
			continue;
		if (ways[i].route_mtu < smallest + overhead(&ways[i]))
			return smallest;
		if (ways[i].route_mtu - overhead(&ways[i]) < mtu)
			mtu = ways[i].route_mtu - overhead(&ways[i]);
	}
	return mtu;
}
