/* SPDX-License-Identifier: MIT */
/* The table of tunnels, and the answers that come later. */
#include "client/daemon/manager.h"
#include "client/daemon/children.h"
#include "client/daemon/daemon.h"
#include "client/daemon/file.h"
#include "client/daemon/journal.h"
#include "client/daemon/leftovers.h"
#include "client/daemon/timestamp.h"
#include "client/daemon/waiters.h"
#include "client/daemon/watch.h"
#include "core/port/net_config.h"

#include <glib-unix.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMEOUT_DEFAULT_MS 20000
/* The engine calls a connect failed after 20 s, with a better cause than "timed out": its word is waited for. */
#define TIMEOUT_GRACE_MS 500
#define PROCESSES_GONE_MS 3000

struct manager {
	struct daemon *daemon;
	GHashTable *tunnels; /* name -> struct tunnel */
	struct waiters *waiters;
	struct watch *watch;
	struct net_watch *network; /* NULL: it cannot be watched */
	guint network_source;
	guint stopping;
	void (*stopped)(void *user);
	void *stopped_user;
};

struct tunnel *manager_find(const struct manager *manager, const char *name)
{
	return g_hash_table_lookup(manager->tunnels, name);
}

enum rpc_state manager_state(const struct manager *manager, const char *name)
{
	const struct tunnel *tunnel = manager_find(manager, name);

	return tunnel ? tunnel_view(tunnel)->state : RPC_STATE_DOWN;
}

void manager_each(const struct manager *manager, void (*call)(struct tunnel *tunnel, void *user), void *user)
{
	GHashTableIter iter;
	gpointer value;

	g_hash_table_iter_init(&iter, manager->tunnels);
	while (g_hash_table_iter_next(&iter, NULL, &value))
		call(value, user);
}

struct search {
	const struct tunnel *but;
	const char *name;
};

static void look_for_rules(struct tunnel *tunnel, void *user)
{
	struct search *search = user;

	if (tunnel != search->but && tunnel_rules_mark(tunnel))
		search->name = tunnel_name(tunnel);
}

const char *manager_full_tunnel(const struct manager *manager, const struct tunnel *but)
{
	struct search search = { .but = but };

	manager_each(manager, look_for_rules, &search);
	return search.name;
}

void manager_forget(struct manager *manager, const char *name)
{
	g_hash_table_remove(manager->tunnels, name);
	watch_tell_gone(manager->watch, name);
}

/* ---- the file of what would outlive us ---- */

void manager_leftovers_changed(struct manager *manager)
{
	struct leftover *list = g_new0(struct leftover, LEFTOVERS_MAX);
	uint64_t start_time;
	size_t count = 0, cursor = 0;
	GHashTableIter iter;
	gpointer value;
	pid_t pid;
	int error;

	while (count < LEFTOVERS_MAX && children_next(manager->daemon->children, &cursor, &pid, &start_time))
		if (start_time)
			list[count++] =
				(struct leftover){ .kind = LEFTOVER_ENGINE, .pid = pid, .start_time = start_time };
	g_hash_table_iter_init(&iter, manager->tunnels);
	while (count < LEFTOVERS_MAX && g_hash_table_iter_next(&iter, NULL, &value)) {
		if (tunnel_phase(value) == TUNNEL_DOWN)
			continue;
		list[count].kind = LEFTOVER_TUNNEL;
		g_strlcpy(list[count].name, tunnel_name(value), sizeof(list[count].name));
		count++;
		if (tunnel_rules_mark(value) && count < LEFTOVERS_MAX)
			list[count++] = (struct leftover){ .kind = LEFTOVER_RULES, .mark = tunnel_rules_mark(value) };
	}
	error = leftovers_save(manager->daemon->state_handle, list, count);
	if (error)
		journal_say(manager->daemon->journal, JOURNAL_WARNING, NULL,
			"%s/%s cannot be written: %s: what a killed daemon leaves behind may stay", manager->daemon->state_folder,
			LEFTOVERS_FILE, g_strerror(-error));
	g_free(list);
}

/* ---- what the tunnels say ---- */

void manager_sampled(struct manager *manager, const struct tunnel *tunnel, const struct rpc_sample *sample)
{
	watch_tell_sample(manager->watch, tunnel, sample);
}

void manager_timestamp(struct manager *manager, const struct wall *newest)
{
	struct daemon *daemon = manager->daemon;
	int error;

	if (newest->s < daemon->timestamp_floor.s ||
		(newest->s == daemon->timestamp_floor.s && newest->ns <= daemon->timestamp_floor.ns))
		return;
	daemon->timestamp_floor = *newest;
	error = timestamp_save(daemon->state_handle, newest);
	if (error)
		journal_say(daemon->journal, JOURNAL_WARNING, NULL, "%s/%s cannot be written: %s",
			daemon->state_folder, TIMESTAMP_FILE, g_strerror(-error));
}

