/* SPDX-License-Identifier: MIT */
/* The second tunnel's life, and which of the two carries. See second.h. */
#include "client/daemon/second_state.h"

#include "client/daemon/journal.h"
#include "client/daemon/manager_state.h"

/* How often the first one's numbers are read while its answer is waited for. */
#define ASKED_POLL_MS 250

/* ---- what the machine goes by ---- */

static enum profile_pair_state state_of(const struct tunnel *tunnel, bool first)
{
	if (!tunnel || tunnel->phase == TUNNEL_DOWN)
		return PROFILE_PAIR_DOWN;
	switch (tunnel->view.state) {
	case RPC_STATE_UP:
		/* A bring-up that is not over has nothing that traffic could be led to. */
		return first || tunnel->phase == TUNNEL_RUNNING ? PROFILE_PAIR_UP : PROFILE_PAIR_TRYING;
	case RPC_STATE_DEGRADED:
		return first ? PROFILE_PAIR_LOST : PROFILE_PAIR_UP;
	case RPC_STATE_VERIFYING:
		return !tunnel->parked && tunnel->phase == TUNNEL_RUNNING ? PROFILE_PAIR_UP
									  : PROFILE_PAIR_TRYING;
	case RPC_STATE_DOWN:
	case RPC_STATE_CONNECTING:
		return PROFILE_PAIR_TRYING;
	case RPC_STATE_RECONNECTING:
	case RPC_STATE_FAILED:
		return PROFILE_PAIR_LOST;
	}
	return PROFILE_PAIR_LOST;
}

static uint64_t received(const struct tunnel *tunnel)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < tunnel->view.peer_count; i++)
		sum += tunnel->view.peers[i].rx_bytes;
	return sum;
}

static struct profile_pair_facts look(const struct second *second)
{
	const struct tunnel *first = second->first;
	enum profile_pair_state state = state_of(first, true);

	/* What was up before says nothing: something must have come in since it was asked. */
	if (state == PROFILE_PAIR_UP && mono_is_set(second->pair.asked) &&
		received(first) == second->rx_bytes)
		state = PROFILE_PAIR_TRYING;
	return (struct profile_pair_facts){ .first = state,
		.second = state_of(second->tunnel, false),
		.busy = !first->configured || first->view.cause == RPC_CAUSE_NO_NETWORK ||
			first->view.cause == RPC_CAUSE_CAPTIVE_PORTAL };
}

/* ---- which of them carries ---- */

static void tell_change(struct second *second)
{
	struct tunnel *first = second->first;
	bool to_second = second_carries(first);

	if (to_second)
		journal_say(first->daemon->journal, JOURNAL_WARNING, first->name,
			"the FallbackProfile %s carries it from now on, %s; open connections inside break",
			second->name,
			second->pair.wish == PROFILE_PAIR_SECOND ? "as asked for"
								 : "since its own profile does not answer");
	else
		journal_say(first->daemon->journal, JOURNAL_WARNING, first->name,
			"its own profile carries it again instead of %s; open connections inside break",
			second->name);
	first->events->changed(first, first->user);
}

static void move(struct second *second, bool to_second)
{
	struct tunnel *first = second->first, *tunnel = second->tunnel;

	if (tunnel && tunnel->run && first->run)
		carry_over(to_second ? first : tunnel, to_second ? tunnel : first);
	tell_change(second);
}

/* Nobody takes its place: what led to it leads to the first one again, whose interface holds traffic back. */
static void take_back(struct second *second)
{
	struct tunnel *first = second->first;

	if (!first->parked || !first->run)
		return;
	first->parked = false;
	if (tunnel_set_routes(first) != STEP_DONE || tunnel_set_rules(first) != STEP_DONE) {
		journal_say(first->daemon->journal, JOURNAL_ERROR, first->name, "%s", first->failure.message);
		rpc_error_free(&first->failure);
	}
	tunnel_set_dns(first);
}

static void ask(struct second *second)
{
	struct tunnel *first = second->first;

	second->rx_bytes = received(first);
	if (!first->configured)
		return;
	first->backend->send(first->run, &(struct seam_message){ .kind = SEAM_RESUMED });
}

static gboolean due(gpointer user)
{
	struct second *second = user;

	second->due = 0;
	second_wake(second->first);
	return G_SOURCE_REMOVE;
}

