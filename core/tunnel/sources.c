/* SPDX-License-Identifier: MIT */
/* A hash table of those that have connections now, and a smaller memory, in sets, of those that were
 * authentic. */
#include "core/tunnel/sources.h"

#include "core/crypto/crypto.h"

#include <stdlib.h>
#include <string.h>

#define BUCKETS 4096
#define SETS 1024
#define WAYS 4

struct remembered {
	uint64_t hash; /* 0: free */
	uint64_t when; /* the order of coming */
};

struct sources {
	uint8_t key[16];
	size_t most, used;
	struct source *all, *free_list;
	uint64_t comings;
	struct source *buckets[BUCKETS];
	struct remembered remembered[SETS][WAYS];
};

struct sources *sources_new(size_t most)
{
	struct sources *sources = calloc(1, sizeof(*sources));

	if (!sources)
		return NULL;
	sources->all = calloc(most, sizeof(*sources->all));
	if (!sources->all) {
		free(sources);
		return NULL;
	}
	sources->most = most;
	random_fill(sources->key, sizeof(sources->key));
	return sources;
}

void sources_free(struct sources *sources)
{
	if (!sources)
		return;
	free(sources->all);
	free(sources);
}

uint64_t source_hash(const uint8_t key[16], const struct ip_address *address)
{
	uint8_t bytes[9];
	size_t len = address->family == IP_V4 ? 4 : 8;
	uint64_t hash;

	memcpy(bytes, address->bytes, len);
	bytes[len] = (uint8_t)address->family;
	hash = keyed_hash(key, bytes, len + 1);
	return hash ? hash : 1;
}

struct source *sources_enter(struct sources *sources, const struct ip_address *address)
{
	uint64_t hash = source_hash(sources->key, address);
	struct source **bucket = &sources->buckets[hash % BUCKETS], *source;

	for (source = *bucket; source; source = source->next)
		if (source->hash == hash)
			return source;
	source = sources->free_list;
	if (source)
		sources->free_list = source->next;
	else if (sources->used < sources->most)
		source = &sources->all[sources->used++];
	else
		return NULL;
	*source = (struct source){ .hash = hash, .next = *bucket };
	*bucket = source;
	return source;
}

void sources_leave(struct sources *sources, struct source *source)
{
	struct source **at = &sources->buckets[source->hash % BUCKETS];

	if (source->read || source->held || source->known)
		return;
	while (*at != source)
		at = &(*at)->next;
	*at = source->next;
	source->next = sources->free_list;
	sources->free_list = source;
}

void sources_remember(struct sources *sources, const struct source *source)
{
	struct remembered *set = sources->remembered[source->hash / BUCKETS % SETS], *place = &set[0];

	for (size_t way = 0; way < WAYS; way++) {
		if (set[way].hash == source->hash) {
			place = &set[way];
			break;
		}
		if (set[way].when < place->when)
			place = &set[way];
	}
	*place = (struct remembered){ source->hash, ++sources->comings };
}

bool sources_remembers(const struct sources *sources, const struct source *source)
{
	const struct remembered *set = sources->remembered[source->hash / BUCKETS % SETS];

	for (size_t way = 0; way < WAYS; way++)
		if (set[way].hash == source->hash)
			return true;
	return false;
}

struct ip_address source_loopback(const struct source *source)
{
	/* Bits that neither table is ordered by. */
	uint64_t bits = source->hash >> 24;
	struct ip_address address = { .family = IP_V4, .bytes = { 127 } };

	address.bytes[1] = (uint8_t)(1 + (bits & 0xffff) % 254);
	address.bytes[2] = (uint8_t)(bits >> 16);
	address.bytes[3] = (uint8_t)(1 + (bits >> 24 & 0xffff) % 254);
	return address;
}
