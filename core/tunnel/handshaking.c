/* SPDX-License-Identifier: MIT */
/* Handshakes: makes our messages, takes theirs. Called by the engine (create) and by receive.c (consume).
 *
 * Nothing that a stranger sends changes anything but the measure of load and his own rate limit: each consume
 * works on copies until the message is authentic. Source: WireGuard paper 5.3, 5.4; docs/wire.md section 2. */
#include "core/tunnel/state.h"

#include "core/base/bytes.h"
#include "core/noise/tai64n.h"

#include <string.h>

static bool spaced(struct mono last, struct mono now)
{
	return !mono_is_set(last) || mono_reached(now, mono_add_ms(last, INITIATION_SPACING_MS));
}

/* What may leave: the macs, the counters, the timers. */
static void finish(struct tunnel *tunnel, struct peer *peer, struct packet *out, uint32_t len,
	enum timers_event event, struct mono now)
{
	cookie_maker_sign(&peer->cookie_maker, out->data, len, now);
	out->len = len;
	peer->tx_bytes += len;
	schedule_step(tunnel, peer, event, now);
}

bool tunnel_want(struct tunnel *tunnel, struct peer *peer, struct mono now)
{
	return schedule_step(tunnel, peer, TIMERS_WANT, now) & DUE_INITIATION;
}

void tunnel_restart_handshake(struct tunnel *tunnel, struct peer *peer)
{
	sessions_drop_handshakes(tunnel, peer);
	schedule_step(tunnel, peer, TIMERS_RESTART, MONO_UNSET);
}

enum verdict tunnel_create_initiation(
	struct tunnel *tunnel, struct peer *peer, struct mono now, struct wall wall, struct packet *out)
{
	uint8_t timestamp[TAI64N_LEN];

	if (!peer->usable || !spaced(peer->timers.initiation_sent, now))
		return verdict_note(tunnel, VERDICT_TOO_SOON);
	if (out->room < sizeof(struct initiation))
		return verdict_note(tunnel, VERDICT_TOO_LARGE);

	struct slot *slot = slot_take(tunnel, peer);
	struct wall believed = stamps_now(&tunnel->stamps_clock, wall, now, tunnel->timestamp_mark);
	struct wall stamp = tai64n_after(believed, tunnel->timestamp_mark);

	tai64n_write(stamp, timestamp);
	if (!handshake_create_initiation(&slot->handshake, &tunnel->self, &peer->remote, slot->index,
		    timestamp, (struct initiation *)out->data)) {
		slot_release(tunnel, slot);
		return verdict_note(tunnel, VERDICT_TOO_SOON);
	}
	tunnel->timestamp_mark = stamp;
	slot->sent = now;
	sessions_initiated(tunnel, peer, slot);
	finish(tunnel, peer, out, sizeof(struct initiation), TIMERS_INITIATION_SENT, now);
	return VERDICT_OK;
}

enum verdict tunnel_create_response(
	struct tunnel *tunnel, struct peer *peer, struct mono now, struct packet *out)
{
	struct response response;
	struct transport_keys keys = { 0 };
	struct session *session = NULL;
	struct slot *slot;
	enum verdict verdict = VERDICT_BAD_HANDSHAKE;

	if (!peer->incoming_ready)
		return verdict_note(tunnel, verdict);
	peer->incoming_ready = false;
	slot = slot_take(tunnel, peer);
	if (out->room < sizeof(response)) {
		verdict = VERDICT_TOO_LARGE;
		goto out;
	}
	if (!handshake_create_response(&peer->incoming, &peer->remote, slot->index, &response, &keys))
		goto out; /* an ephemeral key of low order */
	session = session_new(&keys, false, sessions_order_as_responder(tunnel, peer, now),
		sessions_replay_bits(tunnel, peer), now);
	if (!session) {
		verdict = VERDICT_NO_MEMORY;
		goto out;
	}
	slot->session = session;
	sessions_made_as_responder(tunnel, peer, slot);
	schedule_step(tunnel, peer, TIMERS_SESSION_MADE, now);
	memcpy(out->data, &response, sizeof(response));
	finish(tunnel, peer, out, sizeof(response), TIMERS_SENT, now);
	verdict = VERDICT_OK;
out:
	if (!session)
		slot_release(tunnel, slot);
	handshake_wipe(&peer->incoming);
	secret_wipe(&keys, sizeof(keys));
	return verdict_note(tunnel, verdict);
}

