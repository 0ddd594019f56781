/* SPDX-License-Identifier: MIT */
/* Which network this machine is in. */
#ifndef WGTCP_CORE_PORT_NET_IDENTITY_H
#define WGTCP_CORE_PORT_NET_IDENTITY_H

#include "core/base/address.h"

#include <stddef.h>
#include <stdint.h>

#define NET_IDENTITY_MAX 40
#define NET_SSID_MAX 32

/* Bytes that are the same each time this machine is in the same network, and hardly ever in another one: the
 * hardware address of the gateway on the way to `toward` (of the host itself where there is no gateway
 * between); else the name of the wireless network and the kind of the interface, or the kind alone of a
 * mobile connection, which has neither. 0, or -ENOENT when it is not known: nothing has been sent there yet.
 */
int net_identity(const struct ip_address *toward, uint32_t mark, uint8_t out[NET_IDENTITY_MAX], size_t *len);
/* Makes the hardware address known that net_identity wants, by asking for it on the link. It is not waited
 * for. */
void net_identity_learn(const struct ip_address *toward, uint32_t mark);

struct net_gateway {
	uint32_t interface;
	struct ip_address address; /* unset: there is no gateway between */
	uint8_t hardware[16];
	size_t hardware_len; /* 0: not known (yet) */
};

/* The first stop on the way to `toward` for packets with this mark. -ENETUNREACH: there is no way. */
int net_gateway(const struct ip_address *toward, uint32_t mark, struct net_gateway *out);
/* The name of the network that a wireless interface is in; the length, or -errno: -ENOENT: in none;
 * -EOPNOTSUPP: it is not wireless. */
int net_ssid(uint32_t interface, uint8_t out[NET_SSID_MAX]);

#endif
