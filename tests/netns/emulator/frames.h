/* SPDX-License-Identifier: MIT */
/* The bytes of packets under way, shared by their frames, and rings of frames. Memory that was used last is
 * used first, so that a short delay stays within the cache. Pure. */
#ifndef WGTCP_TESTS_NETNS_EMULATOR_FRAMES_H
#define WGTCP_TESTS_NETNS_EMULATOR_FRAMES_H

#include "tests/netns/emulator/burst.h"

/* One packet's bytes; freed when its last frame is. */
struct holder {
	struct holder *next; /* while it is free */
	struct burst burst;
	size_t frames; /* that still need it */
	bool small;
	uint8_t bytes[];
};

struct store {
	struct holder *small, *large; /* free ones */
	struct holder *room;          /* of the packet that comes next; never NULL */
};

bool store_init(struct store *store);
void store_wipe(struct store *store);
/* What was read into store->room, with one holder of its own; NULL when memory is short. */
struct holder *store_keep(struct store *store, const struct burst *burst);
/* One frame less; gives the bytes back with the last. */
void store_release(struct store *store, struct holder *holder);

struct frame {
	struct holder *holder;
	uint64_t leaves; /* the bottleneck; it counts against the queue until then */
	uint64_t arrives;
	uint32_t index; /* in its burst */
	uint32_t len;
	bool lost, late;
};

/* Counted without end, used modulo room: head <= tail <= head + room. */
struct ring {
	struct frame *frames;
	size_t head, tail, room;
};

bool ring_init(struct ring *ring, size_t room);
static inline struct frame *ring_at(const struct ring *ring, size_t position)
{
	return &ring->frames[position & (ring->room - 1)];
}
static inline bool ring_full(const struct ring *ring)
{
	return ring->tail - ring->head == ring->room;
}

#endif
