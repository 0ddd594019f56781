/* SPDX-License-Identifier: MIT */
/* Identity and peers: what a person configures, and what is told of it. Called by the engine, on its thread.
 * Source: WireGuard paper 2, 5. */
#include "core/tunnel/state.h"

#include <stdlib.h>
#include <string.h>

#define MTU_DEFAULT 1420

struct tunnel *tunnel_new(void)
{
	struct tunnel *tunnel = secret_new(sizeof(*tunnel));

	if (!tunnel)
		return NULL;
	tunnel->allowed_ips = allowed_ips_new();
	tunnel->limit = limit_new();
	if (!tunnel->allowed_ips || !tunnel->limit) {
		tunnel_free(tunnel);
		return NULL;
	}
	random_fill(tunnel->hash_key, sizeof(tunnel->hash_key));
	tunnel->mtu = MTU_DEFAULT;
	tunnel->replay_bits = REPLAY_BITS_SMALL;
	return tunnel;
}

void tunnel_free(struct tunnel *tunnel)
{
	if (!tunnel)
		return;
	while (tunnel->first)
		tunnel_peer_remove(tunnel, tunnel->first);
	allowed_ips_free(tunnel->allowed_ips);
	limit_free(tunnel->limit);
	free(tunnel->by_key);
	free(tunnel->by_index);
	free(tunnel->heap);
	secret_free(tunnel, sizeof(*tunnel));
}

/* ---- identity ---- */

static void peer_meet(const struct tunnel *tunnel, struct peer *peer)
{
	secret_wipe(peer->remote.static_shared, KEY_LEN);
	peer->usable = tunnel->has_key && noise_remote_complete(&peer->remote, &tunnel->self);
}

static void end_sessions(struct tunnel *tunnel, struct peer *peer)
{
	sessions_drop(tunnel, peer);
	schedule_step(tunnel, peer, TIMERS_DROPPED, MONO_UNSET);
}

void tunnel_set_private_key(struct tunnel *tunnel, const uint8_t *key)
{
	struct peer *self;

	secret_wipe(&tunnel->self, sizeof(tunnel->self));
	tunnel->has_key = key != NULL;
	if (key) {
		memcpy(tunnel->self.private_key, key, KEY_LEN);
		noise_identity_complete(&tunnel->self);
		cookie_checker_init(&tunnel->cookie_checker, tunnel->self.public_key);
		self = tunnel_peer_find(tunnel, tunnel->self.public_key);
		if (self)
			tunnel_peer_remove(tunnel, self);
	}
	for (struct peer *peer = tunnel->first; peer; peer = peer->list_after) {
		end_sessions(tunnel, peer);
		peer_meet(tunnel, peer);
	}
}

bool tunnel_keys(const struct tunnel *tunnel, uint8_t private_key[KEY_LEN], uint8_t public_key[KEY_LEN])
{
	if (!tunnel->has_key)
		return false;
	memcpy(private_key, tunnel->self.private_key, KEY_LEN);
	memcpy(public_key, tunnel->self.public_key, KEY_LEN);
	return true;
}

void tunnel_set_timestamp_floor(struct tunnel *tunnel, struct wall floor)
{
	struct wall mark = tunnel->timestamp_mark;

	/* A kept mark that makes no sense would never be passed. */
	if (floor.s >= STAMPS_WALL_MAX)
		return;
	if (floor.s > mark.s || (floor.s == mark.s && floor.ns > mark.ns))
		tunnel->timestamp_mark = floor;
}

struct wall tunnel_timestamp_mark(const struct tunnel *tunnel)
{
	return tunnel->timestamp_mark;
}

void tunnel_set_mtu(struct tunnel *tunnel, uint32_t mtu)
{
	tunnel->mtu = mtu;
}

void tunnel_set_replay_bits(struct tunnel *tunnel, uint32_t bits)
{
	tunnel->replay_bits = bits;
}

/* ---- peers ---- */

