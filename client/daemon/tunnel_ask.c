/* SPDX-License-Identifier: MIT */
/* Inner echoes to a tunnel's peers. Called by watch.c each second while somebody watches or something is in
 * doubt, and by speed.c; see tunnel.h. */
#include "client/daemon/second.h"

/* A server with a thousand peers is not to send a thousand echoes a second because somebody looks at it. */
#define ASKED_MAX 32
/* A session ends so long after its handshake (WireGuard paper, section 6): beyond it nobody answers. */
#define SESSION_S 180

static bool source_for(const struct profile *profile, const struct ip_address *target, struct ip_address *out)
{
	size_t i;

	for (i = 0; i < profile->address_count; i++)
		if (ip_prefix_contains(&profile->addresses[i], target)) {
			*out = profile->addresses[i].address;
			return true;
		}
	for (i = 0; i < profile->address_count; i++)
		if (profile->addresses[i].address.family == target->family) {
			*out = profile->addresses[i].address;
			return true;
		}
	return false;
}

bool tunnel_inside(
	const struct tunnel *tunnel, size_t peer, struct ip_address *source, struct ip_address *target)
{
	const struct profile *profile = &tunnel->loaded.profile;

	return peer < profile->peer_count && profile_probe_address(profile, peer, target) &&
	       source_for(profile, target, source);
}

static struct asker *asker_of(struct tunnel *tunnel)
{
	size_t count = tunnel->loaded.profile.peer_count, i;
	uint32_t interface = tunnel_interface_index(tunnel);
	struct ask_target *targets;

	if (tunnel->asker || !interface || !count)
		return tunnel->asker;
	targets = g_new0(struct ask_target, count);
	for (i = 0; i < count; i++)
		if (!tunnel_inside(tunnel, i, &targets[i].source, &targets[i].target))
			targets[i] = (struct ask_target){ 0 };
	tunnel->asker = asker_new(interface, targets, count);
	g_free(targets);
	return tunnel->asker;
}

static bool has_session(const struct rpc_peer *peer, uint64_t now_s)
{
	return peer->last_handshake && now_s < peer->last_handshake + SESSION_S;
}

void tunnel_ask(struct tunnel *tunnel)
{
	struct asker *asker = tunnel->phase == TUNNEL_RUNNING && !tunnel->parked ? asker_of(tunnel) : NULL;
	uint64_t now_s = (uint64_t)g_get_real_time() / G_USEC_PER_SEC;
	struct mono now = daemon_now();
	size_t i, asked = 0;

	for (i = 0; asker && i < tunnel->view.peer_count && asked < ASKED_MAX; i++) {
		if (!has_session(&tunnel->view.peers[i], now_s))
			continue;
		asker_beat(asker, i, now);
		asked++;
	}
}

void tunnel_read_echoes(struct tunnel *tunnel, struct mono now, struct rpc_sample *sample)
{
	size_t i;

	for (i = 0; tunnel->asker && i < tunnel->view.peer_count; i++) {
		struct rpc_peer *peer = &tunnel->view.peers[i];
		struct latency_figures figures;

		asker_read(tunnel->asker, i, now, &figures);
		peer->echoes = figures.echoes;
		peer->loss_permille = figures.loss_permille;
		peer->jitter_us = figures.jitter_us;
		if (figures.rtt_us)
			peer->rtt_us = figures.rtt_us;
		if (!figures.echoes)
			continue;
		if (figures.echoes > sample->echoes)
			sample->echoes = figures.echoes;
		if (figures.loss_permille > sample->loss_permille)
			sample->loss_permille = figures.loss_permille;
		if (figures.jitter_us > sample->jitter_us)
			sample->jitter_us = figures.jitter_us;
	}
}

bool tunnel_probe(struct tunnel *tunnel, size_t peer, ask_decided *decided, void *user)
{
	struct asker *asker = tunnel->phase == TUNNEL_RUNNING ? asker_of(second_carrier(tunnel)) : NULL;

	if (asker)
		asker_probe(asker, peer, daemon_now(), decided, user);
	return asker != NULL;
}

void tunnel_quiet(struct tunnel *tunnel)
{
	if (tunnel->asker)
		asker_quiet(tunnel->asker);
}

bool tunnel_is_switching(const struct tunnel *tunnel)
{
	return tunnel->switching || second_switches(tunnel);
}
