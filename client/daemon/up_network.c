/* SPDX-License-Identifier: MIT */
/* The steps of a bring-up that set addresses, MTU, routes and, for a full tunnel, policy rules. Called by
 * up.c. */
#include "client/daemon/tunnel_state.h"

#include "core/port/net_config.h"
#include "core/port/net_rule.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MTU_DEFAULT 1420  /* WIRE.md 2: the same over both carriers */
#define FIRST_MARK 0xca6c /* as wg-quick has it */

static const struct profile *profile_of(const struct tunnel *tunnel)
{
	return &tunnel->loaded.profile;
}

/* What a kernel says that has no IPv6, or has it switched off. */
static bool means_no_ipv6(const struct ip_prefix *prefix, int error)
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

enum step_result tunnel_set_addresses(void *context)
{
	struct tunnel *tunnel = context;
	const struct profile *profile = profile_of(tunnel);
	char address[PREFIX_TEXT_LEN];
	size_t i;

	tunnel->no_ipv6 = false;
	for (i = 0; i < profile->address_count; i++) {
		const struct ip_prefix *prefix = &profile->addresses[i];
		int error = net_address_add(
			tunnel->daemon->net, tunnel->backend->interface_index(tunnel->run), prefix);

		if (error == 0)
			continue;
		ip_prefix_write(prefix, address);
		if (means_no_ipv6(prefix, error)) {
			warn_of_no_ipv6(tunnel, address);
			continue;
		}
		rpc_error_set(&tunnel->failure, RPC_CODE_OTHER, "address %s cannot be set: %s", address,
			strerror(-error));
		return tunnel_fail(tunnel, RPC_CAUSE_CONFIG);
	}
	return STEP_DONE;
}

enum step_result tunnel_set_link(void *context)
{
	struct tunnel *tunnel = context;
	uint32_t mtu = profile_of(tunnel)->mtu ? profile_of(tunnel)->mtu : MTU_DEFAULT;
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

static bool is_default(const struct ip_prefix *prefix)
{
	return prefix->bits == 0;
}

/* Everything of that family goes through the tunnel, and we are to see to it. */
static bool takes_all(const struct tunnel *tunnel, enum ip_family family)
{
	const struct profile *profile = profile_of(tunnel);
	size_t i, j;

	if (profile->table != PROFILE_TABLE_AUTO)
		return false;
	for (i = 0; i < profile->peer_count; i++)
		for (j = 0; j < profile->peers[i].allowed_ip_count; j++) {
			const struct ip_prefix *prefix = &profile->peers[i].allowed_ips[j];

			if (is_default(prefix) && prefix->address.family == family)
				return true;
		}
	return false;
}

uint32_t tunnel_choose_mark(const struct tunnel *tunnel)
{
	uint32_t mark = FIRST_MARK;

	if (profile_of(tunnel)->fwmark)
		return profile_of(tunnel)->fwmark;
	if (!takes_all(tunnel, IP_V4) && !takes_all(tunnel, IP_V6))
		return 0;
	while (net_table_in_use(IP_V4, mark) || net_table_in_use(IP_V6, mark))
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
	/* A default route in a table of its own, which the rules lead to. */
	return is_default(prefix) ? tunnel->fwmark : 0;
}

static enum step_result set_route(struct tunnel *tunnel, const struct ip_prefix *prefix)
{
	struct net_route route = { .destination = ip_prefix_network(prefix),
		.interface = tunnel->backend->interface_index(tunnel->run),
		.table = table_of(tunnel, prefix) };
	char text[PREFIX_TEXT_LEN], sentence[RPC_SENTENCE_LEN];
	int error = net_route_add(tunnel->daemon->net, &route);

	if (error == 0)
		return STEP_DONE;
	ip_prefix_write(prefix, text);
	if (means_no_ipv6(prefix, error)) {
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

	if (profile->table == PROFILE_TABLE_OFF)
		return STEP_DONE;
	for (i = 0; i < profile->peer_count; i++)
		for (j = 0; j < profile->peers[i].allowed_ip_count; j++)
			if (set_route(tunnel, &profile->peers[i].allowed_ips[j]) != STEP_DONE)
				return STEP_FAILED;
	return STEP_DONE;
}

/* ---- rules of a full tunnel ---- */

void tunnel_unset_rules(void *context)
{
	struct tunnel *tunnel = context;

	if (!tunnel->rules)
		return;
	net_full_tunnel_remove(IP_V4, tunnel->fwmark);
	net_full_tunnel_remove(IP_V6, tunnel->fwmark);
	tunnel->rules = false;
}

/* After the routes: a rule that leads to an empty table would let packets out past the tunnel for a moment.
 */
enum step_result tunnel_set_rules(void *context)
{
	static const enum ip_family families[] = { IP_V4, IP_V6 };
	struct tunnel *tunnel = context;
	const char *other = manager_full_tunnel(tunnel->daemon->manager, tunnel);
	size_t i;

	for (i = 0; i < 2; i++) {
		struct ip_prefix all = { .address.family = families[i] };
		int error;

		if (!takes_all(tunnel, families[i]))
			continue;
		if (other) {
			rpc_error_set(&tunnel->failure, RPC_CODE_BUSY,
				"%s takes all traffic already: `wgtcp-cli down %s` first", other, other);
			return tunnel_fail(tunnel, RPC_CAUSE_BUSY);
		}
		tunnel->rules = true;
		manager_leftovers_changed(
			tunnel->daemon->manager); /* they would outlive a daemon that is killed */
		error = net_full_tunnel_add(families[i], tunnel->fwmark);
		if (error == 0)
			continue;
		if (means_no_ipv6(&all, error)) {
			warn_of_no_ipv6(tunnel, "::/0");
			continue;
		}
		rpc_error_set(&tunnel->failure, RPC_CODE_OTHER,
			"the policy rules that send all traffic through the tunnel cannot be set: %s",
			strerror(-error));
		tunnel_unset_rules(tunnel);
		return tunnel_fail(tunnel, RPC_CAUSE_CONFIG);
	}
	return STEP_DONE;
}