struct peer *tunnel_peer_add(struct tunnel *tunnel, const uint8_t public_key[KEY_LEN])
{
	struct peer *peer;

	if (tunnel->has_key && memcmp(public_key, tunnel->self.public_key, KEY_LEN) == 0)
		return NULL;
	if (tunnel_peer_find(tunnel, public_key) || !peers_reserve(tunnel))
		return NULL;
	peer = secret_new(sizeof(*peer));
	if (!peer)
		return NULL;
	memcpy(peer->remote.public_key, public_key, KEY_LEN);
	cookie_maker_init(&peer->cookie_maker, public_key);
	timers_init(&peer->timers, random_u32());
	peer_meet(tunnel, peer);
	peers_insert(tunnel, peer);
	return peer;
}

void tunnel_peer_remove(struct tunnel *tunnel, struct peer *peer)
{
	sessions_drop(tunnel, peer);
	allowed_ips_remove_peer(tunnel->allowed_ips, peer);
	peers_remove(tunnel, peer);
	secret_free(peer, sizeof(*peer));
}

const uint8_t *peer_public_key(const struct peer *peer)
{
	return peer->remote.public_key;
}

void peer_set_user(struct peer *peer, void *user)
{
	peer->user = user;
}

void *peer_user(const struct peer *peer)
{
	return peer->user;
}

void peer_set_preshared_key(struct peer *peer, const uint8_t key[KEY_LEN])
{
	memcpy(peer->remote.preshared_key, key, KEY_LEN);
}

const uint8_t *peer_preshared_key(const struct peer *peer)
{
	return peer->remote.preshared_key;
}

void peer_set_persistent_keepalive(
	struct tunnel *tunnel, struct peer *peer, uint16_t seconds, struct mono now)
{
	if (peer->timers.persistent_s == seconds)
		return; /* a configuration that is only read again shall not make traffic */
	peer->timers.persistent_s = seconds;
	schedule_step(tunnel, peer, TIMERS_INTERVAL_SET, now);
}

uint16_t peer_persistent_keepalive(const struct peer *peer)
{
	return peer->timers.persistent_s;
}

bool tunnel_allow(struct tunnel *tunnel, struct peer *peer, const struct ip_prefix *prefix)
{
	return allowed_ips_insert(tunnel->allowed_ips, prefix, peer);
}

bool tunnel_disallow(struct tunnel *tunnel, struct peer *peer, const struct ip_prefix *prefix)
{
	return allowed_ips_remove(tunnel->allowed_ips, prefix, peer);
}

void tunnel_disallow_all(struct tunnel *tunnel, struct peer *peer)
{
	allowed_ips_remove_peer(tunnel->allowed_ips, peer);
}

bool tunnel_allowed_next(
	const struct tunnel *tunnel, const struct peer *peer, size_t *cursor, struct ip_prefix *out)
{
	return allowed_ips_next(tunnel->allowed_ips, peer, cursor, out);
}

/* ---- what is told ---- */

void peer_stats(const struct peer *peer, struct mono now, struct peer_stats *out)
{
	*out = (struct peer_stats){
		.rx_bytes = peer->rx_bytes,
		.tx_bytes = peer->tx_bytes,
		.last_handshake = peer->last_handshake,
		.last_handshake_mono = peer->last_handshake_mono,
		.handshake_rtt_us = peer->handshake_rtt_us,
		.misfits = peer->misfits,
		.has_session = sessions_sendable(peer, now) != NULL,
	};
}

enum verdict verdict_note(struct tunnel *tunnel, enum verdict verdict)
{
	if (verdict != VERDICT_OK)
		tunnel->verdicts[verdict]++;
	return verdict;
}

void tunnel_note_copy(struct tunnel *tunnel)
{
	tunnel->verdicts[VERDICT_REPLAYED]--;
	tunnel->copies++;
}

uint64_t tunnel_copies(const struct tunnel *tunnel)
{
	return tunnel->copies;
}

const uint64_t *tunnel_verdicts(const struct tunnel *tunnel)
{
	return tunnel->verdicts;
}
