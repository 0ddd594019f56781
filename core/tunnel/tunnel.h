/* SPDX-License-Identifier: MIT */
/* READ FIRST. One WireGuard interface without any I/O: identity, peers, sessions, allowed IPs, timers.
 *
 * Nothing here sends, reads a clock or calls back. The engine's loop makes each step of a packet's way one call:
 *
 *   out: tunnel_route -> (the engine's queue for the peer) -> tunnel_seal -> carrier
 *   in:  carrier -> tunnel_receive -> TUN
 *
 * and asks for what time brings with tunnel_deadline / tunnel_next_due. Which carrier a message takes is the
 * engine's business; the tunnel only says whether a packet was the newest authenticated one of its peer
 * (received.newest), since only such a packet may move a path (docs/wire.md section 2).
 *
 * One thread. Source: WireGuard paper 5 and 6. */
#ifndef WGTCP_CORE_TUNNEL_TUNNEL_H
#define WGTCP_CORE_TUNNEL_TUNNEL_H

#include "core/base/address.h"
#include "core/base/carrier.h"
#include "core/base/packet.h"
#include "core/base/time.h"
#include "core/crypto/crypto.h"
#include "core/tunnel/extension.h"
#include "core/tunnel/verdict.h"

struct tunnel;
struct peer;

#define INITIATION_SPACING_MS 20 /* two initiations to one peer (docs/wire.md 2) */
#define REKEY_TIMEOUT_MS 5000    /* plus up to 334 ms of jitter */
#define REKEY_ATTEMPT_MS 90000
#define KEEPALIVE_TIMEOUT_MS 10000

/* ---- configuration ---- */

/* NULL when memory is short. Without a private key it makes and accepts no handshake. */
struct tunnel *tunnel_new(void);
void tunnel_free(struct tunnel *tunnel);

/* NULL takes the key away. Ends all sessions and removes a peer that has this key's public key. */
void tunnel_set_private_key(struct tunnel *tunnel, const uint8_t *key);
/* False when there is none. */
bool tunnel_keys(const struct tunnel *tunnel, uint8_t private_key[KEY_LEN], uint8_t public_key[KEY_LEN]);
/* Timestamps of our initiations stay above this, whatever the clock says (TAI64N must not go back over restarts). */
void tunnel_set_timestamp_floor(struct tunnel *tunnel, struct wall floor);
/* The newest timestamp used so far, to be kept for the next start. */
struct wall tunnel_timestamp_mark(const struct tunnel *tunnel);
/* The largest plaintext that padding may fill up to. */
void tunnel_set_mtu(struct tunnel *tunnel, uint32_t mtu);
/* For sessions made from now on: REPLAY_BITS_SMALL or REPLAY_BITS_LARGE. */
void tunnel_set_replay_bits(struct tunnel *tunnel, uint32_t bits);
/* The large window for this peer, for the sessions that it has and for those to come: its packets come by several streams,
 * of which one may stand still for a while. */
void tunnel_widen_replay(struct tunnel *tunnel, struct peer *peer);

/* NULL: memory, or our own key, or there already. */
struct peer *tunnel_peer_add(struct tunnel *tunnel, const uint8_t public_key[KEY_LEN]);
void tunnel_peer_remove(struct tunnel *tunnel, struct peer *peer);
struct peer *tunnel_peer_find(const struct tunnel *tunnel, const uint8_t public_key[KEY_LEN]);
/* Walks in the order of adding; NULL before the first and after the last. */
struct peer *tunnel_peer_next(const struct tunnel *tunnel, const struct peer *after);
size_t tunnel_peer_count(const struct tunnel *tunnel);

const uint8_t *peer_public_key(const struct peer *peer);
/* The engine's own record of this peer. */
void peer_set_user(struct peer *peer, void *user);
void *peer_user(const struct peer *peer);
void peer_set_preshared_key(struct peer *peer, const uint8_t key[KEY_LEN]);
const uint8_t *peer_preshared_key(const struct peer *peer);
/* 0: off. Takes effect at once: with a session, or with an endpoint to make one (the engine's tunnel_want). */
void peer_set_persistent_keepalive(struct tunnel *tunnel, struct peer *peer, uint16_t seconds, struct mono now);
uint16_t peer_persistent_keepalive(const struct peer *peer);

bool tunnel_allow(struct tunnel *tunnel, struct peer *peer, const struct ip_prefix *prefix);
bool tunnel_disallow(struct tunnel *tunnel, struct peer *peer, const struct ip_prefix *prefix);
void tunnel_disallow_all(struct tunnel *tunnel, struct peer *peer);
bool tunnel_allowed_next(const struct tunnel *tunnel, const struct peer *peer, size_t *cursor, struct ip_prefix *out);

struct peer_stats {
	uint64_t rx_bytes, tx_bytes;      /* whole WireGuard messages that were authentic / made, as `wg` counts */
	struct wall last_handshake;       /* 0: never */
	struct mono last_handshake_mono;
	uint32_t handshake_rtt_us;        /* of the last one we initiated; 0: unknown */
	bool has_session;                 /* could seal now */
	/* Responses to initiations of ours, since the last handshake, that were made for us and did not open. A peer that
	 * does not have our key, or whose key is not the one that we think, does not answer at all: it has another
	 * preshared key (or somebody on the way makes things up). */
	uint32_t misfits;
};
void peer_stats(const struct peer *peer, struct mono now, struct peer_stats *out);
/* How often each verdict other than OK happened. */
const uint64_t *tunnel_verdicts(const struct tunnel *tunnel); /* VERDICT_COUNT of them */
/* The replay that tunnel_receive has just reported was the second copy of a packet that its peer sends twice: it is not
 * counted as a replay. */
