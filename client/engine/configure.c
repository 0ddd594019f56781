/* SPDX-License-Identifier: MIT */
/* The engine's side of the UAPI: what `wg`, the daemon and the tests say and ask. Source: core/uapi/uapi.h. */
#include "client/engine/state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CONTROLS_MAX 32

void control_add(struct engine *engine, int handle)
{
	struct control_stream *control = calloc(1, sizeof(*control));
	struct control *port;
	size_t count = 0;

	for (struct control_stream *other = engine->controls; other; other = other->next)
		count++;
	if (control_adopt(handle, &port)) {
		free(control);
		return;
	}
	if (!control || count >= CONTROLS_MAX) {
		control_close(port);
		free(control);
		return;
	}
	control->token.kind = TOKEN_CONTROL;
	control->control = port;
	control->next = engine->controls;
	engine->controls = control;
	loop_watch_control(engine->ports.loop, port, LOOP_READ, &control->token);
}

void control_drop(struct engine *engine, struct control_stream *control)
{
	for (struct control_stream **at = &engine->controls; *at; at = &(*at)->next)
		if (*at == control) {
			*at = control->next;
			break;
		}
	control->token.kind = TOKEN_DEAD;
	loop_watch_control(engine->ports.loop, control->control, 0, NULL);
	control_close(control->control);
	if (control->in)
		secret_wipe(control->in, control->in_room);
	free(control->in);
	uapi_text_free(&control->out);
	control->next = engine->dead_controls;
	engine->dead_controls = control;
}

void controls_free_dead(struct engine *engine)
{
	for (struct control_stream *control; (control = engine->dead_controls);) {
		engine->dead_controls = control->next;
		free(control);
	}
}

/* ---- set ---- */

static void apply_peer_settings(struct engine *engine, struct link *link, const struct uapi_peer *in)
{
	struct peer *peer = link->peer;

	if (in->has_preshared_key)
		peer_set_preshared_key(peer, in->preshared_key);
	if (in->has_transport) {
		link->has_transport = true;
		link->transport = in->transport;
	}
	if (in->has_endpoint) {
		link->endpoint = in->endpoint;
		link->udp = (struct udp_path){ .remote = in->endpoint };
	}
	if (in->has_tcp_endpoints) {
		link->tcp_endpoint_count = in->tcp_endpoint_count;
		memcpy(link->tcp_endpoints, in->tcp_endpoints, sizeof(link->tcp_endpoints));
	}
	if (in->has_udp_ports) {
		link->udp_port_count = in->udp_port_count;
		memcpy(link->udp_ports, in->udp_ports, sizeof(link->udp_ports));
	}
	if (in->replace_allowed_ips)
		tunnel_disallow_all(engine->tunnel, peer);
	for (size_t i = 0; i < in->allowed_ip_count; i++) {
		if (in->allowed_ips[i].remove)
			tunnel_disallow(engine->tunnel, peer, &in->allowed_ips[i].prefix);
		else
			tunnel_allow(engine->tunnel, peer, &in->allowed_ips[i].prefix);
	}
	if (in->has_endpoint || in->has_tcp_endpoints || in->has_transport)
		link_settings_changed(link);
	if (in->has_keepalive) {
		peer_set_persistent_keepalive(engine->tunnel, peer, in->keepalive_s, engine->now);
		if (in->keepalive_s && engine->link_up && endpoint_is_set(&link->udp.remote))
			link_want_session(link);
	}
}

static int apply_peer(struct engine *engine, const struct uapi_peer *in)
{
	struct peer *peer = tunnel_peer_find(engine->tunnel, in->public_key);
	uint8_t private_key[KEY_LEN], public_key[KEY_LEN];

	if (in->remove) {
		if (peer) {
			link_free(peer_user(peer));
			tunnel_peer_remove(engine->tunnel, peer);
		}
		return 0;
	}
	if (!peer) {
		if (in->update_only)
			return 0;
		bool own = tunnel_keys(engine->tunnel, private_key, public_key) &&
			secret_equal(public_key, in->public_key, KEY_LEN);

		secret_wipe(private_key, sizeof(private_key));
		if (own)
			return 0; /* as the kernel does: silently not added */
		peer = tunnel_peer_add(engine->tunnel, in->public_key);
		if (!peer)
			return -ENOMEM;
		if (!link_new(engine, peer)) {
			tunnel_peer_remove(engine->tunnel, peer);
			return -ENOMEM;
		}
	}
	apply_peer_settings(engine, peer_user(peer), in);
	return 0;
}

static void remove_all_peers(struct engine *engine)
{
	for (struct peer *peer; (peer = tunnel_peer_next(engine->tunnel, NULL));) {
		link_free(peer_user(peer));
		tunnel_peer_remove(engine->tunnel, peer);
	}
}

