/* SPDX-License-Identifier: MIT */
/* The connection to wgtcpd in GLib's main loop: opened again by itself whenever it is lost. For one thread, the one of
 * the default main context. */
#ifndef WGTCP_GUI_LINK_LINK_H
#define WGTCP_GUI_LINK_LINK_H

#include "client/rpc/conn.h"

struct link;

struct link_events {
	/* The connection came (0), went or could not be opened (-errno). Of tries that fail in the same way only the first
	 * is told. */
	void (*connection)(int err, void *user);
	/* Everything that comes. An answer goes on to who asked; what is taken out of it is then not there any more. */
	void (*event)(struct rpc_event *event, void *user);
};

#define LINK_DEFAULT_PATH "/run/wgtcp/wgtcpd.sock"

/* Begins to connect once the main loop runs. */
struct link *link_new(const char *path, const struct link_events *events, void *user);
/* Those who wait for answers are not told. NULL is allowed. */
void link_free(struct link *link);

/* Sends a request. answered (may be NULL) gets the result or the error, or NULL when the connection was lost before it
 * came. 0, or -errno and answered is not called: -ENOTCONN; as rpc_conn_request. */
int link_ask(struct link *link, const struct rpc_request *request,
	void (*answered)(struct rpc_event *event, void *user), void *user);
/* Nobody with this user is told of an answer any more. */
void link_forget(struct link *link, void *user);
/* Whether everything has been sent and answered. */
bool link_is_idle(const struct link *link);

#endif
