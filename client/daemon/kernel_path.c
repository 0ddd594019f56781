/* SPDX-License-Identifier: MIT */
/* Where the kernel sends one peer's packets. The kernel answers to where the newest authentic packet came
 * from, so a packet that was under way when the path changed leads it back:
 *
 * - between UDP and TCP within the relay nothing changes for the kernel, whose peer stays at the loopback
 * port;
 * - from direct to the relay, while answers still come in directly: the kernel takes another port first, so
 * that they are lost and mislead nobody;
 * - from the relay to direct: the relay closes its UDP socket first, to the same end.
 *
 * What is lost so is what was under way, a round trip's worth, and the sessions live on. */
#include "client/daemon/kernel.h"

#include <errno.h>
#include <string.h>

/* Direct answers may still be under way. */
#define LATE_MS 1000
/* By then they are not. */
#define PORT_BACK_MS 1500

static bool by_relay(enum kernel_path path)
{
	switch (path) {
	case KERNEL_PATH_NONE:
	case KERNEL_PATH_DIRECT:
		return false;
	case KERNEL_PATH_RELAY_UDP:
	case KERNEL_PATH_RELAY_TCP:
	case KERNEL_PATH_RELAY_BOTH:
		return true;
	}
	return false;
}

static enum relay_use use_of(enum kernel_path path)
{
	switch (path) {
	case KERNEL_PATH_NONE:
	case KERNEL_PATH_DIRECT:
	case KERNEL_PATH_RELAY_UDP:
		return RELAY_USE_UDP;
	case KERNEL_PATH_RELAY_TCP:
		return RELAY_USE_TCP;
	case KERNEL_PATH_RELAY_BOTH:
		return RELAY_USE_BOTH;
	}
	return RELAY_USE_UDP;
}

enum carrier kernel_path_carrier(const struct kernel_peer *peer)
{
	switch (peer->path) {
	case KERNEL_PATH_NONE:
		return CARRIER_NONE;
	case KERNEL_PATH_DIRECT:
		return peer->run->native.used && peer->run->native.transport == TRANSPORT_TCP ? CARRIER_TCP
											      : CARRIER_UDP;
	case KERNEL_PATH_RELAY_UDP:
		return CARRIER_UDP;
	case KERNEL_PATH_RELAY_TCP:
		return CARRIER_TCP;
	case KERNEL_PATH_RELAY_BOTH:
		return peer->udp_in_trial ? CARRIER_UDP : CARRIER_TCP;
	}
	return CARRIER_NONE;
}

static struct endpoint endpoint_of(const struct kernel_peer *peer, enum kernel_path path)
{
	if (by_relay(path))
		return (struct endpoint){ .address = { IP_V4, { 127, 0, 0, 1 } },
			.port = peer->loopback_port };
	if (path == KERNEL_PATH_NONE)
		return (struct endpoint){ 0 };
	/* A native interface's one endpoint is that of its carrier. */
	if (kernel_path_carrier(peer) == CARRIER_TCP && peer->want.tcp_endpoint_count)
		return peer->want.tcp_endpoints[0];
	return peer->want.endpoint;
}

/* The kernel listens there from now on, in the same message in which a peer moves, and the relay's sockets
 * follow. */
static void move_port(struct backend_run *run, uint16_t port)
{
	size_t i;

	run->port = port;
	for (i = 0; i < run->peer_count; i++) {
		struct kernel_peer *peer = &run->peers[i];

		if (peer->relayed && run->relay)
			relay_front_peer(run->relay, peer->want.public_key, port, &peer->loopback_port);
	}
}

static bool answers_come_directly(const struct kernel_peer *peer)
{
	return peer->path == KERNEL_PATH_DIRECT && mono_is_set(peer->received_at) &&
	       mono_since_ms(peer->run->now, peer->received_at) < LATE_MS;
}

static int prepare_relay(struct kernel_peer *peer, enum kernel_path path)
{
	struct backend_run *run = peer->run;
	bool udp = path != KERNEL_PATH_RELAY_TCP && endpoint_is_set(&peer->want.endpoint);
	int error = kernel_relay_take(peer);

	/* Not reachable is for the relay to find out, which tells it. */
	if (!error && udp && !peer->outer &&
		relay_front_udp(
			run->relay, peer->want.public_key, &peer->want.endpoint, run->config.fwmark) == 0)
		peer->outer = true;
	return error ? error : relay_front_use(run->relay, peer->want.public_key, use_of(path));
}

