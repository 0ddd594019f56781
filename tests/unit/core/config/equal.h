/* SPDX-License-Identifier: MIT */
/* Whether two profiles are the same, field by field and not by way of the writer; for tests and the fuzz
 * target. */
#ifndef WGTCP_TESTS_CONFIG_EQUAL_H
#define WGTCP_TESTS_CONFIG_EQUAL_H

#include "core/config/profile.h"

#include <string.h>

static inline bool same_texts(const struct profile_texts *a, const struct profile_texts *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (strcmp(a->items[i], b->items[i]) != 0)
			return false;
	return true;
}

static inline bool same_prefixes(
	const struct ip_prefix *a, size_t a_count, const struct ip_prefix *b, size_t b_count)
{
	if (a_count != b_count)
		return false;
	for (size_t i = 0; i < a_count; i++)
		if (a[i].bits != b[i].bits || !ip_address_equal(&a[i].address, &b[i].address))
			return false;
	return true;
}

static inline bool same_hosts(const struct profile_host *a, const struct profile_host *b)
{
	return strcmp(a->host, b->host) == 0 && a->port == b->port;
}

/* All but the line. */
static inline bool same_peers(const struct profile_peer *a, const struct profile_peer *b)
{
	if (memcmp(a->public_key, b->public_key, PROFILE_KEY_LEN) != 0 ||
		a->has_preshared_key != b->has_preshared_key ||
		memcmp(a->preshared_key, b->preshared_key, PROFILE_KEY_LEN) != 0 ||
		strcmp(a->name, b->name) != 0 || !same_hosts(&a->endpoint, &b->endpoint) ||
		!same_prefixes(a->allowed_ips, a->allowed_ip_count, b->allowed_ips, b->allowed_ip_count) ||
		a->keepalive_s != b->keepalive_s || a->has_transport != b->has_transport ||
		a->transport != b->transport || a->tcp_endpoint_count != b->tcp_endpoint_count ||
		a->udp_port_count != b->udp_port_count ||
		!ip_address_equal(&a->probe_address, &b->probe_address))
		return false;
	for (size_t i = 0; i < a->tcp_endpoint_count; i++)
		if (!same_hosts(&a->tcp_endpoints[i], &b->tcp_endpoints[i]))
			return false;
	return memcmp(a->udp_ports, b->udp_ports, sizeof(a->udp_ports)) == 0;
}

static inline bool same_profiles(const struct profile *a, const struct profile *b)
{
	if (strcmp(a->name, b->name) != 0 || memcmp(a->private_key, b->private_key, PROFILE_KEY_LEN) != 0 ||
		!same_prefixes(a->addresses, a->address_count, b->addresses, b->address_count) ||
		a->dns_server_count != b->dns_server_count || !same_texts(&a->dns_domains, &b->dns_domains) ||
		a->has_listen_port != b->has_listen_port || a->listen_port != b->listen_port ||
		a->has_tcp_listen_port != b->has_tcp_listen_port ||
		a->tcp_listen_port != b->tcp_listen_port || a->fwmark != b->fwmark || a->mtu != b->mtu ||
		a->table != b->table || a->table_number != b->table_number || a->transport != b->transport ||
		a->backend != b->backend || strcmp(a->fallback_profile, b->fallback_profile) != 0 ||
		strcmp(a->portal_check, b->portal_check) != 0 ||
		a->kill_switch != b->kill_switch || a->kill_switch_lan != b->kill_switch_lan ||
		a->auto_connect != b->auto_connect || a->speed_test_server != b->speed_test_server ||
		a->save_config != b->save_config || a->extensions != b->extensions ||
		!same_texts(&a->trusted_networks, &b->trusted_networks) || a->peer_count != b->peer_count)
		return false;
	for (size_t i = 0; i < a->dns_server_count; i++)
		if (!ip_address_equal(&a->dns_servers[i], &b->dns_servers[i]))
			return false;
	for (size_t i = 0; i < PROFILE_HOOK_COUNT; i++)
		if (!same_texts(&a->hooks[i], &b->hooks[i]))
			return false;
	for (size_t i = 0; i < a->peer_count; i++)
		if (!same_peers(&a->peers[i], &b->peers[i]))
			return false;
	return true;
}

#endif
