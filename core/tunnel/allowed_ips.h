/* SPDX-License-Identifier: MIT */
/* Longest-prefix match from inner addresses to peers (cryptokey routing, paper 2). A prefix belongs to one peer;
 * giving it to another takes it from the first. */
#ifndef WGTCP_CORE_TUNNEL_ALLOWED_IPS_H
#define WGTCP_CORE_TUNNEL_ALLOWED_IPS_H

#include "core/base/address.h"

struct peer;
struct allowed_ips;

struct allowed_ips *allowed_ips_new(void);
/* The peers must still be there, or hold no prefix. */
void allowed_ips_free(struct allowed_ips *table);
/* Host bits are ignored. False when memory is short; the table is then unchanged. */
bool allowed_ips_insert(struct allowed_ips *table, const struct ip_prefix *prefix, struct peer *peer);
/* False when the prefix is not there or belongs to another. */
bool allowed_ips_remove(struct allowed_ips *table, const struct ip_prefix *prefix, const struct peer *peer);
void allowed_ips_remove_peer(struct allowed_ips *table, const struct peer *peer);
/* bytes: 4 or 16 in network order. NULL: nobody's. */
struct peer *allowed_ips_lookup(const struct allowed_ips *table, enum ip_family family, const uint8_t *bytes);
/* Walks one peer's prefixes in a stable order. cursor starts as 0; false at the end. */
bool allowed_ips_next(
	const struct allowed_ips *table, const struct peer *peer, size_t *cursor, struct ip_prefix *out);

#endif
