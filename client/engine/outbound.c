/* SPDX-License-Identifier: MIT */
/* From the TUN to the carriers. Packets wait unsealed in their link's queue until the carrier has room, so that counters
 * leave in order and flows can be told apart; handshakes, keepalives and echoes pass the queue by. */
#include "client/engine/state.h"
#include "core/carrier/too_big.h"

#include <errno.h>
#include <string.h>

/* One write takes what one read of the TUN gave, which is 64 KB and its headers at most: a second one would only carry the
 * rest. More would wait behind each other sealed, where no queue can tell them apart. */
#define TCP_BURST_BYTES (66u << 10)

/* Sealed: inner packets of up to 300 bytes, padded. */
#define COPIED_MAX (304 + 32)
#define COPIES_MAX 64

#define USUAL_WIRE 1500
#define HEADERS_MAX 100u /* IPv6 and TCP, with all its options */
#define TOO_BIG_MS 10

static struct udp_socket *socket_for(struct engine *engine, const struct endpoint *remote)
{
	struct udp_socket *socket = &engine->udp[remote->address.family == IP_V6];

	return endpoint_is_set(remote) && socket->udp ? socket : NULL;
}

#define ANY_LANE UINT32_MAX

/* The next inner packet, sealed; NULL when there is none or no session for it. */
static struct packet *pop_sealed(struct link *link, uint32_t lane)
{
	struct engine *engine = link->engine;
	struct packet_list dropped = { 0 };
	struct packet *packet;

	while ((packet = lane == ANY_LANE ? queue_pop(link->queue, engine->now, &dropped)
					  : queue_pop_lane(link->queue, lane, engine->now, &dropped))) {
		if (packet->segment && (lane == ANY_LANE || !link->parallel.lanes[lane]->bursts)) {
			bursts_cut(link, packet);
			continue;
		}
		packet->ecn = inner_ecn(packet->data, packet->len);
		enum verdict verdict = packet->segment
					       ? tunnel_seal_burst(engine->tunnel, link->peer, packet, engine->now)
					       : tunnel_seal(engine->tunnel, link->peer, packet, engine->now);

		if (verdict == VERDICT_OK)
			break;
		if (verdict == VERDICT_NO_SESSION) {
			queue_push_front(link->queue, packet);
			packet = NULL;
			break;
		}
		packet_give(engine->pool, packet);
	}
	packet_give_list(engine->pool, &dropped);
	return packet;
}

/* Sends a batch to the link's UDP address; takes the packets. */
static void send_udp(struct link *link, struct udp_socket *socket, struct packet **batch, size_t count)
{
	struct engine *engine = link->engine;
	size_t sent = 0;
	int error = udp_send(socket->udp, &link->udp, batch, count, &sent);

	for (size_t i = 0; i < sent; i++)
		packet_give(engine->pool, batch[i]);
	for (size_t i = sent; i < count; i++)
		packet_list_push(&link->unsent, batch[i]);
	if (sent < count && !socket->wants_write) {
		socket->wants_write = true;
		loop_watch_udp(engine->ports.loop, socket->udp, LOOP_READ | LOOP_WRITE, &socket->token);
	}
	if (error && error != -EAGAIN && error != -EMSGSIZE) {
		link->udp_failed = true;
		link_touch(link);
	}
}

static void flush_udp(struct link *link)
{
	struct udp_socket *socket = socket_for(link->engine, &link->udp.remote);
	struct packet *batch[ENGINE_BATCH];

	if (!socket)
		return;
	while (!socket->wants_write) {
		size_t count = 0;

		for (struct packet *packet; count < ENGINE_BATCH && (packet = pop_sealed(link, ANY_LANE)); count++)
			batch[count] = packet;
		if (!count)
			break;
		link->sent_udp = true;
		link_touch(link);
		send_udp(link, socket, batch, count);
	}
	link->blocked = queue_packets(link->queue) > 0;
}

/* A small packet is worth a second way where packets are lost: a copy goes out on another lane that is not blocked. The
 * receiver's replay window drops whichever comes second. */
