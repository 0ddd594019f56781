/* SPDX-License-Identifier: MIT */
#include "core/base/packet.h"

#include <assert.h>
#include <stdlib.h>

/* Packets of one size. */
struct store {
	struct packet *free_list; /* last given back is taken first: its bytes are still in the cache */
	size_t left, count;
	struct packet *packets;
	uint8_t *memory; /* the first aligned byte of allocation */
	void *allocation;
	size_t stride;
};

struct packet_pool {
	struct store singles, bursts;
};

/* Where the inner packet starts is a multiple of a cache line. */
#define STRIDE_ALIGN 64

static void store_give(struct store *store, struct packet *packet)
{
	packet->next = store->free_list;
	store->free_list = packet;
	store->left++;
}

static bool store_init(struct store *store, size_t count, size_t room, bool large)
{
	store->stride =
		(PACKET_HEADROOM + room + PACKET_TAILROOM + STRIDE_ALIGN - 1) / STRIDE_ALIGN * STRIDE_ALIGN;
	store->packets = calloc(count, sizeof(*store->packets));
	/* By hand: C11's aligned_alloc is not everywhere (mingw). */
	store->allocation = malloc(count * store->stride + STRIDE_ALIGN);
	if (!store->packets || !store->allocation) {
		free(store->packets);
		free(store->allocation);
		*store = (struct store){ 0 };
		return false;
	}
	store->memory = (uint8_t *)store->allocation + STRIDE_ALIGN - (uintptr_t)store->allocation % STRIDE_ALIGN;
	store->count = count;
	for (size_t i = count; i-- > 0;) {
		store->packets[i].room = (uint32_t)room;
		store->packets[i].large = large;
		store_give(store, &store->packets[i]);
	}
	return true;
}

static void store_wipe(struct store *store)
{
	assert(store->left == store->count);
	free(store->packets);
	free(store->allocation);
}

static struct packet *store_take(struct store *store)
{
	struct packet *packet = store->free_list;

	if (!packet)
		return NULL;
	store->free_list = packet->next;
	store->left--;
	packet->next = NULL;
	packet->data = store->memory + (size_t)(packet - store->packets) * store->stride + PACKET_HEADROOM;
	packet->len = 0;
	packet->queued = MONO_UNSET;
	packet->flow = 0;
	packet->ecn = 0;
	packet->more = false;
	packet->segment = 0;
	return packet;
}

struct packet_pool *packet_pool_new(size_t count, size_t room)
{
	struct packet_pool *pool = calloc(1, sizeof(*pool));

	if (pool && !store_init(&pool->singles, count, room, false)) {
		free(pool);
		return NULL;
	}
	return pool;
}

bool packet_pool_add_bursts(struct packet_pool *pool, size_t count, size_t room)
{
	assert(!pool->bursts.count);
	return store_init(&pool->bursts, count, room, true);
}

void packet_pool_free(struct packet_pool *pool)
{
	if (!pool)
		return;
	store_wipe(&pool->singles);
	store_wipe(&pool->bursts);
	free(pool);
}

struct packet *packet_take(struct packet_pool *pool)
{
	return store_take(&pool->singles);
}

struct packet *packet_take_burst(struct packet_pool *pool)
{
	return store_take(&pool->bursts);
}

void packet_give(struct packet_pool *pool, struct packet *packet)
{
	if (packet)
		store_give(packet->large ? &pool->bursts : &pool->singles, packet);
}

void packet_give_list(struct packet_pool *pool, struct packet_list *list)
{
	for (struct packet *packet; (packet = packet_list_pop(list));)
		packet_give(pool, packet);
}

size_t packet_pool_left(const struct packet_pool *pool)
{
	return pool->singles.left;
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

void packet_list_prepend(struct packet_list *list, struct packet_list *first)
{
	if (!first->head)
		return;
	first->tail->next = list->head;
	if (!list->tail)
		list->tail = first->tail;
	list->head = first->head;
	list->count += first->count;
	list->len += first->len;
	*first = (struct packet_list){ 0 };
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
