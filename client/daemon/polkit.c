/* SPDX-License-Identifier: MIT */
/* The process is named by its number, its start and its user, all as of the moment when it connected: a
 * number alone could be somebody else's by the time that polkit looks. The number is read from the socket and
 * held by a pidfd of that very process while its start is read. Used by methods_profile.c by way of
 * listener.c. Source: org.freedesktop.PolicyKit1 Authority; socket(7), SO_PEERPIDFD. */
#include "client/daemon/polkit.h"

#include "client/daemon/bus.h"
#include "client/daemon/process.h"

#include <gio/gio.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* Linux 6.5 */
#endif

#define NAME "org.freedesktop.PolicyKit1"
#define PATH "/org/freedesktop/PolicyKit1/Authority"
#define INTERFACE "org.freedesktop.PolicyKit1.Authority"
/* A person looks for his password. */
#define PATIENCE_MS 300000
#define ALLOW_INTERACTION 1u

struct polkit_question {
	GCancellable *cancel;
	int process; /* pidfd */
	void (*answered)(bool allowed, void *user);
	void *user;
};

static void question_free(struct polkit_question *question)
{
	g_object_unref(question->cancel);
	if (question->process >= 0)
		close(question->process);
	g_free(question);
}

static bool is_alive(int process)
{
	struct pollfd ends = { .fd = process, .events = POLLIN };

	return poll(&ends, 1, 0) == 0;
}

static void done(GObject *source, GAsyncResult *result, gpointer user)
{
	struct polkit_question *question = user;
	GError *error = NULL;
	GVariant *value = g_dbus_connection_call_finish(G_DBUS_CONNECTION(source), result, &error);
	gboolean allowed = FALSE, challenge;

	if (!value && g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED)) {
		g_error_free(error);
		question_free(question);
		return;
	}
	g_clear_error(&error);
	if (value) {
		g_variant_get(value, "((bba{ss}))", &allowed, &challenge, NULL);
		g_variant_unref(value);
	}
	/* Cancelled when it had been answered already: nobody waits. Else the process has to be there still.
	 */
	if (question->answered)
		question->answered(allowed && is_alive(question->process), question->user);
	question_free(question);
}

/* The process that connected, held so that its number stays its own. -1: it is gone, or cannot be told. */
static int hold_process(int socket, const struct ucred *peer)
{
	socklen_t len = sizeof(int);
	int process = -1;

	if (getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &process, &len) == 0)
		return process;
	/* An older kernel: what has the number now, whose start is then compared by polkit too. */
	return (int)syscall(SYS_pidfd_open, peer->pid, 0);
}

static GVariant *subject(const struct ucred *peer, uint64_t start_time)
{
	GVariantBuilder details;

	g_variant_builder_init(&details, G_VARIANT_TYPE("a{sv}"));
	g_variant_builder_add(&details, "{sv}", "pid", g_variant_new_uint32((guint32)peer->pid));
	g_variant_builder_add(&details, "{sv}", "start-time", g_variant_new_uint64(start_time));
	g_variant_builder_add(&details, "{sv}", "uid", g_variant_new_int32((gint32)peer->uid));
	return g_variant_new("(sa{sv})", "unix-process", &details);
}

struct polkit_question *polkit_ask(struct bus *bus, int socket, const char *action,
	void (*answered)(bool allowed, void *user), void *user)
{
	GDBusConnection *connection = bus_connection(bus);
	struct polkit_question *question;
	GVariantBuilder details;
	struct ucred peer;
	socklen_t len = sizeof(peer);
	uint64_t start_time;
	int process;

	if (!connection || getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0 || peer.pid <= 0)
		return NULL;
	process = hold_process(socket, &peer);
	if (process < 0)
		return NULL;
	/* 0, where /proc hides others' processes: polkit looks then, while the pidfd is held, which is asked
	 * at the end. */
	start_time = process_start_time(peer.pid);
	if (!is_alive(process)) {
		close(process);
		return NULL;
	}
	question = g_new0(struct polkit_question, 1);
	question->cancel = g_cancellable_new();
	question->process = process;
	question->answered = answered;
	question->user = user;
	g_variant_builder_init(&details, G_VARIANT_TYPE("a{ss}"));
	g_dbus_connection_call(connection, NAME, PATH, INTERFACE, "CheckAuthorization",
		g_variant_new("(@(sa{sv})sa{ss}us)", subject(&peer, start_time), action, &details,
			ALLOW_INTERACTION, ""),
		G_VARIANT_TYPE("((bba{ss}))"), G_DBUS_CALL_FLAGS_NONE, PATIENCE_MS, question->cancel, done,
		question);
	return question;
}

void polkit_cancel(struct polkit_question *question)
{
	if (!question)
		return;
	question->answered = NULL;
	g_cancellable_cancel(question->cancel); /* done frees it */
}
