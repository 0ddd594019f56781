/* SPDX-License-Identifier: MIT */
/* WireGuard inside the kernel as a backend: alone, with wgtcp-relay beside it, or speaking TCP itself. */
#include "client/daemon/kernel.h"

#include <errno.h>
#include <glib-unix.h>
#include <string.h>

/* One change of network comes as many messages. */
#define NETWORK_SETTLE_MS 200

/* ---- the network ---- */

static bool leads_out(const struct backend_run *run, const struct endpoint *endpoint)
{
	uint32_t interface, mtu;

	return endpoint_is_set(endpoint) &&
	       net_route_lookup(run->daemon->net, &endpoint->address, run->config.fwmark, &interface, &mtu) ==
		       0 &&
	       interface != run->index;
}

static bool is_reachable(const struct backend_run *run, const struct kernel_peer *peer)
{
	size_t i;

	if (leads_out(run, &peer->want.endpoint))
		return true;
	for (i = 0; i < peer->want.tcp_endpoint_count; i++)
		if (leads_out(run, &peer->want.tcp_endpoints[i]))
			return true;
	return false;
}

static void network_changed(struct backend_run *run)
{
	size_t i;

	run->now = daemon_now();
	for (i = 0; i < run->peer_count; i++) {
		struct kernel_peer *peer = &run->peers[i];

		if (!peer->machine)
			continue;
		if (!is_reachable(run, peer)) {
			kernel_peer_event(peer, FALLBACK_NETWORK_LOST, CARRIER_NONE);
			continue;
		}
		kernel_path_refresh(peer);
		kernel_peer_event(peer, FALLBACK_NETWORK_CHANGED, CARRIER_NONE);
	}
	kernel_native_network_changed(run);
	kernel_soon(run);
}

static gboolean network_settled(gpointer user)
{
	struct backend_run *run = user;

	run->settle = 0;
	if (run->started)
		network_changed(run);
	run->events->network(run->user);
	return G_SOURCE_REMOVE;
}

static gboolean network_ready(gint fd, GIOCondition condition, gpointer user)
{
	struct backend_run *run = user;
	uint32_t gone = 0;

	(void)fd;
	(void)condition;
	if (net_watch_take(run->watch, run->index, &gone) == 1 && !run->settle)
		run->settle = g_timeout_add(NETWORK_SETTLE_MS, network_settled, run);
	if (gone != run->index)
		return G_SOURCE_CONTINUE;
	run->watch_source = 0;
	run->events->link_gone(run->user); /* it destroys this */
	return G_SOURCE_REMOVE;
}

/* ---- what it is told ---- */

static void kernel_query(struct backend_run *run)
{
	run->answer_due = true;
	kernel_soon(run);
}

static void start(struct backend_run *run)
{
	size_t i;

	if (!run->started)
		kernel_read(run); /* the port that it listens on is known now that it is up */
	run->started = true;
	if (run->native.used) {
		kernel_native_start(run);
		return;
	}
	for (i = 0; i < run->peer_count; i++) {
		struct kernel_peer *peer = &run->peers[i];

		if (!peer->machine)
			continue;
		if (!is_reachable(run, peer))
			kernel_peer_event(peer, FALLBACK_NETWORK_LOST, CARRIER_NONE);
		kernel_peer_event(peer, FALLBACK_START, CARRIER_NONE);
	}
}

static int kernel_send(struct backend_run *run, const struct seam_message *message)
{
	struct kernel_peer *peer = kernel_find(run, message->public_key);

	run->now = daemon_now();
	switch (message->kind) {
	case SEAM_PROBE:
		if (!peer)
			break;
		peer->probe_source = message->source;
		peer->probe_target = message->target;
		if (message->target.family != IP_NONE)
			kernel_peer_event(peer, FALLBACK_ECHO_TARGET, CARRIER_NONE);
		break;
	case SEAM_MEMORY:
		if (!peer)
			break;
		peer->memory = (enum fallback_memory)message->value;
		kernel_peer_settings(peer);
		break;
	case SEAM_START:
		start(run);
		break;
	case SEAM_RETRY_UDP:
		if (run->native.used)
			kernel_native_retry_udp(run);
		else if (peer)
			kernel_peer_event(peer, FALLBACK_RETRY_UDP, CARRIER_UDP);
		break;
	case SEAM_RESUMED:
		network_changed(run);
		break;
	default: /* the others are an engine's or a relay's */
		return -EINVAL;
	}
	kernel_soon(run);
	return 0;
}

