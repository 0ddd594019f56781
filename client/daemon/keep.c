/* SPDX-License-Identifier: MIT */
/* Puts back what somebody else has taken away from a tunnel that is up: a link set down loses its routes,
 * network managers flush tables that they do not know, firewalls begin with an empty set of rules. Without
 * that a full tunnel would let everything past and be called up. Called by keep_watch.c and alive.c. */
#include "client/daemon/keep.h"

#include "client/daemon/journal.h"
#include "client/daemon/second.h"
#include "core/port/net_answer.h"
#include "core/port/net_rule.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* RFC 8200, 5. */
#define IPV6_LEAST_MTU 1280

/* What was put back; error: the first that could not be. */
struct put_back {
	bool name, link, mtu;
	unsigned addresses, routes, rules, marks;
	int error;
};

static const struct profile *profile_of(const struct tunnel *tunnel)
{
	return &tunnel->loaded.profile;
}

bool keep_is_a_fight(struct keep *keep, struct mono now)
{
	struct mono oldest = keep->times[keep->next];
	struct mono newest = keep->times[(keep->next + KEEP_TIMES - 1) % KEEP_TIMES];

	if (mono_is_set(newest) && mono_since_ms(now, newest) < KEEP_ONCE_MS)
		return false;
	keep->times[keep->next] = now;
	keep->next = (keep->next + 1) % KEEP_TIMES;
	return mono_is_set(oldest) && mono_since_ms(now, oldest) <= KEEP_WITHIN_MS;
}

/* ---- each kind of thing ---- */

static void note_error(struct put_back *done, int error)
{
	if (!done->error)
		done->error = error;
}

static void put_back_link(struct tunnel *tunnel, uint32_t index, struct put_back *done)
{
	struct net_link link;
	bool small;
	int error;

	if (net_link_at(tunnel->daemon->net, index, &link))
		return; /* gone: alive.c hears of that */
	/* The kill switch and everybody's commands know it by its name. */
	if (strcmp(link.name, tunnel->name) != 0) {
		error = net_link_rename(tunnel->daemon->net, index, tunnel->name);
		if (error)
			note_error(done, error);
		else
			done->name = true;
		if (net_link_at(tunnel->daemon->net, index, &link))
			return;
	}
	/* A person may try another MTU, but a link with less than this has no IPv6. */
	small = link.mtu < IPV6_LEAST_MTU && tunnel->view.mtu >= IPV6_LEAST_MTU;
	if (link.up && !small)
		return;
	error = net_link_set(tunnel->daemon->net, index, tunnel->view.mtu, true);
	if (error) {
		note_error(done, error);
		return;
	}
	done->link = !link.up;
	done->mtu = small;
}

static char *address_key(const struct ip_prefix *prefix)
{
	char text[PREFIX_TEXT_LEN];

	ip_prefix_write(prefix, text);
	return g_strdup(text);
}

static char *route_key(const struct ip_prefix *network, uint32_t table)
{
	char text[PREFIX_TEXT_LEN];

	ip_prefix_write(network, text);
	return g_strdup_printf("%s %u", text, table);
}

static void take_address(const struct ip_prefix *address, void *user)
{
	g_hash_table_add(user, address_key(address));
}

static void take_route(const struct net_route *route, void *user)
{
	g_hash_table_add(user, route_key(&route->destination, route->table));
}

static bool has(GHashTable *there, char *key)
{
	bool found = g_hash_table_contains(there, key);

	g_free(key);
	return found;
}

static void put_back_addresses(struct tunnel *tunnel, uint32_t index, struct put_back *done)
{
	GHashTable *there = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	const struct profile *profile = profile_of(tunnel);
	int error = net_addresses_each(tunnel->daemon->net, index, take_address, there);
	size_t i;

	for (i = 0; i < profile->address_count && !error; i++) {
		const struct ip_prefix *address = &profile->addresses[i];

		if (tunnel_leaves_address(tunnel, i) || has(there, address_key(address)))
			continue;
		error = tunnel_add_address(tunnel, address);
		if (!error)
			done->addresses++;
		else if (tunnel->no_ipv6 && tunnel_means_no_ipv6(address, error))
			error = 0; /* it never was */
	}
	g_hash_table_unref(there);
	if (error)
		note_error(done, error);
}

