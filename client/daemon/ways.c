/* SPDX-License-Identifier: MIT */
/* Where a tunnel's peers are: follows their names, the routes, and peers that do not answer where they were.
 */
#include "client/daemon/tunnel_state.h"

#include "client/daemon/journal.h"
#include "client/daemon/memory.h"
#include "core/port/net_config.h"
#include "core/port/net_identity.h"

#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static size_t addresses_of(const char *host, struct ip_address *out, size_t max, void *user)
{
	const struct tunnel *tunnel = user;

	return names_get(tunnel->names, host, out, max);
}

static bool has_route(const struct ip_address *address, void *user)
{
	const struct tunnel *tunnel = user;
	uint32_t interface, mtu;

	return net_route_lookup(tunnel->daemon->net, address, tunnel->fwmark, &interface, &mtu) == 0;
}

static uint32_t scope_of(const char *interface, void *user)
{
	uint32_t index = if_nametoindex(interface);

	(void)user;
	return index ? index : (uint32_t)strtoul(interface, NULL, 10);
}

static struct device_way way_of(struct tunnel *tunnel, size_t peer)
{
	struct device_world world = { addresses_of, has_route, scope_of, tunnel };
	struct device_way way;

	device_way(&tunnel->loaded.profile.peers[peer], &world, tunnel->peers[peer].turn, &way);
	return way;
}

void tunnel_find_ways(struct tunnel *tunnel)
{
	size_t i;

	for (i = 0; i < tunnel->loaded.profile.peer_count; i++)
		tunnel->peers[i].way = way_of(tunnel, i);
}

void tunnel_waiting(const struct tunnel *tunnel, bool *waiting)
{
	const struct profile *profile = &tunnel->loaded.profile;
	size_t i;

	for (i = 0; i < profile->peer_count; i++)
		waiting[i] = !endpoint_is_set(&tunnel->peers[i].way.udp) && !tunnel->peers[i].way.tcp_count;
}

/* Tells the backend of those ways that have changed. An address that went away while nothing new came stays.
 */
static void update_ways(struct tunnel *tunnel)
{
	struct uapi_device device = { 0 };
	size_t i;

	for (i = 0; i < tunnel->loaded.profile.peer_count; i++) {
		struct device_way way = way_of(tunnel, i);

		if (device_way_equal(&way, &tunnel->peers[i].way) ||
			(!endpoint_is_set(&way.udp) && !way.tcp_count))
			continue;
		tunnel->peers[i].way = way;
		if (!device_add_way(&device, &tunnel->loaded.profile.peers[i], &way))
			break;
	}
	if (device.peer_count)
		tunnel_reroute(tunnel, &device);
	if (device.peer_count && tunnel->backend->configure(tunnel->run, &device) == 0) {
		journal_say(
			tunnel->daemon->journal, JOURNAL_INFO, tunnel->name, "a peer's address has changed");
		tunnel->backend->send(tunnel->run, &(struct seam_message){ .kind = SEAM_START });
	}
	uapi_device_free(&device);
}

void tunnel_names_changed(void *user)
{
	struct tunnel *tunnel = user;

	if (tunnel->phase == TUNNEL_STARTING && !tunnel->run)
		tunnel_step(tunnel);
	else if (tunnel->configured)
		update_ways(tunnel);
}

static void refresh_names(struct tunnel *tunnel, const struct profile_peer *peer)
{
	char name[PROFILE_HOST_LEN];
	size_t i;

	device_host(&peer->endpoint, name);
	names_refresh(tunnel->names, name);
	for (i = 0; i < peer->tcp_endpoint_count; i++) {
		device_host(&peer->tcp_endpoints[i], name);
		names_refresh(tunnel->names, name);
	}
}

void tunnel_resolve(struct tunnel *tunnel, const uint8_t public_key[32])
{
	const struct profile *profile = &tunnel->loaded.profile;
	size_t i;

	for (i = 0; i < profile->peer_count; i++) {
		const struct profile_peer *peer = &profile->peers[i];

		if (memcmp(peer->public_key, public_key, sizeof(peer->public_key)) != 0)
			continue;
		refresh_names(tunnel, peer);
		/* The other family, or the next address, may be the one that answers. */
		tunnel->peers[i].turn++;
		if (tunnel->configured)
			update_ways(tunnel);
	}
}

void tunnel_look_at_names(struct tunnel *tunnel)
{
	size_t i;

	for (i = 0; i < tunnel->view.peer_count; i++) {
		const struct profile_peer *of = &tunnel->loaded.profile.peers[i];
		const struct rpc_peer *peer = &tunnel->view.peers[i];
		struct endpoint endpoint;

		if (!of->endpoint.host[0])
			continue;
		switch (peer->state) {
		case RPC_STATE_UP:
			if (endpoint_parse(peer->endpoint, strlen(peer->endpoint), &endpoint) &&
				names_good(tunnel->names, &endpoint.address) &&
				peer->carrier == CARRIER_TCP && tunnel->peers[i].transport == TRANSPORT_AUTO)
				tunnel->peers[i].retry_udp = true; /* TCP found another address */
			break;
		case RPC_STATE_CONNECTING:
		case RPC_STATE_RECONNECTING:
		case RPC_STATE_FAILED:
			refresh_names(tunnel, of); /* it may be elsewhere by now */
			break;
		case RPC_STATE_DOWN:
		case RPC_STATE_VERIFYING:
		case RPC_STATE_DEGRADED:
			break;
		}
	}
}

