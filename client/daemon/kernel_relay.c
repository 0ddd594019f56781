/* SPDX-License-Identifier: MIT */
/* The wgtcp-relay beside a kernel interface: started when a peer may need it, given what it carries. */
#include "client/daemon/kernel.h"

#include "client/daemon/children.h"

#include <errno.h>
#include <glib-unix.h>
#include <string.h>
#include <unistd.h>

/* All of them have lost what it held for them. */
static void lost(struct backend_run *run)
{
	size_t i;

	kernel_relay_close(run);
	for (i = 0; i < run->peer_count; i++) {
		struct kernel_peer *peer = &run->peers[i];

		if (peer->stream)
			peer->due |= KERNEL_DUE_CLOSED;
		peer->relayed = peer->outer = peer->stream = false;
		if (peer->path == KERNEL_PATH_RELAY_UDP)
			kernel_path_go(peer, KERNEL_PATH_DIRECT, KERNEL_NUDGE);
	}
	kernel_soon(run);
}

static void exited(int error, void *user)
{
	struct backend_run *run = user;

	run->relay_child = 0;
	run->relay_missing = error != 0;
	if (run->relay)
		lost(run);
}

/* ---- what it says ---- */

static void take_news(struct kernel_peer *peer, const struct relay_front_event *event)
{
	struct fallback_event told = {
		.kind = FALLBACK_TCP_CONNECTED, .carrier = CARRIER_TCP, .rtt_us = event->rtt_us
	};

	switch (event->news) {
	case RELAY_NEWS_TCP_CONNECTED:
		if (event->rtt_us && !peer->rtt_us)
			peer->rtt_us = event->rtt_us;
		kernel_peer_step(peer, &told);
		kernel_peer_greet(peer);
		return;
	case RELAY_NEWS_TCP_CLOSED:
		peer->stream = false;
		kernel_peer_event(peer, FALLBACK_TCP_CLOSED, CARRIER_TCP);
		return;
	case RELAY_NEWS_UDP_FAILED:
		kernel_peer_event(peer, FALLBACK_UDP_ERROR, CARRIER_UDP);
		return;
	/* The machine decides, and asks for a fresh initiation by itself. */
	case RELAY_NEWS_UDP_WINS:
	case RELAY_NEWS_TCP_WINS:
	case RELAY_NEWS_FRESH_WANTED:
		return;
	case RELAY_NEWS_NO_ROOM:
		peer->relayed = peer->outer = false;
		peer->due |= KERNEL_DUE_DIAL_FAILED;
		kernel_soon(peer->run);
		return;
	}
}

static void take_seen(struct kernel_peer *peer, const struct relay_seen *seen)
{
	if (!seen->received)
		return;
	peer->heard[seen->carrier] = true;
	if (seen->received_types & RELAY_TYPE_BIT(2))
		peer->answered[seen->carrier] = true;
	if (seen->carrier == CARRIER_UDP) {
		peer->udp_in_trial = true;
		if (seen->largest > peer->udp_largest)
			peer->udp_largest = seen->largest;
	}
	/* The kernel counts it about now. */
	if (mono_is_set(peer->anew) || peer->path == KERNEL_PATH_RELAY_BOTH)
		kernel_busy(peer->run);
	kernel_peer_deliver(peer);
	kernel_echo_deliver(peer);
}

static gboolean ready(gint fd, GIOCondition condition, gpointer user)
{
	struct backend_run *run = user;
	struct relay_front_event event;

	(void)fd;
	(void)condition;
	run->now = daemon_now();
	while (run->relay && relay_front_turn(run->relay, &event) == 1) {
		struct kernel_peer *peer = kernel_find(run, event.public_key);

		switch (event.kind) {
		case RELAY_FRONT_NOTHING:
			break;
		case RELAY_FRONT_NEWS:
			if (peer && peer->machine)
				take_news(peer, &event);
			break;
		case RELAY_FRONT_SEEN:
			if (peer && peer->machine)
				take_seen(peer, &event.seen);
			break;
		case RELAY_FRONT_DIAL_FAILED:
			if (peer && peer->machine) {
				peer->stream = false;
				kernel_peer_event(peer, FALLBACK_TCP_FAILED, CARRIER_TCP);
			}
			break;
		case RELAY_FRONT_GONE:
			lost(run);
			return G_SOURCE_REMOVE; /* it is removed already */
		}
	}
	kernel_soon(run);
	return run->relay ? G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
}

/* ---- its life ---- */

static int start(struct backend_run *run)
{
	int handle, error;

	if (run->relay_missing)
		return -ENOENT;
	error = relay_front_open(&run->relay, &handle);
	if (error)
		return error;
	run->relay_child =
		children_start(run->daemon->children, CHILD_RELAY, handle, run->interface, exited, run);
	close(handle);
	if (!run->relay_child) {
		kernel_relay_close(run);
		return -EIO;
	}
	run->relay_source = g_unix_fd_add(relay_front_handle(run->relay), G_IO_IN, ready, run);
	return 0;
}

void kernel_relay_close(struct backend_run *run)
{
	if (run->relay_source)
		g_source_remove(run->relay_source);
	run->relay_source = 0;
	relay_front_close(run->relay);
	run->relay = NULL;
	children_forget(run->daemon->children, run->relay_child);
	run->relay_child = 0;
}

int kernel_relay_take(struct kernel_peer *peer)
{
	struct backend_run *run = peer->run;
	int error = run->relay ? 0 : start(run);

	if (error || peer->relayed)
		return error;
	error = relay_front_peer(run->relay, peer->want.public_key, run->port, &peer->loopback_port);
	if (error == -EADDRINUSE) {
		peer->loopback_port = 0;
		error = relay_front_peer(run->relay, peer->want.public_key, run->port, &peer->loopback_port);
	}
	if (!error)
		peer->relayed = true;
	return error;
}

void kernel_relay_drop(struct kernel_peer *peer)
{
	if (peer->relayed && peer->run->relay)
		relay_front_drop(peer->run->relay, peer->want.public_key);
	peer->relayed = peer->outer = peer->stream = false;
}

int kernel_relay_dial(struct kernel_peer *peer)
{
	const struct uapi_peer *want = &peer->want;
	int error = kernel_relay_take(peer);

	if (!error)
		error = relay_front_dial(peer->run->relay, want->public_key, want->tcp_endpoints,
			want->tcp_endpoint_count, peer->run->config.fwmark);
	if (!error)
		peer->stream = true;
	return error;
}

void kernel_relay_hang_up(struct kernel_peer *peer)
{
	peer->stream = false;
	if (!peer->relayed || !peer->run->relay)
		return;
	relay_front_hang_up(peer->run->relay, peer->want.public_key);
	if (peer->path == KERNEL_PATH_DIRECT)
		kernel_relay_drop(peer);
}
