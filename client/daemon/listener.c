/* SPDX-License-Identifier: MIT */
/* Accepting, reading, writing; what is asked goes to methods.c. */
#include "client/daemon/listener.h"
#include "client/daemon/daemon.h"
#include "client/daemon/journal.h"
#include "client/daemon/listener_socket.h"
#include "client/daemon/manager.h"
#include "client/daemon/methods.h"
#include "client/daemon/polkit.h"
#include "client/rpc/server.h"
#include "core/port/handover.h"
#include "core/port/rights.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <glib.h>
#include <grp.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define AGAIN_S 5
/* Nobody is accepted for so long when descriptors or memory are used up: who waits would wake us all the time. */
#define REST_MS 500
#define GROUPS_MAX 1024

struct client {
	struct listener *listener;
	int fd;
	guint read_source, write_source, flush_source;
	struct rpc_server *server;
	int beside;       /* a handle that goes with the output's byte number beside_at; -1: none */
	size_t beside_at;
	uid_t uid;
	bool is_root, is_member, follows_log, closing;
	struct polkit_question *question; /* NULL: he is not being asked */
	struct rpc_request asked_for;     /* its id, name and beside only */
	void (*answered)(struct daemon *daemon, struct client *client, const struct rpc_request *request,
		bool allowed);
};

struct listener {
	struct daemon *daemon;
	char *path;
	int fd;
	bool given; /* by the service manager, whose file it is */
	guint source, again;
	struct listener_file *file;
	GPtrArray *clients;
};

static gboolean writable(gint fd, GIOCondition condition, gpointer user);

/* ---- who is there ---- */

static bool in_group(int fd, const struct ucred *peer)
{
	const struct group *group = getgrnam(LISTENER_GROUP);
	gid_t groups[GROUPS_MAX];
	socklen_t len = sizeof(groups);
	size_t i;

	if (!group)
		return false;
	if (peer->gid == group->gr_gid)
		return true;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &len) != 0)
		return false;
	for (i = 0; i < len / sizeof(*groups); i++)
		if (groups[i] == group->gr_gid)
			return true;
	return false;
}

