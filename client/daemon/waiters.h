/* SPDX-License-Identifier: MIT */
/* Requests that are answered later: who asked, for which tunnel, until when. Main thread. */
#ifndef WGTCP_CLIENT_DAEMON_WAITERS_H
#define WGTCP_CLIENT_DAEMON_WAITERS_H

#include "client/daemon/listener.h"
#include "core/base/time.h"

#include <glib.h>

enum waiter_kind { WAITER_UP, WAITER_DOWN, WAITER_SWITCH, WAITER_STATUS };

struct waiter {
	enum waiter_kind kind;
	char name[16];
	struct client *client; /* NULL: it has gone */
	struct rpc_id id;
	bool began;        /* up: it began the bring-up */
	uint32_t from;     /* status: of a tunnel's peers, or of the tunnels */
	struct mono asked; /* status: numbers must not be older */
	uint32_t timeout_ms;
	guint timer;
	struct waiters *owner;
};

struct waiters;

/* late: a waiter's time is over. It is still there. */
struct waiters *waiters_new(void (*late)(struct waiter *waiter, void *user), void *user);
void waiters_free(struct waiters *waiters);

struct waiter *waiters_add(struct waiters *waiters, enum waiter_kind kind, const char *name,
	struct client *client, const struct rpc_id *id, uint32_t timeout_ms);
/* Takes one of that kind for that tunnel out, the oldest first; NULL when there is none. Freed by
 * waiter_free. */
struct waiter *waiters_take(struct waiters *waiters, enum waiter_kind kind, const char *name);
/* Takes one of that kind out, of any tunnel, for which fits is true; NULL when there is none. */
struct waiter *waiters_take_if(struct waiters *waiters, enum waiter_kind kind,
	bool (*fits)(const struct waiter *waiter, void *user), void *user);
/* Takes this one out. */
void waiters_remove(struct waiters *waiters, struct waiter *waiter);
/* The first of that kind that this client asked for with the id `number`, or, with client NULL, anybody. */
struct waiter *waiters_find(const struct waiters *waiters, enum waiter_kind kind, const char *name,
	const struct client *client, int64_t number);
bool waiters_has(const struct waiters *waiters, enum waiter_kind kind, const char *name);
void waiters_client_gone(struct waiters *waiters, const struct client *client);
/* Calls each of that kind for that tunnel. */
void waiters_each(const struct waiters *waiters, enum waiter_kind kind, const char *name,
	void (*call)(struct waiter *waiter, void *user), void *user);
void waiter_free(struct waiter *waiter);

#endif
