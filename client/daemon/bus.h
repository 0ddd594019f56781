/* SPDX-License-Identifier: MIT */
/* The system's message bus, if there is one: it may come after us and go before us. Main thread, GLib main
 * loop. */
#ifndef WGTCP_CLIENT_DAEMON_BUS_H
#define WGTCP_CLIENT_DAEMON_BUS_H

#include <gio/gio.h>
#include <stdbool.h>

struct bus;

/* Tries to connect at once. */
struct bus *bus_new(void);
/* Nobody is called any more. NULL is allowed. */
void bus_free(struct bus *bus);

/* NULL: there is none just now. Borrowed until the main loop runs. */
GDBusConnection *bus_connection(const struct bus *bus);
/* Calls tried once, as soon as it is connected or known that it can not be: maybe before this returns. */
void bus_when_tried(struct bus *bus, void (*tried)(void *user), void *user);
/* Not any more. */
void bus_forget(struct bus *bus, void *user);
/* Calls connected for each connection, and first for the one that there is: for subscriptions, which go with
 * it. */
void bus_watch(struct bus *bus, void (*connected)(GDBusConnection *connection, void *user), void *user);
void bus_unwatch(struct bus *bus, void *user);

#endif
