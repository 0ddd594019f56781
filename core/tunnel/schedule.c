/* SPDX-License-Identifier: MIT */
/* Which peer's time comes next: a binary heap of all peers. A peer's key, `wake`, is moved at once when its
 * deadline comes nearer, but not when it moves away, which is what nearly every packet does; it is put right
 * when it is reached. So a packet costs no heap work, and the deadline told is at worst too early. Source:
 * WireGuard paper 6. */
#include "core/tunnel/state.h"

static void place(struct tunnel *tunnel, size_t at, struct peer *peer)
{
	tunnel->heap[at] = peer;
	peer->heap_at = at;
}

static void sift_up(struct tunnel *tunnel, struct peer *peer)
{
	size_t at = peer->heap_at;

	while (at > 0) {
		struct peer *above = tunnel->heap[(at - 1) / 2];

		if (above->wake.ns <= peer->wake.ns)
			break;
		place(tunnel, at, above);
		at = (at - 1) / 2;
	}
	place(tunnel, at, peer);
}

static void sift_down(struct tunnel *tunnel, struct peer *peer, size_t count)
{
	size_t at = peer->heap_at;

	for (;;) {
		size_t below = 2 * at + 1;

		if (below >= count)
			break;
		if (below + 1 < count && tunnel->heap[below + 1]->wake.ns < tunnel->heap[below]->wake.ns)
			below++;
		if (peer->wake.ns <= tunnel->heap[below]->wake.ns)
			break;
		place(tunnel, at, tunnel->heap[below]);
		at = below;
	}
	place(tunnel, at, peer);
}

void schedule_insert(struct tunnel *tunnel, struct peer *peer)
{
	peer->wake = timers_deadline(&peer->timers);
	peer->heap_at = tunnel->peer_count;
	sift_up(tunnel, peer);
}

void schedule_remove(struct tunnel *tunnel, struct peer *peer)
{
	size_t count = tunnel->peer_count - 1;
	struct peer *last = tunnel->heap[count];

	if (last == peer)
		return;
	last->heap_at = peer->heap_at;
	sift_up(tunnel, last);
	sift_down(tunnel, last, count);
}

uint32_t schedule_step(struct tunnel *tunnel, struct peer *peer, enum timers_event event, struct mono now)
{
	uint32_t what = timers_step(&peer->timers, event, now);
	struct mono deadline = timers_deadline(&peer->timers);

	if (deadline.ns < peer->wake.ns) {
		peer->wake = deadline;
		sift_up(tunnel, peer);
	}
	return what;
}

struct mono tunnel_deadline(const struct tunnel *tunnel)
{
	return tunnel->peer_count ? tunnel->heap[0]->wake : MONO_NEVER;
}

bool tunnel_next_due(struct tunnel *tunnel, struct mono now, struct due *out)
{
	while (tunnel->peer_count && mono_reached(now, tunnel->heap[0]->wake)) {
		struct peer *peer = tunnel->heap[0];
		uint32_t what = timers_step(&peer->timers, TIMERS_TICK, now);

		peer->wake = timers_deadline(&peer->timers);
		sift_down(tunnel, peer, tunnel->peer_count);
		if (what & DUE_PASSIVE) {
			what &= ~(uint32_t)DUE_PASSIVE;
			if (sessions_sendable(peer, now))
				what |= DUE_KEEPALIVE;
		}
		if (what & DUE_GAVE_UP)
			sessions_drop_handshakes(tunnel, peer);
		if (what & DUE_ZEROED)
			sessions_drop(tunnel, peer);
		if (what) {
			*out = (struct due){ peer, what };
			return true;
		}
	}
	return false;
}
