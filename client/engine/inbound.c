/* SPDX-License-Identifier: MIT */
/* From the carriers to the TUN: opens messages, answers handshakes on the carrier they came by, and hands inner packets
 * over in batches. */
#include "client/engine/state.h"
#include "core/noise/message.h"

void inbound_write_tun(struct engine *engine)
{
	if (!engine->to_tun_count)
		return;
	if (engine->tun && engine->link_up)
		tun_write(engine->tun, engine->to_tun, engine->to_tun_count);
	for (size_t i = 0; i < engine->to_tun_count; i++)
		packet_give(engine->pool, engine->to_tun[i]);
	engine->to_tun_count = 0;
}

void inbound_to_tun(struct engine *engine, struct packet *plain)
{
	engine->to_tun[engine->to_tun_count++] = plain;
	if (engine->to_tun_count == TO_TUN_MAX)
		inbound_write_tun(engine);
}

/* What waits for the TUN is written where the pool has no more. */
static struct packet *take_by(struct engine *engine, struct packet *(*take)(struct packet_pool *pool))
{
	struct packet *packet = take(engine->pool);

	if (packet)
		return packet;
	inbound_write_tun(engine);
	return take(engine->pool);
}

static struct packet *take_packet(struct engine *engine)
{
	return take_by(engine, packet_take);
}

/* For what is inside a message: one that is too long for a single packet may be a burst. */
static struct packet *take_plain(struct engine *engine, const struct stream *stream, size_t len)
{
	struct packet *packet = take_packet(engine), *burst;

	if (!packet || !stream || !bursts_may_come(stream) || len <= packet->room + DATA_MIN_LEN)
		return packet;
	burst = take_by(engine, packet_take_burst);
	if (!burst)
		return packet; /* which is too small: dropped */
	packet_give(engine->pool, packet);
	return burst;
}

/* Where a message came from, so that the answer can go the same way. */
struct origin {
	enum carrier carrier;
	struct udp_socket *socket; /* UDP */
	struct udp_path path;      /* UDP */
	struct stream *stream;     /* TCP */
	uint8_t ecn;
};

static void send_cookie_reply(
	struct engine *engine, struct origin *origin, const uint8_t *message, size_t len)
{
	struct packet *reply = take_packet(engine);
	size_t sent;

	if (!reply)
		return;
	tunnel_create_cookie_reply(engine->tunnel, message, len, &origin->path.remote, engine->now, reply);
	udp_send(origin->socket->udp, &origin->path, &reply, 1, &sent);
	packet_give(engine->pool, reply);
}

static void answer_initiation(struct link *link, struct origin *origin)
{
	struct engine *engine = link->engine;
	struct packet *response = take_packet(engine);
	size_t sent;

	if (!response)
		return;
	if (tunnel_create_response(engine->tunnel, link->peer, engine->now, response) != VERDICT_OK) {
		packet_give(engine->pool, response);
		return;
	}
	link->hello_due = true;
	if (origin->carrier == CARRIER_TCP) {
		stream_send(engine, origin->stream, response);
		return;
	}
	if (udp_send(origin->socket->udp, &origin->path, &response, 1, &sent)) {
		link->udp_failed = true;
		link_touch(link);
	}
	packet_give(engine->pool, response);
}

/* An inner packet whose source is the peer's. Takes it. */
static void deliver(struct link *link, const struct origin *origin, struct packet *plain)
{
	struct engine *engine = link->engine;

	link->data_tcp |= origin->carrier == CARRIER_TCP;
	/* A burst is taken only where that was said, and room for one is not for anything else. */
	if (plain->segment ? !origin->stream || !bursts_may_come(origin->stream) : plain->large) {
		packet_give(engine->pool, plain);
		return;
	}
	if (echo_is_reply(link, origin->carrier, plain) || large_is_error(link, origin->carrier, plain)) {
		packet_give(engine->pool, plain);
		return;
	}
	if (!inner_ecn_combine(plain->data, plain->len, origin->ecn)) {
		engine->ecn_dropped++;
		packet_give(engine->pool, plain);
		return;
	}
	if (origin->carrier == CARRIER_TCP && hold_take(origin->stream, plain))
		return;
	inbound_to_tun(engine, plain);
}

static bool carrier_allowed(const struct link *link, enum carrier carrier)
{
	switch (link_transport(link)) {
	case TRANSPORT_UDP:
		return carrier == CARRIER_UDP;
	case TRANSPORT_TCP:
		return carrier == CARRIER_TCP;
	case TRANSPORT_AUTO:
		break;
	}
	return true;
}

static enum verdict inbound_message(struct engine *engine, struct origin *origin, uint8_t *message, size_t len)
{
	struct packet *plain = take_plain(engine, origin->stream, len);
	const struct endpoint *source =
		origin->carrier == CARRIER_TCP ? tcp_remote(origin->stream->tcp) : &origin->path.remote;
	struct received received = { 0 };

