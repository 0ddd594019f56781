/* SPDX-License-Identifier: MIT */
/* Several streams to one peer, so that a lost segment stalls only the flows of its own stream. Each stream of
 * the path is a lane of the link's queue, and flows are pinned to lanes there (core/carrier/queue.h).
 *
 * The leader dials further streams, where both hellos have shown CAPABILITY_STREAMS, up to the smaller of
 * both maxima. What comes first on a connection says what it is for: a keepalive joins the path; anything
 * else is a new path, whose older connections retire. A join is answered by a keepalive on the same stream,
 * and only then does the leader send on it, so a way that connects and carries nothing takes no flow with it.
 * A stream that stands still while others move loses its flows at once. A peer that has not shown the
 * capability gets exactly one stream. Called by the engine's loop. Source: docs/wire.md 5. */
#include "client/engine/state.h"

#include <string.h>

#define DIALS_AT_ONCE 4
#define RETRY_MIN_MS 1000
#define RETRY_MAX_MS (60 * 1000)
#define JOIN_MS 6000 /* for the answer to a join */

uint32_t parallel_agreed(const struct link *link)
{
	if (!link->engine->extensions || !link->hello_shown || !(link->capabilities & CAPABILITY_STREAMS) ||
		!link->peer_streams)
		return 1;
	return link->peer_streams < STREAMS_MAX ? link->peer_streams : STREAMS_MAX;
}

bool parallel_join(struct link *link, struct stream *stream)
{
	struct parallel *parallel = &link->parallel;
	uint32_t lane = parallel->spare;

	if (stream->joined)
		return true;
	if (parallel->count == STREAMS_MAX)
		return false;
	if (parallel->count)
		for (lane = 0; parallel->lanes[lane]; lane++)
			;
	parallel->lanes[lane] = stream;
	parallel->count++;
	stream->joined = true;
	stream->lane = lane;
	stream->retire = MONO_UNSET;
	queue_open_lane(link->queue, lane, link->engine->now);
	if (parallel->count > 1)
		tunnel_widen_replay(link->engine->tunnel, link->peer);
	link_touch(link);
	return true;
}

void parallel_leave(struct link *link, struct stream *stream)
{
	struct parallel *parallel = &link->parallel;

	if (!stream->joined)
		return;
	stream->joined = false;
	parallel->lanes[stream->lane] = NULL;
	parallel->count--;
	/* The queue keeps one lane, for what waits until there is a stream again. */
	if (parallel->count)
		queue_close_lane(link->queue, stream->lane, link->engine->now);
	else
		parallel->spare = stream->lane;
	link_touch(link);
}

/* One keepalive on this very stream. */
static bool nudge(struct link *link, struct stream *stream)
{
	struct engine *engine = link->engine;
	struct packet *packet = packet_take(engine->pool);

	if (!packet)
		return false;
	if (tunnel_seal_keepalive(engine->tunnel, link->peer, packet, engine->now) != VERDICT_OK) {
		packet_give(engine->pool, packet);
		return false;
	}
	stream_send(engine, stream, packet);
	return stream->token.kind != TOKEN_DEAD;
}

bool parallel_first_record(struct link *link, struct stream *stream, const struct received *received)
{
	bool room = link->parallel.count < parallel_agreed(link);

	if (!stream->further && (stream->dialled || received->kind != RECEIVED_KEEPALIVE || !link->stream ||
					!link->stream->authentic || parallel_agreed(link) < 2))
		return false;
	/* One too many is no new path either: it is read for a while, and closed. */
	if (!room || !parallel_join(link, stream)) {
		stream->retire = mono_add_ms(link->engine->now, RETIRE_MS);
		return true;
	}
	if (!stream->further)
		(void)nudge(link, stream);
	return true;
}

/* ---- the leader ---- */

static uint32_t under_way(const struct parallel *parallel)
{
	uint32_t count = 0;

	for (size_t i = 0; i < STREAMS_MAX; i++)
		count +=
			parallel->dials[i] != 0 || (parallel->joining[i] && !parallel->joining[i]->authentic);
	return count;
}

static void dial(struct link *link, uint64_t *place)
{
	struct seam_message message = {
		.kind = SEAM_DIAL, .flag = true, .attempt = ++link->engine->attempts
	};

	memcpy(message.public_key, peer_public_key(link->peer), KEY_LEN);
	if (!seam_send(link->engine->ports.seam, &message))
		*place = message.attempt;
}