static void identify(struct client *client)
{
	struct ucred peer = { .uid = (uid_t)-1, .gid = (gid_t)-1 };
	socklen_t len = sizeof(peer);

	if (getsockopt(client->fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0)
		return;
	client->uid = peer.uid;
	/* Whoever runs the daemon is its root: it has no more rights than he. */
	client->is_root = peer.uid == 0 || peer.uid == geteuid();
	client->is_member = client->is_root || in_group(client->fd, &peer);
}

bool client_may_do_all(const struct client *client)
{
	return client->is_member;
}

bool client_is_root(const struct client *client)
{
	return client->is_root;
}

unsigned client_user(const struct client *client)
{
	return client->uid;
}

static void polkit_answered(bool allowed, void *user)
{
	struct client *client = user;

	client->question = NULL;
	client->answered(client->listener->daemon, client, &client->asked_for, allowed);
}

bool client_ask(struct client *client, const char *action, const struct rpc_request *request,
	void (*answered)(struct daemon *daemon, struct client *client, const struct rpc_request *request,
		bool allowed))
{
	if (client->question)
		return false;
	client->answered = answered;
	client->asked_for =
		(struct rpc_request){ .method = request->method, .id = request->id, .beside = request->beside };
	memcpy(client->asked_for.name, request->name, sizeof(client->asked_for.name));
	client->question =
		polkit_ask(client->listener->daemon->bus, client->fd, action, polkit_answered, client);
	return client->question != NULL;
}

void client_follow_log(struct client *client)
{
	client->follows_log = true;
}

/* ---- one client ---- */

static void client_free(gpointer data)
{
	struct client *client = data;

	if (client->read_source)
		g_source_remove(client->read_source);
	if (client->write_source)
		g_source_remove(client->write_source);
	if (client->flush_source)
		g_source_remove(client->flush_source);
	polkit_cancel(client->question);
	handover_close(client->beside);
	close(client->fd);
	rpc_server_free(client->server);
	g_free(client);
}

static void drop(struct client *client)
{
	struct listener *listener = client->listener;

	if (listener->daemon->manager)
		manager_client_gone(listener->daemon->manager, client);
	g_ptr_array_remove(listener->clients, client);
}

/* As rights_send, up to what has a handle beside it, or from there on with it. */
static long send_some(struct client *client, const char *bytes, size_t len)
{
	bool with = client->beside >= 0 && client->beside_at == 0;
	long sent;

	if (client->beside >= 0 && !with && len > client->beside_at)
		len = client->beside_at;
	sent = rights_send(client->fd, bytes, len, with ? client->beside : -1, false);
	if (sent > 0 && with) {
		handover_close(client->beside);
		client->beside = -1;
	} else if (sent > 0 && client->beside >= 0) {
		client->beside_at -= (size_t)sent;
	}
	return sent;
}

/* Sends what the socket takes. False: the client is to be dropped. */
static bool flush(struct client *client)
{
	const char *bytes;
	size_t len;

	if (rpc_server_failed(client->server))
		return false;
	while ((bytes = rpc_server_output(client->server, &len)) && len > 0) {
		long n = send_some(client, bytes, len);

		if (n == -EAGAIN) {
			if (!client->write_source)
				client->write_source = g_unix_fd_add(client->fd, G_IO_OUT, writable, client);
			return true;
		}
		if (n < 0)
			return false;
		rpc_server_sent(client->server, (size_t)n);
	}
	return !client->closing;
}

static gboolean writable(gint fd, GIOCondition condition, gpointer user)
{
	struct client *client = user;

	(void)fd;
	(void)condition;
	client->write_source = 0;
	if (!flush(client))
		drop(client);
	return G_SOURCE_REMOVE;
}

static gboolean flush_later(gpointer user)
{
	struct client *client = user;

	client->flush_source = 0;
	if (!flush(client))
		drop(client);
	return G_SOURCE_REMOVE;
}

/* Never from within a call that may still use the client: it might have to be dropped. */
static void want_flush(struct client *client)
{
	/* One who does not read never becomes writable, and is dropped all the same. */
	if (!client->flush_source && (!client->write_source || rpc_server_failed(client->server)))
		client->flush_source = g_idle_add_full(G_PRIORITY_DEFAULT, flush_later, client, NULL);
}

void client_reply(struct client *client, const struct rpc_id *id, const struct rpc_result *result)
{
	rpc_server_reply(client->server, id, result);
	want_flush(client);
}

int client_reply_beside(struct client *client, const struct rpc_id *id, const struct rpc_result *result,
	const char *text, size_t len)
{
	size_t before, after;
	int handle;

	if (client->beside >= 0)
		return -EBUSY;
	handle = handover_make(text, len);
	if (handle < 0)
		return handle;
	(void)rpc_server_output(client->server, &before);
	client_reply(client, id, result);
	(void)rpc_server_output(client->server, &after);
	/* Nobody is answered who gave no id. */
	if (after == before) {
		handover_close(handle);
		return 0;
	}
	client->beside = handle;
	client->beside_at = before;
	return 0;
}

void client_reply_error(struct client *client, const struct rpc_id *id, struct rpc_error *error)
{
	rpc_server_reply_error(client->server, id, error);
	rpc_error_free(error);
	want_flush(client);
}

void client_notify(struct client *client, const struct rpc_notice *notice)
{
	rpc_server_notify(client->server, notice);
	want_flush(client);
}

static void handle_requests(struct client *client)
{
	struct rpc_request request;

	while (rpc_server_next(client->server, &request)) {
		methods_handle(client->listener->daemon, client, &request);
		rpc_request_free(&request);
	}
	want_flush(client);
}

static gboolean readable(gint fd, GIOCondition condition, gpointer user)
{
	struct client *client = user;
	char bytes[16384];
	ssize_t n = recv(fd, bytes, sizeof(bytes), 0);
	bool failed;

	(void)condition;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return G_SOURCE_CONTINUE;
	if (n <= 0) {
		client->read_source = 0;
		drop(client);
		return G_SOURCE_REMOVE;
	}
	failed = rpc_server_feed(client->server, bytes, (size_t)n) != 0;
	explicit_bzero(bytes, (size_t)n); /* an import holds a key */
	if (failed) {
		client->read_source = 0;
		client->closing = true;
		want_flush(client);
		return G_SOURCE_REMOVE;
	}
	handle_requests(client);
	return G_SOURCE_CONTINUE;
}

/* Whether this user, who may only read, holds his share already. */
static bool is_one_too_many(const struct listener *listener, const struct client *client)
{
	size_t own = 0, readers = 0;
	guint i;

	if (client->is_member)
		return false;
	for (i = 0; i < listener->clients->len; i++) {
		const struct client *other = g_ptr_array_index(listener->clients, i);

		readers += !other->is_member;
		own += !other->is_member && other->uid == client->uid;
	}
	return own >= LISTENER_READER_MAX || readers >= LISTENER_READERS_MAX;
}

static gboolean acceptable(gint fd, GIOCondition condition, gpointer user);

static gboolean rested(gpointer user)
{
	struct listener *listener = user;

	listener->source = g_unix_fd_add(listener->fd, G_IO_IN, acceptable, listener);
	return G_SOURCE_REMOVE;
}

static gboolean acceptable(gint fd, GIOCondition condition, gpointer user)
{
	struct listener *listener = user;
	struct client *client;
	int peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)condition;
	if (peer < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)) {
		listener->source = g_timeout_add(REST_MS, rested, listener);
		return G_SOURCE_REMOVE;
	}
	if (peer < 0)
		return G_SOURCE_CONTINUE;
	if (listener->clients->len >= LISTENER_CLIENTS_MAX) {
		close(peer);
		return G_SOURCE_CONTINUE;
	}
	client = g_new0(struct client, 1);
	client->listener = listener;
	client->fd = peer;
	client->beside = -1;
	client->server = rpc_server_new();
	if (!client->server) {
		close(peer);
		g_free(client);
		return G_SOURCE_CONTINUE;
	}
	identify(client);
	if (is_one_too_many(listener, client)) {
		client_free(client);
		return G_SOURCE_CONTINUE;
	}
	client->read_source = g_unix_fd_add(peer, G_IO_IN | G_IO_HUP | G_IO_ERR, readable, client);
	g_ptr_array_add(listener->clients, client);
	return G_SOURCE_CONTINUE;
}