/* ---- its life ---- */

static void kernel_destroy(struct backend_run *run)
{
	guint *sources[4];
	size_t i;

	if (!run)
		return;
	sources[0] = &run->watch_source;
	sources[1] = &run->timer;
	sources[2] = &run->soon;
	sources[3] = &run->settle;
	for (i = 0; i < 4; i++)
		if (*sources[i])
			g_source_remove(*sources[i]);
	kernel_echo_close(run);
	kernel_relay_close(run);
	net_watch_close(run->watch);
	if (run->kernel && run->index)
		kernel_tunnel_delete(run->kernel, run->interface);
	kernel_tunnel_close(run->kernel);
	kernel_free_peers(run);
	explicit_bzero(&run->config, sizeof(run->config));
	run->dead = true;
	if (!run->telling)
		g_free(run);
}

static int make_interface(struct backend_run *run)
{
	struct net_link link;
	int error = kernel_tunnel_open(&run->kernel);

	if (!error)
		error = kernel_tunnel_create(run->kernel, run->interface);
	if (error)
		return error == -EEXIST ? -EBUSY : error;
	error = net_link_find(run->daemon->net, run->interface, &link);
	if (error)
		return error;
	run->index = link.index;
	error = net_watch_open(&run->watch);
	if (!error)
		run->watch_source = g_unix_fd_add(net_watch_handle(run->watch), G_IO_IN, network_ready, run);
	return error;
}

static int create(
	struct daemon *daemon, const struct backend_settings *settings, bool native, struct backend_run **out)
{
	struct backend_run *run = g_new0(struct backend_run, 1);
	int error;

	run->daemon = daemon;
	run->events = settings->events;
	run->user = settings->user;
	run->native.used = native;
	run->native.transport = native ? TRANSPORT_TCP : TRANSPORT_UDP;
	run->native.trial_at = MONO_NEVER;
	run->port_due = MONO_NEVER;
	run->now = daemon_now();
	g_strlcpy(run->interface, settings->interface, sizeof(run->interface));
	error = make_interface(run);
	if (error) {
		kernel_destroy(run);
		return error;
	}
	*out = run;
	return 0;
}

static int kernel_create(
	struct daemon *daemon, const struct backend_settings *settings, struct backend_run **out)
{
	return create(daemon, settings, false, out);
}

static int native_create(
	struct daemon *daemon, const struct backend_settings *settings, struct backend_run **out)
{
	return create(daemon, settings, true, out);
}

/* Nothing here dies by itself. */
static int kernel_restart(struct backend_run *run)
{
	(void)run;
	return -EOPNOTSUPP;
}

static uint32_t kernel_interface_index(const struct backend_run *run)
{
	return run->index;
}

static enum rpc_backend kernel_carries(const struct backend_run *run)
{
	size_t i;

	for (i = 0; i < run->peer_count; i++)
		if (run->peers[i].machine && (run->peers[i].path == KERNEL_PATH_RELAY_TCP ||
						     run->peers[i].path == KERNEL_PATH_RELAY_BOTH))
			return RPC_BACKEND_KERNEL_RELAY;
	return RPC_BACKEND_KERNEL;
}

static enum rpc_backend native_carries(const struct backend_run *run)
{
	(void)run;
	return RPC_BACKEND_KERNEL_WGTCP;
}

static void kernel_ignore(struct backend_run *run, uint32_t index)
{
	net_watch_ignore(run->watch, index);
}

const struct backend backend_kernel = {
	.name = RPC_BACKEND_KERNEL,
	.create = kernel_create,
	.destroy = kernel_destroy,
	.restart = kernel_restart,
	.configure = kernel_configure,
	.query = kernel_query,
	.send = kernel_send,
	.interface_index = kernel_interface_index,
	.ignore = kernel_ignore,
	.carries = kernel_carries,
};

const struct backend backend_kernel_wgtcp = {
	.name = RPC_BACKEND_KERNEL_WGTCP,
	.create = native_create,
	.destroy = kernel_destroy,
	.restart = kernel_restart,
	.configure = kernel_configure,
	.query = kernel_query,
	.send = kernel_send,
	.interface_index = kernel_interface_index,
	.ignore = kernel_ignore,
	.carries = native_carries,
};
