/* SPDX-License-Identifier: MIT */
/* Constant delay while a path loses: a lost segment holds up what is behind it on its stream for a round
 * trip, and an inner sender takes that for a queue (CUBIC's HyStart leaves slow start for it). So the sender
 * stamps what it seals, and the receiver lets TCP data out at the time of its stamp plus a constant, which
 * the late ones make as well.
 *
 * The sender decides, since it knows the loss: stamps while something is lost, or on a young stream while
 * nothing is known yet of a long path; a stamp of 0 ends it. A flow's first packets are held, too: a sender
 * that has seen the short way takes the long one for a queue. Once a flow has shown that it is not bulk it is
 * left alone, as are datagrams and bare acknowledgements. Called by the engine's loop. Source: docs/wire.md 5;
 * measured prototypes for the figures. */
#include "client/engine/state.h"
#include "core/base/bytes.h"
#include "core/carrier/inner.h"

#include <stdlib.h>

#define FLOWS 256
#define FLOW_IDLE_MS 1000
#define FLOW_YOUNG_MS 3000
#define BULK_LEN 1000   /* packets that count */
#define BULK_PACKETS 8  /* so many of them make a flow bulk */
#define WINDOW_MS 10000 /* the shortest way is looked for in two of these */
#define STAMP_EVERY_NS 1000000
#define LONG_US 10000 /* shorter paths need none */
/* How long a stream counts as begun on a path of which nothing is known. Holding doubles the round trip of
 * every young flow, so what is read in a browser meanwhile comes late, and a path that carries little stays unknown for
 * hours: long enough for what was waiting for the tunnel, and no longer. */
#define UNKNOWN_MS (5 * 1000)
/* In tenths of a round trip: how long after the shortest way's time data comes out. What had to be sent again
 * once is then about in time. (0.7: flows left slow start early; 1.3: no better.) */
#define HOLD_TENTHS 10
#define EXTRA_MAX_US 500000
#define POOL_KEPT 1024 /* packets that holding leaves to others */
#define PROTOCOL_TCP 6

struct held_flow {
	struct mono born, seen;
	struct mono last; /* when the last one of it that was held comes out */
	uint32_t large;
};

/* What the stamps of one link have told. */
struct hold {
	int64_t base, base_before; /* shortest (arrival - stamp) in this window, and in the one before */
	struct mono window;        /* when this one began; unset: no stamp yet */
	struct held_flow flows[FLOWS];
};

/* ---- sender ---- */

static bool wanted(const struct link *link, const struct stream *stream)
{
	bool unknown = !link->pace.known && mono_since_ms(link->engine->now, stream->born) < UNKNOWN_MS;

	return (link->capabilities & CAPABILITY_STAMPS) && link->engine->extensions && link->hello_shown &&
	       link->pace.rtt_us >= LONG_US && (unknown || pace_loses(link));
}

void hold_seal_stamp(struct link *link, struct stream *stream)
{
	struct engine *engine = link->engine;
	struct extension stamp = { .type = EXTENSION_STAMP, .len = EXTENSION_STAMP_LEN };
	struct packet *packet;

	if (!wanted(link, stream)) {
		if (!stream->stamping)
			return;
	} else {
		if (stream->stamping && mono_since_ns(engine->now, stream->stamped) < STAMP_EVERY_NS)
			return;
		stamp.clock_ns = engine->now.ns;
	}
	packet = packet_take(engine->pool);
	if (!packet)
		return;
	if (tunnel_seal_extension(engine->tunnel, link->peer, &stamp, packet, engine->now) != VERDICT_OK) {
		packet_give(engine->pool, packet);
		return;
	}
	stream_queue(stream, packet);
	stream->stamping = stamp.clock_ns != 0;
	stream->stamped = engine->now;
}

/* ---- receiver ---- */

void hold_take_stamp(struct link *link, struct stream *stream, uint64_t clock_ns)
{
	struct mono now = link->engine->now;
	int64_t way = (int64_t)(now.ns - clock_ns); /* the clocks' difference is in it, whatever it is */

	stream->stamp = clock_ns;
	if (!clock_ns)
		return;
	if (!link->hold)
		link->hold = calloc(1, sizeof(*link->hold));
	if (!link->hold) {
		stream->stamp = 0;
		return;
	}
	struct hold *hold = link->hold;

	if (!mono_is_set(hold->window)) {
		hold->window = now;
		hold->base = hold->base_before = way;
	} else if (mono_since_ms(now, hold->window) >= WINDOW_MS) {
		hold->window = now;
		hold->base_before = hold->base;
		hold->base = way;
	}
	if (way < hold->base)
		hold->base = way;
}

