/* SPDX-License-Identifier: MIT */
/* Used by names.c and portal.c. */
#include "client/daemon/prober.h"
#include "client/daemon/children.h"
#include "client/daemon/daemon.h"
#include "core/port/rights.h"

#include <errno.h>
#include <glib-unix.h>
#include <glib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* One that dies at once, again and again, is not started faster than this. */
#define AGAIN_MS 1000

struct asked {
	uint32_t id, mark;
	prober_answered *answered;
	void *user;
};

struct prober {
	struct daemon *daemon;
	uint32_t child; /* 0: none runs */
	int requests, questions;
	guint requests_source, questions_source, again;
	uint32_t last_id;
	GArray *asked; /* struct asked */
};

static void start(struct prober *prober);

static struct asked *find(const struct prober *prober, uint32_t id)
{
	guint i;

	for (i = 0; i < prober->asked->len; i++)
		if (g_array_index(prober->asked, struct asked, i).id == id)
			return &g_array_index(prober->asked, struct asked, i);
	return NULL;
}

static void forget(struct prober *prober, uint32_t id)
{
	guint i;

	for (i = 0; i < prober->asked->len; i++)
		if (g_array_index(prober->asked, struct asked, i).id == id) {
			g_array_remove_index_fast(prober->asked, i);
			return;
		}
}

static void tell(struct prober *prober, const struct probe_message *message)
{
	struct asked *found = find(prober, message->id), asked;

	if (!found)
		return;
	asked = *found;
	if (message->last)
		forget(prober, message->id);
	asked.answered(message, asked.user);
}

/* ---- sockets ---- */

static int open_socket(const struct prober *prober, const struct probe_question *question, int *fd)
{
	const struct asked *asked = find(prober, question->id);

	if (!asked)
		return ECANCELED;
	if ((question->family != IP_V4 && question->family != IP_V6) || question->stream > 1)
		return EINVAL;
	*fd = socket(question->family == IP_V4 ? AF_INET : AF_INET6,
		(question->stream ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (*fd < 0)
		return errno;
	if (asked->mark && setsockopt(*fd, SOL_SOCKET, SO_MARK, &asked->mark, sizeof(asked->mark)) != 0)
		return errno;
	return 0;
}

static gboolean questions_ready(gint handle, GIOCondition condition, gpointer user)
{
	struct prober *prober = user;
	struct probe_question question;
	ssize_t len = recv(handle, &question, sizeof(question), MSG_DONTWAIT);
	int fd = -1, error;

	(void)condition;
	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return G_SOURCE_CONTINUE;
	if (len != (ssize_t)sizeof(question)) {
		prober->questions_source = 0;
		return G_SOURCE_REMOVE; /* its end is told by the spawner */
	}
	error = open_socket(prober, &question, &fd);
	/* It waits for this one and has asked nothing else, so there is room. */
	(void)rights_send(handle, &error, sizeof(error), error ? -1 : fd, false);
	if (fd >= 0)
		close(fd);
	return G_SOURCE_CONTINUE;
}

/* ---- answers ---- */

static gboolean requests_ready(gint handle, GIOCondition condition, gpointer user)
{
	struct prober *prober = user;
	struct probe_message message;
	ssize_t len = recv(handle, &message, sizeof(message), MSG_DONTWAIT);

	(void)condition;
	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return G_SOURCE_CONTINUE;
	if (len != (ssize_t)sizeof(message)) {
		prober->requests_source = 0;
		return G_SOURCE_REMOVE;
	}
	/* It talks with strangers: what it says is taken for no more than it can be. */
	message.text[sizeof(message.text) - 1] = 0;
	if (message.count > PROBE_ADDRESSES_MAX || (message.family != IP_V4 && message.family != IP_V6))
		message.count = 0;
	tell(prober, &message);
	return G_SOURCE_CONTINUE;
}

/* ---- its life ---- */

static void stop(struct prober *prober)
{
	if (prober->requests_source)
		g_source_remove(prober->requests_source);
	if (prober->questions_source)
		g_source_remove(prober->questions_source);
	prober->requests_source = prober->questions_source = 0;
	if (prober->requests >= 0)
		close(prober->requests);
	if (prober->questions >= 0)
		close(prober->questions);
	prober->requests = prober->questions = -1;
	prober->child = 0;
}

static gboolean again_due(gpointer user)
{
	struct prober *prober = user;

	prober->again = 0;
	start(prober);
	return G_SOURCE_REMOVE;
}

static void exited(int error, void *user)
{
	struct prober *prober = user;

	(void)error;
	stop(prober);
	prober->again = g_timeout_add(AGAIN_MS, again_due, prober);
	while (prober->asked->len) {
		struct probe_message message = { .id = g_array_index(prober->asked, struct asked, 0).id,
			.status = PROBE_FAILED,
			.portal = PROBE_PORTAL_UNKNOWN,
			.last = 1 };

		tell(prober, &message);
	}
}

static void start(struct prober *prober)
{
	int requests[2], questions[2], handles[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, requests) != 0)
		return;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, questions) != 0) {
		close(requests[0]);
		close(requests[1]);
		return;
	}
	handles[0] = requests[1];
	handles[1] = questions[1];
	prober->requests = requests[0];
	prober->questions = questions[0];
	prober->child = children_start_probe(prober->daemon->children, handles, exited, prober);
	close(requests[1]);
	close(questions[1]);
	if (!prober->child) {
		stop(prober);
		return; /* the spawner is gone, and the daemon ends with it */
	}
	prober->requests_source =
		g_unix_fd_add(prober->requests, G_IO_IN | G_IO_HUP | G_IO_ERR, requests_ready, prober);
	prober->questions_source =
		g_unix_fd_add(prober->questions, G_IO_IN | G_IO_HUP | G_IO_ERR, questions_ready, prober);
}