void tunnel_note_copy(struct tunnel *tunnel);
uint64_t tunnel_copies(const struct tunnel *tunnel);

/* ---- out ---- */

/* Which peer the inner packet goes to. Checks the IP header's version and length. */
enum verdict tunnel_route(struct tunnel *tunnel, const struct packet *inner, struct peer **peer);
/* Pads and seals an inner packet in place with the peer's current session; inner->data and len are then the message.
 * VERDICT_NO_SESSION leaves the packet as it was. */
enum verdict tunnel_seal(struct tunnel *tunnel, struct peer *peer, struct packet *inner, struct mono now);
/* The same for a burst of at most BURST_MAX bytes, which becomes one message (docs/wire.md 5). */
#define BURST_MAX (65535 - 32 - EXTENSION_BURST_LEN)
enum verdict tunnel_seal_burst(struct tunnel *tunnel, struct peer *peer, struct packet *burst, struct mono now);
/* The same for a keepalive (empty) and for an extension message; out comes fresh from the pool. */
enum verdict tunnel_seal_keepalive(struct tunnel *tunnel, struct peer *peer, struct packet *out, struct mono now);
enum verdict tunnel_seal_extension(struct tunnel *tunnel, struct peer *peer, const struct extension *extension,
	struct packet *out, struct mono now);

/* ---- handshakes ---- */

/* A packet waits and there is no session, or the engine wants one: true when an initiation should go out now (the last
 * one is REKEY_TIMEOUT old, or there was none); then, and on each later due, call tunnel_create_initiation.
 * Each call starts REKEY_ATTEMPT anew (paper 6.4), so call it for a new packet, not on each turn of a loop. */
bool tunnel_want(struct tunnel *tunnel, struct peer *peer, struct mono now);
/* A fresh initiation, superseding the one before, whose answer is still recognised (RECEIVED_SUPERSEDED). May be called
 * at any time, also by the fallback machine's word; VERDICT_TOO_SOON within INITIATION_SPACING_MS. */
enum verdict tunnel_create_initiation(
	struct tunnel *tunnel, struct peer *peer, struct mono now, struct wall wall, struct packet *out);
/* Answers the initiation that tunnel_receive has just reported for peer; makes the next session. */
enum verdict tunnel_create_response(struct tunnel *tunnel, struct peer *peer, struct mono now, struct packet *out);
/* After VERDICT_COOKIE_WANTED. Never to be sent over TCP (docs/wire.md 2). */
void tunnel_create_cookie_reply(struct tunnel *tunnel, const uint8_t *message, size_t len,
	const struct endpoint *source, struct mono now, struct packet *out);
/* Forgets the handshake under way and its attempts, so that the next tunnel_want starts at once. */
void tunnel_restart_handshake(struct tunnel *tunnel, struct peer *peer);

/* ---- in ---- */

enum received_kind {
	RECEIVED_NOTHING,
	RECEIVED_DATA,       /* plain holds an inner packet, or a burst, whose source is the peer's */
	RECEIVED_KEEPALIVE,
	RECEIVED_INITIATION, /* authentic and newer: answer with tunnel_create_response, on the same carrier */
	RECEIVED_RESPONSE,   /* a session stands; send what waits, else a keepalive, to confirm it. newest is false
	                      * where that is not a new one, since their own handshake came first */
	RECEIVED_SUPERSEDED, /* an authentic response to an older initiation of ours: the carrier works; initiate again there */
	RECEIVED_COOKIE,     /* kept for the next initiation */
	RECEIVED_EXTENSION,
};

struct received {
	enum received_kind kind;
	struct peer *peer;
	/* Newest authenticated packet of the peer so far, by (order of keypairs, counter); an accepted initiation and the
	 * response to our newest initiation count as newer. A late or replayed packet never moves a path. */
	bool newest;
	/* The packet confirmed a session that we answered for: what waits can go out now. */
	bool confirmed;
	struct extension extension;
};

/* One message that came in. message may be written to. source is for cookies and rate limits.
 * plain: a packet from the pool; on RECEIVED_DATA it holds the inner packet, else it is untouched or scratch.
 * out is written in any case. With VERDICT_SOURCE_NOT_ALLOWED and VERDICT_BAD_INNER the packet was authentic all
 * the same: kind is RECEIVED_NOTHING, but peer, newest and confirmed hold. With any other verdict than OK, peer is
 * NULL. */
enum verdict tunnel_receive(struct tunnel *tunnel, enum carrier carrier, const struct endpoint *source,
	uint8_t *message, size_t len, struct mono now, struct wall wall, struct packet *plain, struct received *out);

/* ---- time ---- */

enum {
	DUE_INITIATION = 1, /* retry, rekey, or no answer for KEEPALIVE + REKEY_TIMEOUT: tunnel_create_initiation */
	DUE_KEEPALIVE = 2,  /* passive or persistent: tunnel_seal_keepalive; persistent also comes without a session
	                     * (VERDICT_NO_SESSION): tunnel_want then, if there is an endpoint */
	DUE_GAVE_UP = 4,    /* 90 s without an answer: drop what waits; a new packet starts over */
	DUE_ZEROED = 8,     /* no session for 3 x REJECT_AFTER: keys wiped */
};

struct due {
	struct peer *peer;
	uint32_t what;
};

/* When to call tunnel_next_due next; MONO_NEVER when nothing is to come. Never later than the true time. */
struct mono tunnel_deadline(const struct tunnel *tunnel);
/* One peer's dues at a time; false when there are no more at `now`. Each due is reported once, so act on it. */
bool tunnel_next_due(struct tunnel *tunnel, struct mono now, struct due *out);

#endif
