/* SPDX-License-Identifier: MIT */
/* A person's word for one of the two profiles, and the answer to it. See second.h. */
#include "client/daemon/second_state.h"

#include "client/daemon/journal.h"

/* A person's word is answered by then: the other profile may have to be brought up from nothing. */
#define SWITCH_LIMIT_MS 12000
#define ASK_LIMIT_MS (PROFILE_PAIR_ANSWER_MS + 1000)

void second_switch_over(struct second *second, const struct rpc_error *error)
{
	struct tunnel *first = second->first;

	if (second->switch_over)
		g_source_remove(second->switch_over);
	second->switch_over = 0;
	second->switching = false;
	first->events->switched(first, error, first->user);
}

static gboolean switch_late(gpointer user)
{
	struct second *second = user;
	struct rpc_error error = { 0 };

	second->switch_over = 0;
	profile_pair_wish(&second->pair, PROFILE_PAIR_AUTO, daemon_now());
	rpc_error_set(&error, RPC_CODE_PEER_UNREACHABLE,
		"%s does not answer by the profile %s, so it stays where it was%s%.200s", second->first->name,
		second->to_second ? second->name : second->first->name,
		second->to_second && second->why[0] ? ": " : "", second->to_second ? second->why : "");
	error.cause = RPC_CAUSE_PEER_UNREACHABLE;
	error.has_state = true;
	error.state = tunnel_view(second->first)->state;
	second_switch_over(second, &error);
	rpc_error_free(&error);
	second_wake(second->first);
	return G_SOURCE_REMOVE;
}

bool second_switch(struct tunnel *tunnel, enum transport transport)
{
	struct second *second = tunnel->second;
	enum profile_pair_wish wish = transport == TRANSPORT_TCP   ? PROFILE_PAIR_SECOND
				      : transport == TRANSPORT_UDP ? PROFILE_PAIR_FIRST
								   : PROFILE_PAIR_AUTO;

	if (!second || second->transport == TRANSPORT_UDP)
		return false;
	journal_say(tunnel->daemon->journal, JOURNAL_INFO, tunnel->name, "switch to %s asked for",
		rpc_transport_words[transport]);
	profile_pair_wish(&second->pair, wish, daemon_now());
	if (transport == TRANSPORT_AUTO && !second_carries(tunnel)) {
		tunnel->events->switched(tunnel, NULL, tunnel->user);
		second_wake(tunnel);
		return true;
	}
	second->to_second = transport == TRANSPORT_TCP;
	second->switching = true;
	second->why[0] = 0;
	second->switch_over =
		g_timeout_add(second->to_second ? SWITCH_LIMIT_MS : ASK_LIMIT_MS, switch_late, second);
	second_wake(tunnel);
	return true;
}
