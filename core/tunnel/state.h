/* SPDX-License-Identifier: MIT */
/* The tunnel from inside, and what the files of this folder offer each other. */
#ifndef WGTCP_CORE_TUNNEL_STATE_H
#define WGTCP_CORE_TUNNEL_STATE_H

#include "core/tunnel/allowed_ips.h"
#include "core/tunnel/limit.h"
#include "core/tunnel/peer.h"
#include "core/tunnel/tunnel.h"

struct tunnel {
	struct noise_identity self;
	bool has_key;
	struct cookie_checker cookie_checker;
	struct wall timestamp_mark;
	struct stamps_clock stamps_clock;
	uint32_t mtu, replay_bits;

	struct allowed_ips *allowed_ips;
	struct load load;
	struct limit *limit;
	uint64_t verdicts[VERDICT_COUNT];
	uint64_t copies;

	/* peers.c */
	uint8_t hash_key[16];
	struct peer *first, *last;
	size_t peer_count;
	struct peer **by_key;
	size_t by_key_count; /* a power of two, as is the next */
	struct slot **by_index;
	size_t by_index_count;
	struct peer **heap; /* by wake, the earliest first; room for by_key_count */
};

/* ---- peers.c ---- */

/* Grows the tables for one more peer; false when memory is short. */
bool peers_reserve(struct tunnel *tunnel);
void peers_insert(struct tunnel *tunnel, struct peer *peer);
void peers_remove(struct tunnel *tunnel, struct peer *peer);

/* ---- sessions.c ---- */

/* A free slot of the peer with a fresh random index, in the table. */
struct slot *slot_take(struct tunnel *tunnel, struct peer *peer);
/* Wipes it and takes its index out of use. NULL is allowed. */
void slot_release(struct tunnel *tunnel, struct slot *slot);
/* NULL: no such index. */
struct slot *slot_find(const struct tunnel *tunnel, uint32_t index);

/* slot holds an initiation that was just made: it is the newest now. */
void sessions_initiated(struct tunnel *tunnel, struct peer *peer, struct slot *slot);
/* The response to the newest initiation was authentic; slot, which held it, holds its session. */
void sessions_made_as_initiator(struct tunnel *tunnel, struct peer *peer, struct slot *slot);
/* We have answered; slot holds the session. */
void sessions_made_as_responder(struct tunnel *tunnel, struct peer *peer, struct slot *slot);
/* An authentic packet has come in on a session that we answered for. True: it is the current one from now on.
 */
bool sessions_confirm(struct tunnel *tunnel, struct peer *peer, struct slot *slot, struct mono now);
/* Numbers for initiations and sessions, each larger than all before; and for a session that we answer for. */
uint64_t sessions_order(struct peer *peer);
uint64_t sessions_order_as_responder(const struct tunnel *tunnel, struct peer *peer, struct mono now);
/* Wipes every handshake that is under way. */
void sessions_drop_handshakes(struct tunnel *tunnel, struct peer *peer);
/* Wipes those and all sessions. */
void sessions_drop(struct tunnel *tunnel, struct peer *peer);
/* How large the replay window of a session with this peer is. */
uint32_t sessions_replay_bits(const struct tunnel *tunnel, const struct peer *peer);
/* The session to seal with; NULL: none. */
struct session *sessions_sendable(const struct peer *peer, struct mono now);

/* ---- schedule.c ---- */

void schedule_insert(struct tunnel *tunnel, struct peer *peer);
void schedule_remove(struct tunnel *tunnel, struct peer *peer);
/* timers_step, and the heap brought up to date. */
uint32_t schedule_step(struct tunnel *tunnel, struct peer *peer, enum timers_event event, struct mono now);

/* ---- handshaking.c ---- */

enum verdict initiation_consume(struct tunnel *tunnel, enum carrier carrier, const struct endpoint *source,
	const uint8_t *message, struct mono now, struct wall wall, struct received *out);
enum verdict response_consume(struct tunnel *tunnel, enum carrier carrier, const struct endpoint *source,
	const uint8_t *message, struct mono now, struct wall wall, struct received *out);
enum verdict cookie_consume(
	struct tunnel *tunnel, const uint8_t *message, struct mono now, struct received *out);
/* Both sides have the session: for `wg` and for the timers. */
void handshake_done(struct tunnel *tunnel, struct peer *peer, struct mono now, struct wall wall);

/* ---- tunnel.c ---- */

/* Counts it unless it is OK, and gives it back. */
enum verdict verdict_note(struct tunnel *tunnel, enum verdict verdict);

#endif