static bool tcp_data(const struct packet *plain)
{
	const uint8_t *data = plain->data;
	size_t header;

	switch (data[0] >> 4) {
	case 4:
		header = (size_t)(data[0] & 15) * 4;
		if (data[9] != PROTOCOL_TCP || (get_be16(data + 6) & 0x1fff))
			return false;
		break;
	case 6:
		header = 40;
		if (data[6] != PROTOCOL_TCP)
			return false;
		break;
	default:
		return false;
	}
	/* More than its own header, or a FIN, which ends the data. */
	return plain->len >= header + 20 &&
	       (plain->len > header + (size_t)(data[header + 12] >> 4) * 4 || (data[header + 13] & 1));
}

static struct held_flow *flow_of(struct hold *hold, const struct packet *plain, struct mono now)
{
	struct held_flow *flow = &hold->flows[inner_flow_hash(plain->data, plain->len, 0) % FLOWS];

	if (!mono_is_set(flow->seen) || mono_since_ms(now, flow->seen) >= FLOW_IDLE_MS)
		*flow = (struct held_flow){ .born = now };
	flow->seen = now;
	if (plain->len >= BULK_LEN && flow->large < BULK_PACKETS)
		flow->large++;
	return flow;
}

static bool bulk_or_young(const struct held_flow *flow, struct mono now)
{
	return flow->large == BULK_PACKETS || mono_since_ms(now, flow->born) < FLOW_YOUNG_MS;
}

/* When a packet with this stream's stamp comes out; now, if it is late already. */
static struct mono release_at(const struct link *link, const struct stream *stream)
{
	const struct hold *hold = link->hold;
	uint64_t extra_us = (uint64_t)link->pace.rtt_us * HOLD_TENTHS / 10, extra_ns, wait_ns;
	int64_t base = hold->base < hold->base_before ? hold->base : hold->base_before;

	extra_ns = (extra_us > EXTRA_MAX_US ? EXTRA_MAX_US : extra_us) * 1000;
	/* The stamp is the peer's word, and may be anything: what is beyond the constant is late, or a lie.
	 */
	wait_ns = stream->stamp + (uint64_t)base + extra_ns - link->engine->now.ns;
	return wait_ns <= extra_ns ? (struct mono){ link->engine->now.ns + wait_ns } : link->engine->now;
}

bool hold_take(struct stream *stream, struct packet *plain)
{
	struct link *link = stream->link;
	struct engine *engine = stream->engine;
	struct held_flow *flow;

	if (!link || !link->hold || (!stream->stamp && !stream->held_packets.count) || !tcp_data(plain))
		return false;
	flow = flow_of(link->hold, plain, engine->now);
	if (packet_pool_left(engine->pool) < POOL_KEPT)
		hold_flush(engine, stream);
	if (packet_pool_left(engine->pool) < POOL_KEPT)
		return false;
	plain->queued = engine->now;
	if (stream->stamp && bulk_or_young(flow, engine->now))
		plain->queued = release_at(link, stream);
	/* Not before what was held of its flow. */
	plain->queued = mono_max(plain->queued, flow->last);
	if (mono_reached(engine->now, plain->queued))
		return false;
	flow->last = plain->queued;
	packet_list_push(&stream->held_packets, plain);
	engine->held_packets++;
	return true;
}

void hold_flush(struct engine *engine, struct stream *stream)
{
	for (struct packet *packet; (packet = packet_list_pop(&stream->held_packets));) {
		engine->held_packets--;
		inbound_to_tun(engine, packet);
	}
}

void hold_release(struct engine *engine)
{
	if (!engine->held_packets)
		return;
	for (struct stream *stream = engine->known.head; stream; stream = stream->next)
		while (stream->held_packets.head &&
			mono_reached(engine->now, stream->held_packets.head->queued)) {
			engine->held_packets--;
			inbound_to_tun(engine, packet_list_pop(&stream->held_packets));
		}
}

struct mono hold_deadline(const struct engine *engine)
{
	struct mono deadline = MONO_NEVER;

	if (!engine->held_packets)
		return deadline;
	for (const struct stream *stream = engine->known.head; stream; stream = stream->next)
		if (stream->held_packets.head)
			deadline = mono_min(deadline, stream->held_packets.head->queued);
	return deadline;
}
