/* SPDX-License-Identifier: MIT */
/* Which network this machine is in. */
#ifndef WGTCP_CORE_PORT_NET_IDENTITY_H
#define WGTCP_CORE_PORT_NET_IDENTITY_H

#include "core/base/address.h"

#include <stddef.h>
#include <stdint.h>

#define NET_IDENTITY_MAX 40

/* Bytes that are the same each time this machine is in the same network, and hardly ever in another one: the
 * hardware address of the gateway on the way to `toward` (of the host itself where there is no gateway
 * between). 0, or -ENOENT when it is not known: a link without such addresses, or nothing has been sent there
 * yet. */
int net_identity(const struct ip_address *toward, uint32_t mark, uint8_t out[NET_IDENTITY_MAX], size_t *len);

#endif
