/* SPDX-License-Identifier: MIT */
/* A peer's indices and which session is used for what. Called by handshaking.c, send.c and receive.c.
 *
 *   current   the one we send with; always confirmed
 *   next      we answered for it and wait for its first packet; not used for sending before
 *   previous  earlier ones: opened with, never sent with
 *
 * Both sides may initiate at once. Each answers, each of the two sessions may be completed, and whatever the
 * order of arrival each side then sends with a session that the other has. To end up with one of them:
 *
 *   - if a session that we answered for is confirmed while our own initiation is still out, that initiation
 * is settled and makes no second one;
 *   - else the session that the smaller public key initiated wins: its owner keeps to it, and the larger key
 * changes over when the first packet comes in on it.
 *
 * An initiation that comes in right after our own handshake is done may be such a crossing one that was
 * overtaken, or really the later one. The smaller key then keeps to its own session until REKEY_TIMEOUT is
 * over, and changes over after that if the other side still sends with the new one.
 *
 * Source: WireGuard paper 5.4.6, 6. */
#include "core/tunnel/state.h"

#include <assert.h>
#include <string.h>

/* Indices are random, ours, and never chosen by anybody outside: their low bits are hash enough. */
static struct slot **index_bucket(const struct tunnel *tunnel, uint32_t index)
{
	return &tunnel->by_index[index & (tunnel->by_index_count - 1)];
}

struct slot *slot_find(const struct tunnel *tunnel, uint32_t index)
{
	if (index == 0 || !tunnel->by_index_count)
		return NULL;
	for (struct slot *slot = *index_bucket(tunnel, index); slot; slot = slot->chain) {
		if (slot->index == index)
			return slot;
	}
	return NULL;
}

struct slot *slot_take(struct tunnel *tunnel, struct peer *peer)
{
	struct slot *slot = peer->slots, **bucket;
	uint32_t index;

	while (slot->index != 0)
		slot++;
	assert(slot < peer->slots + SLOT_COUNT); /* SLOT_COUNT counts all that can be in use at once */
	do
		index = random_u32();
	while (index == 0 || slot_find(tunnel, index));
	bucket = index_bucket(tunnel, index);
	*slot = (struct slot){ .chain = *bucket, .peer = peer, .index = index };
	*bucket = slot;
	return slot;
}

void slot_release(struct tunnel *tunnel, struct slot *slot)
{
	struct slot **link;

	if (!slot)
		return;
	link = index_bucket(tunnel, slot->index);
	while (*link != slot)
		link = &(*link)->chain;
	*link = slot->chain;
	session_free(slot->session);
	handshake_wipe(&slot->handshake);
	*slot = (struct slot){ .index = 0 };
}

/* Becomes the newest of the previous ones. NULL is allowed. */
static void retire(struct tunnel *tunnel, struct peer *peer, struct slot *slot)
{
	if (!slot)
		return;
	slot_release(tunnel, peer->previous[PREVIOUS_COUNT - 1]);
	for (size_t i = PREVIOUS_COUNT - 1; i > 0; i--)
		peer->previous[i] = peer->previous[i - 1];
	peer->previous[0] = slot;
}

/* In steps of two, so that there is a number just below. */
uint64_t sessions_order(struct peer *peer)
{
	peer->order += 2;
	return peer->order;
}

void sessions_initiated(struct tunnel *tunnel, struct peer *peer, struct slot *slot)
{
	if (peer->initiated) {
		slot_release(tunnel, peer->superseded[SUPERSEDED_COUNT - 1]);
		for (size_t i = SUPERSEDED_COUNT - 1; i > 0; i--)
			peer->superseded[i] = peer->superseded[i - 1];
		peer->superseded[0] = peer->initiated;
	}
	slot->order = sessions_order(peer);
	peer->initiated = slot;
}

/* Whether, of two sessions made at once, the one that we initiated wins. */
static bool ours_wins(const struct tunnel *tunnel, const struct peer *peer)
{
	return memcmp(tunnel->self.public_key, peer->remote.public_key, KEY_LEN) < 0;
}