void tunnel_create_cookie_reply(struct tunnel *tunnel, const uint8_t *message, size_t len,
	const struct endpoint *source, struct mono now, struct packet *out)
{
	cookie_reply_create(
		&tunnel->cookie_checker, message, len, source, now, (struct cookie_reply *)out->data);
	out->len = sizeof(struct cookie_reply);
}

/* Under load a proof of the source's address is asked for, and each source gets a fair share. A TCP source
 * has given the proof by connecting. Only then: a forged source could use up the share of its owner. */
static enum verdict gate(struct tunnel *tunnel, enum carrier carrier, const struct endpoint *source,
	enum mac_state mac, struct mono now)
{
	if (!load_is_high(&tunnel->load, now))
		return VERDICT_OK;
	if (carrier != CARRIER_TCP && mac != MAC_VALID_WITH_COOKIE)
		return VERDICT_COOKIE_WANTED;
	return limit_allow(tunnel->limit, &source->address, now) ? VERDICT_OK : VERDICT_RATE_LIMITED;
}

/* Whose initiation it is, and whether he may make one now; hs, peer and timestamp are written on success
 * only. */
static enum verdict initiation_open(struct tunnel *tunnel, const struct initiation *in, struct mono now,
	struct wall wall, struct handshake *hs, struct peer **peer, uint8_t timestamp[TAI64N_LEN])
{
	struct handshake next;
	uint8_t public_key[KEY_LEN], stamp[TAI64N_LEN];
	struct peer *caller;
	enum verdict verdict = VERDICT_NOT_FOR_US;

	if (!handshake_open_static(&next, &tunnel->self, in, public_key))
		return verdict;
	caller = tunnel_peer_find(tunnel, public_key);
	if (!caller)
		verdict = VERDICT_UNKNOWN_PEER;
	else if (!caller->usable)
		verdict = VERDICT_NOT_FOR_US;
	else if (!handshake_open_timestamp(&next, &caller->remote, in, stamp))
		verdict = VERDICT_BAD_HANDSHAKE;
	else if (!stamps_fresh(&caller->stamps, stamp, wall))
		verdict = VERDICT_STALE_TIMESTAMP;
	else if (!spaced(caller->initiation_received, now))
		verdict = VERDICT_FLOODING;
	else
		verdict = VERDICT_OK;

	if (verdict == VERDICT_OK) {
		*hs = next;
		*peer = caller;
		memcpy(timestamp, stamp, TAI64N_LEN);
	}
	handshake_wipe(&next);
	return verdict;
}

enum verdict initiation_consume(struct tunnel *tunnel, enum carrier carrier, const struct endpoint *source,
	const uint8_t *message, struct mono now, struct wall wall, struct received *out)
{
	uint8_t timestamp[TAI64N_LEN];
	struct handshake hs;
	struct peer *peer;
	enum mac_state mac;
	enum verdict verdict;

	if (!tunnel->has_key)
		return VERDICT_NOT_FOR_US;
	mac = cookie_checker_check(&tunnel->cookie_checker, message, sizeof(struct initiation), source, now);
	if (mac == MAC_INVALID)
		return VERDICT_BAD_MAC1;
	load_note(&tunnel->load, now);
	verdict = gate(tunnel, carrier, source, mac, now);
	if (verdict != VERDICT_OK)
		return verdict;
	verdict =
		initiation_open(tunnel, (const struct initiation *)message, now, wall, &hs, &peer, timestamp);
	if (verdict != VERDICT_OK)
		return verdict;

	peer->incoming = hs;
	peer->incoming_ready = true;
	stamps_accept(&peer->stamps, timestamp, wall);
	peer->initiation_received = now;
	peer->rx_bytes += sizeof(struct initiation);
	schedule_step(tunnel, peer, TIMERS_RECEIVED, now);
	out->kind = RECEIVED_INITIATION;
	out->peer = peer;
	out->newest = true;
	handshake_wipe(&hs);
	return VERDICT_OK;
}