static void log_added(const struct journal_line *line, void *user)
{
	struct listener *listener = user;
	struct rpc_notice notice = { .kind = RPC_NOTICE_LOG };
	guint i;

	methods_log_entry(line, &notice.log);
	for (i = 0; i < listener->clients->len; i++) {
		struct client *client = g_ptr_array_index(listener->clients, i);

		if (client->follows_log)
			client_notify(client, &notice);
	}
}

/* ---- the socket ---- */

static int listen_at(struct listener *listener);

static gboolean try_again(gpointer user)
{
	struct listener *listener = user;

	listener->again = 0;
	if (listen_at(listener) != 0)
		listener->again = g_timeout_add_seconds(AGAIN_S, try_again, listener);
	return G_SOURCE_REMOVE;
}

/* Clients that are connected stay so; others would find nobody. */
static void file_gone(void *user)
{
	struct listener *listener = user;
	int error;

	if (listener->given) {
		journal_say(listener->daemon->journal, JOURNAL_WARNING, NULL,
			"somebody removed %s, which belongs to the service manager: `systemctl restart "
			"wgtcpd.socket` "
			"brings it back",
			listener->path);
		return;
	}
	listener_file_close(listener->file);
	listener->file = NULL;
	g_source_remove(listener->source);
	listener->source = 0;
	close(listener->fd);
	listener->fd = -1;
	error = listen_at(listener);
	if (error)
		listener->again = g_timeout_add_seconds(AGAIN_S, try_again, listener);
	journal_say(listener->daemon->journal, JOURNAL_WARNING, NULL, "somebody removed %s: %s%s",
		listener->path, error ? "it cannot be made again: " : "it was made again",
		error ? strerror(-error) : "");
}

static void begin(struct listener *listener)
{
	listener->source = g_unix_fd_add(listener->fd, G_IO_IN, acceptable, listener);
	listener->file = listener_file_watch(listener->path, file_gone, listener);
}

static int listen_at(struct listener *listener)
{
	int error = listener_socket_open(listener->path, &listener->fd);

	if (!error)
		begin(listener);
	return error;
}

/* The path of a socket that was handed over is the one that it is bound to. */
static char *bound_path(int fd, const char *otherwise)
{
	struct sockaddr_un address = { 0 };
	socklen_t len = sizeof(address);

	if (getsockname(fd, (struct sockaddr *)&address, &len) != 0 || address.sun_path[0] != '/')
		return g_strdup(otherwise);
	return g_strndup(address.sun_path, sizeof(address.sun_path));
}

int listener_open(struct daemon *daemon, const char *path, int given, struct listener **out)
{
	struct listener *listener = g_new0(struct listener, 1);
	int error = 0;

	listener->daemon = daemon;
	listener->given = given >= 0;
	listener->fd = given;
	listener->path = listener->given ? bound_path(given, path) : g_strdup(path);
	if (listener->given)
		begin(listener);
	else
		error = listen_at(listener);
	if (error) {
		g_free(listener->path);
		g_free(listener);
		return error;
	}
	listener->clients = g_ptr_array_new_with_free_func(client_free);
	journal_watch(daemon->journal, log_added, listener);
	*out = listener;
	return 0;
}

void listener_close(struct listener *listener)
{
	guint i;

	if (!listener)
		return;
	journal_watch(listener->daemon->journal, NULL, NULL);
	for (i = 0; i < listener->clients->len; i++)
		(void)flush(g_ptr_array_index(listener->clients, i));
	g_ptr_array_unref(listener->clients);
	if (listener->again)
		g_source_remove(listener->again);
	if (listener->source)
		g_source_remove(listener->source);
	if (listener->fd >= 0)
		close(listener->fd);
	if (listener->given)
		listener_file_forget(listener->file);
	else
		listener_file_close(listener->file);
	g_free(listener->path);
	g_free(listener);
}
