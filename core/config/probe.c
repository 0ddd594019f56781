/* SPDX-License-Identifier: MIT */
/* The address to ask inside the tunnel when the profile names none. Whatever is proposed must be routed to
 * the peer in question and must not be our own. Source: wgtcp-profile(5) (ProbeAddress). */
#include "core/config/profile.h"

static bool is_own(const struct profile *profile, const struct ip_address *address)
{
	for (size_t i = 0; i < profile->address_count; i++)
		if (ip_address_equal(&profile->addresses[i].address, address))
			return true;
	return false;
}

static bool is_inside(const struct profile_peer *peer, const struct ip_address *address)
{
	for (size_t i = 0; i < peer->allowed_ip_count; i++)
		if (ip_prefix_contains(&peer->allowed_ips[i], address))
			return true;
	return false;
}

/* The first host of a network: the address after its lowest, or the lowest itself where only two fit (RFC
 * 3021, RFC 6164). False for a host prefix. */
static bool first_host(const struct ip_prefix *prefix, struct ip_address *out)
{
	size_t len = ip_address_len(&prefix->address);

	if (prefix->bits >= 8 * len)
		return false;
	*out = ip_prefix_network(prefix).address;
	if (prefix->bits + 1u < 8 * len)
		out->bytes[len - 1] |= 1;
	return true;
}

bool profile_probe_address(const struct profile *profile, size_t peer_index, struct ip_address *out)
{
	const struct profile_peer *peer = &profile->peers[peer_index];
	struct ip_address host;

	if (peer->probe_address.family != IP_NONE) {
		*out = peer->probe_address;
		return true;
	}
	for (size_t i = 0; i < peer->allowed_ip_count; i++) {
		const struct ip_prefix *prefix = &peer->allowed_ips[i];

		if (prefix->bits != 8 * ip_address_len(&prefix->address) || is_own(profile, &prefix->address))
			continue;
		*out = prefix->address;
		return true;
	}
	for (size_t i = 0; i < profile->dns_server_count; i++) {
		if (!is_inside(peer, &profile->dns_servers[i]) || is_own(profile, &profile->dns_servers[i]))
			continue;
		*out = profile->dns_servers[i];
		return true;
	}
	for (size_t i = 0; i < profile->address_count; i++) {
		if (!first_host(&profile->addresses[i], &host) || !is_inside(peer, &host) ||
			is_own(profile, &host))
			continue;
		*out = host;
		return true;
	}
	return false;
}
