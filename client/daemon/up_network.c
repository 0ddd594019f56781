/* SPDX-License-Identifier: MIT */
/* The steps of a bring-up that set addresses, MTU and routes, and the choice of marks and tables. Called by
 * up.c. */
#include "client/daemon/second.h"

#include "client/daemon/journal.h"
#include "client/daemon/lockdown.h"
#include "client/daemon/mtu.h"
#include "core/port/net_config.h"
#include "core/port/net_rule.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_MARK 0xca6c /* as wg-quick has it */

static const struct profile *profile_of(const struct tunnel *tunnel)
{
	return &tunnel->loaded.profile;
}

/* What a kernel says that has no IPv6, or has it switched off. */
bool tunnel_means_no_ipv6(const struct ip_prefix *prefix, int error)
{
	return prefix->address.family == IP_V6 &&
	       (error == -EACCES || error == -EPERM || error == -EOPNOTSUPP || error == -EAFNOSUPPORT ||
		       error == -ENODEV);
}

static void warn_of_no_ipv6(struct tunnel *tunnel, const char *prefix)
{
	char text[RPC_SENTENCE_LEN];

	if (tunnel->no_ipv6)
		return; /* once is enough */
	tunnel->no_ipv6 = true;
	snprintf(text, sizeof(text),
		"IPv6 is switched off on this machine, so %s is not used and IPv6 does not pass the tunnel",
		prefix);
	tunnel_warn(tunnel, text);
}

/* Neither of two takes what happens to the other's interface for another network. */
static void ignore_each_other(struct tunnel *tunnel)
{
	struct tunnel *mate = second_mate(tunnel);

	if (!mate || !mate->run)
		return;
	tunnel->backend->ignore(tunnel->run, mate->backend->interface_index(mate->run));
	mate->backend->ignore(mate->run, tunnel->backend->interface_index(tunnel->run));
}

bool tunnel_routes_network(const struct tunnel *tunnel, const struct ip_prefix *address)
{
	return (tunnel->first || tunnel->second) && profile_of(tunnel)->table != PROFILE_TABLE_OFF &&
	       address->bits < 8 * ip_address_len(&address->address);
}

int tunnel_add_address(struct tunnel *tunnel, const struct ip_prefix *address)
{
	uint32_t index = tunnel->backend->interface_index(tunnel->run);

	return tunnel_routes_network(tunnel, address)
		       ? net_address_add_alone(tunnel->daemon->net, index, address)
		       : net_address_add(tunnel->daemon->net, index, address);
}

enum step_result tunnel_set_addresses(void *context)
{
	struct tunnel *tunnel = context;
	const struct profile *profile = profile_of(tunnel);
	char address[PREFIX_TEXT_LEN];
	size_t i;

	ignore_each_other(tunnel);
	tunnel->no_ipv6 = false;
	if (tunnel_is_managed(tunnel))
		return tunnel_set_further_addresses(tunnel);
	for (i = 0; i < profile->address_count; i++) {
		const struct ip_prefix *prefix = &profile->addresses[i];
		int error = tunnel_add_address(tunnel, prefix);

		if (error == 0)
			continue;
		ip_prefix_write(prefix, address);
		if (tunnel_means_no_ipv6(prefix, error)) {
			warn_of_no_ipv6(tunnel, address);
			continue;
		}
		rpc_error_set(&tunnel->failure, RPC_CODE_OTHER, "address %s cannot be set: %s", address,
			strerror(-error));
		return tunnel_fail(tunnel, RPC_CAUSE_CONFIG);
	}
	return STEP_DONE;
}

/* ---- MTU ---- */

static void add_way(
	struct tunnel *tunnel, const struct endpoint *endpoint, bool tcp, struct mtu_way *ways, size_t *count)
{
	struct mtu_way way = { .family = endpoint->address.family, .tcp = tcp };
	uint32_t interface;

	if (endpoint_is_set(endpoint) && net_route_lookup(tunnel->daemon->net, &endpoint->address,
						 tunnel->fwmark, &interface, &way.route_mtu) == 0)
		ways[(*count)++] = way;
}

static bool has_ipv6(const struct profile *profile)
{
	size_t i;

	for (i = 0; i < profile->address_count; i++)
		if (profile->addresses[i].address.family == IP_V6)
			return true;
	return false;
}

