/* SPDX-License-Identifier: MIT */
#include "gui/link/link.h"

#include "core/base/wipe.h"
#include "core/port/handover.h"
#include "core/port/rights.h"

#include <errno.h>
#include <gio/gio.h>
#include <gio/gunixsocketaddress.h>

#define RETRY_MS 1000

struct waiter {
	int64_t id;
	void (*answered)(struct rpc_event *event, void *user);
	void *user;
};

struct link {
	char *path;
	struct link_events events;
	void *user;
	struct rpc_conn *conn; /* NULL: not connected */
	GSocket *socket;
	GSource *readable, *writable;
	guint retry; /* source */
	int told;    /* what connection() was last called with; 1: nothing yet */
	GArray *waiters;
	char buffer[16384];
	int beside; /* a handle that came beside the bytes, and is not taken yet; -1: none */
};

static void connect_soon(struct link *link, guint delay_ms);

static int errno_of(const GError *error)
{
	if (!g_error_matches(error, G_IO_ERROR, G_IO_ERROR_FAILED)) {
		switch ((GIOErrorEnum)error->code) {
		case G_IO_ERROR_NOT_FOUND:
			return -ENOENT;
		case G_IO_ERROR_CONNECTION_REFUSED:
			return -ECONNREFUSED;
		case G_IO_ERROR_PERMISSION_DENIED:
			return -EACCES;
		case G_IO_ERROR_FILENAME_TOO_LONG:
		case G_IO_ERROR_INVALID_ARGUMENT:
			return -ENAMETOOLONG;
		default: /* somebody else's enum */
			break;
		}
	}
	return -EIO;
}

static void remove_source(GSource **source)
{
	if (!*source)
		return;
	g_source_destroy(*source);
	g_clear_pointer(source, g_source_unref);
}

static void close_socket(struct link *link)
{
	remove_source(&link->readable);
	remove_source(&link->writable);
	g_clear_object(&link->socket);
	rpc_conn_free(link->conn);
	link->conn = NULL;
	handover_close(link->beside);
	link->beside = -1;
}

static void tell_connection(struct link *link, int err)
{
	if (link->told == err)
		return;
	link->told = err;
	link->events.connection(err, link->user);
}

static void lose(struct link *link, int err)
{
	GArray *waiters = link->waiters;

	close_socket(link);
	/* Those who are told may ask again, and be told at once that there is no connection. */
	link->waiters = g_array_new(FALSE, FALSE, sizeof(struct waiter));
	for (guint i = 0; i < waiters->len; i++) {
		struct waiter *waiter = &g_array_index(waiters, struct waiter, i);

		if (waiter->answered)
			waiter->answered(NULL, waiter->user);
	}
	g_array_unref(waiters);
	tell_connection(link, err);
	connect_soon(link, RETRY_MS);
}

static void answer(struct link *link, struct rpc_event *event)
{
	struct waiter found = { 0 };

	for (guint i = 0; i < link->waiters->len && !found.id; i++) {
		struct waiter *waiter = &g_array_index(link->waiters, struct waiter, i);

		/* An error without an id can only be about the oldest. */
		if (waiter->id == event->id || !event->id) {
			found = *waiter;
			g_array_remove_index(link->waiters, i);
		}
	}
	if (found.answered)
		found.answered(event, found.user);
}

/* ---- reading and writing ---- */

static gboolean on_writable(GSocket *socket, GIOCondition condition, gpointer user);

/* Sends what the socket takes; the rest when it takes more. 0 or -errno. */
static int flush(struct link *link)
{
	const char *bytes;
	size_t len;

	while ((bytes = rpc_conn_output(link->conn, &len)) && len) {
		GError *error = NULL;
		gssize sent = g_socket_send(link->socket, bytes, len, NULL, &error);

		if (sent > 0) {
			rpc_conn_sent(link->conn, (size_t)sent);
			continue;
		}
		if (error && g_error_matches(error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK)) {
			g_error_free(error);
			if (!link->writable) {
				link->writable = g_socket_create_source(link->socket, G_IO_OUT, NULL);
				g_source_set_callback(link->writable, G_SOURCE_FUNC(on_writable), link, NULL);
				g_source_attach(link->writable, NULL);
			}
			return 0;
		}
		g_clear_error(&error);
		return -EPIPE;
	}
	return 0;
}

static gboolean on_writable(GSocket *socket, GIOCondition condition, gpointer user)
{
	struct link *link = user;

	(void)socket;
	(void)condition;
	remove_source(&link->writable);
	if (flush(link))
		lose(link, -EPIPE);
	return G_SOURCE_REMOVE;
}

/* The text that came beside an answer, into it. 0 or -errno. */
static int take_text(struct link *link, struct rpc_event *event)
{
	uint32_t len = rpc_event_beside(event);
	int handle = link->beside;

	if (!len)
		return 0;
	link->beside = -1;
	return handle < 0 ? -EPROTO : handover_take(handle, len, &event->result.exported.text);
}

