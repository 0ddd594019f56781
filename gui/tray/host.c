/* SPDX-License-Identifier: MIT */
#include "gui/tray/host.h"

#define WATCHER "org.kde.StatusNotifierWatcher"

struct waiting {
	GMainLoop *loop;
	bool is_there;
	unsigned seconds;
};

static void on_appeared(GDBusConnection *bus, const char *name, const char *owner, gpointer user)
{
	struct waiting *waiting = user;

	(void)bus;
	(void)name;
	(void)owner;
	waiting->is_there = true;
	g_main_loop_quit(waiting->loop);
}

static void on_vanished(GDBusConnection *bus, const char *name, gpointer user)
{
	struct waiting *waiting = user;

	(void)bus;
	(void)name;
	if (!waiting->seconds)
		g_main_loop_quit(waiting->loop);
}

static gboolean on_over(gpointer user)
{
	struct waiting *waiting = user;

	g_main_loop_quit(waiting->loop);
	return G_SOURCE_CONTINUE; /* removed below */
}

bool host_is_there(GDBusConnection *bus, unsigned seconds)
{
	struct waiting waiting = { .loop = g_main_loop_new(NULL, FALSE), .seconds = seconds };
	guint watch = g_bus_watch_name_on_connection(
		bus, WATCHER, G_BUS_NAME_WATCHER_FLAGS_AUTO_START, on_appeared, on_vanished, &waiting, NULL);
	/* A bus that does not answer at all is none. */
	guint timeout = g_timeout_add_seconds(seconds ? seconds : 10, on_over, &waiting);

	g_main_loop_run(waiting.loop);
	g_source_remove(timeout);
	g_bus_unwatch_name(watch);
	g_main_loop_unref(waiting.loop);
	return waiting.is_there;
}
