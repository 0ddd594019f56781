/* SPDX-License-Identifier: MIT */
/* From the backend's words to the status. Used by tunnel.c. */
#include "client/daemon/view.h"
#include "core/config/key_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* We call it, so its state is ours to tell. */
static bool is_called(const struct profile_peer *peer)
{
	return peer->endpoint.host[0] || peer->tcp_endpoint_count;
}

/* The larger, the worse. */
static int badness(enum rpc_state state)
{
	switch (state) {
	case RPC_STATE_UP:
		return 0;
	case RPC_STATE_DEGRADED:
		return 1;
	case RPC_STATE_VERIFYING:
		return 2;
	case RPC_STATE_CONNECTING:
	case RPC_STATE_DOWN:
		return 3;
	case RPC_STATE_RECONNECTING:
		return 4;
	case RPC_STATE_FAILED:
		return 5;
	}
	return 5;
}

bool view_init(struct rpc_tunnel *view, const char *name, const struct profile *profile)
{
	size_t i;

	*view = (struct rpc_tunnel){ 0 };
	snprintf(view->name, sizeof(view->name), "%s", name);
	snprintf(view->profile, sizeof(view->profile), "%s", name);
	snprintf(view->display_name, sizeof(view->display_name), "%s",
		profile->name[0] ? profile->name : name);
	view->transport = profile->transport;
	view->peers = calloc(profile->peer_count ? profile->peer_count : 1, sizeof(*view->peers));
	if (!view->peers)
		return false;
	view->peer_count = profile->peer_count;
	for (i = 0; i < profile->peer_count; i++) {
		profile_key_write(profile->peers[i].public_key, view->peers[i].public_key);
		snprintf(view->peers[i].name, sizeof(view->peers[i].name), "%s", profile->peers[i].name);
		view->peers[i].state = is_called(&profile->peers[i]) ? RPC_STATE_CONNECTING : RPC_STATE_DOWN;
	}
	return true;
}

static void update_peer(struct rpc_peer *out, const struct uapi_peer *in)
{
	int value;

	out->endpoint[0] = 0;
	if (in->carrier == CARRIER_TCP && endpoint_is_set(&in->stream))
		endpoint_write(&in->stream, out->endpoint);
	else if (in->has_endpoint)
		endpoint_write(&in->endpoint, out->endpoint);
	if (rpc_word_parse(rpc_state_words, in->state, &value))
		out->state = (enum rpc_state)value;
	if (rpc_word_parse(rpc_cause_words, in->cause, &value))
		out->cause = (enum rpc_cause)value;
	/* Whatever the carrier, it has been reached. */
	out->preshared_key_differs = in->misfits > 0;
	if (in->misfits && out->cause == RPC_CAUSE_PEER_UNREACHABLE)
		out->cause = RPC_CAUSE_HANDSHAKE_REFUSED;
	if (rpc_word_parse(rpc_verified_words, in->verified, &value))
		out->verified = (enum rpc_verified)value;
	if (rpc_word_parse(rpc_reason_words, in->reason, &value))
		out->reason = (enum rpc_reason)value;
	out->large_passes = RPC_LARGE_UNKNOWN;
	if (in->large[0] && rpc_word_parse(rpc_large_words, in->large, &value))
		out->large_passes = (enum rpc_large)value;
	if (rpc_word_parse(rpc_udp_words, in->udp_state, &value))
		out->udp = (enum rpc_udp)value;
	out->carrier = in->carrier;
	out->last_handshake = in->last_handshake_s;
	out->rtt_us = in->rtt_us;
	out->carrier_rtt_us = in->carrier == CARRIER_TCP ? in->stream_rtt_us : 0;
	out->rx_bytes = in->rx_bytes;
	out->tx_bytes = in->tx_bytes;
}

static const struct uapi_peer *find(
	const struct uapi_device *device, const struct profile_peer *peer, size_t guess)
{
	size_t i;

	/* Nearly always the same order. */
	if (guess < device->peer_count &&
		!memcmp(device->peers[guess].public_key, peer->public_key, UAPI_KEY_LEN))
		return &device->peers[guess];
	for (i = 0; i < device->peer_count; i++)
		if (!memcmp(device->peers[i].public_key, peer->public_key, UAPI_KEY_LEN))
			return &device->peers[i];
	return NULL;
}

