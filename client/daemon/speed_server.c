/* SPDX-License-Identifier: MIT */
/* See speed_server.h. Used by up_speed.c. */
#include "client/daemon/speed_server.h"

#include "client/daemon/children.h"
#include "client/daemon/daemon.h"
#include "client/daemon/journal.h"
#include "client/daemon/speed.h"
#include "core/port/knock.h"

#include <errno.h>
#include <glib-unix.h>
#include <glib.h>
#include <stdio.h>
#include <string.h>

#define LOOK_S 5
/* So many looks without a connection: nobody tests any more. Between the parts of a test there is none for a moment, on a
 * busy machine for seconds. */
#define IDLE_LOOKS 6
/* So many with one: the longest part of a test that wgtcp-cli makes is 5 minutes. */
#define LOOKS_MAX (20 * 60 / LOOK_S)
/* After an iperf3 that could not be started: not at once again. */
#define PAUSE_S 10

struct place {
	struct speed_server *server;
	struct ip_address address;
	struct knock *knock;
	guint source;
};

struct speed_server {
	struct daemon *daemon;
	char tunnel[16], interface[16];
	uint32_t index;
	struct place *places;
	size_t count;
	uint32_t child; /* 0: none */
	guint look;     /* source: a look at what runs, or a pause */
	unsigned looks, idle;
};

static void stay_ready(struct speed_server *server, size_t *missing);

static void close_places(struct speed_server *server)
{
	size_t i;

	for (i = 0; i < server->count; i++) {
		struct place *place = &server->places[i];

		if (place->source)
			g_source_remove(place->source);
		place->source = 0;
		knock_close(place->knock);
		place->knock = NULL;
	}
}

/* ---- while it runs ---- */

/* Whether some connection to our port is open, by the kernel's own table: one line each, the local address in
 * the second column, the state (01: established) in the fourth. */
static bool any_connection(const char *table)
{
	char *text = NULL, *line, *rest = NULL;
	bool found = false;

	if (!g_file_get_contents(table, &text, NULL, NULL))
		return false;
	for (line = strtok_r(text, "\n", &rest); line && !found; line = strtok_r(NULL, "\n", &rest)) {
		unsigned port = 0, state = 0;

		if (sscanf(line, " %*[0-9]: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x", &port, &state) == 2)
			found = port == SPEED_PORT && state == 1;
	}
	g_free(text);
	return found;
}

static gboolean look(gpointer user)
{
	struct speed_server *server = user;

	if (any_connection("/proc/self/net/tcp") || any_connection("/proc/self/net/tcp6")) {
		server->looks++;
		server->idle = 0;
	} else {
		server->looks = 0;
		server->idle++;
	}
	if (server->idle < IDLE_LOOKS && server->looks < LOOKS_MAX)
		return G_SOURCE_CONTINUE;
	server->look = 0;
	children_kill(server->daemon->children, server->child);
	return G_SOURCE_REMOVE;
}

static gboolean pause_over(gpointer user)
{
	struct speed_server *server = user;
	size_t missing;

	server->look = 0;
	stay_ready(server, &missing);
	return G_SOURCE_REMOVE;
}

static void exited(int error, void *user)
{
	struct speed_server *server = user;
	size_t missing;

	server->child = 0;
	if (server->look)
		g_source_remove(server->look);
	server->look = 0;
	if (!error) {
		stay_ready(server, &missing);
		return;
	}
	if (error == ENOENT)
		journal_say(server->daemon->journal, JOURNAL_ERROR, server->tunnel,
			"a peer asks for a speed test, and iperf3 is not installed here: `sudo apt install "
			"iperf3`");
	server->look = g_timeout_add_seconds(PAUSE_S, pause_over, server);
}

static void start(struct speed_server *server, const struct ip_address *address)
{
	close_places(server);
	server->looks = server->idle = 0;
	server->child = children_start_iperf(
		server->daemon->children, server->tunnel, server->interface, address, exited, server);
	if (server->child)
		server->look = g_timeout_add_seconds(LOOK_S, look, server);
	else
		server->look = g_timeout_add_seconds(PAUSE_S, pause_over, server);
}

/* ---- while it does not ---- */

static gboolean called(gint fd, GIOCondition condition, gpointer user)
{
	struct place *place = user;

	(void)fd;
	(void)condition;
	if (!knock_take(place->knock))
		return G_SOURCE_CONTINUE;
	place->source = 0; /* it is just being called */
	journal_say(place->server->daemon->journal, JOURNAL_INFO, place->server->tunnel,
		"a peer asks for a speed test");
	start(place->server, &place->address);
	return G_SOURCE_REMOVE;
}

static void stay_ready(struct speed_server *server, size_t *missing)
{
	size_t i;

	*missing = 0;
	for (i = 0; i < server->count; i++) {
		struct place *place = &server->places[i];

		if (knock_open(server->index, &place->address, SPEED_PORT, &place->knock) != 0)
			(*missing)++;
		else
			place->source = g_unix_fd_add(knock_handle(place->knock), G_IO_IN, called, place);
	}
}

struct speed_server *speed_server_new(struct daemon *daemon, const char *tunnel, const char *interface,
	uint32_t index, const struct ip_address *addresses, size_t count, size_t *missing)
{
	struct speed_server *server = g_new0(struct speed_server, 1);
	size_t i;

	server->daemon = daemon;
	g_strlcpy(server->tunnel, tunnel, sizeof(server->tunnel));
	g_strlcpy(server->interface, interface, sizeof(server->interface));
	server->index = index;
	server->count = count;
	server->places = g_new0(struct place, count);
	for (i = 0; i < count; i++) {
		server->places[i].server = server;
		server->places[i].address = addresses[i];
	}
	stay_ready(server, missing);
	return server;
}

void speed_server_free(struct speed_server *server)
{
	if (!server)
		return;
	if (server->look)
		g_source_remove(server->look);
	if (server->child) {
		children_kill(server->daemon->children, server->child);
		children_forget(server->daemon->children, server->child);
	}
	close_places(server);
	g_free(server->places);
	g_free(server);
}
