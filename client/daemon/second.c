/* SPDX-License-Identifier: MIT */
/* The second tunnel's life, and what goes out under the first one's name. */
#include "client/daemon/second.h"

#include "client/daemon/journal.h"
#include "client/daemon/manager_state.h"
#include "core/carrier/profile_pair.h"

#include <stdio.h>
#include <string.h>

/* A person's word is answered by then: the other profile may have to be brought up from nothing. */
#define SWITCH_LIMIT_MS 12000
#define ASK_LIMIT_MS (PROFILE_PAIR_ANSWER_MS + 1000)
/* How often the first one's numbers are read while its answer is waited for. */
#define ASKED_POLL_MS 250

struct second {
	struct tunnel *first;
	struct tunnel *tunnel; /* NULL: it is down */
	char name[PROFILE_NAME_LEN];
	enum transport transport; /* as its profile says */
	struct profile_pair pair;
	uint64_t rx_bytes; /* of the first one, when it was asked to connect anew */
	bool started;      /* the first one calls its peers */
	bool failed;       /* it was tried, and why did not work: */
	char why[RPC_SENTENCE_LEN];
	guint soon;     /* source: something has changed */
	guint due;      /* source: the machine's deadline */
	bool switching; /* by a person's word */
	bool to_second;
	guint switch_over;             /* source */
	struct rpc_tunnel shown, lent; /* borrow */
};

/* ---- what there is to know ---- */

bool second_carries(const struct tunnel *tunnel)
{
	return tunnel->second && tunnel->second->tunnel && tunnel->second->pair.second;
}

struct tunnel *second_mate(const struct tunnel *tunnel)
{
	if (tunnel->first)
		return tunnel->first;
	return tunnel->second ? tunnel->second->tunnel : NULL;
}

bool second_switches(const struct tunnel *tunnel)
{
	return tunnel->second && tunnel->second->switching;
}

struct tunnel *second_carrier(const struct tunnel *tunnel)
{
	return second_carries(tunnel) ? tunnel->second->tunnel : (struct tunnel *)tunnel;
}

bool second_hopes(const struct tunnel *tunnel)
{
	const struct second *second = tunnel->second;

	return second && !second->failed && second->pair.wish != PROFILE_PAIR_FIRST;
}

static const struct rpc_tunnel *lent_view(struct second *second, const struct tunnel *lent)
{
	struct rpc_tunnel *view = &second->lent;

	*view = (struct rpc_tunnel){ 0 };
	snprintf(view->name, sizeof(view->name), "%s", lent->name);
	snprintf(view->profile, sizeof(view->profile), "%s", lent->name);
	snprintf(view->display_name, sizeof(view->display_name), "%s", lent->view.display_name);
	snprintf(view->message, sizeof(view->message), "in use as the FallbackProfile of %s",
		second->first->name);
	return view;
}

const struct rpc_tunnel *second_view(const struct tunnel *tunnel)
{
	struct second *second = tunnel->first ? tunnel->first->second : tunnel->second;
	struct rpc_tunnel *view = &second->shown;

	if (tunnel->first)
		return lent_view(second, tunnel);
	*view = second->tunnel->view;
	memcpy(view->name, tunnel->view.name, sizeof(view->name));
	memcpy(view->display_name, tunnel->view.display_name, sizeof(view->display_name));
	snprintf(view->profile, sizeof(view->profile), "%s", second->name);
	view->kill_switch = tunnel->view.kill_switch;
	view->udp = tunnel->view.udp;
	view->warnings = tunnel->warnings;
	return view;
}

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

/* ---- the second tunnel ---- */

static void changed(struct tunnel *tunnel, void *user)
{
	struct second *second = user;

	(void)tunnel;
	if (second_carries(second->first))
		second->first->events->changed(second->first, second->first->user);
	second_wake(second->first);
}

static void numbers(struct tunnel *tunnel, void *user)
{
	struct second *second = user;

	(void)tunnel;
	second->first->events->read(second->first, second->first->user);
}

