/* SPDX-License-Identifier: MIT */
/* The answer to an inner packet that the other side can not take: as a router would give it, so that the
 * sender's path MTU comes down. Pure. */
#ifndef WGTCP_CORE_CARRIER_TOO_BIG_H
#define WGTCP_CORE_CARRIER_TOO_BIG_H

#include "core/base/packet.h"

/* Writes into answer (fresh from the pool) the ICMP error that tells inner's sender of mtu: "fragmentation
 * needed" (RFC 792, RFC 1191) or "packet too big" (RFC 4443). False for what is never answered: no IP header,
 * a later fragment, an ICMP error, a source or destination that is not one host's. */
bool too_big_answer(const struct packet *inner, uint32_t mtu, struct packet *answer);

#endif