/* 0, or -errno when the connection is of no use any more. */
static int take_events(struct link *link)
{
	struct rpc_event event;
	int taken;

	while ((taken = rpc_conn_next(link->conn, &event)) == 1) {
		taken = take_text(link, &event);
		if (taken) {
			rpc_event_free(&event);
			return taken;
		}
		link->events.event(&event, link->user);
		if (event.kind != RPC_EVENT_NOTICE)
			answer(link, &event);
		rpc_event_free(&event);
		if (!link->conn)
			return 0;
	}
	return taken;
}

static gboolean on_readable(GSocket *socket, GIOCondition condition, gpointer user)
{
	struct link *link = user;
	int handle, err;
	long got = rights_receive(g_socket_get_fd(socket), link->buffer, sizeof(link->buffer), &handle, false, NULL);

	(void)condition;
	if (got == -EAGAIN)
		return G_SOURCE_CONTINUE;
	if (handle >= 0) {
		handover_close(link->beside);
		link->beside = handle;
	}
	if (got <= 0) {
		lose(link, -EPIPE);
		return G_SOURCE_REMOVE;
	}
	err = rpc_conn_feed(link->conn, link->buffer, (size_t)got);
	/* An exported profile, say. */
	memory_wipe(link->buffer, (size_t)got);
	if (!err)
		err = take_events(link);
	if (!err)
		return G_SOURCE_CONTINUE;
	lose(link, err == -EMSGSIZE ? -EPROTO : err);
	return G_SOURCE_REMOVE;
}

/* ---- connecting ---- */

static gboolean on_connect(gpointer user)
{
	struct link *link = user;
	GSocketAddress *address;
	GError *error = NULL;
	int err = 0;

	link->retry = 0;
	/* g_unix_socket_address_new cuts a path that is too long, and another file would be opened. */
	if (strlen(link->path) >= 108) {
		tell_connection(link, -ENAMETOOLONG);
		return G_SOURCE_REMOVE;
	}
	address = g_unix_socket_address_new(link->path);
	link->socket = g_socket_new(G_SOCKET_FAMILY_UNIX, G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_DEFAULT, &error);
	/* A local socket connects at once. */
	if (!link->socket || !g_socket_connect(link->socket, address, NULL, &error))
		err = errno_of(error);
	g_clear_error(&error);
	g_object_unref(address);
	if (!err) {
		link->conn = rpc_conn_new();
		err = link->conn ? 0 : -ENOMEM;
	}
	if (err) {
		close_socket(link);
		/* That it was lost is the better word as long as nobody listens. */
		if (link->told != -EPIPE || (err != -ENOENT && err != -ECONNREFUSED))
			tell_connection(link, err);
		connect_soon(link, RETRY_MS);
		return G_SOURCE_REMOVE;
	}
	g_socket_set_blocking(link->socket, FALSE);
	link->readable = g_socket_create_source(link->socket, G_IO_IN, NULL);
	g_source_set_callback(link->readable, G_SOURCE_FUNC(on_readable), link, NULL);
	g_source_attach(link->readable, NULL);
	tell_connection(link, 0);
	return G_SOURCE_REMOVE;
}

static void connect_soon(struct link *link, guint delay_ms)
{
	if (!link->retry)
		/* Not as an idle source: where drawing is slow, the animation of "Connecting" leaves
		 * no idle turn. */
		link->retry = g_timeout_add(delay_ms, on_connect, link);
}

/* ---- for the owner ---- */

struct link *link_new(const char *path, const struct link_events *events, void *user)
{
	struct link *link = g_new0(struct link, 1);

	link->path = g_strdup(path);
	link->events = *events;
	link->user = user;
	link->told = 1;
	link->beside = -1;
	link->waiters = g_array_new(FALSE, FALSE, sizeof(struct waiter));
	connect_soon(link, 0);
	return link;
}

void link_free(struct link *link)
{
	if (!link)
		return;
	if (link->retry)
		g_source_remove(link->retry);
	close_socket(link);
	g_array_unref(link->waiters);
	g_free(link->path);
	g_free(link);
}

int link_ask(struct link *link, const struct rpc_request *request,
	void (*answered)(struct rpc_event *event, void *user), void *user)
{
	struct waiter waiter = { 0, answered, user };

	if (!link->conn)
		return -ENOTCONN;
	waiter.id = rpc_conn_request(link->conn, request);
	if (waiter.id < 0)
		return (int)waiter.id;
	g_array_append_val(link->waiters, waiter);
	/* A daemon that is gone is noticed by reading. */
	flush(link);
	return 0;
}

void link_forget(struct link *link, void *user)
{
	for (guint i = 0; i < link->waiters->len; i++) {
		struct waiter *waiter = &g_array_index(link->waiters, struct waiter, i);

		if (waiter->user == user)
			waiter->answered = NULL;
	}
}

bool link_is_idle(const struct link *link)
{
	return link->waiters->len == 0;
}
