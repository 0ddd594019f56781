/* SPDX-License-Identifier: MIT */
/* Two packet pools behind one door: a packet goes back to where its size says it is from. */
#include "client/relay/pool.h"

bool pool_init(struct pool *pool)
{
	pool->small = packet_pool_new(POOL_SMALL_COUNT, POOL_SMALL_ROOM);
	pool->large = packet_pool_new(POOL_LARGE_COUNT, POOL_LARGE_ROOM);
	if (pool->small && pool->large)
		return true;
	pool_wipe(pool);
	return false;
}

void pool_wipe(struct pool *pool)
{
	packet_pool_free(pool->small);
	packet_pool_free(pool->large);
	*pool = (struct pool){ 0 };
}

struct packet *pool_take(struct pool *pool, size_t len)
{
	if (len <= POOL_SMALL_ROOM)
		return packet_take(pool->small);
	return len <= POOL_LARGE_ROOM ? packet_take(pool->large) : NULL;
}

void pool_give(struct pool *pool, struct packet *packet)
{
	packet_give(packet->room == POOL_SMALL_ROOM ? pool->small : pool->large, packet);
}

void pool_give_list(struct pool *pool, struct packet_list *list)
{
	for (struct packet *packet; (packet = packet_list_pop(list));)
		pool_give(pool, packet);
}

bool pool_is_short(const struct pool *pool, size_t len)
{
	if (len <= POOL_SMALL_ROOM)
		return packet_pool_left(pool->small) < POOL_SMALL_COUNT / 4;
	return packet_pool_left(pool->large) < POOL_LARGE_COUNT / 4;
}
