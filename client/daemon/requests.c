/* SPDX-License-Identifier: MIT */
/* Requests that bring tunnels up and down or move them, and their answers, which come later. */
#include "client/daemon/manager_state.h"

#include "client/daemon/children.h"
#include "client/daemon/journal.h"
#include "client/daemon/lockdown.h"
#include "client/daemon/methods.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMEOUT_DEFAULT_MS 20000
/* The engine calls a connect failed after 20 s, with a better cause than "timed out": its word is waited for.
 */
#define TIMEOUT_GRACE_MS 500
/* How long a status waits for fresh numbers, and what counts as fresh. */
#define STATUS_WAIT_MS 500
#define STATUS_FRESH_NS 200000000u

/* ---- what the tunnels say ---- */

static void changed(struct tunnel *tunnel, void *user)
{
	struct manager *manager = user;

	watch_tell_state(manager->watch, tunnel);
	watch_wake(manager->watch);
	if (tunnel_is_managed(tunnel) && tunnel_phase(tunnel) == TUNNEL_DOWN)
		manager_forget_managed_later(manager);
}

static void tell_progress(struct waiter *waiter, void *user)
{
	struct rpc_notice *notice = user;

	if (!waiter->client || waiter->id.kind != RPC_ID_NUMBER)
		return;
	notice->progress.request = waiter->id.number;
	client_notify(waiter->client, notice);
}

static void progress(struct tunnel *tunnel, enum rpc_step step, const char *detail, void *user)
{
	struct manager *manager = user;
	struct rpc_notice notice = { .kind = RPC_NOTICE_PROGRESS };

	snprintf(notice.progress.name, sizeof(notice.progress.name), "%s", tunnel_name(tunnel));
	notice.progress.step = step;
	snprintf(notice.progress.text, sizeof(notice.progress.text), "%s", detail ? detail : "");
	waiters_each(manager->waiters, WAITER_UP, tunnel_name(tunnel), tell_progress, &notice);
}

static void answer_moved(const struct tunnel *tunnel, enum rpc_method method, bool began,
	struct client *client, const struct rpc_id *id)
{
	/* Everything in it is borrowed. */
	struct rpc_result result = { .method = method };

	if (!client)
		return;
	result.moved.tunnel = *tunnel_view(tunnel);
	result.moved.began = began;
	result.moved.warnings = *tunnel_warnings(tunnel);
	result.moved.routes = tunnel_left_routes(tunnel);
	client_reply(client, id, &result);
	g_strfreev(result.moved.routes.items);
}

static void answer_error(struct client *client, const struct rpc_id *id, const struct rpc_error *error)
{
	struct rpc_error copy = *error;
	size_t i;

	if (!client)
		return;
	copy.notes = (struct rpc_notes){ 0 };
	for (i = 0; i < error->notes.count; i++) {
		struct rpc_note *items = realloc(copy.notes.items, (i + 1) * sizeof(*items));

		if (!items)
			break;
		copy.notes.items = items;
		items[i] = error->notes.items[i];
		copy.notes.count = i + 1;
	}
	client_reply_error(client, id, &copy);
}

static void decided(struct tunnel *tunnel, const struct rpc_error *error, void *user)
{
	struct manager *manager = user;
	struct waiter *waiter;

	while ((waiter = waiters_take(manager->waiters, WAITER_UP, tunnel_name(tunnel)))) {
		if (error)
			answer_error(waiter->client, &waiter->id, error);
		else
			answer_moved(
				tunnel, RPC_METHOD_TUNNEL_UP, waiter->began, waiter->client, &waiter->id);
		waiter_free(waiter);
	}
	manager_leftovers_changed(manager);
	watch_wake(manager->watch);
}

static void switched(struct tunnel *tunnel, const struct rpc_error *error, void *user)
{
	struct manager *manager = user;
	struct waiter *waiter = waiters_take(manager->waiters, WAITER_SWITCH, tunnel_name(tunnel));

	if (!waiter)
		return;
	if (error)
		answer_error(waiter->client, &waiter->id, error);
	else
		answer_moved(tunnel, RPC_METHOD_TUNNEL_SWITCH, false, waiter->client, &waiter->id);
	waiter_free(waiter);
}

/* ---- status ---- */

struct freshness {
	const struct waiter *waiter;
	bool fresh;
};