void tunnel_has_new_ways(struct tunnel *tunnel)
{
	size_t i;

	for (i = 0; i < tunnel->loaded.profile.peer_count; i++) {
		struct seam_message message = { .kind = SEAM_RETRY_UDP };

		if (!tunnel->peers[i].retry_udp)
			continue;
		tunnel->peers[i].retry_udp = false;
		memcpy(message.public_key, tunnel->loaded.profile.peers[i].public_key,
			sizeof(message.public_key));
		tunnel->backend->send(tunnel->run, &message);
	}
}

/* ---- what this network did to UDP before ---- */

static const struct ip_address *somewhere_of(const struct device_way *way)
{
	return endpoint_is_set(&way->udp) || !way->tcp_count ? &way->udp.address : &way->tcp[0].address;
}

void tunnel_tell_memory(struct tunnel *tunnel, bool all)
{
	const struct profile *profile = &tunnel->loaded.profile;
	uint8_t network[NET_IDENTITY_MAX];
	size_t len, i;

	for (i = 0; i < profile->peer_count; i++) {
		struct tunnel_peer *peer = &tunnel->peers[i];
		struct seam_message message = { .kind = SEAM_MEMORY };
		enum fallback_memory memory = FALLBACK_MEMORY_UNKNOWN;

		if (net_identity(somewhere_of(&peer->way), tunnel->fwmark, network, &len) == 0)
			memory = memory_get(tunnel->daemon->memory, network, len,
				profile->peers[i].public_key, (uint64_t)time(NULL));
		if (memory == peer->memory && !all)
			continue;
		peer->memory = memory;
		message.value = memory;
		memcpy(message.public_key, profile->peers[i].public_key, sizeof(message.public_key));
		tunnel->backend->send(tunnel->run, &message);
	}
}

void tunnel_remember(struct tunnel *tunnel, const uint8_t public_key[32], enum fallback_udp udp)
{
	const struct profile *profile = &tunnel->loaded.profile;
	enum fallback_memory what = udp == FALLBACK_UDP_OK ? FALLBACK_MEMORY_GOOD : FALLBACK_MEMORY_BLOCKED;
	uint8_t network[NET_IDENTITY_MAX];
	size_t len, i;

	if (udp != FALLBACK_UDP_OK && udp != FALLBACK_UDP_BLOCKED)
		return;
	for (i = 0; i < profile->peer_count; i++) {
		struct tunnel_peer *peer = &tunnel->peers[i];

		if (memcmp(profile->peers[i].public_key, public_key, 32) != 0 ||
			net_identity(somewhere_of(&peer->way), tunnel->fwmark, network, &len) != 0)
			continue;
		peer->memory = what; /* the engine knows */
		if (memory_put(tunnel->daemon->memory, network, len, public_key, what, (uint64_t)time(NULL)))
			manager_memory_changed(tunnel->daemon->manager);
	}
}

/* ---- what changes ---- */

void tunnel_network_changed(struct tunnel *tunnel)
{
	if (!tunnel->names)
		return;
	names_network_changed(tunnel->names);
	if (!tunnel->configured)
		return;
	if (tunnel->probes_wait && !tunnel_is_let_go(tunnel))
		tunnel_send_probes(tunnel);
	tunnel_tell_memory(tunnel, false);
	update_ways(tunnel); /* other addresses may have a route now */
	tunnel_fit_mtu(tunnel);
}

bool tunnel_any_route(struct tunnel *tunnel)
{
	size_t i, j;

	for (i = 0; i < tunnel->loaded.profile.peer_count; i++) {
		const struct device_way *way = &tunnel->peers[i].way;

		if (endpoint_is_set(&way->udp) && has_route(&way->udp.address, tunnel))
			return true;
		for (j = 0; j < way->tcp_count; j++)
			if (has_route(&way->tcp[j].address, tunnel))
				return true;
	}
	return false;
}

static bool leads_out(enum ip_family family, struct tunnel *tunnel)
{
	/* The dummy address of RFC 7600 and the documentation prefix (RFC 3849): nothing is sent there. */
	struct ip_address v4 = { .family = IP_V4, .bytes = { 192, 0, 0, 8 } };
	struct ip_address v6 = { .family = IP_V6, .bytes = { 0x20, 0x01, 0x0d, 0xb8, [15] = 1 } };

	return has_route(family == IP_V4 ? &v4 : &v6, tunnel);
}

const char *tunnel_missing_family(struct tunnel *tunnel)
{
	bool v4 = false, v6 = false;
	size_t i, j;

	for (i = 0; i < tunnel->loaded.profile.peer_count; i++) {
		const struct device_way *way = &tunnel->peers[i].way;

		v4 |= endpoint_is_set(&way->udp) && way->udp.address.family == IP_V4;
		v6 |= endpoint_is_set(&way->udp) && way->udp.address.family == IP_V6;
		for (j = 0; j < way->tcp_count; j++) {
			v4 |= way->tcp[j].address.family == IP_V4;
			v6 |= way->tcp[j].address.family == IP_V6;
		}
	}
	if (v6 && !v4 && !leads_out(IP_V6, tunnel) && leads_out(IP_V4, tunnel))
		return "IPv6";
	if (v4 && !v6 && !leads_out(IP_V4, tunnel) && leads_out(IP_V6, tunnel))
		return "IPv4";
	return NULL;
}
