/* SPDX-License-Identifier: MIT */
/* What leads traffic into a tunnel goes from one of two interfaces to the other: first there, then gone here,
 * so that no packet finds nobody's route and leaves past the tunnel. Called by second.c. */
#include "client/daemon/second.h"

#include "client/daemon/journal.h"
#include "core/port/net_answer.h"
#include "core/port/net_config.h"
#include "core/port/net_rule.h"

static void drop_route(struct tunnel *tunnel, const struct ip_prefix *prefix)
{
	struct net_route route = tunnel_route_of(tunnel, prefix);

	net_route_remove(tunnel->daemon->net, &route);
}

static void drop_routes(struct tunnel *tunnel)
{
	const struct profile *profile = &tunnel->loaded.profile;
	size_t i, j;

	if (profile->table == PROFILE_TABLE_OFF || !tunnel->run)
		return;
	for (i = 0; i < profile->peer_count; i++)
		for (j = 0; j < profile->peers[i].allowed_ip_count; j++)
			drop_route(tunnel, &profile->peers[i].allowed_ips[j]);
	for (i = 0; i < profile->address_count; i++)
		drop_route(tunnel, &profile->addresses[i]);
}

static bool wants_rules(const struct tunnel *tunnel, enum ip_family family)
{
	return tunnel_any_prefix(tunnel, family, tunnel_route_is_aside);
}

/* The rules name the mark, which both share: what both need simply stays. */
static void hand_rules_over(
	struct tunnel *from, struct tunnel *to, enum ip_family family, bool *had, bool *has)
{
	bool was_all = tunnel_takes_all(from, family), all = tunnel_takes_all(to, family);

	if (*had && (!*has || was_all != all))
		net_full_tunnel_remove(family, from->fwmark);
	if (*has && (!*had || was_all != all) && !to->suspended) {
		if (all)
			net_full_tunnel_add(family, to->fwmark);
		else
			net_part_tunnel_add(family, to->fwmark);
	}
	*had = false;
}

static void move_rules(struct tunnel *from, struct tunnel *to)
{
	if (!from->rules) {
		if (tunnel_set_rules(to) == STEP_DONE)
			return;
		journal_say(to->daemon->journal, JOURNAL_ERROR, to->name, "%s", to->failure.message);
		rpc_error_free(&to->failure);
		return;
	}
	to->rules_v4 = wants_rules(to, IP_V4);
	to->rules_v6 = wants_rules(to, IP_V6);
	to->rules = to->rules_v4 || to->rules_v6;
	if (!to->rules) {
		tunnel_unset_rules(from);
		return;
	}
	hand_rules_over(from, to, IP_V4, &from->rules_v4, &to->rules_v4);
	hand_rules_over(from, to, IP_V6, &from->rules_v6, &to->rules_v6);
	from->rules = from->keep.answers = false;
	tunnel_let_answers_in(to);
}

void carry_over(struct tunnel *from, struct tunnel *to)
{
	to->parked = false;
	if (tunnel_set_routes(to) != STEP_DONE) {
		journal_say(to->daemon->journal, JOURNAL_ERROR, to->name, "%s", to->failure.message);
		rpc_error_free(&to->failure);
	}
	move_rules(from, to);
	tunnel_set_dns(to);
	tunnel_unset_dns(from);
	drop_routes(from);
	from->parked = true;
	manager_leftovers_changed(to->daemon->manager);
}
