/* SPDX-License-Identifier: MIT */
/* Where connections come from: an IPv4 address, or an IPv6 /64, which one person commonly has all of. Kept as
 * keyed hashes, in fixed memory. Pure; used by the listeners of
 * client/engine and client/relay. */
#ifndef WGTCP_CORE_TUNNEL_SOURCES_H
#define WGTCP_CORE_TUNNEL_SOURCES_H

#include "core/base/address.h"

struct source {
	uint64_t hash;
	uint32_t read, held, known; /* connections: unknown ones that are read, or held unread; known ones */
	struct source *next;
};

/* What a source is known by under a key: the same for all that one person has of an address. Never 0. */
uint64_t source_hash(const uint8_t key[16], const struct ip_address *address);

struct sources;

/* For at most `most` sources at a time. NULL when memory is short. */
struct sources *sources_new(size_t most);
void sources_free(struct sources *sources);
/* The source of an address, for a connection that is about to be counted in it; NULL: all are in use. */
struct source *sources_enter(struct sources *sources, const struct ip_address *address);
/* Forgets it if it counts nothing any more. */
void sources_leave(struct sources *sources, struct source *source);

/* The sources that have shown themselves authentic; of some 4,000 the oldest are forgotten. */
void sources_remember(struct sources *sources, const struct source *source);
bool sources_remembers(const struct sources *sources, const struct source *source);

/* The loopback address that stands for a source towards a server on this machine, so that the server's limits
 * for each source work: 127.1.0.1 to 127.254.255.254, never ending in 0 or 255. */
struct ip_address source_loopback(const struct source *source);

#endif