static void copy_small(struct link *link, const struct stream *stream, const struct packet *packet)
{
	for (uint32_t i = 1; i < STREAMS_MAX; i++) {
		struct stream *other = link->parallel.lanes[(stream->lane + i) % STREAMS_MAX];
		struct packet *copy;

		if (!other || other->watching_write || other->copies.count >= COPIES_MAX)
			continue;
		copy = packet_take(link->engine->pool);
		if (!copy)
			return;
		memcpy(copy->data, packet->data, packet->len);
		copy->len = packet->len;
		packet_list_push(&other->copies, copy);
		return;
	}
}

/* What fits into one write of this lane; false: nothing waits for it. */
static bool fill_lane(struct link *link, struct stream *stream, bool twice)
{
	size_t count = 0, bytes = 0;
	/* No more is sealed than may wait in the socket: behind each other, no queue can tell packets apart. */
	size_t most = stream->pace.unsent && stream->pace.unsent < TCP_BURST_BYTES ? stream->pace.unsent : TCP_BURST_BYTES;

	for (struct packet *packet;
		count < ENGINE_BATCH && bytes < most && (packet = pop_sealed(link, stream->lane)); count++) {
		if (!count)
			hold_seal_stamp(link, stream);
		bytes += packet->len;
		if (twice && packet->len <= COPIED_MAX)
			copy_small(link, stream, packet);
		stream_queue(stream, packet);
	}
	return count > 0;
}

static void flush_tcp(struct link *link)
{
	struct parallel *parallel = &link->parallel;
	bool twice = parallel->count > 1 && pace_lossy(link), again = true;

	while (again) {
		again = false;
		for (size_t i = 0; i < STREAMS_MAX; i++)
			if (parallel->lanes[i] && stream_has_room(parallel->lanes[i]))
				again |= fill_lane(link, parallel->lanes[i], twice);
		if (!again)
			break;
		link->sent_tcp = true;
		link_touch(link);
		/* A write may find its connection dead, and then another is the lane's. */
		for (size_t i = 0; i < STREAMS_MAX; i++) {
			struct stream *stream = parallel->lanes[i];

			for (struct packet *copy; stream && (copy = packet_list_pop(&stream->copies));)
				stream_queue(stream, copy);
			if (stream && !stream->watching_write && stream->out.packets.count)
				stream_write(link->engine, stream);
		}
	}
	link->blocked = queue_packets(link->queue) > 0;
}

/* Further connections of the same peer take what they can. */
static bool is_stuck(const struct link *link)
{
	const struct stream *stream = link->stream;

	return stream && link_carrier(link) == CARRIER_TCP && mono_is_set(stream->full_since) &&
		mono_since_ms(link->engine->now, stream->full_since) >= STUCK_MS;
}

void outbound_flush(struct link *link)
{
	struct engine *engine = link->engine;
	struct packet_list dropped = { 0 };

	if (!queue_packets(link->queue))
		return;
	link_wake(link);
	switch (link_carrier(link)) {
	case CARRIER_UDP:
		flush_udp(link);
		break;
	case CARRIER_TCP:
		flush_tcp(link);
		break;
	case CARRIER_NONE:
		break;
	}
	if (!queue_packets(link->queue))
		return;
	queue_expire(link->queue, engine->now, is_stuck(link) ? STUCK_WAIT_MS : WAIT_FOR_SESSION_MS, &dropped);
	packet_give_list(engine->pool, &dropped);
	link_want_session(link);
}

void outbound_message(struct link *link, enum carrier carrier, struct packet *packet)
{
	struct engine *engine = link->engine;
	struct udp_socket *socket;

	switch (carrier) {
	case CARRIER_UDP:
		socket = socket_for(engine, &link->udp.remote);
		if (socket) {
			send_udp(link, socket, &packet, 1);
			return;
		}
		if (endpoint_is_set(&link->udp.remote)) {
			link->udp_failed = true; /* no socket of this family */
			link_touch(link);
		}
		break;
	case CARRIER_TCP:
		if (link->stream) {
			stream_send(engine, link->stream, packet);
			return;
		}
		break;
	case CARRIER_NONE:
		break;
	}
	packet_give(engine->pool, packet);
}

