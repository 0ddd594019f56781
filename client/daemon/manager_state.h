/* SPDX-License-Identifier: MIT */
/* What the manager holds. Only for manager.c and requests.c. */
#ifndef WGTCP_CLIENT_DAEMON_MANAGER_STATE_H
#define WGTCP_CLIENT_DAEMON_MANAGER_STATE_H

#include "client/daemon/manager.h"
#include "client/daemon/daemon.h"
#include "client/daemon/waiters.h"
#include "client/daemon/watch.h"

#include <glib.h>

/* Processes that are told to end are waited for no longer. */
#define PROCESSES_GONE_MS 3000

struct keep_watch;
struct net_watch;

struct manager {
	struct daemon *daemon;
	GHashTable *tunnels; /* name -> struct tunnel */
	struct waiters *waiters;
	struct watch *watch;
	struct net_watch *network; /* NULL: it cannot be watched */
	guint network_source;
	struct keep_watch *keep;
	guint stopping;
	guint forgetting; /* source */
	void (*stopped)(void *user);
	void *stopped_user;
};

/* Of that name, made if there is none yet. */
struct tunnel *manager_find_or_add(struct manager *manager, const char *name);

/* ---- managed.c ---- */
/* Tunnels of this client end; what their kill switch holds, it goes on holding. */
void manager_owner_gone(struct manager *manager, const struct client *client);
/* Nothing is kept of another program's tunnel that is down. Not from within what a tunnel tells: then later.
 */
void manager_forget_managed(struct manager *manager);
void manager_forget_managed_later(struct manager *manager);

/* ---- requests.c ---- */
extern const struct tunnel_events requests_tunnel_events;
/* A waiter's time is over. */
void requests_late(struct waiter *waiter, void *user);
/* The tunnel is down and its processes are gone. Frees the waiter. */
void requests_answer_down(struct waiter *waiter);

#endif
