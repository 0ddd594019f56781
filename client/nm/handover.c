/* SPDX-License-Identifier: MIT */
/* See handover.h. Hooks, AutoConnect, TrustedNetworks, FallbackProfile and SpeedTestServer stay behind:
 * NetworkManager decides when a tunnel is up, and the daemon takes none of them from a connection. */
#include "client/nm/handover.h"

#include "core/config/key_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool add(struct rpc_texts *texts, const char *text)
{
	char **items = realloc(texts->items, (texts->count + 1) * sizeof(*items));

	if (!items)
		return false;
	texts->items = items;
	items[texts->count] = strdup(text);
	if (!items[texts->count])
		return false;
	texts->count++;
	return true;
}

static bool add_prefixes(struct rpc_texts *texts, const struct ip_prefix *prefixes, size_t count)
{
	char text[PREFIX_TEXT_LEN];

	for (size_t i = 0; i < count; i++)
		if (!add(texts, ip_prefix_write(&prefixes[i], text)))
			return false;
	return true;
}

static void write_host(const struct profile_host *host, char out[RPC_HOST_LEN])
{
	if (host->host[0])
		snprintf(out, RPC_HOST_LEN, strchr(host->host, ':') ? "[%s]:%u" : "%s:%u", host->host,
			(unsigned)host->port);
}

static bool write_peer(const struct profile_peer *peer, struct rpc_given_peer *out)
{
	char text[RPC_HOST_LEN];

	snprintf(out->name, sizeof(out->name), "%s", peer->name);
	profile_key_write(peer->public_key, out->public_key);
	if (peer->has_preshared_key)
		profile_key_write(peer->preshared_key, out->preshared_key);
	write_host(&peer->endpoint, out->endpoint);
	out->keepalive_s = peer->keepalive_s;
	out->has_transport = peer->has_transport;
	out->transport = peer->transport;
	if (peer->probe_address.family != IP_NONE)
		ip_address_write(&peer->probe_address, out->probe_address);
	for (size_t i = 0; i < peer->tcp_endpoint_count; i++) {
		write_host(&peer->tcp_endpoints[i], text);
		if (!add(&out->tcp_endpoints, text))
			return false;
	}
	for (size_t i = 0; i < peer->udp_port_count; i++) {
		snprintf(text, sizeof(text), "%u", (unsigned)peer->udp_ports[i]);
		if (!add(&out->udp_ports, text))
			return false;
	}
	return add_prefixes(&out->allowed_ips, peer->allowed_ips, peer->allowed_ip_count);
}

static bool write_dns(const struct profile *profile, struct rpc_texts *out)
{
	char text[ENDPOINT_TEXT_LEN];

	for (size_t i = 0; i < profile->dns_server_count; i++)
		if (!add(out, ip_address_write(&profile->dns_servers[i], text)))
			return false;
	for (size_t i = 0; i < profile->dns_domains.count; i++)
		if (!add(out, profile->dns_domains.items[i]))
			return false;
	return true;
}

static enum rpc_backend_choice backend_of(const struct profile *profile)
{
	switch (profile->backend) {
	case PROFILE_BACKEND_AUTO:
		return RPC_BACKEND_CHOICE_AUTO;
	case PROFILE_BACKEND_KERNEL:
		return RPC_BACKEND_CHOICE_KERNEL;
	case PROFILE_BACKEND_USERSPACE:
		return RPC_BACKEND_CHOICE_USERSPACE;
	}
	return RPC_BACKEND_CHOICE_AUTO;
}

static void write_interface(const struct profile *profile, struct rpc_given *out)
{
	snprintf(out->name, sizeof(out->name), "%s", profile->name);
	profile_key_write(profile->private_key, out->private_key);
	out->has_listen_port = profile->has_listen_port;
	out->listen_port = profile->listen_port;
	out->has_tcp_listen_port = profile->has_tcp_listen_port;
	out->tcp_listen_port = profile->tcp_listen_port;
	out->mtu = profile->mtu;
	out->fwmark = profile->fwmark;
	switch (profile->table) {
	case PROFILE_TABLE_AUTO:
		break;
	case PROFILE_TABLE_OFF:
		snprintf(out->table, sizeof(out->table), "off");
		break;
	case PROFILE_TABLE_NUMBER:
		snprintf(out->table, sizeof(out->table), "%u", (unsigned)profile->table_number);
		break;
	}
	out->has_transport = out->has_backend = out->has_extensions = true;
	out->transport = profile->transport;
	out->backend = backend_of(profile);
	out->kill_switch = profile->kill_switch;
	out->kill_switch_lan = profile->kill_switch_lan;
	out->extensions = profile->extensions;
	snprintf(out->portal_check, sizeof(out->portal_check), "%.*s", RPC_PATH_LEN - 1,
		profile->portal_check);
}

bool handover_write(const struct profile *profile, struct rpc_given *out)
{
	struct rpc_given given = { 0 };

	write_interface(profile, &given);
	given.peers = calloc(profile->peer_count + 1, sizeof(*given.peers));
	if (!given.peers || !add_prefixes(&given.addresses, profile->addresses, profile->address_count) ||
		!write_dns(profile, &given.dns))
		goto failed;
	for (; given.peer_count < profile->peer_count; given.peer_count++)
		if (!write_peer(&profile->peers[given.peer_count], &given.peers[given.peer_count])) {
			given.peer_count++;
			goto failed;
		}
	*out = given;
	return true;
failed:
	rpc_given_free(&given);
	return false;
}