static uint32_t choose_mtu(struct tunnel *tunnel)
{
	const struct profile *profile = profile_of(tunnel);
	struct mtu_way *ways = calloc(profile->peer_count * (UAPI_ENDPOINTS_MAX + 1) + 1, sizeof(*ways));
	size_t count = 0, i, j;
	uint32_t mtu;

	if (!ways)
		return MTU_DEFAULT;
	for (i = 0; i < profile->peer_count; i++) {
		const struct tunnel_peer *peer = &tunnel->peers[i];

		/* A stream cuts packets where it must, so UDP decides where both are possible. */
		if (peer->transport != TRANSPORT_TCP && endpoint_is_set(&peer->way.udp)) {
			add_way(tunnel, &peer->way.udp, false, ways, &count);
			continue;
		}
		for (j = 0; j < peer->way.tcp_count; j++)
			add_way(tunnel, &peer->way.tcp[j], true, ways, &count);
	}
	mtu = mtu_choose(ways, count, has_ipv6(profile));
	free(ways);
	return mtu;
}

void tunnel_fit_mtu(struct tunnel *tunnel)
{
	struct rpc_tunnel before = view_shell(&tunnel->view);
	uint32_t mtu;

	if (profile_of(tunnel)->mtu || !tunnel->view.mtu)
		return;
	mtu = choose_mtu(tunnel);
	if (mtu == tunnel->view.mtu ||
		net_link_set(tunnel->daemon->net, tunnel->backend->interface_index(tunnel->run), mtu, true))
		return;
	journal_say(
		tunnel->daemon->journal, JOURNAL_INFO, tunnel->name, "the MTU is %u on this network", mtu);
	tunnel->view.mtu = mtu;
	tunnel_tell(tunnel, &before);
}

enum step_result tunnel_set_link(void *context)
{
	struct tunnel *tunnel = context;
	uint32_t mtu = profile_of(tunnel)->mtu ? profile_of(tunnel)->mtu : choose_mtu(tunnel);
	int error =
		net_link_set(tunnel->daemon->net, tunnel->backend->interface_index(tunnel->run), mtu, true);

	if (error) {
		rpc_error_set(&tunnel->failure, RPC_CODE_OTHER,
			"interface %s cannot be set up with MTU %u: %s", tunnel->name, mtu, strerror(-error));
		return tunnel_fail(tunnel, RPC_CAUSE_CONFIG);
	}
	tunnel->view.mtu = mtu;
	return STEP_DONE;
}

/* ---- routes ---- */

bool tunnel_any_prefix(const struct tunnel *tunnel, enum ip_family family,
	bool (*fits)(const struct tunnel *tunnel, const struct ip_prefix *prefix))
{
	const struct profile *profile = profile_of(tunnel);
	size_t i, j;

	if (profile->table != PROFILE_TABLE_AUTO)
		return false;
	for (i = 0; i < profile->peer_count; i++)
		for (j = 0; j < profile->peers[i].allowed_ip_count; j++) {
			const struct ip_prefix *prefix = &profile->peers[i].allowed_ips[j];

			if (prefix->address.family == family && fits(tunnel, prefix))
				return true;
		}
	return false;
}

static bool is_all(const struct tunnel *tunnel, const struct ip_prefix *prefix)
{
	(void)tunnel;
	return net_takes_all(prefix);
}

bool tunnel_takes_all(const struct tunnel *tunnel, enum ip_family family)
{
	return tunnel_any_prefix(tunnel, family, is_all);
}

/* Some peer is inside of what goes through the tunnel: in the main table that would lead the carrier into
 * itself. */
static bool holds_a_peer(const struct tunnel *tunnel, const struct ip_prefix *prefix)
{
	size_t i, j;

	for (i = 0; tunnel->peers && i < profile_of(tunnel)->peer_count; i++) {
		const struct device_way *way = &tunnel->peers[i].way;

		if (ip_prefix_contains(prefix, &way->udp.address))
			return true;
		for (j = 0; j < way->tcp_count; j++)
			if (ip_prefix_contains(prefix, &way->tcp[j].address))
				return true;
	}
	return false;
}

bool tunnel_route_is_aside(const struct tunnel *tunnel, const struct ip_prefix *prefix)
{
	const struct tunnel *mate = second_mate(tunnel);

	return net_takes_all(prefix) || holds_a_peer(tunnel, prefix) || (mate && holds_a_peer(mate, prefix));
}

