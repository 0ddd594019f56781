/* SPDX-License-Identifier: MIT */
/* The backend that moves all packets in wgtcp-engine: a front here, an engine process behind its seam. Main
 * thread. */
#include "client/daemon/backend.h"
#include "client/daemon/children.h"
#include "client/daemon/daemon.h"
#include "client/daemon/journal.h"
#include "client/daemon/uapi_stream.h"
#include "core/port/front.h"
#include "core/port/net_config.h"

#include <errno.h>
#include <glib-unix.h>
#include <glib.h>
#include <unistd.h>

struct backend_run {
	struct daemon *daemon;
	char interface[16];
	struct front *front;
	guint source;
	struct uapi_stream *stream;
	uint32_t child; /* 0: none */
	bool lost;
	const struct backend_events *events;
	void *user;
	bool *destroyed; /* set while events are told */
};

static void engine_lost(struct backend_run *run)
{
	if (run->lost)
		return;
	run->lost = true;
	children_forget(run->daemon->children, run->child);
	run->child = 0;
	uapi_stream_free(run->stream);
	run->stream = NULL;
	run->events->lost(run->user);
}

static void engine_exited(int error, void *user)
{
	struct backend_run *run = user;

	(void)error;
	run->child = 0;
	engine_lost(run);
}

static void tell(struct backend_run *run, const struct front_event *event)
{
	switch (event->kind) {
	case FRONT_NOTHING:
	case FRONT_READY:
		break;
	case FRONT_REMEMBER:
		run->events->remember(event->public_key, event->value, run->user);
		break;
	case FRONT_PEER_CHANGED:
		run->events->peer_changed(run->user);
		break;
	case FRONT_MARK:
		run->events->timestamp(&event->wall, run->user);
		break;
	case FRONT_RESOLVE:
		run->events->resolve(event->public_key, run->user);
		break;
	case FRONT_NETWORK:
		run->events->network(run->user);
		break;
	case FRONT_LINK_GONE:
		run->events->link_gone(run->user);
		break;
	case FRONT_ENGINE_GONE:
		engine_lost(run);
		break;
	}
}

static gboolean front_ready(gint fd, GIOCondition condition, gpointer user)
{
	struct backend_run *run = user;
	struct front_event event;
	bool destroyed = false;

	(void)fd;
	(void)condition;
	run->destroyed = &destroyed;
	while (front_turn(run->front, &event) == 1) {
		tell(run, &event);
		if (destroyed)
			return G_SOURCE_REMOVE; /* it is removed already */
	}
	run->destroyed = NULL;
	return G_SOURCE_CONTINUE;
}

/* A process on the other end of the seam, and a stream to it. seam is closed. */
static int begin(struct backend_run *run, int seam)
{
	int stream;

	run->child =
		children_start(run->daemon->children, CHILD_ENGINE, seam, run->interface, engine_exited, run);
	close(seam);
	if (!run->child)
		return -EIO;
	stream = front_control(run->front);
	if (stream < 0) {
		children_forget(run->daemon->children, run->child);
		run->child = 0;
		return stream;
	}
	run->stream = uapi_stream_new(stream);
	run->lost = false;
	return 0;
}

static void userspace_destroy(struct backend_run *run)
{
	struct net_link link;

	if (!run)
		return;
	if (run->destroyed)
		*run->destroyed = true;
	if (run->source)
		g_source_remove(run->source);
	uapi_stream_free(run->stream);
	/* The engine holds the device open until it has ended: it must not be seen any more when we return.
	 */
	if (net_link_find(run->daemon->net, run->interface, &link) == 0 && link.tun &&
		link.index == front_interface_index(run->front))
		net_link_delete(run->daemon->net, link.index);
	front_send(run->front, &(struct seam_message){ .kind = SEAM_STOP });
	front_close(run->front);
	children_forget(run->daemon->children, run->child);
	g_free(run);
}

static int userspace_create(
	struct daemon *daemon, const struct backend_settings *settings, struct backend_run **out)
{
	struct front_settings front = { .interface = settings->interface,
		.uapi_directory = DAEMON_UAPI_FOLDER,
		.timestamp_floor = settings->timestamp_floor };
	struct backend_run *run = g_new0(struct backend_run, 1);
	int error, seam;

	run->daemon = daemon;
	run->events = settings->events;
	run->user = settings->user;
	g_strlcpy(run->interface, settings->interface, sizeof(run->interface));
	error = front_open(&front, &run->front, &seam);
	if (error) {
		g_free(run);
		return error;
	}
	run->source = g_unix_fd_add(front_handle(run->front), G_IO_IN, front_ready, run);
	error = begin(run, seam);
	if (error) {
		userspace_destroy(run);
		return error;
	}
	*out = run;
	return 0;
}

static int userspace_restart(struct backend_run *run)
{
	int error, seam;

	error = front_restart(run->front, &seam);
	return error ? error : begin(run, seam);
}

static void configured(int error, const struct uapi_device *device, void *user)
{
	struct backend_run *run = user;

	(void)device;
	run->events->configured(error, run->user);
}

static int userspace_configure(struct backend_run *run, const struct uapi_device *device)
{
	return run->stream ? uapi_stream_set(run->stream, device, configured, run) : -ENOTCONN;
}

static void answered(int error, const struct uapi_device *device, void *user)
{
	struct backend_run *run = user;

	if (error == -EPIPE && !run->lost) {
		/* The front gives up on an engine that does not answer in 10 s: one that was stopped, or
		 * hangs. */
		journal_say(run->daemon->journal, JOURNAL_ERROR, run->interface,
			"the engine ended or does not answer, and is being replaced");
		engine_lost(run);
		return;
	}
	run->events->answered(error, device, run->user);
}

static void userspace_query(struct backend_run *run)
{
	if (run->stream)
		uapi_stream_get(run->stream, answered, run);
}

static int userspace_send(struct backend_run *run, const struct seam_message *message)
{
	return front_send(run->front, message);
}

static uint32_t userspace_interface_index(const struct backend_run *run)
{
	return front_interface_index(run->front);
}

static bool userspace_has_dialled(const struct backend_run *run)
{
	return front_has_dialled(run->front);
}

static void userspace_ignore(struct backend_run *run, uint32_t index)
{
	front_ignore(run->front, index);
}

const struct backend backend_userspace = {
	.name = RPC_BACKEND_USERSPACE,
	.create = userspace_create,
	.destroy = userspace_destroy,
	.restart = userspace_restart,
	.configure = userspace_configure,
	.query = userspace_query,
	.send = userspace_send,
	.interface_index = userspace_interface_index,
	.has_dialled = userspace_has_dialled,
	.ignore = userspace_ignore,
};