void handshake_done(struct tunnel *tunnel, struct peer *peer, struct mono now, struct wall wall)
{
	peer->misfits = 0;
	peer->last_handshake = wall;
	peer->last_handshake_mono = now;
	if (mono_since_ms(now, peer->current->session->born) >= REKEY_ON_RECEIVE_MS)
		return; /* confirmed so late that it is about to be replaced anyway */
	/* What is still out may be answered, but no second session is needed. */
	if (peer->initiated)
		peer->initiated->settled = true;
	schedule_step(tunnel, peer, TIMERS_CONFIRMED, now);
}

/* An authentic response to an initiation of ours that shall make no session. It is recognised once: replayed,
 * it would be false evidence that its carrier works. */
static enum received_kind response_settle(struct tunnel *tunnel, struct peer *peer, struct slot *slot)
{
	enum received_kind kind = RECEIVED_SUPERSEDED;

	if (slot == peer->initiated) {
		peer->initiated = NULL;
		kind = RECEIVED_RESPONSE; /* a session stands, by their handshake */
	}
	for (size_t i = 0; i < SUPERSEDED_COUNT; i++) {
		if (peer->superseded[i] == slot)
			peer->superseded[i] = NULL;
	}
	slot_release(tunnel, slot);
	return kind;
}

enum verdict response_consume(struct tunnel *tunnel, enum carrier carrier, const struct endpoint *source,
	const uint8_t *message, struct mono now, struct wall wall, struct received *out)
{
	const struct response *in = (const struct response *)message;
	struct transport_keys keys = { 0 };
	struct session *session;
	struct slot *slot;
	struct peer *peer;
	enum mac_state mac;
	enum verdict verdict;

	if (!tunnel->has_key)
		return VERDICT_NOT_FOR_US;
	mac = cookie_checker_check(&tunnel->cookie_checker, message, sizeof(*in), source, now);
	if (mac == MAC_INVALID)
		return VERDICT_BAD_MAC1;
	slot = slot_find(tunnel, get_le32(in->receiver_index));
	if (!slot || slot->session)
		return VERDICT_UNKNOWN_INDEX;
	verdict = gate(tunnel, carrier, source, mac, now);
	if (verdict != VERDICT_OK)
		return verdict;
	peer = slot->peer;
	if (!handshake_consume_response(&slot->handshake, &tunnel->self, &peer->remote, in, &keys)) {
		peer->misfits += peer->misfits < UINT32_MAX;
		verdict = VERDICT_BAD_HANDSHAKE;
		goto out;
	}

	uint64_t rtt_us = mono_since_ns(now, slot->sent) / 1000;
	bool makes_session = slot == peer->initiated && !slot->settled;

	if (makes_session) {
		session = session_new(
			&keys, true, sessions_order(peer), sessions_replay_bits(tunnel, peer), now);
		if (!session) {
			verdict = VERDICT_NO_MEMORY;
			goto out;
		}
		slot->session = session;
		handshake_wipe(&slot->handshake);
		sessions_made_as_initiator(tunnel, peer, slot);
		schedule_step(tunnel, peer, TIMERS_SESSION_MADE, now);
		handshake_done(tunnel, peer, now, wall);
		out->kind = RECEIVED_RESPONSE;
		out->newest = true;
	} else {
		out->kind = response_settle(tunnel, peer, slot);
	}
	peer->handshake_rtt_us = rtt_us < UINT32_MAX ? (uint32_t)rtt_us : UINT32_MAX;
	peer->rx_bytes += sizeof(*in);
	schedule_step(tunnel, peer, TIMERS_RECEIVED, now);
	out->peer = peer;
out:
	secret_wipe(&keys, sizeof(keys));
	return verdict;
}

enum verdict cookie_consume(
	struct tunnel *tunnel, const uint8_t *message, struct mono now, struct received *out)
{
	const struct cookie_reply *in = (const struct cookie_reply *)message;
	struct slot *slot = slot_find(tunnel, get_le32(in->receiver_index));

	if (!slot)
		return VERDICT_UNKNOWN_INDEX;
	if (!cookie_reply_consume(&slot->peer->cookie_maker, in, now))
		return VERDICT_BAD_COOKIE;
	out->kind = RECEIVED_COOKIE;
	out->peer = slot->peer;
	return VERDICT_OK;
}
