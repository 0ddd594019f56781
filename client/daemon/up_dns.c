/* SPDX-License-Identifier: MIT */
/* The step of a bring-up that sets the profile's DNS. Called by up.c. Nothing here makes a bring-up fail: a
 * tunnel whose names are still looked up elsewhere is better than none, and says so. */
#include "client/daemon/tunnel_state.h"

#include "client/daemon/dns.h"

static bool takes_all(const struct profile *profile)
{
	size_t i, j;

	for (i = 0; i < profile->peer_count; i++)
		for (j = 0; j < profile->peers[i].allowed_ip_count; j++)
			if (profile->peers[i].allowed_ips[j].bits == 0)
				return true;
	return false;
}

static void set(const char *warning, void *user)
{
	struct tunnel *tunnel = user;

	tunnel->dns = TUNNEL_DNS_SET;
	if (warning)
		tunnel_warn(tunnel, warning);
	if (tunnel->phase == TUNNEL_STARTING && !tunnel->dns_within)
		tunnel_step(tunnel);
}

enum step_result tunnel_set_dns(void *context)
{
	struct tunnel *tunnel = context;
	const struct profile *profile = &tunnel->loaded.profile;
	struct dns_settings settings = { .interface = tunnel->name,
		.dns = { profile->dns_servers, profile->dns_server_count, &profile->dns_domains } };

	if (tunnel_is_managed(tunnel) || tunnel->parked)
		return STEP_DONE;
	if (profile->dns_server_count == 0) {
		if (profile->dns_domains.count)
			tunnel_warn(tunnel,
				"DNS names domains but no server, so it is not used: add the server's "
				"address to DNS");
		return STEP_DONE;
	}
	/* A portal's name is known only to the network outside. */
	if (tunnel->suspended) {
		tunnel->dns_waits = true;
		return STEP_DONE;
	}
	switch (tunnel->dns) {
	case TUNNEL_DNS_NONE:
		break;
	case TUNNEL_DNS_PENDING:
		return STEP_WAITS;
	case TUNNEL_DNS_SET:
		return STEP_DONE;
	}
	settings.index = tunnel->backend->interface_index(tunnel->run);
	/* A split tunnel without domains to go by: as wg-quick does it, all names. */
	settings.all = takes_all(profile) || profile->dns_domains.count == 0;
	tunnel->dns = TUNNEL_DNS_PENDING;
	tunnel->dns_within = true;
	dns_set(tunnel->daemon->dns, &settings, set, tunnel);
	tunnel->dns_within = false;
	return tunnel->dns == TUNNEL_DNS_SET ? STEP_DONE : STEP_WAITS;
}

void tunnel_unset_dns(void *context)
{
	struct tunnel *tunnel = context;

	tunnel->dns_waits = false;
	if (tunnel->dns == TUNNEL_DNS_NONE)
		return;
	tunnel->dns = TUNNEL_DNS_NONE;
	dns_unset(tunnel->daemon->dns, tunnel->name);
}