/* 0: it is there now. */
static int set_one_route(struct tunnel *tunnel, const struct net_route *route)
{
	int error = net_route_add(tunnel->daemon->net, route);

	/* Our own table is nobody else's; in others somebody may have been first. */
	if (error == -EEXIST && route->table && route->table == tunnel->fwmark)
		error = net_route_take_over(tunnel->daemon->net, route);
	return error;
}

/* 0, also where it is not possible by nature. */
static int put_back_route(
	struct tunnel *tunnel, const struct ip_prefix *prefix, GHashTable *there, struct put_back *done)
{
	struct net_route route = tunnel_route_of(tunnel, prefix);
	int error;

	if (has(there, route_key(&route.destination, route.table)))
		return 0;
	error = set_one_route(tunnel, &route);
	if (!error)
		done->routes++;
	else if (error == -EEXIST || (tunnel->no_ipv6 && tunnel_means_no_ipv6(&route.destination, error)))
		error = 0; /* it was said at the start */
	return error;
}

static void put_back_routes(struct tunnel *tunnel, uint32_t index, struct put_back *done)
{
	GHashTable *there = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	const struct profile *profile = profile_of(tunnel);
	int error = net_routes_each(tunnel->daemon->net, index, take_route, there);
	size_t i, j;

	for (i = 0; i < profile->address_count && !error; i++)
		if (tunnel_routes_network(tunnel, &profile->addresses[i]))
			error = put_back_route(tunnel, &profile->addresses[i], there, done);
	for (i = 0; i < profile->peer_count && !error; i++)
		for (j = 0; j < profile->peers[i].allowed_ip_count && !error; j++)
			if (!tunnel_leaves_route(tunnel, &profile->peers[i].allowed_ips[j]))
				error = put_back_route(
					tunnel, &profile->peers[i].allowed_ips[j], there, done);
	g_hash_table_unref(there);
	if (error)
		note_error(done, error);
}

static void put_back_rules(struct tunnel *tunnel, struct put_back *done)
{
	bool v4 = tunnel->rules_v4 && !net_tunnel_rules_are_there(IP_V4, tunnel->fwmark);
	bool v6 = tunnel->rules_v6 && !tunnel->no_ipv6 && !net_tunnel_rules_are_there(IP_V6, tunnel->fwmark);
	int error;

	if (!tunnel->rules)
		return;
	/* While the kill switch is open for a login they are away by our own hand. */
	if (!tunnel->suspended && (v4 || v6)) {
		error = tunnel_add_rules(tunnel);
		if (error)
			note_error(done, error);
		else
			done->rules += (v4 ? 1u : 0u) + (v6 ? 1u : 0u);
	}
	if (tunnel->keep.answers && !net_answer_is_there(tunnel->fwmark)) {
		tunnel_let_answers_in(tunnel);
		if (tunnel->keep.answers)
			done->marks++;
	}
}

/* ---- what is said ---- */

/* "its link, 2 addresses and 3 routes". */
static void list(const struct put_back *done, char *out, size_t size)
{
	const struct {
		unsigned count;
		const char *one, *many;
	} kinds[] = {
		{ done->name, "its name", NULL },
		{ done->link, "its link", NULL },
		{ done->mtu, "its MTU", NULL },
		{ done->addresses, "an address", "addresses" },
		{ done->routes, "a route", "routes" },
		{ done->rules, "its policy rules", "families of policy rules" },
		{ done->marks, "the marks on answers", NULL },
	};
	size_t len = 0, i;

	out[0] = 0;
	for (i = 0; i < G_N_ELEMENTS(kinds) && len < size; i++) {
		if (!kinds[i].count)
			continue;
		if (len)
			len += (size_t)g_snprintf(out + len, size - len, ", ");
		if (kinds[i].count == 1 || !kinds[i].many)
			len += (size_t)g_snprintf(out + len, size - len, "%s", kinds[i].one);
		else
			len += (size_t)g_snprintf(
				out + len, size - len, "%u %s", kinds[i].count, kinds[i].many);
	}
}

/* It matters whether a wall stands behind. */
static const char *what_passed(const struct tunnel *tunnel)
{
	return tunnel->view.kill_switch == RPC_KILL_SWITCH_ON
		       ? "the kill switch holds what would go past the tunnel"
		       : "traffic may go past the tunnel meanwhile";
}

static gboolean look_again(gpointer user);

static void look_later(struct tunnel *tunnel, unsigned seconds)
{
	if (!tunnel->keep.again)
		tunnel->keep.again = g_timeout_add_seconds(seconds, look_again, tunnel);
}

