/* SPDX-License-Identifier: MIT */
/* A connection of our own, so that a bus that ends does not end us with it. Used by dns_resolved.c, sleep.c
 * and network_manager.c. */
#include "client/daemon/bus.h"

#define AGAIN_S 30

struct waiter {
	void (*tried)(void *user);
	void *user;
};

struct watcher {
	void (*connected)(GDBusConnection *connection, void *user);
	void *user;
};

struct bus {
	GDBusConnection *connection;
	gulong closed_handler;
	GCancellable *cancel;
	bool trying;
	guint again; /* source */
	GArray *waiters, *watchers;
};

static void try_it(struct bus *bus);

static gboolean again_due(gpointer user)
{
	struct bus *bus = user;

	bus->again = 0;
	try_it(bus);
	return G_SOURCE_REMOVE;
}

static void try_later(struct bus *bus)
{
	if (!bus->again)
		bus->again = g_timeout_add_seconds(AGAIN_S, again_due, bus);
}

static void drop(struct bus *bus)
{
	if (!bus->connection)
		return;
	g_signal_handler_disconnect(bus->connection, bus->closed_handler);
	g_clear_object(&bus->connection);
}

static void closed(GDBusConnection *connection, gboolean by_remote, GError *error, gpointer user)
{
	struct bus *bus = user;

	(void)connection;
	(void)by_remote;
	(void)error;
	drop(bus);
	try_later(bus);
}

static void tell_waiters(struct bus *bus)
{
	while (bus->waiters->len) {
		struct waiter waiter = g_array_index(bus->waiters, struct waiter, 0);

		g_array_remove_index(bus->waiters, 0);
		waiter.tried(waiter.user);
	}
}

static void connected(GObject *source, GAsyncResult *result, gpointer user)
{
	GError *error = NULL;
	GDBusConnection *connection = g_dbus_connection_new_for_address_finish(result, &error);
	struct bus *bus = user;
	guint i;

	(void)source;
	if (!connection && g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED)) {
		g_error_free(error);
		return; /* bus is gone */
	}
	g_clear_error(&error);
	bus->trying = false;
	bus->connection = connection;
	if (connection) {
		g_dbus_connection_set_exit_on_close(connection, FALSE);
		bus->closed_handler = g_signal_connect(connection, "closed", G_CALLBACK(closed), bus);
		for (i = 0; i < bus->watchers->len; i++) {
			struct watcher *watcher = &g_array_index(bus->watchers, struct watcher, i);

			watcher->connected(connection, watcher->user);
		}
	} else if (bus->watchers->len) {
		try_later(bus);
	}
	tell_waiters(bus);
}

/* Where there is no socket, nobody is asked: a machine without a bus is not woken for it. */
static bool has_address(const char *address)
{
	static const char path[] = "unix:path=";
	char *file;
	bool there;

	if (!g_str_has_prefix(address, path) || strpbrk(address, ";%"))
		return true;
	file = g_strndup(address + sizeof(path) - 1, strcspn(address + sizeof(path) - 1, ","));
	there = g_file_test(file, G_FILE_TEST_EXISTS);
	g_free(file);
	return there;
}

static void try_it(struct bus *bus)
{
	char *address;

	if (bus->connection || bus->trying)
		return;
	address = g_dbus_address_get_for_bus_sync(G_BUS_TYPE_SYSTEM, NULL, NULL);
	if (address && has_address(address)) {
		bus->trying = true;
		g_dbus_connection_new_for_address(address,
			G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT |
				G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION,
			NULL, bus->cancel, connected, bus);
	} else {
		try_later(bus);
	}
	g_free(address);
}

struct bus *bus_new(void)
{
	struct bus *bus = g_new0(struct bus, 1);

	bus->cancel = g_cancellable_new();
	bus->waiters = g_array_new(FALSE, FALSE, sizeof(struct waiter));
	bus->watchers = g_array_new(FALSE, FALSE, sizeof(struct watcher));
	try_it(bus);
	return bus;
}

void bus_free(struct bus *bus)
{
	if (!bus)
		return;
	g_cancellable_cancel(bus->cancel);
	g_object_unref(bus->cancel);
	if (bus->again)
		g_source_remove(bus->again);
	drop(bus);
	g_array_unref(bus->waiters);
	g_array_unref(bus->watchers);
	g_free(bus);
}

GDBusConnection *bus_connection(const struct bus *bus)
{
	return bus->connection;
}

void bus_when_tried(struct bus *bus, void (*tried)(void *user), void *user)
{
	struct waiter waiter = { tried, user };

	try_it(bus);
	if (bus->trying)
		g_array_append_val(bus->waiters, waiter);
	else
		tried(user);
}

void bus_forget(struct bus *bus, void *user)
{
	guint i;

	for (i = bus->waiters->len; i > 0; i--)
		if (g_array_index(bus->waiters, struct waiter, i - 1).user == user)
			g_array_remove_index(bus->waiters, i - 1);
}

void bus_watch(struct bus *bus, void (*on_connected)(GDBusConnection *connection, void *user), void *user)
{
	struct watcher watcher = { on_connected, user };

	g_array_append_val(bus->watchers, watcher);
	if (bus->connection)
		on_connected(bus->connection, user);
}

void bus_unwatch(struct bus *bus, void *user)
{
	guint i;

	for (i = bus->watchers->len; i > 0; i--)
		if (g_array_index(bus->watchers, struct watcher, i - 1).user == user)
			g_array_remove_index(bus->watchers, i - 1);
}