/* Whether a session that we answer for just now may have crossed the current one, which would win. */
static bool may_have_crossed(const struct tunnel *tunnel, const struct peer *peer, struct mono now)
{
	const struct session *session = peer->current ? peer->current->session : NULL;

	return session && session->initiator && ours_wins(tunnel, peer) &&
	       mono_since_ms(now, session->born) < REKEY_TIMEOUT_MS;
}

uint64_t sessions_order_as_responder(const struct tunnel *tunnel, struct peer *peer, struct mono now)
{
	if (may_have_crossed(tunnel, peer, now))
		return peer->current->session->order - 1;
	return sessions_order(peer);
}

void sessions_made_as_initiator(struct tunnel *tunnel, struct peer *peer, struct slot *slot)
{
	/* Answered after our initiation had gone out: which of the two it will be, the first packet shows. */
	bool at_once = peer->next && peer->next->session->order > slot->order;

	peer->initiated = NULL;
	retire(tunnel, peer, peer->current);
	peer->current = slot;
	if (!at_once) {
		retire(tunnel, peer, peer->next);
		peer->next = NULL;
	}
}

/* Takes slot, which is next or previous, as the current one. */
static void promote(struct tunnel *tunnel, struct peer *peer, struct slot *slot)
{
	struct slot *old = peer->current;

	if (peer->next == slot)
		peer->next = NULL;
	for (size_t i = 0; i < PREVIOUS_COUNT; i++) {
		if (peer->previous[i] == slot)
			peer->previous[i] = NULL;
	}
	if (old && old->session->order > slot->session->order)
		slot->session->order = sessions_order(peer);
	retire(tunnel, peer, old);
	peer->current = slot;
}

void sessions_made_as_responder(struct tunnel *tunnel, struct peer *peer, struct slot *slot)
{
	/* It was waiting for the time of crossing to pass; the other side has moved on. */
	if (peer->next && peer->next->session->confirmed)
		promote(tunnel, peer, peer->next);
	/* Else, if our earlier answer has reached them and this one does not, they go on with that. */
	retire(tunnel, peer, peer->next);
	peer->next = slot;
}

bool sessions_confirm(struct tunnel *tunnel, struct peer *peer, struct slot *slot, struct mono now)
{
	bool newer = !peer->current || peer->current->session->order < slot->session->order;

	/* One that was set aside is good again only where we have nothing newer. */
	if (slot == peer->next ? may_have_crossed(tunnel, peer, now) && !newer : !newer)
		return false;
	promote(tunnel, peer, slot);
	return true;
}

void sessions_drop_handshakes(struct tunnel *tunnel, struct peer *peer)
{
	slot_release(tunnel, peer->initiated);
	peer->initiated = NULL;
	for (size_t i = 0; i < SUPERSEDED_COUNT; i++) {
		slot_release(tunnel, peer->superseded[i]);
		peer->superseded[i] = NULL;
	}
	handshake_wipe(&peer->incoming);
	peer->incoming_ready = false;
}

void sessions_drop(struct tunnel *tunnel, struct peer *peer)
{
	sessions_drop_handshakes(tunnel, peer);
	slot_release(tunnel, peer->current);
	slot_release(tunnel, peer->next);
	peer->current = peer->next = NULL;
	for (size_t i = 0; i < PREVIOUS_COUNT; i++) {
		slot_release(tunnel, peer->previous[i]);
		peer->previous[i] = NULL;
	}
}

uint32_t sessions_replay_bits(const struct tunnel *tunnel, const struct peer *peer)
{
	return peer->wide && tunnel->replay_bits < REPLAY_BITS_LARGE ? REPLAY_BITS_LARGE
								     : tunnel->replay_bits;
}

void tunnel_widen_replay(struct tunnel *tunnel, struct peer *peer)
{
	if (peer->wide)
		return;
	peer->wide = true;
	/* Where memory is short the small window stays: late packets are lost, nothing else. */
	for (size_t i = 0; i < SLOT_COUNT; i++)
		if (peer->slots[i].session)
			(void)replay_widen(
				&peer->slots[i].session->replay, sessions_replay_bits(tunnel, peer));
}

struct session *sessions_sendable(const struct peer *peer, struct mono now)
{
	struct session *session = peer->current ? peer->current->session : NULL;

	return session && session_may_send(session, now) ? session : NULL;
}
