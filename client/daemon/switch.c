/* SPDX-License-Identifier: MIT */
/* Moving a living tunnel to another carrier by a person's word, without losing what flows: UDP is tried
 * beside TCP and chosen for good only when it has answered; TCP is connected before UDP is left. What does
 * not work is undone. */
#include "client/daemon/second.h"

#include "client/daemon/journal.h"
#include "core/config/key_text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The engine keeps UDP for 3 s while it connects by TCP: before that the old way is made the chosen one
 * again, and nothing is lost. A trial of UDP is over within a round trip or two, but may have to wait for a
 * check. */
#define TCP_LIMIT_MS 2500
#define UDP_LIMIT_MS 4000
#define AUTO_LIMIT_MS 2500
/* An interface that speaks TCP itself goes down and up; to a peer of its kind that takes so long (docs/wire.md 3).
 */
#define NATIVE_LIMIT_MS 12000

static bool concerns(const struct tunnel *tunnel, size_t peer)
{
	const struct profile_peer *of = &tunnel->loaded.profile.peers[peer];

	if (!of->endpoint.host[0] && !of->tcp_endpoint_count)
		return false; /* it chooses the path, not we */
	return !tunnel->switch_peer[0] || !strcmp(tunnel->switch_peer, tunnel->view.peers[peer].public_key);
}

/* Tells the engine what holds for each peer. allow_udp: the interface's own is made to allow UDP where it did
 * not, since without that there is no UDP socket. It is not taken away again: that would close the socket
 * while something may still come in on it. */
static int tell_transports(struct tunnel *tunnel, bool allow_udp)
{
	const struct profile *profile = &tunnel->loaded.profile;
	struct uapi_device device = { .has_transport = allow_udp, .transport = TRANSPORT_AUTO };
	int error = 0;
	size_t i;

	for (i = 0; i < profile->peer_count && !error; i++) {
		struct uapi_peer *peer = uapi_device_add_peer(&device);

		if (!peer) {
			error = -ENOMEM;
			break;
		}
		memcpy(peer->public_key, profile->peers[i].public_key, sizeof(peer->public_key));
		peer->update_only = true;
		peer->has_transport = true;
		peer->transport = tunnel->peers[i].transport;
	}
	if (!error)
		error = tunnel->backend->configure(tunnel->run, &device);
	uapi_device_free(&device);
	return error;
}

static int set_transport(struct tunnel *tunnel, enum transport transport)
{
	size_t i;

	for (i = 0; i < tunnel->view.peer_count; i++)
		if (concerns(tunnel, i))
			tunnel->peers[i].transport = transport;
	return tell_transports(tunnel, transport != TRANSPORT_TCP);
}

static void undo_transport(struct tunnel *tunnel)
{
	size_t i;

	for (i = 0; i < tunnel->view.peer_count; i++)
		tunnel->peers[i].transport = tunnel->peers[i].before;
	tell_transports(tunnel, false);
}

static void retry_udp(struct tunnel *tunnel)
{
	struct seam_message message = { .kind = SEAM_RETRY_UDP };
	size_t i;

	for (i = 0; i < tunnel->loaded.profile.peer_count; i++) {
		if (!concerns(tunnel, i))
			continue;
		memcpy(message.public_key, tunnel->loaded.profile.peers[i].public_key,
			sizeof(message.public_key));
		tunnel->backend->send(tunnel->run, &message);
	}
}

/* All peers concerned are up on this carrier. */
static bool all_on(const struct tunnel *tunnel, enum carrier carrier)
{
	size_t i;

	for (i = 0; i < tunnel->view.peer_count; i++) {
		const struct rpc_peer *peer = &tunnel->view.peers[i];

		if (concerns(tunnel, i) &&
			(peer->carrier != carrier ||
				(peer->state != RPC_STATE_UP && peer->state != RPC_STATE_DEGRADED)))
			return false;
	}
	return true;
}

static void over(struct tunnel *tunnel, const struct rpc_error *error)
{
	struct rpc_tunnel before = view_shell(&tunnel->view);

	tunnel->switching = false;
	if (tunnel->switch_over)
		g_source_remove(tunnel->switch_over);
	tunnel->switch_over = 0;
	if (!error && !tunnel->switch_peer[0]) {
		tunnel->view.transport = tunnel->switch_to;
	}
	tunnel_tell(tunnel, &before);
	tunnel->events->switched(tunnel, error, tunnel->user);
}

