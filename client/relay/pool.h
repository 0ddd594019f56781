/* SPDX-License-Identifier: MIT */
/* The packets of a relay: many of the usual size, a few as large as a datagram can be. Fixed; internal to
 * client/relay. */
#ifndef WGTCP_CLIENT_RELAY_POOL_H
#define WGTCP_CLIENT_RELAY_POOL_H

#include "core/base/packet.h"

#define POOL_SMALL_ROOM 2048
#define POOL_SMALL_COUNT 4096 /* 9 MB when all have been used once; what is never used is never resident */
#define POOL_LARGE_ROOM 65535
#define POOL_LARGE_COUNT 64 /* 4 MB */

struct pool {
	struct packet_pool *small, *large;
};

/* False when memory is short. */
bool pool_init(struct pool *pool);
/* Every packet must have come back. */
void pool_wipe(struct pool *pool);
/* A packet with room for len bytes; NULL when there is none. */
struct packet *pool_take(struct pool *pool, size_t len);
void pool_give(struct pool *pool, struct packet *packet);
void pool_give_list(struct pool *pool, struct packet_list *list);
/* Less than a quarter is left: nobody may take many more. */
bool pool_is_short(const struct pool *pool, size_t len);

#endif
