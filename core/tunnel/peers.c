/* SPDX-License-Identifier: MIT */
/* The tables that find a peer: by public key, in the order of adding. Called by tunnel.c.
 * Memory is taken here, when a peer is added, so that nothing later can fail for the want of it. */
#include "core/tunnel/state.h"

#include <stdlib.h>
#include <string.h>

#define TABLE_MIN 16
/* A peer commonly holds two or three indices, and nine at most. */
#define INDICES_PER_PEER 4

static size_t key_bucket(const struct tunnel *tunnel, const uint8_t public_key[KEY_LEN])
{
	return keyed_hash(tunnel->hash_key, public_key, KEY_LEN) & (tunnel->by_key_count - 1);
}

static void chain_in(struct tunnel *tunnel, struct peer *peer)
{
	struct peer **bucket = &tunnel->by_key[key_bucket(tunnel, peer->remote.public_key)];

	peer->chain = *bucket;
	*bucket = peer;
}

static void rehash(
	struct tunnel *tunnel, struct peer **by_key, struct slot **by_index, struct peer **heap, size_t count)
{
	struct slot **old_index = tunnel->by_index;
	size_t old_count = tunnel->by_index_count;

	free(tunnel->by_key);
	tunnel->by_key = by_key;
	tunnel->by_key_count = count;
	for (struct peer *peer = tunnel->first; peer; peer = peer->list_after)
		chain_in(tunnel, peer);

	tunnel->by_index = by_index;
	tunnel->by_index_count = count * INDICES_PER_PEER;
	for (size_t i = 0; i < old_count; i++) {
		for (struct slot *slot = old_index[i], *after; slot; slot = after) {
			struct slot **bucket = &by_index[slot->index & (tunnel->by_index_count - 1)];

			after = slot->chain;
			slot->chain = *bucket;
			*bucket = slot;
		}
	}
	free(old_index);

	if (tunnel->peer_count)
		memcpy(heap, tunnel->heap, tunnel->peer_count * sizeof(struct peer *));
	free(tunnel->heap);
	tunnel->heap = heap;
}

bool peers_reserve(struct tunnel *tunnel)
{
	if (tunnel->peer_count < tunnel->by_key_count)
		return true;
	size_t count = tunnel->by_key_count ? tunnel->by_key_count * 2 : TABLE_MIN;
	struct peer **by_key = calloc(count, sizeof(struct peer *));
	struct slot **by_index = calloc(count * INDICES_PER_PEER, sizeof(struct slot *));
	struct peer **heap = calloc(count, sizeof(struct peer *));

	if (!by_key || !by_index || !heap) {
		free(by_key);
		free(by_index);
		free(heap);
		return false;
	}
	rehash(tunnel, by_key, by_index, heap, count);
	return true;
}

void peers_insert(struct tunnel *tunnel, struct peer *peer)
{
	chain_in(tunnel, peer);
	peer->list_before = tunnel->last;
	peer->list_after = NULL;
	if (tunnel->last)
		tunnel->last->list_after = peer;
	else
		tunnel->first = peer;
	tunnel->last = peer;
	schedule_insert(tunnel, peer);
	tunnel->peer_count++;
}

void peers_remove(struct tunnel *tunnel, struct peer *peer)
{
	struct peer **link = &tunnel->by_key[key_bucket(tunnel, peer->remote.public_key)];

	while (*link != peer)
		link = &(*link)->chain;
	*link = peer->chain;
	if (peer->list_before)
		peer->list_before->list_after = peer->list_after;
	else
		tunnel->first = peer->list_after;
	if (peer->list_after)
		peer->list_after->list_before = peer->list_before;
	else
		tunnel->last = peer->list_before;
	schedule_remove(tunnel, peer);
	tunnel->peer_count--;
}

struct peer *tunnel_peer_find(const struct tunnel *tunnel, const uint8_t public_key[KEY_LEN])
{
	if (!tunnel->by_key_count)
		return NULL;
	for (struct peer *peer = tunnel->by_key[key_bucket(tunnel, public_key)]; peer; peer = peer->chain) {
		if (memcmp(peer->remote.public_key, public_key, KEY_LEN) == 0)
			return peer;
	}
	return NULL;
}

struct peer *tunnel_peer_next(const struct tunnel *tunnel, const struct peer *after)
{
	return after ? after->list_after : tunnel->first;
}

size_t tunnel_peer_count(const struct tunnel *tunnel)
{
	return tunnel->peer_count;
}