static void begin_fight(struct tunnel *tunnel, const char *what)
{
	snprintf(tunnel->keep.sentence, sizeof(tunnel->keep.sentence),
		"another program takes %s of %s away again and again, and it is put back each %d s only; %s: "
		"end that "
		"program, or `wgtcp-cli down %s`",
		what, tunnel->name, KEEP_AGAIN_S, what_passed(tunnel), tunnel->name);
	journal_say(tunnel->daemon->journal, JOURNAL_ERROR, tunnel->name, "%s", tunnel->keep.sentence);
	tunnel->keep.fight = true;
	g_clear_handle_id(&tunnel->keep.again, g_source_remove);
	look_later(tunnel, KEEP_AGAIN_S);
}

static void fail(struct tunnel *tunnel, int error)
{
	bool first = !tunnel->keep.failing;

	tunnel->keep.failing = true;
	snprintf(tunnel->keep.sentence, sizeof(tunnel->keep.sentence),
		"what somebody took away of %s (link, addresses, routes or rules) cannot be put back: %s; "
		"%s: `wgtcp-cli "
		"down %s` and up again",
		tunnel->name, g_strerror(-error), what_passed(tunnel), tunnel->name);
	look_later(tunnel, KEEP_RETRY_S);
	if (first)
		journal_say(
			tunnel->daemon->journal, JOURNAL_ERROR, tunnel->name, "%s", tunnel->keep.sentence);
}

static void tell(struct tunnel *tunnel)
{
	struct rpc_tunnel before = view_shell(&tunnel->view);

	tunnel_keep_show(tunnel);
	tunnel_tell(tunnel, &before);
	tunnel_query(tunnel); /* what the backend says of its state */
}

/* ---- the look ---- */

/* Who manages a tunnel's addresses sets its link down when it ends it, and up when it wants it. */
static bool rests(struct tunnel *tunnel)
{
	struct net_link link;

	return tunnel_is_managed(tunnel) && net_link_find(tunnel->daemon->net, tunnel->name, &link) == 0 &&
	       !link.up;
}

/* True: something was missing. */
static bool put_back(struct tunnel *tunnel, struct put_back *done)
{
	uint32_t index = tunnel->backend->interface_index(tunnel->run);

	*done = (struct put_back){ 0 };
	tunnel->keep.lost = false;
	if (rests(tunnel))
		return false;
	put_back_link(tunnel, index, done);
	put_back_addresses(tunnel, index, done);
	if (profile_of(tunnel)->table != PROFILE_TABLE_OFF && !tunnel->parked)
		put_back_routes(tunnel, index, done);
	put_back_rules(tunnel, done);
	return done->name || done->link || done->mtu || done->addresses || done->routes || done->rules ||
	       done->marks || done->error;
}

/* True: it is another way than before. */
static bool look_for_passing(struct tunnel *tunnel)
{
	static const enum ip_family families[] = { IP_V4, IP_V6 };
	struct keep *keep = &tunnel->keep;
	char by[KEEP_PASSED_LEN] = "";

	keep->outdone = false;
	for (size_t i = 0; i < G_N_ELEMENTS(families) && !by[0] && tunnel->rules && !tunnel->suspended; i++)
		if (tunnel_takes_all(tunnel, families[i]))
			keep_is_passed(tunnel->daemon, families[i], by);
	if (!strcmp(by, keep->passed))
		return false;
	g_strlcpy(keep->passed, by, sizeof(keep->passed));
	if (by[0])
		journal_say(tunnel->daemon->journal, JOURNAL_WARNING, tunnel->name,
			"what should go through %s goes out by %s: another program's policy rule or route is asked "
			"first (`ip rule` shows them)",
			tunnel->name, by);
	else
		journal_say(tunnel->daemon->journal, JOURNAL_INFO, tunnel->name,
			"what should go through %s does so again", tunnel->name);
	return true;
}

