/* SPDX-License-Identifier: MIT */
/* The memory behind struct uapi_device. What held a key is wiped before it goes back to the heap, also when
 * an array only moves because it grew. */
#include "core/uapi/uapi.h"

#include "core/base/wipe.h"

#include <stdlib.h>
#include <string.h>

struct uapi_peer *uapi_device_add_peer(struct uapi_device *device)
{
	if (device->peer_count == device->peer_room) {
		size_t room = device->peer_room ? 2 * device->peer_room : 4;
		struct uapi_peer *peers = calloc(room, sizeof(*peers));

		if (!peers)
			return NULL;
		if (device->peers) {
			memcpy(peers, device->peers, device->peer_count * sizeof(*peers));
			memory_wipe(device->peers, device->peer_count * sizeof(*peers));
			free(device->peers);
		}
		device->peers = peers;
		device->peer_room = room;
	}
	return &device->peers[device->peer_count++];
}

bool uapi_peer_add_allowed_ip(struct uapi_peer *peer, const struct ip_prefix *prefix, bool remove)
{
	size_t count = peer->allowed_ip_count;

	if ((count & (count - 1)) == 0) { /* full: the room is always the next power of two */
		size_t room = count ? 2 * count : 1;
		struct uapi_allowed_ip *allowed_ips;

		allowed_ips = realloc(peer->allowed_ips, room * sizeof(*allowed_ips));
		if (!allowed_ips)
			return false;
		peer->allowed_ips = allowed_ips;
	}
	peer->allowed_ips[count] = (struct uapi_allowed_ip){ .prefix = *prefix, .remove = remove };
	peer->allowed_ip_count = count + 1;
	return true;
}

void uapi_device_free(struct uapi_device *device)
{
	for (size_t i = 0; i < device->peer_count; i++)
		free(device->peers[i].allowed_ips);
	if (device->peers)
		memory_wipe(device->peers, device->peer_count * sizeof(*device->peers));
	free(device->peers);
	memory_wipe(device, sizeof(*device));
}