uint32_t tunnel_choose_mark(const struct tunnel *tunnel)
{
	uint32_t mark = FIRST_MARK;

	if (tunnel->first)
		return tunnel->first->fwmark;
	if (profile_of(tunnel)->fwmark)
		return profile_of(tunnel)->fwmark;
	if (tunnel->fwmark)
		return tunnel->fwmark;
	if (!tunnel_any_prefix(tunnel, IP_V4, tunnel_route_is_aside) &&
		!tunnel_any_prefix(tunnel, IP_V6, tunnel_route_is_aside) &&
		!profile_of(tunnel)->kill_switch && !tunnel->second &&
		lockdown_state(tunnel->daemon->lockdown) == RPC_KILL_SWITCH_OFF)
		return 0;
	while (net_table_in_use(IP_V4, mark) || net_table_in_use(IP_V6, mark) ||
		manager_mark_in_use(tunnel->daemon->manager, tunnel, mark))
		mark++;
	return mark;
}

static uint32_t table_of(const struct tunnel *tunnel, const struct ip_prefix *prefix)
{
	switch (profile_of(tunnel)->table) {
	case PROFILE_TABLE_NUMBER:
		return profile_of(tunnel)->table_number;
	case PROFILE_TABLE_AUTO:
	case PROFILE_TABLE_OFF:
		break;
	}
	/* A table of its own, which the rules lead to. */
	return tunnel_route_is_aside(tunnel, prefix) ? tunnel->fwmark : 0;
}

struct net_route tunnel_route_of(const struct tunnel *tunnel, const struct ip_prefix *prefix)
{
	return (struct net_route){ .destination = ip_prefix_network(prefix),
		.interface = tunnel->backend->interface_index(tunnel->run),
		.table = table_of(tunnel, prefix) };
}

static enum step_result set_route(struct tunnel *tunnel, const struct ip_prefix *prefix)
{
	struct net_route route = tunnel_route_of(tunnel, prefix);
	char text[PREFIX_TEXT_LEN], sentence[RPC_SENTENCE_LEN];
	const struct tunnel *mate = second_mate(tunnel);
	int error = mate && mate->run ? net_route_take_from(tunnel->daemon->net, &route,
						mate->backend->interface_index(mate->run))
				      : net_route_add(tunnel->daemon->net, &route);

	if (error == 0)
		return STEP_DONE;
	ip_prefix_write(prefix, text);
	if (tunnel_means_no_ipv6(prefix, error)) {
		warn_of_no_ipv6(tunnel, text);
		return STEP_DONE;
	}
	if (error == -EEXIST) {
		snprintf(sentence, sizeof(sentence),
			"%s (AllowedIPs) is reached by another interface already, so it stays outside the "
			"tunnel: is this "
			"machine in a network with the same addresses?",
			text);
		tunnel_warn(tunnel, sentence);
		return STEP_DONE;
	}
	rpc_error_set(&tunnel->failure, RPC_CODE_OTHER, "the route to %s (AllowedIPs) cannot be set: %s",
		text, strerror(-error));
	return tunnel_fail(tunnel, RPC_CAUSE_CONFIG);
}

enum step_result tunnel_set_routes(void *context)
{
	struct tunnel *tunnel = context;
	const struct profile *profile = profile_of(tunnel);
	size_t i, j;

	if (tunnel->parked && tunnel->first && tunnel->first->run) {
		struct uapi_device unchanged = { 0 };

		/* Its server may lie within what the first one takes, and must not be called through that. */
		tunnel_reroute(tunnel->first, &unchanged);
	}
	if (profile->table == PROFILE_TABLE_OFF || tunnel->parked)
		return STEP_DONE;
	for (i = 0; i < profile->address_count; i++)
		if (tunnel_routes_network(tunnel, &profile->addresses[i]) &&
			set_route(tunnel, &profile->addresses[i]) != STEP_DONE)
			return STEP_FAILED;
	for (i = 0; i < profile->peer_count; i++)
		for (j = 0; j < profile->peers[i].allowed_ip_count; j++)
			if (!tunnel_leaves_route(tunnel, &profile->peers[i].allowed_ips[j]) &&
				set_route(tunnel, &profile->peers[i].allowed_ips[j]) != STEP_DONE)
				return STEP_FAILED;
	return STEP_DONE;
}