static void summarise(struct rpc_tunnel *view, const struct profile *profile)
{
	const struct rpc_peer *worst = NULL;
	size_t i;

	for (i = 0; i < view->peer_count; i++) {
		const struct rpc_peer *peer = &view->peers[i];

		if (!is_called(&profile->peers[i]))
			continue;
		if (!worst || badness(peer->state) > badness(worst->state) ||
			(badness(peer->state) == badness(worst->state) && peer->verified < worst->verified))
			worst = peer;
	}
	if (!worst) {
		/* A server: it is up when it is there to be called. */
		view->state = RPC_STATE_UP;
		view->cause = RPC_CAUSE_NONE;
		view->verified = RPC_VERIFIED_NONE;
		view->reason = RPC_REASON_NONE;
		view->carrier = CARRIER_NONE;
		view->udp = view->transport == TRANSPORT_TCP ? RPC_UDP_UNUSED : RPC_UDP_UNKNOWN;
		return;
	}
	view->state = worst->state == RPC_STATE_DOWN ? RPC_STATE_CONNECTING : worst->state;
	view->cause = worst->cause;
	view->verified = worst->verified;
	view->reason = worst->reason;
	view->carrier = worst->carrier;
	view->udp = worst->udp;
}

void view_update(struct rpc_tunnel *view, const struct profile *profile, const struct uapi_device *device,
	const bool *waiting)
{
	size_t i;

	for (i = 0; i < view->peer_count; i++) {
		const struct uapi_peer *in = find(device, &profile->peers[i], i);
		struct rpc_peer *out = &view->peers[i];

		if (in)
			update_peer(out, in);
		if (!is_called(&profile->peers[i]))
			continue;
		if (out->state == RPC_STATE_DOWN)
			out->state = RPC_STATE_CONNECTING;
		if (waiting[i] && out->state != RPC_STATE_UP && out->state != RPC_STATE_DEGRADED)
			out->cause = RPC_CAUSE_DNS_FAILED;
	}
	summarise(view, profile);
}

bool view_differs(const struct rpc_tunnel *a, const struct rpc_tunnel *b)
{
	return a->state != b->state || a->cause != b->cause || a->verified != b->verified ||
	       a->reason != b->reason || a->carrier != b->carrier || a->udp != b->udp ||
	       a->transport != b->transport || a->mtu != b->mtu || a->backend != b->backend ||
	       a->kill_switch != b->kill_switch || strcmp(a->message, b->message) != 0 ||
	       strcmp(a->interface, b->interface) != 0 || strcmp(a->managed_by, b->managed_by) != 0;
}

struct rpc_tunnel view_shell(const struct rpc_tunnel *view)
{
	struct rpc_tunnel shell = *view;

	shell.peers = NULL;
	shell.peer_count = 0;
	shell.warnings = (struct rpc_texts){ 0 };
	return shell;
}

static bool is_up(const struct rpc_peer *peer)
{
	return peer->state == RPC_STATE_UP || peer->state == RPC_STATE_DEGRADED;
}

bool view_any_up(const struct rpc_tunnel *view, const struct profile *profile)
{
	size_t i;

	for (i = 0; i < view->peer_count; i++)
		if (is_called(&profile->peers[i]) && is_up(&view->peers[i]))
			return true;
	return false;
}

enum rpc_state view_decided(const struct rpc_tunnel *view, const struct profile *profile)
{
	size_t called = 0, i;

	for (i = 0; i < view->peer_count; i++) {
		if (!is_called(&profile->peers[i]))
			continue;
		called++;
		if (!is_up(&view->peers[i]) && view->peers[i].state != RPC_STATE_FAILED)
			return RPC_STATE_CONNECTING;
	}
	return called == 0 || view_any_up(view, profile) ? RPC_STATE_UP : RPC_STATE_FAILED;
}

static bool is_lost(const struct rpc_peer *peer)
{
	return peer->state == RPC_STATE_CONNECTING || peer->state == RPC_STATE_RECONNECTING ||
	       peer->state == RPC_STATE_FAILED;
}

bool view_call_partly(struct rpc_tunnel *view, const struct profile *profile)
{
	const struct rpc_peer *first = NULL;
	size_t called = 0, lost = 0, i;

	if (!view_any_up(view, profile))
		return false;
	for (i = 0; i < view->peer_count; i++) {
		if (!is_called(&profile->peers[i]))
			continue;
		called++;
		if (is_lost(&view->peers[i]) && !lost++)
			first = &view->peers[i];
	}
	if (!lost)
		return false;
	view->state = RPC_STATE_DEGRADED;
	snprintf(view->message, sizeof(view->message),
		"%zu of %zu peers can not be reached%s %s%s%s: %s; the others work, and this one is tried on",
		lost, called, lost > 1 ? ", the first is" : ":", first->public_key,
		first->endpoint[0] ? " at " : "", first->endpoint,
		first->cause == RPC_CAUSE_DNS_FAILED ? "the name in its Endpoint cannot be looked up, "
						       "correct it or check this machine's DNS"
						     : "check that it runs and that its Endpoint is right");
	return true;
}