void outbound_udp_writable(struct engine *engine, struct udp_socket *socket)
{
	socket->wants_write = false;
	loop_watch_udp(engine->ports.loop, socket->udp, LOOP_READ, &socket->token);
	for (struct link *link = engine->links; link && !socket->wants_write; link = link->next) {
		struct packet *batch[ENGINE_BATCH];
		size_t count = 0;

		if (!link->unsent.count && !link->blocked)
			continue;
		if (socket_for(engine, &link->udp.remote) != socket) {
			packet_give_list(engine->pool, &link->unsent); /* its address changed family meanwhile */
			continue;
		}
		for (struct packet *packet; count < ENGINE_BATCH && (packet = packet_list_pop(&link->unsent)); count++)
			batch[count] = packet;
		if (count)
			send_udp(link, socket, batch, count);
		outbound_flush(link);
	}
}

/* A queue may not take the pool from the others when it runs short, nor more of it than a little for a peer that does not
 * read. */
static size_t packets_allowed(const struct link *link)
{
	const struct engine *engine = link->engine;

	if (is_stuck(link))
		return STUCK_PACKETS;
	return packet_pool_left(engine->pool) < 4 * ENGINE_BATCH ? ENGINE_BATCH : SIZE_MAX;
}

/* What the peer says it takes; every engine takes what an ordinary wire carries. */
static uint32_t largest(const struct link *link)
{
	if (!link->hello_shown || !link->peer_inner_max)
		return UINT32_MAX;
	return link->peer_inner_max < USUAL_WIRE ? USUAL_WIRE : link->peer_inner_max;
}

/* Tells the sender, as a router would, and not for each packet of a burst. */
static void refuse_large(struct link *link, const struct packet *packet)
{
	struct engine *engine = link->engine;
	struct packet *answer;

	if (mono_is_set(link->too_big) && mono_since_ms(engine->now, link->too_big) < TOO_BIG_MS)
		return;
	answer = packet_take(engine->pool);
	if (!answer)
		return;
	if (too_big_answer(packet, largest(link), answer)) {
		link->too_big = engine->now;
		inbound_to_tun(engine, answer);
	} else {
		packet_give(engine->pool, answer);
	}
}

/* Whether a burst may wait, and go out, as it is: its packets, too, must be ones that the peer takes. */
static bool takes_whole(struct link *link, const struct packet *burst)
{
	if (link->whole && (link_carrier(link) != CARRIER_TCP || is_stuck(link)))
		bursts_stop(link);
	return link->whole && burst->len <= BURST_MAX && burst->segment + HEADERS_MAX <= largest(link);
}

void outbound_read_tun(struct engine *engine)
{
	struct packet_list batch = { 0 }, dropped = { 0 }, cut = { 0 };
	bool more = true;

	/* Bounded, so that a busy TUN does not keep what comes in waiting. */
	for (int round = 0; more && round < 4; round++) {
		int result = tun_read(engine->tun, engine->pool, ENGINE_BATCH, &batch);

		more = result == 1;
		for (struct packet *packet; (packet = packet_list_pop(&batch));) {
			struct peer *peer;

			if (tunnel_route(engine->tunnel, packet, &peer) != VERDICT_OK) {
				packet_give(engine->pool, packet);
				continue;
			}
			struct link *link = peer_user(peer);

			if (packet->segment && !takes_whole(link, packet)) {
				/* Its packets come next. */
				tun_cut(engine->tun, packet, engine->pool, &cut);
				packet_list_prepend(&batch, &cut);
				continue;
			}
			if (!packet->segment && packet->len > largest(link)) {
				refuse_large(link, packet);
				packet_give(engine->pool, packet);
				continue;
			}
			if (queue_packets(link->queue) >= packets_allowed(link)) {
				link_touch(link); /* what is too old goes */
				packet_give(engine->pool, packet);
				continue;
			}
			queue_push(link->queue, packet, engine->now, &dropped);
			link_touch(link);
		}
		packet_give_list(engine->pool, &dropped);
		for (struct link *link = engine->touched; link; link = link->next_touched)
			outbound_flush(link);
	}
}

void outbound_drop_queue(struct link *link)
{
	struct packet_list dropped = { 0 };

	queue_expire(link->queue, MONO_NEVER, 0, &dropped);
	packet_give_list(link->engine->pool, &dropped);
}
