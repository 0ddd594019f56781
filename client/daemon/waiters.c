/* SPDX-License-Identifier: MIT */
/* The list of requests under way. Used by manager.c. */
#include "client/daemon/waiters.h"

#include <string.h>

struct waiters {
	GPtrArray *list;
	void (*late)(struct waiter *waiter, void *user);
	void *user;
};

void waiter_free(struct waiter *waiter)
{
	if (waiter->timer)
		g_source_remove(waiter->timer);
	g_free(waiter);
}

static void free_item(gpointer item)
{
	waiter_free(item);
}

static gboolean time_over(gpointer user)
{
	struct waiter *waiter = user;

	waiter->timer = 0;
	waiter->owner->late(waiter, waiter->owner->user);
	return G_SOURCE_REMOVE;
}

struct waiters *waiters_new(void (*late)(struct waiter *waiter, void *user), void *user)
{
	struct waiters *waiters = g_new0(struct waiters, 1);

	waiters->list = g_ptr_array_new_with_free_func(free_item);
	waiters->late = late;
	waiters->user = user;
	return waiters;
}

void waiters_free(struct waiters *waiters)
{
	if (!waiters)
		return;
	g_ptr_array_unref(waiters->list);
	g_free(waiters);
}

struct waiter *waiters_add(struct waiters *waiters, enum waiter_kind kind, const char *name,
	struct client *client, const struct rpc_id *id, uint32_t timeout_ms)
{
	struct waiter *waiter = g_new0(struct waiter, 1);

	waiter->kind = kind;
	g_strlcpy(waiter->name, name, sizeof(waiter->name));
	waiter->client = client;
	if (id)
		waiter->id = *id;
	waiter->owner = waiters;
	waiter->timeout_ms = timeout_ms;
	if (timeout_ms)
		waiter->timer = g_timeout_add(timeout_ms, time_over, waiter);
	g_ptr_array_add(waiters->list, waiter);
	return waiter;
}

struct waiter *waiters_find(const struct waiters *waiters, enum waiter_kind kind, const char *name,
	const struct client *client, int64_t number)
{
	guint i;

	for (i = 0; i < waiters->list->len; i++) {
		struct waiter *waiter = g_ptr_array_index(waiters->list, i);

		if (waiter->kind == kind && !strcmp(waiter->name, name) &&
			(!client || (waiter->client == client && waiter->id.kind == RPC_ID_NUMBER &&
					    waiter->id.number == number)))
			return waiter;
	}
	return NULL;
}

bool waiters_has(const struct waiters *waiters, enum waiter_kind kind, const char *name)
{
	return waiters_find(waiters, kind, name, NULL, 0) != NULL;
}

void waiters_remove(struct waiters *waiters, struct waiter *waiter)
{
	guint index;

	if (g_ptr_array_find(waiters->list, waiter, &index))
		g_ptr_array_steal_index(waiters->list, index);
}

struct waiter *waiters_take(struct waiters *waiters, enum waiter_kind kind, const char *name)
{
	struct waiter *waiter = waiters_find(waiters, kind, name, NULL, 0);

	if (waiter)
		waiters_remove(waiters, waiter);
	return waiter;
}

struct waiter *waiters_take_if(struct waiters *waiters, enum waiter_kind kind,
	bool (*fits)(const struct waiter *waiter, void *user), void *user)
{
	guint i;

	for (i = 0; i < waiters->list->len; i++) {
		struct waiter *waiter = g_ptr_array_index(waiters->list, i);

		if (waiter->kind == kind && fits(waiter, user)) {
			g_ptr_array_steal_index(waiters->list, i);
			return waiter;
		}
	}
	return NULL;
}

void waiters_client_gone(struct waiters *waiters, const struct client *client)
{
	guint i;

	for (i = 0; i < waiters->list->len; i++) {
		struct waiter *waiter = g_ptr_array_index(waiters->list, i);

		if (waiter->client == client)
			waiter->client = NULL;
	}
}

void waiters_each(const struct waiters *waiters, enum waiter_kind kind, const char *name,
	void (*call)(struct waiter *waiter, void *user), void *user)
{
	guint i;

	for (i = 0; i < waiters->list->len; i++) {
		struct waiter *waiter = g_ptr_array_index(waiters->list, i);

		if (waiter->kind == kind && !strcmp(waiter->name, name))
			call(waiter, user);
	}
}
