/* SPDX-License-Identifier: MIT */
/* The step of a bring-up that leads packets into the tunnel by policy rules, past its own carriers. Called by
 * up.c. Some prefixes only, or everything: net_rule.h. */
#include "client/daemon/tunnel_state.h"

#include "client/daemon/journal.h"
#include "client/daemon/lockdown.h"
#include "core/port/net_answer.h"
#include "core/port/net_config.h"
#include "core/port/net_rule.h"

#include <errno.h>
#include <string.h>

static void remove_rules(struct tunnel *tunnel)
{
	net_full_tunnel_remove(IP_V4, tunnel->fwmark);
	net_full_tunnel_remove(IP_V6, tunnel->fwmark);
}

void tunnel_unset_rules(void *context)
{
	struct tunnel *tunnel = context;
	struct daemon *daemon = tunnel->daemon;
	bool was;

	if (!tunnel->rules)
		return;
	remove_rules(tunnel);
	net_answer_remove(tunnel->fwmark);
	tunnel->keep.answers = false;
	tunnel->rules = tunnel->rules_v4 = tunnel->rules_v6 = false;
	if (daemon->source_mark && !manager_has_rules(daemon->manager, tunnel) &&
		net_answer_check_marks(false, &was) == 0)
		daemon->source_mark = false;
}

/* It is written down before it is done: what a daemon that is killed in between leaves, the next one takes
 * back. */
static int let_marks_be_checked(struct daemon *daemon)
{
	bool was;
	int error = net_answer_marks_are_checked(&was);

	if (error || was)
		return error;
	daemon->source_mark = true;
	manager_leftovers_changed(daemon->manager);
	error = net_answer_check_marks(true, &was);
	if (error) {
		daemon->source_mark = false;
		manager_leftovers_changed(daemon->manager);
	}
	return error;
}

/* Answers to the carriers come in by an interface to which, for everything else, no route leads any more. */
void tunnel_let_answers_in(struct tunnel *tunnel)
{
	struct net_answer answer = { .interface = tunnel->name,
		.mark = tunnel->fwmark,
		.no_socket = tunnel->backend->name != RPC_BACKEND_USERSPACE };
	struct daemon *daemon = tunnel->daemon;
	int error = net_answer_add(&answer);

	if (!error)
		error = let_marks_be_checked(daemon);
	tunnel->keep.answers = !error;
	if (!error)
		return;
	journal_say(daemon->journal, JOURNAL_WARNING, tunnel->name, "answers cannot be marked: %s",
		strerror(-error));
	if (net_answer_strict())
		tunnel_warn(tunnel, "this machine drops packets that come in where it would not answer "
				    "(rp_filter is 1), and cannot be told "
				    "to spare the tunnel's: if nothing comes back, `sysctl "
				    "net.ipv4.conf.all.rp_filter=2`");
}

int tunnel_add_rules(const struct tunnel *tunnel)
{
	static const enum ip_family families[] = { IP_V4, IP_V6 };
	size_t i;
	int error = 0;

	for (i = 0; i < 2 && !error; i++) {
		struct ip_prefix all = { .address.family = families[i] };

		if (!(families[i] == IP_V4 ? tunnel->rules_v4 : tunnel->rules_v6))
			continue;
		error = tunnel_takes_all(tunnel, families[i])
				? net_full_tunnel_add(families[i], tunnel->fwmark)
				: net_part_tunnel_add(families[i], tunnel->fwmark);
		if (error && tunnel_means_no_ipv6(&all, error))
			error = 0;
	}
	return error;
}

/* After the routes: a rule that leads to an empty table would let packets out past the tunnel for a moment.
 */
enum step_result tunnel_set_rules(void *context)
{
	struct tunnel *tunnel = context;
	int error;