static void look_at_age(struct tunnel *tunnel, void *user)
{
	struct freshness *freshness = user;
	const struct waiter *waiter = freshness->waiter;

	if (tunnel_phase(tunnel) == TUNNEL_RUNNING && !tunnel_lent_to(tunnel) &&
		tunnel_read_at(tunnel).ns < waiter->asked.ns &&
		(!waiter->name[0] || !strcmp(waiter->name, tunnel_name(tunnel))))
		freshness->fresh = false;
}

static bool is_fresh(const struct waiter *waiter, void *user)
{
	struct freshness freshness = { waiter, true };

	manager_each(user, look_at_age, &freshness);
	return freshness.fresh;
}

static void answer_status(struct manager *manager, struct waiter *waiter)
{
	if (waiter->client)
		method_status_answer(
			manager->daemon, waiter->client, &waiter->id, waiter->name, waiter->from);
	waiter_free(waiter);
}

static void answer_fresh(struct manager *manager)
{
	struct waiter *waiter;

	while ((waiter = waiters_take_if(manager->waiters, WAITER_STATUS, is_fresh, manager)))
		answer_status(manager, waiter);
}

static void read_again(struct tunnel *tunnel, void *user)
{
	struct manager *manager = user;

	(void)tunnel;
	answer_fresh(manager);
}

static void poll_it(struct tunnel *tunnel, void *user)
{
	const char *name = user;

	if (!name[0] || !strcmp(name, tunnel_name(tunnel)))
		tunnel_poll(tunnel);
}

void manager_status(struct manager *manager, const char *name, uint32_t from, struct client *client,
	const struct rpc_id *id)
{
	struct waiter *waiter =
		waiters_add(manager->waiters, WAITER_STATUS, name, client, id, STATUS_WAIT_MS);

	waiter->from = from;
	waiter->asked = daemon_now();
	if (waiter->asked.ns > STATUS_FRESH_NS)
		waiter->asked.ns -= STATUS_FRESH_NS;
	if (!is_fresh(waiter, manager))
		manager_each(manager, poll_it, waiter->name);
	answer_fresh(manager);
}

const struct tunnel_events requests_tunnel_events = {
	.changed = changed,
	.read = read_again,
	.progress = progress,
	.decided = decided,
	.switched = switched,
};

/* ---- requests ---- */

void requests_answer_down(struct waiter *waiter)
{
	struct rpc_result result = { .method = RPC_METHOD_TUNNEL_DOWN };

	snprintf(result.done.name, sizeof(result.done.name), "%s", waiter->name);
	result.done.changed = true;
	if (waiter->client)
		client_reply(waiter->client, &waiter->id, &result);
	waiter_free(waiter);
}

void requests_late(struct waiter *waiter, void *user)
{
	struct manager *manager = user;
	struct tunnel *tunnel = manager_find(manager, waiter->name);
	struct rpc_error error = { 0 };

	switch (waiter->kind) {
	case WAITER_DOWN:
		waiters_remove(manager->waiters, waiter);
		requests_answer_down(waiter);
		return;
	case WAITER_STATUS:
		waiters_remove(manager->waiters, waiter);
		answer_status(manager, waiter); /* an engine that does not answer: what was known last */
		return;
	case WAITER_SWITCH:
		return; /* has no time of its own */
	case WAITER_UP:
		break;
	}
	if (tunnel_settle_for_less(tunnel))
		return;
	tunnel_timeout_error(tunnel, waiter->timeout_ms, &error);
	error.has_state = true;
	waiters_remove(manager->waiters, waiter);
	if (tunnel_is_persistent(tunnel) || waiters_has(manager->waiters, WAITER_UP, waiter->name)) {
		/* Somebody else gave it more time. */
		error.state = tunnel_view(tunnel)->state;
		answer_error(waiter->client, &waiter->id, &error);
	} else {
		error.state = RPC_STATE_FAILED;
		tunnel_down(tunnel, &error);
		tunnel_tell_hold(tunnel, &error);
		answer_error(waiter->client, &waiter->id, &error);
	}
	rpc_error_free(&error);
	waiter_free(waiter);
}

/* It serves as another's FallbackProfile and is that one's to bring up and down. */
static bool refuse_lent(const struct tunnel *tunnel, struct client *client, const struct rpc_id *id)
{
	struct rpc_error error = { 0 };
	const struct tunnel *first = tunnel ? tunnel_lent_to(tunnel) : NULL;

	if (!first)
		return false;
	rpc_error_set(&error, RPC_CODE_BUSY,
		"%s is in use as the FallbackProfile of %s: `wgtcp-cli down %s` first", tunnel_name(tunnel),
		tunnel_name(first), tunnel_name(first));
	error.has_state = true;
	error.state = RPC_STATE_DOWN;
	answer_error(client, id, &error);
	return true;
}