static void give_up(struct tunnel *tunnel)
{
	struct rpc_error error = { 0 };

	undo_transport(tunnel);
	rpc_error_set(&error, RPC_CODE_PEER_UNREACHABLE,
		"%s does not answer over %s, so it stays where it was: something on the way or at the server "
		"blocks %s",
		tunnel->name, tunnel->switch_to == TRANSPORT_TCP ? "TCP" : "UDP",
		tunnel->switch_to == TRANSPORT_TCP ? "TCP, or it does not listen there" : "UDP");
	error.cause = RPC_CAUSE_PEER_UNREACHABLE;
	error.has_state = true;
	error.state = tunnel->view.state;
	over(tunnel, &error);
	rpc_error_free(&error);
}

static gboolean too_late(gpointer user)
{
	struct tunnel *tunnel = user;

	tunnel->switch_over = 0;
	if (tunnel->switch_to == TRANSPORT_AUTO)
		over(tunnel, NULL); /* UDP was tried and does not answer: TCP is the right choice */
	else
		give_up(tunnel);
	return G_SOURCE_REMOVE;
}

/* TCP was refused, and the engine has left UDP since it was told to. */
static bool has_lost(const struct tunnel *tunnel)
{
	size_t i;

	for (i = 0; i < tunnel->view.peer_count; i++)
		if (concerns(tunnel, i) && (tunnel->view.peers[i].state == RPC_STATE_RECONNECTING ||
						   tunnel->view.peers[i].state == RPC_STATE_FAILED))
			return true;
	return false;
}

void tunnel_switch_look(struct tunnel *tunnel)
{
	switch (tunnel->switch_to) {
	case TRANSPORT_AUTO:
		if (all_on(tunnel, CARRIER_UDP))
			over(tunnel, NULL);
		return;
	case TRANSPORT_UDP:
		if (!all_on(tunnel, CARRIER_UDP))
			return;
		/* It has answered: now it may be the only one. */
		set_transport(tunnel, TRANSPORT_UDP);
		over(tunnel, NULL);
		return;
	case TRANSPORT_TCP:
		if (all_on(tunnel, CARRIER_TCP))
			over(tunnel, NULL);
		else if (tunnel->switch_alive && has_lost(tunnel))
			give_up(tunnel);
		return;
	}
}

void tunnel_switch(struct tunnel *tunnel, enum transport transport, const char *peer)
{
	struct rpc_error error = { 0 };
	guint limit_ms = transport == TRANSPORT_TCP   ? TCP_LIMIT_MS
			 : transport == TRANSPORT_UDP ? UDP_LIMIT_MS
						      : AUTO_LIMIT_MS;
	size_t i, called = 0;
	int failure;

	if (!peer[0] && second_switch(tunnel, transport))
		return;
	if (second_carries(tunnel)) {
		tunnel_switch(second_carrier(tunnel), transport, peer);
		return;
	}
	if (tunnel->backend == &backend_kernel_wgtcp)
		limit_ms = NATIVE_LIMIT_MS;
	g_strlcpy(tunnel->switch_peer, peer, sizeof(tunnel->switch_peer));
	tunnel->switch_to = transport;
	for (i = 0; i < tunnel->view.peer_count; i++)
		called += concerns(tunnel, i) ? 1 : 0;
	if (!called) {
		rpc_error_set(&error, RPC_CODE_CONFIG,
			"%s is called by its peers, who choose the carrier: set Transport in its profile to "
			"allow only one, then "
			"`wgtcp-cli down %s` and up again",
			tunnel->name, tunnel->name);
		over(tunnel, &error);
		rpc_error_free(&error);
		return;
	}
	for (i = 0; i < tunnel->view.peer_count; i++)
		tunnel->peers[i].before = tunnel->peers[i].transport;
	tunnel->switching = true;
	tunnel->switch_alive = !has_lost(tunnel);
	failure = tunnel->configured
			  ? set_transport(tunnel, transport == TRANSPORT_TCP ? TRANSPORT_TCP : TRANSPORT_AUTO)
			  : -ENOTCONN;
	if (failure) {
		rpc_error_set(&error, RPC_CODE_BUSY,
			"the engine of %s is just being started again: try once more", tunnel->name);
		over(tunnel, &error);
		rpc_error_free(&error);
		return;
	}
	journal_say(tunnel->daemon->journal, JOURNAL_INFO, tunnel->name, "switch to %s asked for",
		rpc_transport_words[transport]);
	if (transport != TRANSPORT_TCP)
		retry_udp(tunnel);
	tunnel->switch_over = g_timeout_add(limit_ms, too_late, tunnel);
	tunnel_query(tunnel);
}