void parallel_fill(struct link *link)
{
	struct parallel *parallel = &link->parallel;
	uint32_t most = parallel_agreed(link), wanted = parallel->wanted < most ? parallel->wanted : most;
	uint32_t waiting = under_way(parallel);

	if (!link->leads || !link->stream || !link->stream->authentic || link_carrier(link) != CARRIER_TCP ||
		!mono_reached(link->engine->now, parallel->retry))
		return;
	for (size_t i = 0; i < STREAMS_MAX && waiting < DIALS_AT_ONCE && parallel->count + waiting < wanted;
		i++)
		if (!parallel->dials[i] && !parallel->joining[i]) {
			dial(link, &parallel->dials[i]);
			waiting++;
		}
}

void parallel_cancel(struct link *link)
{
	struct parallel *parallel = &link->parallel;

	for (size_t i = 0; i < STREAMS_MAX; i++) {
		struct seam_message message = { .kind = SEAM_DIAL_CANCEL, .attempt = parallel->dials[i] };

		if (!parallel->dials[i])
			continue;
		parallel->dials[i] = 0;
		memcpy(message.public_key, peer_public_key(link->peer), KEY_LEN);
		seam_send(link->engine->ports.seam, &message);
	}
}

static void failed(struct link *link)
{
	struct parallel *parallel = &link->parallel;
	uint64_t wait_ms = (uint64_t)RETRY_MIN_MS << (parallel->failures < 6 ? parallel->failures : 6);

	parallel->failures++;
	parallel->retry = mono_add_ms(link->engine->now, wait_ms < RETRY_MAX_MS ? wait_ms : RETRY_MAX_MS);
}

static bool take_attempt(struct parallel *parallel, uint64_t attempt, size_t *place)
{
	for (size_t i = 0; i < STREAMS_MAX; i++)
		if (attempt && parallel->dials[i] == attempt) {
			parallel->dials[i] = 0;
			*place = i;
			return true;
		}
	return false;
}

bool parallel_connected(struct link *link, uint64_t attempt, struct tcp *tcp)
{
	struct engine *engine = link->engine;
	struct stream *stream;
	size_t place;

	if (!take_attempt(&link->parallel, attempt, &place))
		return false;
	if (!link->leads || !link->stream || link_carrier(link) != CARRIER_TCP) {
		tcp_close(tcp);
		return true;
	}
	stream = stream_new(engine, tcp, true);
	if (!stream)
		return true;
	stream->further = true;
	stream->retire = mono_add_ms(engine->now, JOIN_MS);
	stream_bind(engine, stream, link);
	link->parallel.joining[place] = stream;
	if (!nudge(link, stream))
		stream_close(engine, stream);
	return true;
}

bool parallel_dial_failed(struct link *link, uint64_t attempt)
{
	size_t place;

	if (!take_attempt(&link->parallel, attempt, &place))
		return false;
	failed(link);
	return true;
}

void parallel_gone(struct link *link, struct stream *stream)
{
	struct parallel *parallel = &link->parallel;

	for (size_t i = 0; i < STREAMS_MAX; i++) {
		if (parallel->joining[i] != stream)
			continue;
		parallel->joining[i] = NULL;
		if (stream->authentic)
			parallel->failures = 0;
		else
			failed(link);
	}
	parallel_leave(link, stream);
}

void parallel_shrink(struct link *link)
{
	struct engine *engine = link->engine;

	link->parallel.wanted = 1;
	if (!link->leads)
		return;
	for (size_t i = 0; i < STREAMS_MAX; i++) {
		struct stream *stream = link->parallel.lanes[i];

		if (!stream || stream == link->stream)
			continue;
		/* The other side moves its flows when it has read all; until then it is read here. */
		parallel_leave(link, stream);
		tcp_end(stream->tcp);
		stream->retire = mono_add_ms(engine->now, RETIRE_MS);
	}
}

void parallel_set_stalled(struct link *link, struct stream *stream, bool stalled)
{
	if (stalled == stream->stalled)
		return;
	if (stalled) {
		if (link->parallel.count < 2)
			return;
		parallel_leave(link, stream);
		stream->stalled = true;
		if (link->stream == stream)
			for (size_t i = 0; i < STREAMS_MAX; i++)
				if (link->parallel.lanes[i])
					link->stream = link->parallel.lanes[i];
	} else if (parallel_join(link, stream)) {
		stream->stalled = false;
	}
}
