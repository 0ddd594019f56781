/* SPDX-License-Identifier: MIT */
#include "tests/netns/emulator/frames.h"

#include <stdlib.h>
#include <string.h>

#define SMALL_BYTES 2048 /* a frame of an ordinary wire */

static struct holder *make(bool small)
{
	struct holder *holder = malloc(sizeof(*holder) + (small ? SMALL_BYTES : BURST_BYTES_MAX));

	if (holder)
		holder->small = small;
	return holder;
}

static struct holder *take(struct holder **list, bool small)
{
	struct holder *holder = *list;

	if (!holder)
		return make(small);
	*list = holder->next;
	return holder;
}

bool store_init(struct store *store)
{
	*store = (struct store){ .room = make(false) };
	return store->room;
}

static void free_list(struct holder *holder)
{
	for (struct holder *next; holder; holder = next) {
		next = holder->next;
		free(holder);
	}
}

void store_wipe(struct store *store)
{
	free_list(store->small);
	free_list(store->large);
	free(store->room);
	*store = (struct store){ 0 };
}

struct holder *store_keep(struct store *store, const struct burst *burst)
{
	struct holder *kept;

	if (burst->len <= SMALL_BYTES) {
		kept = take(&store->small, true);
		if (kept)
			memcpy(kept->bytes, store->room->bytes, burst->len);
	} else {
		struct holder *fresh = take(&store->large, false);

		kept = fresh ? store->room : NULL;
		if (fresh)
			store->room = fresh;
	}
	if (!kept)
		return NULL;
	kept->burst = *burst;
	kept->frames = 0;
	return kept;
}

void store_release(struct store *store, struct holder *holder)
{
	struct holder **list = holder->small ? &store->small : &store->large;

	if (holder->frames && --holder->frames)
		return;
	holder->next = *list;
	*list = holder;
}

bool ring_init(struct ring *ring, size_t room)
{
	size_t power = 1;

	while (power < room && power <= SIZE_MAX / 4 / sizeof(struct frame))
		power *= 2;
	*ring = (struct ring){ .frames = calloc(power, sizeof(struct frame)), .room = power };
	return room && power >= room && ring->frames;
}
