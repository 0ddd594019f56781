/* SPDX-License-Identifier: MIT */
/* The table of tunnels, what they leave on disk, and the end. Requests: requests.c. */
#include "client/daemon/manager_state.h"

#include "client/daemon/address_book.h"
#include "client/daemon/children.h"
#include "client/daemon/diagnose.h"
#include "client/daemon/journal.h"
#include "client/daemon/file.h"
#include "client/daemon/keep.h"
#include "client/daemon/leftovers.h"
#include "client/daemon/lockdown.h"
#include "client/daemon/memory.h"
#include "client/daemon/record.h"
#include "client/daemon/speed.h"
#include "client/daemon/surroundings.h"
#include "client/daemon/timestamp.h"
#include "core/port/net_config.h"

#include <errno.h>
#include <glib-unix.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static void look_for_full(struct tunnel *tunnel, void *user)
{
	struct search *search = user;

	if (tunnel != search->but && tunnel_is_full(tunnel) && tunnel_lent_to(tunnel) != search->but &&
		tunnel_lent_to(search->but) != tunnel)
		search->name = tunnel_name(tunnel);
}

struct mark_search {
	const struct tunnel *but;
	uint32_t mark;
	bool found;
};

static void look_for_mark(struct tunnel *tunnel, void *user)
{
	struct mark_search *search = user;

	if (tunnel != search->but && tunnel_mark(tunnel) == search->mark)
		search->found = true;
}

bool manager_mark_in_use(const struct manager *manager, const struct tunnel *but, uint32_t mark)
{
	struct mark_search search = { .but = but, .mark = mark };

	manager_each(manager, look_for_mark, &search);
	return search.found;
}

static void look_for_rules(struct tunnel *tunnel, void *user)
{
	struct mark_search *search = user;

	if (tunnel != search->but && tunnel_rules_mark(tunnel))
		search->found = true;
}

bool manager_has_rules(const struct manager *manager, const struct tunnel *but)
{
	struct mark_search search = { .but = but };

	manager_each(manager, look_for_rules, &search);
	return search.found;
}

const char *manager_full_tunnel(const struct manager *manager, const struct tunnel *but)
{
	struct search search = { .but = but };

	manager_each(manager, look_for_full, &search);
	return search.name;
}

void manager_forget(struct manager *manager, const char *name)
{
	g_hash_table_remove(manager->tunnels, name);
	watch_tell_gone(manager->watch, name);
	record_forget(manager->daemon->record, name);
}

/* ---- the file of what would outlive us ---- */

static void leftover_link(struct leftover *out, const char *name, uint32_t index)
{
	out->kind = LEFTOVER_LINK;
	out->mark = index;
	g_strlcpy(out->name, name, sizeof(out->name));
}

/* On a disk that takes nothing it is kept in memory of this boot. */
static int save_leftovers(int state_folder, const struct leftover *list, size_t count)
{
	int error = leftovers_save(state_folder, list, count),
	    spare = leftovers_spare_open(state_folder, error != 0);

	if (spare < 0)
		return error;
	/* One that is no longer needed is emptied. */
	error = leftovers_save(spare, list, error ? count : 0);
	close(spare);
	return error;
}

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
			list[count++] = (struct leftover){
				.kind = LEFTOVER_ENGINE, .pid = pid, .start_time = start_time
			};
	if (diagnose_has_interface(manager->daemon) && count < LEFTOVERS_MAX) {
		list[count].kind = LEFTOVER_TUNNEL;
		g_strlcpy(list[count].name, DIAGNOSE_INTERFACE, sizeof(list[count].name));
		count++;
	}
	if (manager->daemon->probing && count < LEFTOVERS_MAX)
		leftover_link(&list[count++], KERNEL_PROBE_INTERFACE, 0);
	g_hash_table_iter_init(&iter, manager->tunnels);
	while (count < LEFTOVERS_MAX && g_hash_table_iter_next(&iter, NULL, &value)) {
		if (tunnel_phase(value) == TUNNEL_DOWN)
			continue;
		list[count].kind = LEFTOVER_TUNNEL;
		g_strlcpy(list[count].name, tunnel_name(value), sizeof(list[count].name));
		count++;
		if (tunnel_has_kernel_link(value) && count < LEFTOVERS_MAX)
			leftover_link(&list[count++], tunnel_name(value), tunnel_kernel_link(value));
		if (tunnel_rules_mark(value) && count < LEFTOVERS_MAX)
			list[count++] =
				(struct leftover){ .kind = LEFTOVER_RULES, .mark = tunnel_rules_mark(value) };
	}
	if (manager->daemon->source_mark && count < LEFTOVERS_MAX)
		list[count++] = (struct leftover){ .kind = LEFTOVER_SOURCE_MARK };
	error = save_leftovers(manager->daemon->state_handle, list, count);
	if (error)
		journal_say(manager->daemon->journal, JOURNAL_WARNING, NULL,
			"%s/%s cannot be written: %s: what a killed daemon leaves behind may stay",
			manager->daemon->state_folder, LEFTOVERS_FILE, g_strerror(-error));
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
	gpointer key, value;
	size_t cursor = 0;
	uint64_t start_time;
	pid_t pid;

	manager_leftovers_changed(manager);
	g_hash_table_iter_init(&iter, manager->tunnels);
	while (g_hash_table_iter_next(&iter, &key, &value))
		while (!tunnel_has_children(value) &&
			(waiter = waiters_take(manager->waiters, WAITER_DOWN, key)))
			requests_answer_down(waiter);
	manager_forget_managed(manager);
	if (manager->stopped && !children_next(manager->daemon->children, &cursor, &pid, &start_time))
		stopped(manager);
}