static void look_now(struct tunnel *tunnel)
{
	struct keep *keep = &tunnel->keep;
	struct put_back done;
	char what[160];
	bool was = keep->failing, lost = keep->lost, missing, changed;

	if (!keep->on || (!lost && !keep->outdone) || keep->fight || tunnel_is_let_go(tunnel))
		return;
	missing = lost && put_back(tunnel, &done);
	changed = look_for_passing(tunnel);
	if (!missing) {
		if (lost)
			keep->failing = false;
		if (keep->failing != was || changed)
			tell(tunnel);
		return;
	}
	list(&done, what, sizeof(what));
	keep->failing = keep->failing && done.error;
	if (what[0])
		journal_say(tunnel->daemon->journal, JOURNAL_WARNING, tunnel->name,
			"another program took away %s of %s: put back; `wgtcp-cli down %s` is what ends the "
			"tunnel",
			what, tunnel->name, tunnel->name);
	if (done.error)
		fail(tunnel, done.error);
	if (keep_is_a_fight(keep, daemon_now()))
		begin_fight(tunnel, what[0] ? what : "its routes");
	if (keep->fight || keep->failing || was || changed)
		tell(tunnel);
}

static gboolean look_again(gpointer user)
{
	struct tunnel *tunnel = user;
	struct put_back done;

	if (put_back(tunnel, &done)) {
		/* What failed may have worked now; the next look will tell. */
		if (!done.error && !tunnel->keep.fight && tunnel->keep.failing) {
			tunnel->keep.failing = false;
			tell(tunnel);
		}
		return G_SOURCE_CONTINUE;
	}
	if (tunnel->keep.fight || tunnel->keep.failing)
		journal_say(tunnel->daemon->journal, JOURNAL_INFO, tunnel->name,
			"nothing of %s is taken away any more", tunnel->name);
	tunnel->keep.again = 0;
	tunnel->keep.fight = tunnel->keep.failing = false;
	memset(tunnel->keep.times, 0, sizeof(tunnel->keep.times));
	tell(tunnel);
	return G_SOURCE_REMOVE;
}

void tunnel_keep_heard(struct tunnel *tunnel, const struct net_loss *loss)
{
	if (!tunnel->keep.on)
		return;
	if (loss->rule && tunnel->rules)
		tunnel->keep.outdone = true;
	if (loss->unknown || (loss->interface && loss->interface == tunnel_interface_index(tunnel)) ||
		(tunnel->rules && tunnel->fwmark &&
			(loss->table == tunnel->fwmark || loss->mark == tunnel->fwmark)))
		tunnel->keep.lost = true;
}

void tunnel_keep_show(struct tunnel *tunnel)
{
	if (!tunnel->keep.fight && !tunnel->keep.failing && !tunnel->keep.passed[0])
		return;
	switch (tunnel->view.state) {
	case RPC_STATE_VERIFYING:
	case RPC_STATE_UP:
	case RPC_STATE_DEGRADED:
		tunnel->view.state = RPC_STATE_DEGRADED;
		tunnel->view.cause = RPC_CAUSE_BUSY;
		if (tunnel->keep.fight || tunnel->keep.failing)
			g_strlcpy(tunnel->view.message, tunnel->keep.sentence, sizeof(tunnel->view.message));
		else
			g_snprintf(tunnel->view.message, sizeof(tunnel->view.message),
				"what should go through %s goes out by %s: another program's policy rule or "
				"route is asked first (`ip rule` shows them); %s",
				tunnel->name, tunnel->keep.passed, what_passed(tunnel));
		return;
	case RPC_STATE_DOWN:
	case RPC_STATE_CONNECTING:
	case RPC_STATE_RECONNECTING:
	case RPC_STATE_FAILED:
		return;
	}
}

void tunnel_keep_start(struct tunnel *tunnel)
{
	tunnel->keep.on = true;
	/* Somebody's rule may have been there before. */
	look_for_passing(tunnel);
}

static gboolean look_once(gpointer user)
{
	struct tunnel *tunnel = user;

	tunnel->keep.later = 0;
	look_now(tunnel);
	return G_SOURCE_REMOVE;
}

void tunnel_keep_look(struct tunnel *tunnel)
{
	if (!tunnel_is_managed(tunnel))
		look_now(tunnel);
	else if (tunnel->keep.on && (tunnel->keep.lost || tunnel->keep.outdone) && !tunnel->keep.later)
		tunnel->keep.later = g_timeout_add(KEEP_MANAGED_MS, look_once, tunnel);
}

void tunnel_keep_stop(struct tunnel *tunnel)
{
	if (tunnel->keep.later)
		g_source_remove(tunnel->keep.later);
	if (tunnel->keep.again)
		g_source_remove(tunnel->keep.again);
	tunnel->keep = (struct keep){ 0 };
}