static void progress(struct tunnel *tunnel, enum rpc_step step, const char *detail, void *user)
{
	struct second *second = user;

	(void)step;
	(void)detail;
	if (second->first->phase == TUNNEL_STARTING && tunnel->loaded.profile.transport == TRANSPORT_TCP)
		second->first->events->progress(
			second->first, RPC_STEP_TRYING_TCP, second->name, second->first->user);
}

static void decided(struct tunnel *tunnel, const struct rpc_error *error, void *user)
{
	struct second *second = user;

	(void)tunnel;
	if (error && error->code != RPC_CODE_CANCELLED) {
		second->failed = true;
		snprintf(second->why, sizeof(second->why), "%s", error->message);
		journal_say(second->first->daemon->journal, JOURNAL_WARNING, second->first->name,
			"FallbackProfile %s cannot be used just now: %s", second->name, error->message);
	}
	manager_leftovers_changed(second->first->daemon->manager);
	second_wake(second->first);
}

static void switched(struct tunnel *tunnel, const struct rpc_error *error, void *user)
{
	struct second *second = user;

	(void)tunnel;
	second->first->switching = false;
	second->first->events->switched(second->first, error, second->first->user);
}

static const struct tunnel_events second_events = {
	.changed = changed,
	.read = numbers,
	.progress = progress,
	.decided = decided,
	.switched = switched,
};

/* It is itself again: a profile like any other. */
static void give_back(struct second *second)
{
	struct tunnel *tunnel = second->tunnel;

	if (!tunnel)
		return;
	second->tunnel = NULL;
	tunnel_down(tunnel, NULL); /* also takes away the word "failed" */
	tunnel->first = NULL;
	tunnel->parked = false;
	tunnel->events = &requests_tunnel_events;
	tunnel->user = tunnel->daemon->manager;
	manager_leftovers_changed(tunnel->daemon->manager);
}

static void begin(struct second *second)
{
	struct tunnel *first = second->first;
	struct tunnel *tunnel = manager_find_or_add(first->daemon->manager, second->name);
	struct tunnel_wishes wishes = { .has_backend = first->wishes.has_backend,
		.backend = first->wishes.backend,
		.has_transport = first->wishes.has_transport,
		.transport = first->wishes.transport };

	if (tunnel->phase != TUNNEL_DOWN) {
		second->failed = true;
		snprintf(second->why, sizeof(second->why), "%s is up by itself", second->name);
		return;
	}
	journal_say(first->daemon->journal, JOURNAL_INFO, first->name, "trying the FallbackProfile %s beside",
		second->name);
	second->failed = false;
	second->tunnel = tunnel;
	tunnel->first = first;
	tunnel->parked = true;
	tunnel->events = &second_events;
	tunnel->user = second;
	tunnel_up(tunnel, &wishes);
	manager_leftovers_changed(first->daemon->manager);
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

static void switch_over(struct second *second, const struct rpc_error *error)
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
	switch_over(second, &error);
	rpc_error_free(&error);
	second_wake(second->first);
	return G_SOURCE_REMOVE;
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
		begin(second);
	if (what & PROFILE_PAIR_TO_SECOND)
		move(second, true);
	if (what & PROFILE_PAIR_TO_FIRST)
		move(second, false);
	if (what & PROFILE_PAIR_ASK)
		ask(second);
	if (what & PROFILE_PAIR_END)
		give_back(second);
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
			give_back(second);
		what = profile_pair_step(&second->pair, &facts, daemon_now());
		act(second, what);
	} while (what && ++turns < 4);
	if (facts.second == PROFILE_PAIR_DOWN && !second->pair.second)
		take_back(second);
	schedule(second, &facts);
	if (second->switching && second_carries(first) == second->to_second)
		switch_over(second, NULL);
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
	give_back(second);
	tunnel->second = NULL;
	tunnel->parked = false;
	g_free(second);
}

void second_forget(struct tunnel *lent)
{
	if (lent->first && lent->first->second)
		lent->first->second->tunnel = NULL;
}
