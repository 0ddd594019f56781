/* SPDX-License-Identifier: MIT */
/* Profile to UAPI. Used by tunnel.c and up.c. */
#include "client/daemon/device.h"

#include <string.h>

void device_host(const struct profile_host *host, char out[PROFILE_HOST_LEN])
{
	size_t len = strcspn(host->host, "%");

	memcpy(out, host->host, len);
	out[len] = 0;
}

static size_t endpoints_of(const struct profile_host *host, const struct device_world *world,
	struct endpoint out[UAPI_ENDPOINTS_MAX], size_t max)
{
	struct ip_address addresses[UAPI_ENDPOINTS_MAX];
	const char *scope = strchr(host->host, '%');
	char name[PROFILE_HOST_LEN];
	size_t count, i;

	device_host(host, name);
	count = name[0] ? world->addresses(name, addresses, max, world->user) : 0;
	for (i = 0; i < count; i++)
		out[i] = (struct endpoint){ .address = addresses[i],
			.port = host->port,
			.scope_id = scope ? world->scope(scope + 1, world->user) : 0 };
	return count;
}

static bool holds(const struct endpoint *list, size_t count, const struct endpoint *endpoint)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (endpoint_equal(&list[i], endpoint))
			return true;
	return false;
}

void device_way(const struct profile_peer *peer, const struct device_world *world, unsigned turn,
	struct device_way *out)
{
	struct endpoint all[UAPI_ENDPOINTS_MAX], routed[UAPI_ENDPOINTS_MAX];
	struct device_way way = { 0 };
	size_t count, routed_count = 0, i, j;

	count = endpoints_of(&peer->endpoint, world, all, UAPI_ENDPOINTS_MAX);
	for (i = 0; i < count; i++)
		if (world->has_route(&all[i].address, world->user))
			routed[routed_count++] = all[i];
	if (routed_count)
		way.udp = routed[turn % routed_count];
	else if (count)
		way.udp = all[turn % count];
	if (peer->tcp_endpoint_count == 0) {
		memcpy(way.tcp, all, count * sizeof(*all));
		way.tcp_count = count;
	}
	for (i = 0; i < peer->tcp_endpoint_count; i++) {
		count = endpoints_of(&peer->tcp_endpoints[i], world, all, UAPI_ENDPOINTS_MAX);
		for (j = 0; j < count && way.tcp_count < UAPI_ENDPOINTS_MAX; j++)
			if (!holds(way.tcp, way.tcp_count, &all[j]))
				way.tcp[way.tcp_count++] = all[j];
	}
	*out = way;
}

bool device_way_equal(const struct device_way *a, const struct device_way *b)
{
	size_t i;

	if (a->tcp_count != b->tcp_count || !endpoint_equal(&a->udp, &b->udp))
		return false;
	for (i = 0; i < a->tcp_count; i++)
		if (!endpoint_equal(&a->tcp[i], &b->tcp[i]))
			return false;
	return true;
}

static void set_way(struct uapi_peer *out, const struct device_way *way)
{
	if (endpoint_is_set(&way->udp)) {
		out->has_endpoint = true;
		out->endpoint = way->udp;
	}
	if (way->tcp_count) {
		out->has_tcp_endpoints = true;
		out->tcp_endpoint_count = way->tcp_count;
		memcpy(out->tcp_endpoints, way->tcp, sizeof(out->tcp_endpoints));
	}
}

static bool build_peer(const struct profile_peer *peer, const struct device_way *way,
	enum transport transport, struct uapi_peer *out)
{
	size_t i;

	memcpy(out->public_key, peer->public_key, sizeof(out->public_key));
	out->has_preshared_key = peer->has_preshared_key;
	if (peer->has_preshared_key)
		memcpy(out->preshared_key, peer->preshared_key, sizeof(out->preshared_key));
	out->has_keepalive = peer->keepalive_s != 0;
	out->keepalive_s = peer->keepalive_s;
	out->has_transport = true;
	out->transport = transport;
	out->has_udp_ports = peer->udp_port_count != 0;
	out->udp_port_count = peer->udp_port_count;
	memcpy(out->udp_ports, peer->udp_ports, peer->udp_port_count * sizeof(*peer->udp_ports));
	out->replace_allowed_ips = true;
	for (i = 0; i < peer->allowed_ip_count; i++)
		if (!uapi_peer_add_allowed_ip(out, &peer->allowed_ips[i], false))
			return false;
	set_way(out, way);
	return true;
}

bool device_build(const struct profile *profile, const struct device_way *ways,
	const enum transport *transports, uint32_t fwmark, enum transport transport, struct uapi_device *out)
{
	struct uapi_device device = { 0 };
	size_t i;

	device.has_private_key = true;
	memcpy(device.private_key, profile->private_key, sizeof(device.private_key));
	device.replace_peers = true;
	device.has_listen_port = profile->has_listen_port;
	device.listen_port = profile->listen_port;
	/* Without a word about TCP, it listens where UDP does; without either it does not listen. */
	device.has_tcp_listen_port = profile->has_tcp_listen_port || profile->has_listen_port;
	device.tcp_listen_port =
		profile->has_tcp_listen_port ? profile->tcp_listen_port : profile->listen_port;
	device.has_fwmark = fwmark != 0;
	device.fwmark = fwmark;
	device.has_transport = true;
	device.transport = transport;
	device.has_extensions = true;
	device.extensions = profile->extensions;
	for (i = 0; i < profile->peer_count; i++) {
		struct uapi_peer *peer = uapi_device_add_peer(&device);

		if (!peer || !build_peer(&profile->peers[i], &ways[i], transports[i], peer)) {
			uapi_device_free(&device);
			explicit_bzero(&device, sizeof(device));
			return false;
		}
	}
	*out = device;
	explicit_bzero(&device, sizeof(device));
	return true;
}

bool device_add_way(struct uapi_device *device, const struct profile_peer *peer, const struct device_way *way)
{
	struct uapi_peer *out = uapi_device_add_peer(device);

	if (!out)
		return false;
	memcpy(out->public_key, peer->public_key, sizeof(out->public_key));
	out->update_only = true;
	set_way(out, way);
	return true;
}