static void leave_relay(struct kernel_peer *peer)
{
	if (!peer->relayed || !peer->run->relay)
		return;
	if (!peer->stream) {
		kernel_relay_drop(peer);
		return;
	}
	/* The stream is kept for a while. */
	relay_front_udp(peer->run->relay, peer->want.public_key, NULL, 0);
	relay_front_use(peer->run->relay, peer->want.public_key, RELAY_USE_UDP);
	peer->outer = false;
}

static bool fill(struct uapi_device *device, const struct kernel_peer *peer, const struct endpoint *endpoint,
	enum kernel_urge urge)
{
	struct uapi_peer *entry = uapi_device_add_peer(device);

	if (!entry)
		return false;
	memcpy(entry->public_key, peer->want.public_key, UAPI_KEY_LEN);
	if (urge == KERNEL_ANEW) {
		entry->remove = true;
		/* What is dialled first has to be connected: kernel_native.c. */
		if (peer->run->native.used && peer->run->native.transport == TRANSPORT_TCP)
			return kernel_add_bare(device, peer, endpoint);
		return kernel_add_wanted(device, peer, endpoint) && kernel_add_nudge(device, peer);
	}
	entry->update_only = true;
	entry->has_endpoint = endpoint_is_set(endpoint);
	entry->endpoint = *endpoint;
	return urge == KERNEL_QUIET || kernel_add_nudge(device, peer);
}

int kernel_path_go(struct kernel_peer *peer, enum kernel_path path, enum kernel_urge urge)
{
	struct backend_run *run = peer->run;
	struct uapi_device device = { 0 };
	struct endpoint endpoint;
	uint16_t port = 0;
	int error = 0;

	if (by_relay(path) && answers_come_directly(peer) && urge != KERNEL_ANEW)
		port = relay_front_free_port(run->config.fwmark);
	if (port) {
		device.has_listen_port = true;
		device.listen_port = port;
		move_port(run, port);
		if (run->config.listen_port)
			run->port_due = mono_add_ms(run->now, PORT_BACK_MS);
	}
	if (by_relay(path))
		error = prepare_relay(peer, path);
	else if (peer->path != path)
		leave_relay(peer);
	endpoint = endpoint_of(peer, path);
	/* Within the relay, the kernel need not know. */
	if (!error && (urge != KERNEL_QUIET || !by_relay(path) || !by_relay(peer->path)))
		error = fill(&device, peer, &endpoint, urge) ? kernel_set(run, &device) : -ENOMEM;
	uapi_device_free(&device);
	if (error)
		return error;
	if (urge == KERNEL_ANEW) {
		kernel_counts_anew(peer);
		peer->anew = run->now;
		peer->copied = false;
		peer->answered[CARRIER_UDP] = peer->answered[CARRIER_TCP] = false;
	}
	if (path == KERNEL_PATH_RELAY_BOTH && peer->path != path) {
		peer->udp_in_trial = false;
		peer->udp_largest = 0;
	}
	if (path == KERNEL_PATH_RELAY_UDP && peer->path != path)
		peer->udp_since = run->now;
	peer->path = path;
	kernel_busy(run);
	return 0;
}

void kernel_path_refresh(struct kernel_peer *peer)
{
	struct backend_run *run = peer->run;

	if (peer->outer && run->relay && endpoint_is_set(&peer->want.endpoint))
		relay_front_udp(run->relay, peer->want.public_key, &peer->want.endpoint, run->config.fwmark);
	if (peer->path == KERNEL_PATH_DIRECT)
		kernel_path_go(peer, KERNEL_PATH_DIRECT, KERNEL_NUDGE);
}

void kernel_path_port_back(struct backend_run *run)
{
	struct uapi_device device = { .has_listen_port = true, .listen_port = run->config.listen_port };

	run->port_due = MONO_NEVER;
	if (run->port == run->config.listen_port)
		return;
	move_port(run, run->config.listen_port);
	/* Somebody else has taken it meanwhile: then it stays where it is. */
	if (kernel_set(run, &device) != 0)
		kernel_read(run);
}

void kernel_path_hold(struct kernel_peer *peer, const struct uapi_peer *in)
{
	struct endpoint loopback = endpoint_of(peer, KERNEL_PATH_RELAY_UDP);
	bool at_relay = in->has_endpoint && endpoint_equal(&in->endpoint, &loopback);

	if (peer->loopback_port && in->has_endpoint && peer->path != KERNEL_PATH_NONE &&
		at_relay != by_relay(peer->path))
		kernel_path_go(peer, peer->path, KERNEL_NUDGE);
}