static void apply_private_key(struct engine *engine, const uint8_t key[KEY_LEN])
{
	uint8_t clamped[KEY_LEN], current[KEY_LEN], public_key[KEY_LEN];
	struct peer *own;

	if (secret_is_zero(key, KEY_LEN)) {
		tunnel_set_private_key(engine->tunnel, NULL);
		return;
	}
	memcpy(clamped, key, KEY_LEN);
	dh_clamp(clamped);
	/* `wg syncconf` gives the same key again: that must not end sessions. */
	if (tunnel_keys(engine->tunnel, current, public_key) && secret_equal(current, clamped, KEY_LEN))
		goto out;
	dh_public(public_key, clamped);
	own = tunnel_peer_find(engine->tunnel, public_key);
	if (own) {
		link_free(peer_user(own));
		tunnel_peer_remove(engine->tunnel, own);
	}
	tunnel_set_private_key(engine->tunnel, clamped);
out:
	secret_wipe(current, sizeof(current));
	secret_wipe(clamped, sizeof(clamped));
}

static int apply_set(struct engine *engine, const char *text, size_t len)
{
	struct uapi_device device;
	int error = uapi_parse_set(text, len, &device);

	if (error)
		return error;
	if (device.has_private_key)
		apply_private_key(engine, device.private_key);
	if (device.has_fwmark)
		engine->fwmark = device.fwmark;
	if (device.has_extensions)
		engine->extensions = device.extensions;
	if (device.replace_peers)
		remove_all_peers(engine);
	for (size_t i = 0; i < device.peer_count && !error; i++)
		error = apply_peer(engine, &device.peers[i]);
	if (device.has_transport && device.transport != engine->transport) {
		engine->transport = device.transport;
		for (struct link *link = engine->links; link; link = link->next)
			link_settings_changed(link);
	}
	uapi_device_free(&device);
	return error;
}

/* ---- get ---- */

static void copy_name(char *out, size_t room, const char *name)
{
	size_t len = strlen(name);

	if (len >= room)
		len = room - 1;
	memcpy(out, name, len);
	out[len] = 0;
}

static void describe_path(const struct link *link, const struct peer_stats *stats, struct uapi_peer *out)
{
	const struct fallback *machine = link->fallback;
	enum fallback_state state = stats->has_session ? FALLBACK_STATE_UP : FALLBACK_STATE_DOWN;
	enum fallback_udp udp = FALLBACK_UDP_UNKNOWN;

	out->carrier = stats->has_session ? link_carrier(link) : CARRIER_NONE;
	if (out->carrier == CARRIER_TCP && link->stream) {
		struct tcp_metrics metrics = { 0 };

		out->stream = *tcp_remote(link->stream->tcp);
		if (tcp_metrics(link->stream->tcp, &metrics) == 0)
			out->stream_rtt_us = metrics.rtt_us;
	}
	out->rtt_us = link->rtt_us;
	out->misfits = stats->misfits;
	copy_name(out->large, sizeof(out->large), large_name(link));
	if (machine)
		state = fallback_state(machine);
	copy_name(out->state, sizeof(out->state), fallback_state_name(state));
	copy_name(out->cause, sizeof(out->cause),
		fallback_cause_name(machine ? fallback_cause(machine) : FALLBACK_CAUSE_NONE));
	copy_name(out->reason, sizeof(out->reason),
		fallback_reason_name(machine ? fallback_reason(machine) : FALLBACK_REASON_NONE));
	copy_name(out->verified, sizeof(out->verified),
		fallback_verified_name(machine ? fallback_verified(machine)
				: stats->has_session   ? FALLBACK_VERIFIED_HANDSHAKE
						       : FALLBACK_VERIFIED_NONE));
	if (machine)
		udp = fallback_udp(machine);
	else if (link_transport(link) == TRANSPORT_TCP)
		udp = FALLBACK_UDP_UNUSED;
	else if (stats->has_session && link->carrier == CARRIER_UDP)
		udp = FALLBACK_UDP_OK;
	copy_name(out->udp_state, sizeof(out->udp_state), fallback_udp_name(udp));
}

