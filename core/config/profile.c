/* SPDX-License-Identifier: MIT */
/* The memory behind struct profile. Arrays of values grow at each power of two; what held a key is wiped
 * before it goes back to the heap. */
#include "core/config/profile.h"

#include "core/base/wipe.h"

#include <stdlib.h>
#include <string.h>

/* Room for one more behind count items: the room is always the next power of two. NULL when memory is short;
 * *array is then as it was. */
static void *room_for_one(void *array, size_t count, size_t item_len)
{
	if ((count & (count - 1)) != 0)
		return array;
	return realloc(array, (count ? 2 * count : 1) * item_len);
}

void profile_init(struct profile *profile)
{
	*profile = (struct profile){ .extensions = true };
}

static void free_texts(struct profile_texts *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		free(texts->items[i]);
	free(texts->items);
}

void profile_free(struct profile *profile)
{
	for (size_t i = 0; i < profile->peer_count; i++)
		free(profile->peers[i].allowed_ips);
	if (profile->peers)
		memory_wipe(profile->peers, profile->peer_count * sizeof(*profile->peers));
	free(profile->peers);
	free(profile->addresses);
	free(profile->dns_servers);
	free_texts(&profile->dns_domains);
	free_texts(&profile->trusted_networks);
	for (size_t i = 0; i < PROFILE_HOOK_COUNT; i++)
		free_texts(&profile->hooks[i]);
	memory_wipe(profile, sizeof(*profile));
}

struct profile_peer *profile_add_peer(struct profile *profile)
{
	size_t count = profile->peer_count;

	if ((count & (count - 1)) == 0) { /* not realloc: it would leave the preshared keys behind */
		struct profile_peer *peers = calloc(count ? 2 * count : 1, sizeof(*peers));

		if (!peers)
			return NULL;
		if (profile->peers) {
			memcpy(peers, profile->peers, count * sizeof(*peers));
			memory_wipe(profile->peers, count * sizeof(*peers));
			free(profile->peers);
		}
		profile->peers = peers;
	}
	profile->peer_count = count + 1;
	profile->peers[count] = (struct profile_peer){ 0 };
	return &profile->peers[count];
}

bool profile_add_address(struct profile *profile, const struct ip_prefix *address)
{
	void *array = room_for_one(profile->addresses, profile->address_count, sizeof(*address));

	if (!array)
		return false;
	profile->addresses = array;
	profile->addresses[profile->address_count++] = *address;
	return true;
}

bool profile_add_dns_server(struct profile *profile, const struct ip_address *server)
{
	void *array = room_for_one(profile->dns_servers, profile->dns_server_count, sizeof(*server));

	if (!array)
		return false;
	profile->dns_servers = array;
	profile->dns_servers[profile->dns_server_count++] = *server;
	return true;
}

bool profile_add_allowed_ip(struct profile_peer *peer, const struct ip_prefix *prefix)
{
	void *array = room_for_one(peer->allowed_ips, peer->allowed_ip_count, sizeof(*prefix));

	if (!array)
		return false;
	peer->allowed_ips = array;
	peer->allowed_ips[peer->allowed_ip_count++] = ip_prefix_network(prefix);
	return true;
}

bool profile_add_text(struct profile_texts *texts, const char *text, size_t len)
{
	void *array = room_for_one(texts->items, texts->count, sizeof(*texts->items));
	char *copy;

	if (!array)
		return false;
	texts->items = array;
	copy = malloc(len + 1);
	if (!copy)
		return false;
	memcpy(copy, text, len);
	copy[len] = 0;
	texts->items[texts->count++] = copy;
	return true;
}

enum transport profile_peer_transport(const struct profile *profile, size_t peer)
{
	return profile->peers[peer].has_transport ? profile->peers[peer].transport : profile->transport;
}
