/* SPDX-License-Identifier: MIT */
#include "core/base/packet.h"

#include <assert.h>
#include <stdlib.h>

struct packet_pool {
	struct packet *free_list; /* last given back is taken first: its bytes are still in the cache */
	size_t left, count;
	struct packet *packets;
	uint8_t *memory; /* the first aligned byte of allocation */
	void *allocation;
	size_t stride;
};

/* Where the inner packet starts is a multiple of a cache line. */
#define STRIDE_ALIGN 64

struct packet_pool *packet_pool_new(size_t count, size_t room)
{
	struct packet_pool *pool = calloc(1, sizeof(*pool));

	if (!pool)
		return NULL;
	pool->stride =
		(PACKET_HEADROOM + room + PACKET_TAILROOM + STRIDE_ALIGN - 1) / STRIDE_ALIGN * STRIDE_ALIGN;
	pool->packets = calloc(count, sizeof(*pool->packets));
	/* By hand: C11's aligned_alloc is not everywhere (mingw). */
	pool->allocation = malloc(count * pool->stride + STRIDE_ALIGN);
	if (!pool->packets || !pool->allocation) {
		free(pool->packets);
		free(pool->allocation);
		free(pool);
		return NULL;
	}
	pool->memory = (uint8_t *)pool->allocation + STRIDE_ALIGN - (uintptr_t)pool->allocation % STRIDE_ALIGN;
	pool->count = count;
	for (size_t i = count; i-- > 0;) {
		pool->packets[i].room = (uint32_t)room;
		packet_give(pool, &pool->packets[i]);
	}
	return pool;
}

void packet_pool_free(struct packet_pool *pool)
{
	if (!pool)
		return;
	assert(pool->left == pool->count);
	free(pool->packets);
	free(pool->allocation);
	free(pool);
}

struct packet *packet_take(struct packet_pool *pool)
{
	struct packet *packet = pool->free_list;

	if (!packet)
		return NULL;
	pool->free_list = packet->next;
	pool->left--;
	packet->next = NULL;
	packet->data = pool->memory + (size_t)(packet - pool->packets) * pool->stride + PACKET_HEADROOM;
	packet->len = 0;
	packet->queued = MONO_UNSET;
	packet->flow = 0;
	packet->ecn = 0;
	packet->more = false;
	return packet;
}

void packet_give(struct packet_pool *pool, struct packet *packet)
{
	if (!packet)
		return;
	packet->next = pool->free_list;
	pool->free_list = packet;
	pool->left++;
}

void packet_give_list(struct packet_pool *pool, struct packet_list *list)
{
	for (struct packet *packet; (packet = packet_list_pop(list));)
		packet_give(pool, packet);
}

size_t packet_pool_left(const struct packet_pool *pool)
{
	return pool->left;
}

void packet_list_push(struct packet_list *list, struct packet *packet)
{
	packet->next = NULL;
	if (list->tail)
		list->tail->next = packet;
	else
		list->head = packet;
	list->tail = packet;
	list->count++;
	list->len += packet->len;
}

struct packet *packet_list_pop(struct packet_list *list)
{
	struct packet *packet = list->head;

	if (!packet)
		return NULL;
	list->head = packet->next;
	if (!list->head)
		list->tail = NULL;
	list->count--;
	list->len -= packet->len;
	packet->next = NULL;
	return packet;
}