	if (!plain)
		return VERDICT_NO_MEMORY;
	enum verdict verdict = tunnel_receive(engine->tunnel, origin->carrier, source, message, len, engine->now,
		engine->wall, plain, &received);

	if (verdict != VERDICT_OK) {
		packet_give(engine->pool, plain);
		if (verdict == VERDICT_COOKIE_WANTED && origin->carrier == CARRIER_UDP)
			send_cookie_reply(engine, origin, message, len);
		return verdict;
	}
	struct link *link = received.peer ? peer_user(received.peer) : NULL;

	if (link && !carrier_allowed(link, origin->carrier)) {
		/* What was under way when a person chose the other carrier is taken, but it moves nothing and nothing
		 * answers it. */
		if (received.kind == RECEIVED_DATA)
			deliver(link, origin, plain);
		else
			packet_give(engine->pool, plain);
		return received.kind == RECEIVED_INITIATION ? VERDICT_NOT_FOR_US : VERDICT_OK;
	}
	if (!link) {
		packet_give(engine->pool, plain);
		return VERDICT_OK;
	}
	link_received(link, origin->carrier, &received, &origin->path, origin->stream);
	switch (received.kind) {
	case RECEIVED_DATA:
		deliver(link, origin, plain);
		plain = NULL;
		break;
	case RECEIVED_INITIATION:
		answer_initiation(link, origin);
		link_event(link,
			&(struct fallback_event){
				.kind = FALLBACK_RECEIVED, .carrier = origin->carrier, .handshake = true });
		link_wake(link);
		break;
	case RECEIVED_RESPONSE:
		link_session_made(link, origin->carrier);
		break;
	case RECEIVED_SUPERSEDED:
		link_simple_event(link, FALLBACK_SUPERSEDED, origin->carrier);
		break;
	case RECEIVED_EXTENSION:
		if (engine->extensions)
			echo_extension(link, origin->carrier, origin->stream, &received.extension);
		break;
	case RECEIVED_KEEPALIVE:
	case RECEIVED_COOKIE:
	case RECEIVED_NOTHING:
		break;
	}
	packet_give(engine->pool, plain);
	if (received.confirmed) {
		if (link->leads)
			echo_send_hello(link, origin->carrier);
		outbound_flush(link);
	}
	return VERDICT_OK;
}

void inbound_udp(struct engine *engine, struct udp_socket *socket, bool error)
{
	struct udp_datagram datagrams[UDP_BATCH];
	struct endpoint remote;

	while (error && udp_error(socket->udp, &remote))
		for (struct link *link = engine->links; link; link = link->next)
			if (endpoint_equal(&link->udp.remote, &remote)) {
				link->udp_failed = true;
				link_touch(link);
			}
	/* Bounded for the same reason as the TUN's reading. */
	for (int round = 0; round < 4; round++) {
		int count = udp_receive(socket->udp, datagrams, UDP_BATCH);

		for (int i = 0; i < count; i++) {
			struct origin origin = {
				.carrier = CARRIER_UDP,
				.socket = socket,
				.path = datagrams[i].path,
				.ecn = datagrams[i].ecn,
			};

			inbound_message(engine, &origin, datagrams[i].data, datagrams[i].len);
		}
		inbound_write_tun(engine);
		if (count <= 0)
			break;
	}
}

/* Whether a stranger may say this and go on: it is, or can be, a copy that came second (a relay sends the same by UDP), or
 * belongs to a session that has ended on this side. Nothing of it is answered. */
static bool may_be_authentic(enum verdict verdict)
{
	return verdict == VERDICT_STALE_TIMESTAMP || verdict == VERDICT_REPLAYED || verdict == VERDICT_EXPIRED ||
		verdict == VERDICT_UNKNOWN_INDEX || verdict == VERDICT_FLOODING || verdict == VERDICT_RATE_LIMITED;
}

bool inbound_record(struct stream *stream, uint8_t *message, size_t len)
{
	struct engine *engine = stream->engine;
	struct origin origin = { .carrier = CARRIER_TCP, .stream = stream };
	enum verdict verdict = inbound_message(engine, &origin, message, len);

	if (verdict == VERDICT_REPLAYED && stream->joined && stream->link->parallel.count > 1)
		tunnel_note_copy(engine->tunnel);
	/* A stranger that says something wrong is not heard any more. Afterwards a bad record is only dropped, as on UDP: a
	 * session may just have expired on one side. */
	if (verdict != VERDICT_OK && !stream->authentic && stream->token.kind != TOKEN_DEAD &&
		(!may_be_authentic(verdict) || ++stream->wasted > UNKNOWN_RECORDS_MAX)) {
		stream_mute(engine, stream);
		return false;
	}
	return stream->token.kind != TOKEN_DEAD && !stream->muted;
}
