/* SPDX-License-Identifier: MIT */
/* See wire.h. */
#include "client/nm/wire.h"

#include "core/base/wipe.h"

#include <errno.h>
#include <glib-unix.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct wire {
	struct wire_events events;
	void *user;
	struct rpc_conn *conn;
	int fd;
	guint readable, writable; /* sources */
	bool closed, busy;        /* closed from within an event: freed when that returns */
};

static void release(struct wire *wire)
{
	if (wire->readable)
		g_source_remove(wire->readable);
	if (wire->writable)
		g_source_remove(wire->writable);
	close(wire->fd);
	rpc_conn_free(wire->conn);
	free(wire);
}

static gboolean on_writable(gint fd, GIOCondition condition, gpointer user);

/* An error shows itself when reading. */
static void flush(struct wire *wire)
{
	const char *bytes;
	size_t len;

	while ((bytes = rpc_conn_output(wire->conn, &len)) && len) {
		ssize_t sent = send(wire->fd, bytes, len, MSG_NOSIGNAL);

		if (sent < 0 && errno == EAGAIN) {
			if (!wire->writable)
				wire->writable = g_unix_fd_add(wire->fd, G_IO_OUT, on_writable, wire);
			return;
		}
		if (sent < 0)
			return;
		rpc_conn_sent(wire->conn, (size_t)sent);
	}
}

static gboolean on_writable(gint fd, GIOCondition condition, gpointer user)
{
	struct wire *wire = user;

	(void)fd;
	(void)condition;
	wire->writable = 0;
	flush(wire);
	return G_SOURCE_REMOVE;
}

/* False: what came is not our protocol. */
static bool take_events(struct wire *wire)
{
	struct rpc_event event;
	int taken = 0;

	while (!wire->closed && (taken = rpc_conn_next(wire->conn, &event)) == 1) {
		wire->events.event(&event, wire->user);
		rpc_event_free(&event);
	}
	return taken >= 0;
}

static gboolean on_readable(gint fd, GIOCondition condition, gpointer user)
{
	struct wire *wire = user;
	char bytes[16384];
	ssize_t got = recv(fd, bytes, sizeof(bytes), 0);
	bool good;

	(void)condition;
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return G_SOURCE_CONTINUE;
	wire->busy = true;
	good = got > 0 && rpc_conn_feed(wire->conn, bytes, (size_t)got) == 0 && take_events(wire);
	if (!good && !wire->closed)
		wire->events.lost(wire->user);
	wire->busy = false;
	if (good && !wire->closed)
		return G_SOURCE_CONTINUE;
	wire->readable = 0;
	if (wire->closed)
		release(wire);
	return G_SOURCE_REMOVE;
}

int wire_open(const char *path, const struct wire_events *events, void *user, struct wire **out)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct wire *wire;
	int error;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	wire = calloc(1, sizeof(*wire));
	if (!wire)
		return -ENOMEM;
	wire->events = *events;
	wire->user = user;
	wire->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	error = wire->fd < 0 || connect(wire->fd, (struct sockaddr *)&address, sizeof(address)) != 0 ? -errno
												     : 0;
	if (!error) {
		g_unix_set_fd_nonblocking(wire->fd, TRUE, NULL);
		wire->conn = rpc_conn_new();
		error = wire->conn ? 0 : -ENOMEM;
	}
	if (error) {
		release(wire);
		return error;
	}
	wire->readable = g_unix_fd_add(wire->fd, G_IO_IN | G_IO_HUP | G_IO_ERR, on_readable, wire);
	*out = wire;
	return 0;
}

void wire_close(struct wire *wire)
{
	if (!wire)
		return;
	flush(wire);
	if (wire->busy)
		wire->closed = true;
	else
		release(wire);
}

int64_t wire_ask(struct wire *wire, const struct rpc_request *request)
{
	int64_t id = rpc_conn_request(wire->conn, request);

	if (id > 0)
		flush(wire);
	return id;
}