	if (tunnel->parked)
		return STEP_DONE;
	tunnel->rules_v4 = tunnel_any_prefix(tunnel, IP_V4, tunnel_route_is_aside);
	tunnel->rules_v6 = tunnel_any_prefix(tunnel, IP_V6, tunnel_route_is_aside);
	if (!tunnel->rules_v4 && !tunnel->rules_v6)
		return STEP_DONE;
	tunnel->rules = true;
	manager_leftovers_changed(tunnel->daemon->manager); /* they would outlive a daemon that is killed */
	tunnel_let_answers_in(tunnel);
	error = tunnel->suspended ? 0 : tunnel_add_rules(tunnel);
	if (!error)
		return STEP_DONE;
	rpc_error_set(&tunnel->failure, RPC_CODE_OTHER,
		"the policy rules that send traffic through the tunnel cannot be set: %s", strerror(-error));
	tunnel_unset_rules(tunnel);
	return tunnel_fail(tunnel, RPC_CAUSE_CONFIG);
}

static void leave_main_table(struct tunnel *tunnel)
{
	const struct profile *profile = &tunnel->loaded.profile;
	size_t i, j;

	for (i = 0; i < profile->peer_count; i++)
		for (j = 0; j < profile->peers[i].allowed_ip_count; j++) {
			struct net_route route = { .destination = profile->peers[i].allowed_ips[j],
				.interface = tunnel->backend->interface_index(tunnel->run) };

			if (tunnel_route_is_aside(tunnel, &route.destination))
				net_route_remove(tunnel->daemon->net, &route);
		}
}

static bool is_aside_for_a_peer(const struct tunnel *tunnel, const struct ip_prefix *prefix)
{
	return !net_takes_all(prefix) && tunnel_route_is_aside(tunnel, prefix);
}

void tunnel_reroute(struct tunnel *tunnel, struct uapi_device *change)
{
	if (!tunnel_any_prefix(tunnel, IP_V4, is_aside_for_a_peer) &&
		!tunnel_any_prefix(tunnel, IP_V6, is_aside_for_a_peer))
		return;
	if (!tunnel->fwmark) {
		tunnel->fwmark = tunnel_choose_mark(tunnel);
		lockdown_let_pass(tunnel->daemon->lockdown, tunnel->name, tunnel->fwmark);
		change->has_fwmark = true;
		change->fwmark = tunnel->fwmark;
	}
	/* First there, then gone here: never by nobody's table. */
	if (tunnel_set_routes(tunnel) == STEP_DONE && tunnel_set_rules(tunnel) == STEP_DONE) {
		leave_main_table(tunnel);
		return;
	}
	journal_say(tunnel->daemon->journal, JOURNAL_ERROR, tunnel->name, "%s", tunnel->failure.message);
	rpc_error_free(&tunnel->failure);
}

static void suspend_dns(struct tunnel *tunnel)
{
	bool was = tunnel->dns != TUNNEL_DNS_NONE;

	if (tunnel->suspended) {
		if (!was)
			return;
		tunnel_unset_dns(tunnel);
		tunnel->dns_waits = true;
		/* A bring-up that waits for its answer, which will not come. */
		if (tunnel->phase == TUNNEL_STARTING && steps_current(&tunnel->steps))
			tunnel_step(tunnel);
	} else if (tunnel->dns_waits) {
		tunnel->dns_waits = false;
		tunnel_set_dns(tunnel);
	}
}

void tunnel_suspend(struct tunnel *tunnel, bool suspended)
{
	int error;

	if (tunnel->suspended == suspended)
		return;
	tunnel->suspended = suspended;
	if (tunnel->rules && suspended)
		remove_rules(tunnel);
	error = tunnel->rules && !suspended ? tunnel_add_rules(tunnel) : 0;
	if (error)
		journal_say(tunnel->daemon->journal, JOURNAL_ERROR, tunnel->name,
			"the policy rules cannot be put back: %s: `wgtcp-cli down %s` and up again",
			strerror(-error), tunnel->name);
	suspend_dns(tunnel);
}