struct tunnel *manager_find_or_add(struct manager *manager, const char *name)
{
	struct tunnel *tunnel = manager_find(manager, name);

	if (!tunnel) {
		tunnel = tunnel_new(manager->daemon, name, &requests_tunnel_events, manager);
		g_hash_table_insert(manager->tunnels, g_strdup(name), tunnel);
	}
	return tunnel;
}

void manager_auto_connect(struct manager *manager, const char *name, const char *why)
{
	struct tunnel *tunnel = manager_find_or_add(manager, name);
	struct tunnel_wishes wishes = { .persistent = true };

	if (tunnel_phase(tunnel) != TUNNEL_DOWN)
		return;
	journal_say(manager->daemon->journal, JOURNAL_INFO, name, "connecting by itself: %s", why);
	tunnel_up(tunnel, &wishes);
	manager_leftovers_changed(manager);
}

void manager_watch(struct manager *manager, struct client *client)
{
	watch_add(manager->watch, client);
}

void manager_client_gone(struct manager *manager, struct client *client)
{
	watch_client_gone(manager->watch, client);
	waiters_client_gone(manager->waiters, client);
	diagnose_client_gone(manager->daemon, client);
	speed_client_gone(manager->daemon, client);
	manager_owner_gone(manager, client);
}

void manager_memory_changed(struct manager *manager)
{
	struct daemon *daemon = manager->daemon;
	char *text = memory_write(daemon->memory);
	int error = text ? file_write(daemon->state_handle, MEMORY_FILE, text, strlen(text), 0600) : -ENOMEM;

	memory_text_free(text);
	if (error)
		journal_say(daemon->journal, JOURNAL_WARNING, NULL, "%s/%s cannot be written: %s",
			daemon->state_folder, MEMORY_FILE, g_strerror(-error));
}

void manager_address_book_changed(struct manager *manager)
{
	struct daemon *daemon = manager->daemon;
	char *text = address_book_write(daemon->address_book);
	int error = text ? file_write(daemon->state_handle, ADDRESS_BOOK_FILE, text, strlen(text), 0600)
			 : -ENOMEM;

	free(text);
	if (error)
		journal_say(daemon->journal, JOURNAL_WARNING, NULL, "%s/%s cannot be written: %s",
			daemon->state_folder, ADDRESS_BOOK_FILE, g_strerror(-error));
}

static void look_for_outside_mark(struct tunnel *tunnel, void *user)
{
	uint32_t *mark = user, its = tunnel_rules_mark(tunnel);

	if (its)
		*mark = its;
}

uint32_t manager_outside_mark(const struct manager *manager)
{
	uint32_t mark = 0;

	manager_each(manager, look_for_outside_mark, &mark);
	return mark;
}

struct interface_search {
	uint32_t index;
	bool found;
};

static void look_for_interface(struct tunnel *tunnel, void *user)
{
	struct interface_search *search = user;

	if (tunnel_interface_index(tunnel) == search->index)
		search->found = true;
}

bool manager_has_interface(const struct manager *manager, uint32_t index)
{
	struct interface_search search = { .index = index };

	manager_each(manager, look_for_interface, &search);
	return search.found;
}

/* ---- the network, for tunnels that have nobody yet who watches it ---- */

static void lockdown_changed(struct tunnel *tunnel, void *user)
{
	(void)user;
	tunnel_lockdown_changed(tunnel);
}

void manager_lockdown_changed(struct manager *manager)
{
	manager_each(manager, lockdown_changed, NULL);
}

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
	if (net_watch_take(manager->network, 0, &link_gone) == 1) {
		lockdown_network_changed(manager->daemon->lockdown);
		manager_each(manager, network_changed, NULL);
		surroundings_network_changed(manager->daemon->surroundings);
	}
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
	manager->waiters = waiters_new(requests_late, manager);
	manager->watch = watch_new(manager);
	watch_network(manager);
	manager->keep = keep_watch_new(manager);
	children_watch(daemon->children, children_changed, manager);
	return manager;
}

/* One that serves another ends with that. */
static void end_it(struct tunnel *tunnel, void *user)
{
	(void)user;
	if (tunnel_phase(tunnel) != TUNNEL_DOWN && !tunnel_lent_to(tunnel))
		tunnel_down(tunnel, NULL);
}

void manager_free(struct manager *manager)
{
	if (!manager)
		return;
	children_watch(manager->daemon->children, NULL, NULL);
	manager_each(manager, end_it, NULL);
	g_hash_table_unref(manager->tunnels);
	waiters_free(manager->waiters);
	watch_free(manager->watch);
	if (manager->network_source)
		g_source_remove(manager->network_source);
	net_watch_close(manager->network);
	keep_watch_free(manager->keep);
	if (manager->stopping)
		g_source_remove(manager->stopping);
	if (manager->forgetting)
		g_source_remove(manager->forgetting);
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
	manager->daemon->ending = true;
	diagnose_cancel(manager->daemon);
	speed_cancel(manager->daemon);
	g_hash_table_iter_init(&iter, manager->tunnels);
	while (g_hash_table_iter_next(&iter, NULL, &value))
		if (tunnel_phase(value) != TUNNEL_DOWN && !tunnel_lent_to(value))
			tunnel_down(value, NULL);
	manager_leftovers_changed(manager);
	if (!children_next(manager->daemon->children, &cursor, &pid, &start_time))
		wait_ms = 0; /* nobody to wait for; but not from within this call */
	manager->stopping = g_timeout_add(wait_ms, stop_late, manager);
}