static void schedule(struct second *second, const struct profile_pair_facts *facts)
{
	struct mono deadline = profile_pair_deadline(&second->pair, facts), now = daemon_now();
	uint64_t ms;

	if (second->due)
		g_source_remove(second->due);
	second->due = 0;
	if (deadline.ns == MONO_NEVER.ns)
		return;
	ms = mono_since_ms(deadline, now) + 1;
	if (mono_is_set(second->pair.asked) && ms > ASKED_POLL_MS) {
		ms = ASKED_POLL_MS;
		tunnel_query(second->first);
	}
	second->due = g_timeout_add(ms > G_MAXINT ? G_MAXINT : (guint)ms, due, second);
}

static void act(struct second *second, unsigned what)
{
	if (what & PROFILE_PAIR_BEGIN)
		second_begin(second);
	if (what & PROFILE_PAIR_TO_SECOND)
		move(second, true);
	if (what & PROFILE_PAIR_TO_FIRST)
		move(second, false);
	if (what & PROFILE_PAIR_ASK)
		ask(second);
	if (what & PROFILE_PAIR_END)
		second_give_back(second);
}

static gboolean turn(gpointer user)
{
	struct second *second = user;
	struct tunnel *first = second->first;
	struct profile_pair_facts facts;
	unsigned what, turns = 0;

	second->soon = 0;
	if (!second->started || first->phase == TUNNEL_DOWN)
		return G_SOURCE_REMOVE;
	do {
		facts = look(second);
		if (facts.second == PROFILE_PAIR_DOWN)
			second_give_back(second);
		what = profile_pair_step(&second->pair, &facts, daemon_now());
		act(second, what);
	} while (what && ++turns < 4);
	if (facts.second == PROFILE_PAIR_DOWN && !second->pair.second)
		take_back(second);
	schedule(second, &facts);
	if (second->switching && second_carries(first) == second->to_second)
		second_switch_over(second, NULL);
	if (first->phase == TUNNEL_STARTING && steps_current(&first->steps))
		tunnel_step(first);
	return G_SOURCE_REMOVE;
}

void second_wake(struct tunnel *tunnel)
{
	struct second *second = tunnel->second;

	if (second && second->started && !second->soon)
		second->soon = g_timeout_add(0, turn, second);
}

void second_network_changed(struct tunnel *tunnel)
{
	if (!tunnel->second)
		return;
	profile_pair_network_changed(&tunnel->second->pair, daemon_now());
	second_wake(tunnel);
}

/* ---- its own life ---- */

enum step_result second_prepare(struct tunnel *tunnel)
{
	const char *name = tunnel->loaded.profile.fallback_profile;
	enum transport transport;
	bool used;

	if (!name[0] || tunnel->first)
		return STEP_DONE;
	if (!second_check(tunnel, name, &used, &transport))
		return STEP_FAILED;
	if (!used)
		return STEP_DONE;
	tunnel->second = g_new0(struct second, 1);
	tunnel->second->first = tunnel;
	tunnel->second->transport = transport;
	g_strlcpy(tunnel->second->name, name, sizeof(tunnel->second->name));
	g_strlcpy(tunnel->second_name, name, sizeof(tunnel->second_name));
	return STEP_DONE;
}

void second_start(struct tunnel *tunnel)
{
	struct second *second = tunnel->second;
	uint64_t alone_ms = PROFILE_PAIR_ALONE_MS;

	if (!second || second->started)
		return;
	if (tunnel->loaded.profile.peer_count)
		switch (tunnel->peers[0].memory) {
		case FALLBACK_MEMORY_UNKNOWN:
			break;
		case FALLBACK_MEMORY_GOOD:
			alone_ms = PROFILE_PAIR_ALONE_GOOD_MS;
			break;
		case FALLBACK_MEMORY_BLOCKED:
			alone_ms = 0;
			break;
		}
	second->started = true;
	profile_pair_begin(&second->pair, alone_ms, daemon_now().ns, daemon_now());
	second_wake(tunnel);
}

void second_free(struct tunnel *tunnel)
{
	struct second *second = tunnel->second;
	guint *timers[3];
	size_t i;

	if (!second)
		return;
	timers[0] = &second->soon;
	timers[1] = &second->due;
	timers[2] = &second->switch_over;
	for (i = 0; i < 3; i++)
		if (*timers[i])
			g_source_remove(*timers[i]);
	second->started = false; /* nothing wakes it any more */
	if (second->switching) {
		struct rpc_error error = { 0 };

		rpc_error_set(&error, RPC_CODE_CANCELLED, "%s was taken down meanwhile", tunnel->name);
		tunnel->events->switched(tunnel, &error, tunnel->user);
		rpc_error_free(&error);
	}
	second_give_back(second);
	tunnel->second = NULL;
	tunnel->parked = false;
	g_free(second);
}

void second_forget(struct tunnel *lent)
{
	if (lent->first && lent->first->second)
		lent->first->second->tunnel = NULL;
}
