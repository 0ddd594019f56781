/* SPDX-License-Identifier: MIT */
/* What is wanted of the interface and its peers, and setting it in the kernel. */
#include "client/daemon/kernel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- setting ---- */

struct kernel_peer *kernel_find(struct backend_run *run, const uint8_t public_key[UAPI_KEY_LEN])
{
	size_t i;

	for (i = 0; i < run->peer_count; i++)
		if (!memcmp(run->peers[i].want.public_key, public_key, UAPI_KEY_LEN))
			return &run->peers[i];
	return NULL;
}

int kernel_set(struct backend_run *run, const struct uapi_device *device)
{
	return kernel_tunnel_set(run->kernel, run->interface, device);
}

static bool copy_allowed_ips(struct uapi_peer *out, const struct uapi_peer *in)
{
	size_t i;

	for (i = 0; i < in->allowed_ip_count; i++)
		if (!uapi_peer_add_allowed_ip(out, &in->allowed_ips[i].prefix, false))
			return false;
	return true;
}

bool kernel_add_bare(
	struct uapi_device *device, const struct kernel_peer *peer, const struct endpoint *endpoint)
{
	struct uapi_peer *out = uapi_device_add_peer(device);

	if (!out)
		return false;
	memcpy(out->public_key, peer->want.public_key, UAPI_KEY_LEN);
	out->has_preshared_key = peer->want.has_preshared_key;
	memcpy(out->preshared_key, peer->want.preshared_key, UAPI_KEY_LEN);
	out->replace_allowed_ips = true;
	if (endpoint && endpoint_is_set(endpoint)) {
		out->has_endpoint = true;
		out->endpoint = *endpoint;
	}
	return true;
}

bool kernel_add_wanted(
	struct uapi_device *device, const struct kernel_peer *peer, const struct endpoint *endpoint)
{
	return kernel_add_bare(device, peer, endpoint) &&
	       copy_allowed_ips(&device->peers[device->peer_count - 1], &peer->want);
}

/* The kernel sends a keepalive at once when its interval stops being zero. Source: docs/wire.md section 3,
 * linux/wireguard.h. */
bool kernel_add_nudge(struct uapi_device *device, const struct kernel_peer *peer)
{
	const uint16_t steps[] = { 0, peer->want.keepalive_s ? peer->want.keepalive_s : 1,
		peer->want.keepalive_s };
	size_t i;

	for (i = 0; i < 3; i++) {
		struct uapi_peer *entry = uapi_device_add_peer(device);

		if (!entry)
			return false;
		memcpy(entry->public_key, peer->want.public_key, UAPI_KEY_LEN);
		entry->update_only = true;
		entry->has_keepalive = true;
		entry->keepalive_s = steps[i];
	}
	return true;
}

static struct endpoint first_endpoint(const struct kernel_peer *peer, enum transport transport)
{
	if (transport == TRANSPORT_TCP && peer->want.tcp_endpoint_count)
		return peer->want.tcp_endpoints[0];
	return peer->want.endpoint;
}

static bool add_peer(struct uapi_device *device, const struct kernel_peer *peer, enum kernel_extent extent)
{
	struct endpoint endpoint = first_endpoint(peer, peer->run->native.transport);

	if (!peer->machine)
		extent = KERNEL_WHOLE;
	switch (extent) {
	case KERNEL_SILENT:
		return kernel_add_wanted(device, peer, NULL);
	case KERNEL_BARE:
		return kernel_add_bare(device, peer, &endpoint);
	case KERNEL_WHOLE:
		return kernel_add_wanted(device, peer, &endpoint) && kernel_add_nudge(device, peer);
	}
	return false;
}

int kernel_set_peers(struct backend_run *run, enum kernel_extent extent)
{
	struct uapi_device device = run->config;
	size_t i;
	int error = -ENOMEM;

	device.replace_peers = true;
	device.has_transport = false;
	for (i = 0; i < run->peer_count; i++)
		if (!add_peer(&device, &run->peers[i], extent))
			goto out;
	error = kernel_set(run, &device);
out:
	uapi_device_free(&device);
	explicit_bzero(&device, sizeof(device));
	return error;
}

/* ---- what is wanted ---- */

void kernel_free_peers(struct backend_run *run)
{
	size_t i;

	for (i = 0; i < run->peer_count; i++) {
		struct kernel_peer *peer = &run->peers[i];

		fallback_free(peer->machine);
		free(peer->want.allowed_ips);
		explicit_bzero(peer, sizeof(*peer));
	}
	free(run->peers);
	run->peers = NULL;
	run->peer_count = 0;
}

static bool take_peers(struct backend_run *run, const struct uapi_device *device)
{
	size_t i;

	kernel_free_peers(run);
	run->peers = calloc(device->peer_count + 1, sizeof(*run->peers));
	if (!run->peers)
		return false;
	for (i = 0; i < device->peer_count; i++) {
		struct kernel_peer *peer = &run->peers[run->peer_count++];

		peer->run = run;
		peer->want = device->peers[i];
		peer->want.allowed_ips = NULL;
		peer->want.allowed_ip_count = 0;
		if (!copy_allowed_ips(&peer->want, &device->peers[i]))
			return false;
		if (!peer->want.has_keepalive)
			peer->want.keepalive_s = 0;
	}
	return true;
}

static int configure_all(struct backend_run *run, const struct uapi_device *device)
{
	size_t i;

	run->config = *device;
	run->config.peers = NULL;
	run->config.peer_count = run->config.peer_room = 0;
	if (!run->config.has_listen_port)
		run->config.listen_port = 0;
	if (!take_peers(run, device))
		return -ENOMEM;
	if (run->native.used)
		return kernel_native_configure(run);
	for (i = 0; i < run->peer_count; i++)
		kernel_peer_settings(&run->peers[i]);
	return kernel_set_peers(run, KERNEL_SILENT);
}

static void change_peer(struct kernel_peer *peer, const struct uapi_peer *in)
{
	if (in->has_endpoint)
		peer->want.endpoint = in->endpoint;
	if (in->has_tcp_endpoints) {
		peer->want.tcp_endpoint_count = in->tcp_endpoint_count;
		memcpy(peer->want.tcp_endpoints, in->tcp_endpoints, sizeof(peer->want.tcp_endpoints));
	}
	if (in->has_transport)
		peer->want.transport = in->transport;
	kernel_peer_settings(peer);
	if (in->has_endpoint && peer->run->started)
		kernel_path_refresh(peer);
}

int kernel_configure(struct backend_run *run, const struct uapi_device *device)
{
	bool transports = false;
	size_t i;

	run->now = daemon_now();
	run->configured = 0;
	if (device->replace_peers) {
		run->configured = configure_all(run, device);
	} else {
		for (i = 0; i < device->peer_count; i++) {
			struct kernel_peer *peer = kernel_find(run, device->peers[i].public_key);

			if (peer)
				change_peer(peer, &device->peers[i]);
			transports |= device->peers[i].has_transport;
		}
		if (transports)
			kernel_native_wishes(run);
	}
	run->configured_due = true;
	kernel_soon(run);
	return 0;
}