void manager_up(struct manager *manager, const char *name, const struct tunnel_wishes *wishes,
	uint32_t timeout_ms, struct client *client, const struct rpc_id *id)
{
	struct tunnel *tunnel = manager_find_or_add(manager, name);
	struct rpc_error error = { 0 };
	struct waiter *waiter;

	if (manager->stopped) {
		rpc_error_set(&error, RPC_CODE_BUSY, "wgtcpd is just ending: start it again first");
		client_reply_error(client, id, &error);
		return;
	}
	if (refuse_lent(tunnel, client, id))
		return;
	if (wishes->given && tunnel_phase(tunnel) != TUNNEL_DOWN) {
		rpc_error_set(&error, RPC_CODE_EXISTS,
			"there is a tunnel called %s, and it is up: take another name", name);
		client_reply_error(client, id, &error);
		return;
	}
	if (tunnel_phase(tunnel) == TUNNEL_RUNNING) {
		tunnel_warn_if_changed(tunnel);
		answer_moved(tunnel, RPC_METHOD_TUNNEL_UP, false, client, id);
		return;
	}
	if (timeout_ms == 0)
		timeout_ms = TIMEOUT_DEFAULT_MS;
	waiter = waiters_add(manager->waiters, WAITER_UP, name, client, id,
		timeout_ms >= TIMEOUT_DEFAULT_MS ? timeout_ms + TIMEOUT_GRACE_MS : timeout_ms);
	if (tunnel_phase(tunnel) == TUNNEL_STARTING)
		return; /* they share it */
	waiter->began = true;
	journal_say(manager->daemon->journal, JOURNAL_INFO, name, "up asked for%s%s",
		wishes->given ? " by " : "", wishes->given ? wishes->managed_by : "");
	tunnel_up(tunnel, wishes);
	manager_leftovers_changed(manager);
}

void manager_down(
	struct manager *manager, const char *name, struct client *client, const struct rpc_request *request)
{
	struct tunnel *tunnel = manager_find(manager, name);
	struct rpc_result result = { .method = RPC_METHOD_TUNNEL_DOWN };
	const struct waiter *began;

	snprintf(result.done.name, sizeof(result.done.name), "%s", name);
	if (refuse_lent(tunnel, client, &request->id))
		return;
	if (tunnel && request->has_request) {
		began = waiters_find(manager->waiters, WAITER_UP, name, client, request->request);
		if (!began || !began->began)
			tunnel = NULL;
	}
	if (!tunnel ||
		(tunnel_phase(tunnel) == TUNNEL_DOWN && tunnel_view(tunnel)->state == RPC_STATE_DOWN)) {
		/* From before a restart. */
		if (!request->has_request)
			result.done.changed = lockdown_release(manager->daemon->lockdown, name);
		client_reply(client, &request->id, &result);
		return;
	}
	if (tunnel_phase(tunnel) == TUNNEL_DOWN) {
		tunnel_down(tunnel, NULL); /* only the word "failed" is taken away */
		client_reply(client, &request->id, &result);
		return;
	}
	journal_say(manager->daemon->journal, JOURNAL_INFO, name, "down asked for");
	tunnel_down(tunnel, NULL);
	manager_leftovers_changed(manager);
	if (!tunnel_has_children(tunnel)) {
		result.done.changed = true;
		client_reply(client, &request->id, &result);
		return;
	}
	waiters_add(manager->waiters, WAITER_DOWN, name, client, &request->id, PROCESSES_GONE_MS);
}

void manager_switch(struct manager *manager, const char *name, enum transport transport, const char *peer,
	struct client *client, const struct rpc_id *id)
{
	struct tunnel *tunnel = manager_find(manager, name);
	struct rpc_error error = { 0 };

	if (refuse_lent(tunnel, client, id))
		return;
	if (!tunnel || tunnel_phase(tunnel) != TUNNEL_RUNNING) {
		rpc_error_set(&error, RPC_CODE_NOT_UP, "%s is not up: `wgtcp-cli up %s` first", name, name);
		answer_error(client, id, &error);
		return;
	}
	if (waiters_has(manager->waiters, WAITER_SWITCH, name)) {
		rpc_error_set(&error, RPC_CODE_BUSY, "%s is just being switched: wait for that", name);
		answer_error(client, id, &error);
		return;
	}
	waiters_add(manager->waiters, WAITER_SWITCH, name, client, id, 0);
	tunnel_switch(tunnel, transport, peer);
	watch_wake(manager->watch);
}
