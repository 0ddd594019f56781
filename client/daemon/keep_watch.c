/* SPDX-License-Identifier: MIT */
/* Hears what others take away, and lets the tunnels look. Used by manager.c. */
#include "client/daemon/keep.h"

#include "client/daemon/manager.h"
#include "core/port/net_answer.h"

#include <glib-unix.h>

struct keep_watch {
	struct manager *manager;
	struct net_guard *guard;          /* NULL: nothing can be heard */
	struct net_answer_watch *answers; /* NULL: no packet filter */
	guint guard_source, answers_source;
};

static void hear_one(struct tunnel *tunnel, void *user)
{
	tunnel_keep_heard(tunnel, user);
}

static void hear(const struct net_loss *loss, void *user)
{
	struct keep_watch *watch = user;
	struct net_loss copy = *loss;

	manager_each(watch->manager, hear_one, &copy);
}

static void look_one(struct tunnel *tunnel, void *user)
{
	(void)user;
	tunnel_keep_look(tunnel);
}

/* All that waits is heard first: a flush of a table tells of each route. */
static gboolean network_ready(gint fd, GIOCondition condition, gpointer user)
{
	struct keep_watch *watch = user;

	(void)fd;
	(void)condition;
	net_guard_take(watch->guard, hear, watch);
	manager_each(watch->manager, look_one, NULL);
	return G_SOURCE_CONTINUE;
}

static gboolean filter_ready(gint fd, GIOCondition condition, gpointer user)
{
	struct keep_watch *watch = user;

	(void)fd;
	(void)condition;
	if (net_answer_watch_take(watch->answers)) {
		hear(&(struct net_loss){ .unknown = true }, watch);
		manager_each(watch->manager, look_one, NULL);
	}
	return G_SOURCE_CONTINUE;
}

struct keep_watch *keep_watch_new(struct manager *manager)
{
	struct keep_watch *watch = g_new0(struct keep_watch, 1);

	watch->manager = manager;
	if (net_guard_open(&watch->guard) == 0)
		watch->guard_source =
			g_unix_fd_add(net_guard_handle(watch->guard), G_IO_IN, network_ready, watch);
	else
		watch->guard = NULL;
	if (net_answer_watch_open(&watch->answers) == 0)
		watch->answers_source =
			g_unix_fd_add(net_answer_watch_handle(watch->answers), G_IO_IN, filter_ready, watch);
	else
		watch->answers = NULL;
	return watch;
}

void keep_watch_free(struct keep_watch *watch)
{
	if (!watch)
		return;
	if (watch->guard_source)
		g_source_remove(watch->guard_source);
	if (watch->answers_source)
		g_source_remove(watch->answers_source);
	net_guard_close(watch->guard);
	net_answer_watch_close(watch->answers);
	g_free(watch);
}