static bool describe_peer(const struct link *link, struct uapi_peer *out)
{
	const struct engine *engine = link->engine;
	struct peer_stats stats;
	struct ip_prefix prefix;

	peer_stats(link->peer, engine->now, &stats);
	memcpy(out->public_key, peer_public_key(link->peer), KEY_LEN);
	memcpy(out->preshared_key, peer_preshared_key(link->peer), KEY_LEN);
	out->has_preshared_key = true;
	out->has_endpoint = endpoint_is_set(&link->udp.remote);
	out->endpoint = link->udp.remote;
	if (!out->has_endpoint && link->stream) {
		/* `wg show` should tell where a peer is, whatever carries it. */
		out->has_endpoint = true;
		out->endpoint = *tcp_remote(link->stream->tcp);
	}
	out->has_keepalive = true;
	out->keepalive_s = peer_persistent_keepalive(link->peer);
	out->has_transport = true;
	out->transport = link_transport(link);
	out->has_tcp_endpoints = link->tcp_endpoint_count > 0;
	out->tcp_endpoint_count = link->tcp_endpoint_count;
	memcpy(out->tcp_endpoints, link->tcp_endpoints, sizeof(out->tcp_endpoints));
	out->has_udp_ports = link->udp_port_count > 0;
	out->udp_port_count = link->udp_port_count;
	memcpy(out->udp_ports, link->udp_ports, sizeof(out->udp_ports));
	out->last_handshake_s = stats.last_handshake.s;
	out->last_handshake_ns = stats.last_handshake.ns;
	out->rx_bytes = stats.rx_bytes;
	out->tx_bytes = stats.tx_bytes;
	describe_path(link, &stats, out);
	for (size_t cursor = 0; tunnel_allowed_next(engine->tunnel, link->peer, &cursor, &prefix);)
		if (!uapi_peer_add_allowed_ip(out, &prefix, false))
			return false;
	return true;
}

static bool describe(const struct engine *engine, struct uapi_text *text)
{
	struct uapi_device device = { 0 };
	uint8_t public_key[KEY_LEN];
	bool ok = true;

	device.has_private_key = tunnel_keys(engine->tunnel, device.private_key, public_key);
	device.has_listen_port = true;
	device.listen_port = engine->listen_port;
	device.has_fwmark = engine->fwmark != 0;
	device.fwmark = engine->fwmark;
	device.has_transport = true;
	device.transport = engine->transport;
	device.has_tcp_listen_port = engine->tcp_listen_port != 0;
	device.tcp_listen_port = engine->tcp_listen_port;
	for (struct peer *peer = tunnel_peer_next(engine->tunnel, NULL); peer && ok;
		peer = tunnel_peer_next(engine->tunnel, peer)) {
		struct uapi_peer *out = uapi_device_add_peer(&device);

		ok = out && describe_peer(peer_user(peer), out);
	}
	ok = ok && uapi_write_get(text, &device);
	uapi_device_free(&device);
	secret_wipe(&device, sizeof(device));
	return ok;
}

/* ---- the stream ---- */

static bool send_pending(struct engine *engine, struct control_stream *control)
{
	while (control->out_sent < control->out.len) {
		long sent = control_send(control->control, control->out.bytes + control->out_sent,
			control->out.len - control->out_sent);

		if (sent == -EAGAIN) {
			loop_watch_control(
				engine->ports.loop, control->control, LOOP_READ | LOOP_WRITE, &control->token);
			return true;
		}
		if (sent < 0)
			return false;
		control->out_sent += (size_t)sent;
	}
	uapi_text_free(&control->out);
	control->out_sent = 0;
	loop_watch_control(engine->ports.loop, control->control, LOOP_READ, &control->token);
	return true;
}

/* Answers each whole request in the buffer; false: close. */
static bool answer_requests(struct engine *engine, struct control_stream *control)
{
	for (;;) {
		size_t len = 0;

		switch (uapi_request(control->in, control->in_len, &len)) {
		case UAPI_INCOMPLETE:
			return control->in_len < UAPI_TEXT_MAX;
		case UAPI_UNKNOWN:
			return false;
		case UAPI_GET:
			if (!describe(engine, &control->out))
				return false;
			break;
		case UAPI_SET:
			if (!uapi_write_errno(&control->out, apply_set(engine, control->in, len)))
				return false;
			break;
		}
		memmove(control->in, control->in + len, control->in_len - len);
		secret_wipe(control->in + control->in_len - len, len);
		control->in_len -= len;
	}
}

/* Room for more, with the old buffer wiped, since it may hold keys (realloc would leave a copy). */
static bool grow(struct control_stream *control)
{
	size_t room = control->in_room ? control->in_room * 2 : 4096;
	char *bytes;

	if (control->in_len < control->in_room)
		return true;
	bytes = malloc(room);
	if (!bytes)
		return false;
	if (control->in) {
		memcpy(bytes, control->in, control->in_len);
		secret_wipe(control->in, control->in_room);
		free(control->in);
	}
	control->in = bytes;
	control->in_room = room;
	return true;
}

void control_ready(struct engine *engine, struct control_stream *control, uint32_t what)
{
	bool ok = true;

	if ((what & LOOP_WRITE) && control->out.len)
		ok = send_pending(engine, control);
	/* One client's answers are not piled up: it reads before more is taken in. */
	while (ok && !control->out.len && (what & (LOOP_READ | LOOP_ERROR))) {
		long got;

		ok = grow(control);
		if (!ok)
			break;
		got = control_receive(control->control, control->in + control->in_len, control->in_room - control->in_len);
		if (got == -EAGAIN)
			break;
		if (got <= 0) {
			ok = false;
			break;
		}
		control->in_len += (size_t)got;
		ok = answer_requests(engine, control) && send_pending(engine, control);
	}
	if (!ok)
		control_drop(engine, control);
}