static void changed(struct tunnel *tunnel, void *user)
{
	struct manager *manager = user;

	watch_tell_state(manager->watch, tunnel);
	watch_wake(manager->watch);
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

static void answer_moved(const struct tunnel *tunnel, enum rpc_method method, bool began, struct client *client,
	const struct rpc_id *id)
{
	/* Everything in it is borrowed. */
	struct rpc_result result = { .method = method };

	if (!client)
		return;
	result.moved.tunnel = *tunnel_view(tunnel);
	result.moved.began = began;
	result.moved.warnings = *tunnel_warnings(tunnel);
	client_reply(client, id, &result);
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
			answer_moved(tunnel, RPC_METHOD_TUNNEL_UP, waiter->began, waiter->client, &waiter->id);
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

static const struct tunnel_events events = {
	.changed = changed,
	.progress = progress,
	.decided = decided,
	.switched = switched,
};

/* ---- down ---- */

static void answer_down(struct waiter *waiter)
{
	struct rpc_result result = { .method = RPC_METHOD_TUNNEL_DOWN };

	snprintf(result.done.name, sizeof(result.done.name), "%s", waiter->name);
	result.done.changed = true;
	if (waiter->client)
		client_reply(waiter->client, &waiter->id, &result);
	waiter_free(waiter);
}

static void stopped(struct manager *manager)
{
	void (*done)(void *) = manager->stopped;

	manager->stopped = NULL;
	if (manager->stopping)
		g_source_remove(manager->stopping);
	manager->stopping = 0;
	if (done)
		done(manager->stopped_user);
}

/* Some process has come or gone. */
static void children_changed(void *user)
{
	struct manager *manager = user;
	GHashTableIter iter;
	struct waiter *waiter;
	gpointer key;
	size_t cursor = 0;
	uint64_t start_time;
	pid_t pid;

	manager_leftovers_changed(manager);
	g_hash_table_iter_init(&iter, manager->tunnels);
	while (g_hash_table_iter_next(&iter, &key, NULL))
		while (!children_has(manager->daemon->children, key) &&
			(waiter = waiters_take(manager->waiters, WAITER_DOWN, key)))
			answer_down(waiter);
	if (manager->stopped && !children_next(manager->daemon->children, &cursor, &pid, &start_time))
		stopped(manager);
}

/* ---- requests ---- */

static void late(struct waiter *waiter, void *user)
{
	struct manager *manager = user;
	struct tunnel *tunnel = manager_find(manager, waiter->name);
	struct rpc_error error = { 0 };

	switch (waiter->kind) {
	case WAITER_DOWN:
		waiters_remove(manager->waiters, waiter);
		answer_down(waiter);
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
		answer_error(waiter->client, &waiter->id, &error);
	}
	rpc_error_free(&error);
	waiter_free(waiter);
}

static struct tunnel *find_or_add(struct manager *manager, const char *name)
{
	struct tunnel *tunnel = manager_find(manager, name);

	if (!tunnel) {
		tunnel = tunnel_new(manager->daemon, name, &events, manager);
		g_hash_table_insert(manager->tunnels, g_strdup(name), tunnel);
	}
	return tunnel;
}

void manager_up(struct manager *manager, const char *name, const struct tunnel_wishes *wishes, uint32_t timeout_ms,
	struct client *client, const struct rpc_id *id)
{
	struct tunnel *tunnel = find_or_add(manager, name);
	struct rpc_error error = { 0 };
	struct waiter *waiter;

	if (manager->stopped) {
		rpc_error_set(&error, RPC_CODE_BUSY, "wgtcpd is just ending: start it again first");
		client_reply_error(client, id, &error);
		return;
	}
	if (tunnel_phase(tunnel) == TUNNEL_RUNNING) {
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
	journal_say(manager->daemon->journal, JOURNAL_INFO, name, "up asked for");
	tunnel_up(tunnel, wishes);
	manager_leftovers_changed(manager);
}

void manager_auto_connect(struct manager *manager, const char *name)
{
	struct tunnel *tunnel = find_or_add(manager, name);
	struct tunnel_wishes wishes = { .persistent = true };

	if (tunnel_phase(tunnel) != TUNNEL_DOWN)
		return;
	journal_say(manager->daemon->journal, JOURNAL_INFO, name, "connecting by itself (AutoConnect)");
	tunnel_up(tunnel, &wishes);
	manager_leftovers_changed(manager);
}

void manager_down(struct manager *manager, const char *name, struct client *client, const struct rpc_request *request)
{
	struct tunnel *tunnel = manager_find(manager, name);
	struct rpc_result result = { .method = RPC_METHOD_TUNNEL_DOWN };
	const struct waiter *began;

	snprintf(result.done.name, sizeof(result.done.name), "%s", name);
	if (tunnel && request->has_request) {
		began = waiters_find(manager->waiters, WAITER_UP, name, client, request->request);
		if (!began || !began->began)
			tunnel = NULL;
	}
	if (!tunnel || (tunnel_phase(tunnel) == TUNNEL_DOWN && tunnel_view(tunnel)->state == RPC_STATE_DOWN)) {
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
	if (!children_has(manager->daemon->children, name)) {
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

	if (!tunnel || tunnel_phase(tunnel) != TUNNEL_RUNNING) {
		rpc_error_set(&error, RPC_CODE_NOT_UP, "%s is not up: `wgtcp-cli up %s` first", name, name);
		client_reply_error(client, id, &error);
		return;
	}
	if (waiters_has(manager->waiters, WAITER_SWITCH, name)) {
		rpc_error_set(&error, RPC_CODE_BUSY, "%s is just being switched: wait for that", name);
		client_reply_error(client, id, &error);
		return;
	}
	waiters_add(manager->waiters, WAITER_SWITCH, name, client, id, 0);
	tunnel_switch(tunnel, transport, peer);
	watch_wake(manager->watch);
}

void manager_watch(struct manager *manager, struct client *client)
{
	watch_add(manager->watch, client);
}

void manager_client_gone(struct manager *manager, struct client *client)
{
	watch_client_gone(manager->watch, client);
	waiters_client_gone(manager->waiters, client);
}

/* ---- the network, for tunnels that have nobody yet who watches it ---- */

static void network_changed(struct tunnel *tunnel, void *user)
{
	(void)user;
	if (tunnel_phase(tunnel) != TUNNEL_DOWN)
		tunnel_network_changed(tunnel);
}

static gboolean network_ready(gint fd, GIOCondition condition, gpointer user)
{
	struct manager *manager = user;
	uint32_t link_gone;

	(void)fd;
	(void)condition;
	if (net_watch_take(manager->network, 0, &link_gone) == 1)
		manager_each(manager, network_changed, NULL);
	return G_SOURCE_CONTINUE;
}

static void watch_network(struct manager *manager)
{
	if (net_watch_open(&manager->network) != 0) {
		manager->network = NULL;
		return;
	}
	manager->network_source =
		g_unix_fd_add(net_watch_handle(manager->network), G_IO_IN, network_ready, manager);
}

/* ---- its own life ---- */

static void free_tunnel(gpointer tunnel)
{
	tunnel_free(tunnel);
}

struct manager *manager_new(struct daemon *daemon)
{
	struct manager *manager = g_new0(struct manager, 1);

	manager->daemon = daemon;
	manager->tunnels = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_tunnel);
	manager->waiters = waiters_new(late, manager);
	manager->watch = watch_new(manager);
	watch_network(manager);
	children_watch(daemon->children, children_changed, manager);
	return manager;
}

void manager_free(struct manager *manager)
{
	if (!manager)
		return;
	children_watch(manager->daemon->children, NULL, NULL);
	g_hash_table_unref(manager->tunnels);
	waiters_free(manager->waiters);
	watch_free(manager->watch);
	if (manager->network_source)
		g_source_remove(manager->network_source);
	net_watch_close(manager->network);
	if (manager->stopping)
		g_source_remove(manager->stopping);
	g_free(manager);
}

static gboolean stop_late(gpointer user)
{
	struct manager *manager = user;

	manager->stopping = 0;
	stopped(manager);
	return G_SOURCE_REMOVE;
}

void manager_stop(struct manager *manager, void (*done)(void *user), void *user)
{
	GHashTableIter iter;
	gpointer value;
	guint wait_ms = PROCESSES_GONE_MS;
	size_t cursor = 0;
	uint64_t start_time;
	pid_t pid;

	if (manager->stopped)
		return;
	manager->stopped = done;
	manager->stopped_user = user;
	g_hash_table_iter_init(&iter, manager->tunnels);
	while (g_hash_table_iter_next(&iter, NULL, &value))
		if (tunnel_phase(value) != TUNNEL_DOWN)
			tunnel_down(value, NULL);
	manager_leftovers_changed(manager);
	if (!children_next(manager->daemon->children, &cursor, &pid, &start_time))
		wait_ms = 0; /* nobody to wait for; but not from within this call */
	manager->stopping = g_timeout_add(wait_ms, stop_late, manager);
}
