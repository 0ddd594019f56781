/* SPDX-License-Identifier: MIT */
/* Packets in a fixed pool, with room before and behind the bytes so that they are sealed in place.
 * One pool belongs to one thread. Nothing on the packet path allocates.
 *
 * A packet may also be a burst: the headers of one TCP packet and the payload of several that follow each other, as the
 * kernel hands it over where segmentation is left to the device. Its TCP checksum is then that of the pseudo header alone. */
#ifndef WGTCP_CORE_BASE_PACKET_H
#define WGTCP_CORE_BASE_PACKET_H

#include "core/base/time.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Before: record header 12 + transport header 16 + a burst's own 16, rounded up. Behind: padding 15 + tag 16, rounded up. */
#define PACKET_HEADROOM 64
#define PACKET_TAILROOM 64

struct packet {
	struct packet *next; /* of the list that holds it */
	uint8_t *data;       /* first byte in use; within the buffer */
	uint32_t len;        /* bytes in use */
	uint32_t room;       /* bytes of the buffer behind headroom and before tailroom */
	struct mono queued;  /* when it entered its queue */
	uint32_t flow;       /* hash of the inner flow, set by the queue */
	uint8_t ecn;         /* ECN bits (RFC 3168) that the outer header shall carry, or carried */
	bool more;           /* a hint: the next packet of the batch follows the same way */
	bool large;          /* of the pool's store for bursts */
	uint16_t segment;    /* 0: one packet; else a burst, with so many bytes of payload for each but the last */
};

struct packet_list {
	struct packet *head, *tail;
	size_t count;
	size_t len; /* bytes of all of them, as they were when added */
};

struct packet_pool;

/* count packets with room bytes each (the largest inner packet). NULL when memory is short. */
struct packet_pool *packet_pool_new(size_t count, size_t room);
/* Adds a store of packets with room for whole bursts; false when memory is short. Its memory is not touched before use. */
bool packet_pool_add_bursts(struct packet_pool *pool, size_t count, size_t room);
/* Every packet must have come back. NULL is allowed. */
void packet_pool_free(struct packet_pool *pool);
/* A packet with data at its headroom and len 0; NULL when the pool is dry. */
struct packet *packet_take(struct packet_pool *pool);
/* The same with room for a burst; NULL also where there is no such store. */
struct packet *packet_take_burst(struct packet_pool *pool);
/* Gives it back. NULL is allowed. */
void packet_give(struct packet_pool *pool, struct packet *packet);
void packet_give_list(struct packet_pool *pool, struct packet_list *list);
/* Single packets that are left. */
size_t packet_pool_left(const struct packet_pool *pool);

void packet_list_push(struct packet_list *list, struct packet *packet);
/* Puts all of `first` before what list holds. */
void packet_list_prepend(struct packet_list *list, struct packet_list *first);
/* NULL when empty. */
struct packet *packet_list_pop(struct packet_list *list);

#endif