struct prober *prober_new(struct daemon *daemon)
{
	struct prober *prober = g_new0(struct prober, 1);

	prober->daemon = daemon;
	prober->requests = prober->questions = -1;
	prober->asked = g_array_new(FALSE, FALSE, sizeof(struct asked));
	start(prober);
	return prober;
}

void prober_free(struct prober *prober)
{
	if (!prober)
		return;
	if (prober->again)
		g_source_remove(prober->again);
	if (prober->child)
		children_forget(prober->daemon->children, prober->child);
	stop(prober);
	g_array_unref(prober->asked);
	g_free(prober);
}

/* ---- requests ---- */

static uint32_t ask(struct prober *prober, enum probe_kind kind, const char *text,
	const struct underlay *underlay, uint32_t mark, prober_answered *answered, void *user)
{
	struct probe_message message = { .kind = kind, .count = (uint32_t)underlay->count };
	struct asked asked = { .mark = mark, .answered = answered, .user = user };

	if (!prober->child || strlen(text) >= sizeof(message.text))
		return 0;
	if (++prober->last_id == 0)
		prober->last_id = 1;
	message.id = asked.id = prober->last_id;
	memcpy(message.servers, underlay->servers, sizeof(message.servers));
	memcpy(message.search, underlay->search, sizeof(message.search));
	strcpy(message.text, text);
	/* Before it can ask for a socket. */
	g_array_append_val(prober->asked, asked);
	if (send(prober->requests, &message, sizeof(message), MSG_NOSIGNAL | MSG_DONTWAIT) !=
		(ssize_t)sizeof(message)) {
		forget(prober, asked.id);
		return 0;
	}
	return asked.id;
}

uint32_t prober_look_up(struct prober *prober, const char *host, const struct underlay *underlay,
	uint32_t mark, prober_answered *answered, void *user)
{
	return ask(prober, PROBE_LOOK_UP, host, underlay, mark, answered, user);
}

uint32_t prober_portal(struct prober *prober, const char *check, const struct underlay *underlay,
	uint32_t mark, prober_answered *answered, void *user)
{
	return ask(prober, PROBE_PORTAL, check, underlay, mark, answered, user);
}

void prober_cancel(struct prober *prober, uint32_t id)
{
	struct probe_message message = { .kind = PROBE_CANCEL, .id = id };

	if (!id || !find(prober, id))
		return;
	forget(prober, id);
	(void)!send(prober->requests, &message, sizeof(message), MSG_NOSIGNAL | MSG_DONTWAIT);
}
