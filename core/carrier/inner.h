/* SPDX-License-Identifier: MIT */
/* What the queue needs to know of an inner IP packet: its flow and its ECN bits. Any bytes are safe. */
#ifndef WGTCP_CORE_CARRIER_INNER_H
#define WGTCP_CORE_CARRIER_INNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* RFC 3168, 5. */
enum { INNER_NOT_ECT = 0, INNER_ECT_1 = 1, INNER_ECT_0 = 2, INNER_CE = 3 };

/* Over addresses, protocol and, where they are to be seen in every packet of the flow, ports: all fragments
 * of a datagram, the first too, are hashed without them, so that they stay in order. */
uint32_t inner_flow_hash(const uint8_t *inner, size_t len, uint64_t seed);
/* Marks CE, and mends the IPv4 checksum; false, and nothing done, when the packet is not ECN-capable. */
bool inner_mark_ce(uint8_t *inner, size_t len);

#endif
