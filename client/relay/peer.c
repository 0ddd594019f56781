/* SPDX-License-Identifier: MIT */
/* One peer's messages: from the kernel to the carriers that its race says, and back. What an answer is can be
 * told without keys only by the index that the kernel gave itself, which nobody off the path knows. */
#include "client/relay/client.h"

#include "core/base/bytes.h"

#include <errno.h>
#include <string.h>

#define BATCH 64
#define DATAGRAM_ROUNDS 64
#define STREAM_ROUNDS 4

struct batch {
	struct datagram_piece pieces[BATCH];
	size_t count;
	uint8_t ecn; /* of what is put in. The kernel's own outer marks go on outside, and those from outside
			reach the kernel, which does the rest (RFC 6040); a stream has none. */
};

/* ---- what passes, as it is told ---- */

static void note_sent(struct traffic *traffic, enum message_type type)
{
	traffic->seen.sent++;
	traffic->seen.sent_types |= (uint8_t)RELAY_TYPE_BIT(type);
}

static void note_received(struct traffic *traffic, enum message_type type, size_t len)
{
	traffic->seen.received++;
	traffic->seen.received_types |= (uint8_t)RELAY_TYPE_BIT(type);
	if (len > traffic->seen.largest)
		traffic->seen.largest = (uint16_t)len;
}

/* ---- sockets ---- */

static void close_socket(struct peer *peer, struct socket *socket)
{
	if (!socket->datagram)
		return;
	loop_watch_datagram(peer->client->ports.loop, socket->datagram, 0, NULL);
	datagram_close(socket->datagram);
	socket->datagram = NULL;
}

static void set_socket(struct peer *peer, struct socket *socket, enum client_token_kind kind, int handle)
{
	close_socket(peer, socket);
	socket->token = (struct client_token){ kind, peer };
	if (handle < 0)
		return;
	if (datagram_adopt(handle, &socket->datagram)) {
		socket->datagram = NULL;
		return;
	}
	loop_watch_datagram(peer->client->ports.loop, socket->datagram, LOOP_READ, &socket->token);
}

void peer_set_kernel(struct peer *peer, int handle)
{
	set_socket(peer, &peer->kernel, TOKEN_KERNEL, handle);
}

void peer_set_outer(struct peer *peer, int handle)
{
	set_socket(peer, &peer->outer, TOKEN_OUTER, handle);
}

void peer_close_stream(struct peer *peer)
{
	channel_close(&peer->channel, peer->client->ports.loop, &peer->client->pool);
}

static void watch_stream(struct peer *peer)
{
	channel_watch(&peer->channel, peer->client->ports.loop, true, &peer->stream_token);
}

void peer_set_stream(struct peer *peer, int handle)
{
	struct race_event event = { .kind = RACE_TCP_CONNECTED };
	struct tcp_metrics metrics;
	struct tcp *tcp;

	if (tcp_adopt(handle, &tcp)) {
		event.kind = RACE_TCP_FAILED;
		peer_event(peer, &event);
		return;
	}
	peer_close_stream(peer);
	if (!tcp_metrics(tcp, &metrics))
		event.rtt_us = metrics.rtt_us;
	channel_open(&peer->channel, tcp, RECORD_MAX_LEN);
	peer->stream_token = (struct client_token){ TOKEN_STREAM, peer };
	watch_stream(peer);
	peer->introduced = false;
	peer->rtt_us = event.rtt_us;
	client_news(peer, RELAY_NEWS_TCP_CONNECTED);
	peer_event(peer, &event);
}

void peer_drop(struct peer *peer)
{
	client_cancel_dial(peer);
	close_socket(peer, &peer->kernel);
	close_socket(peer, &peer->outer);
	peer_close_stream(peer);
	*peer = (struct peer){ .client = peer->client };
}

/* ---- towards the peer ---- */

static void lose_stream(struct peer *peer)
{
	const struct race_event event = { .kind = RACE_TCP_CLOSED };

	peer_close_stream(peer);
	client_news(peer, RELAY_NEWS_TCP_CLOSED);
	peer_event(peer, &event);
}

static void flush_stream(struct peer *peer)
{
	peer->copies_due = MONO_NEVER;
	if (!peer->channel.tcp)
		return;
	if (channel_flush(&peer->channel, &peer->client->pool, peer->client->now))
		lose_stream(peer);
	else
		watch_stream(peer);
}

void peer_send_copies(struct peer *peer)
{
	flush_stream(peer);
}

static void put_in_stream(struct peer *peer, const uint8_t *message, size_t len)
{
	struct relay_client *client = peer->client;

	if (peer->channel.tcp && channel_push(&peer->channel, &client->pool, message, len, client->now))
		note_sent(&peer->tcp, message_classify(message, len));
}

static void udp_failed(struct peer *peer)
{
	const struct race_event event = { .kind = RACE_UDP_FAILED };

	client_news(peer, RELAY_NEWS_UDP_FAILED);
	peer_event(peer, &event);
}

static void send_outer(struct peer *peer, struct batch *batch)
{
	size_t count = batch->count;

	batch->count = 0;
	if (!count)
		return;
	for (size_t i = 0; i < count; i++)
		note_sent(&peer->udp, message_classify(batch->pieces[i].data, batch->pieces[i].len));
	if (!peer->outer.datagram || datagram_send(peer->outer.datagram, batch->pieces, count))
		udp_failed(peer);
}

static void carry_out(struct peer *peer, uint32_t what)
{
	if (what & RACE_DROP_TCP) {
		client_cancel_dial(peer);
		peer_close_stream(peer);
	}
	if (what & RACE_DIAL && !client_dial(peer)) {
		const struct race_event event = { .kind = RACE_TCP_FAILED };

		peer_event(peer, &event);
	}
	if (what & RACE_SEND_HELD && peer->holds) {
		put_in_stream(peer, peer->held, sizeof(peer->held));
		flush_stream(peer);
	}
	if (what & RACE_TELL_UDP_WINS)
		client_news(peer, RELAY_NEWS_UDP_WINS);
	if (what & RACE_TELL_TCP_WINS)
		client_news(peer, RELAY_NEWS_TCP_WINS);
	if (what & RACE_WANT_FRESH)
		client_news(peer, RELAY_NEWS_FRESH_WANTED);
}

void peer_event(struct peer *peer, const struct race_event *event)
{
	carry_out(peer, race_step(&peer->race, event, peer->client->now));
}

/* The newest come first. */
static void keep_index(struct peer *peer, uint32_t index)
{
	memmove(&peer->indices[1], &peer->indices[0], (INDICES_KEPT - 1) * sizeof(peer->indices[0]));
	peer->indices[0] = index;
	if (peer->index_count < INDICES_KEPT)
		peer->index_count++;
}

/* Where each message goes out twice, the copy that comes second shows nothing, since anybody may have
 * recorded it: so the first on a new stream that a listener takes of a stranger goes by it alone. */
static bool introduces_stream(struct peer *peer, size_t len)
{
	if (!race_uses_tcp(&peer->race) || !peer->channel.tcp || peer->introduced ||
		RECORD_HEADER_LEN + len > RECORD_UNKNOWN_LIMIT)
		return false;
	peer->introduced = true;
	return true;
}

/* True: the message goes by the stream alone, and now. */
static bool take_from_kernel(struct peer *peer, struct batch *batch, const uint8_t *message, size_t len)
{
	const struct race_event event = { .kind = RACE_INITIATION };

	switch (message_classify(message, len)) {
	case MESSAGE_INITIATION:
		keep_index(peer, get_le32(((const struct initiation *)message)->sender_index));
		memcpy(peer->held, message, sizeof(peer->held));
		peer->holds = true;
		send_outer(peer, batch); /* what came before goes where it was going */
		peer_event(peer, &event);
		break;
	case MESSAGE_RESPONSE:
		keep_index(peer, get_le32(((const struct response *)message)->sender_index));
		break;
	case MESSAGE_COOKIE_REPLY:
		if (race_uses_tcp(&peer->race) && !race_uses_udp(&peer->race))
			return false; /* not by TCP, where it proves nothing */
		break;
	case MESSAGE_DATA:
		break;
	case MESSAGE_NONE:
		return false;
	}
	bool introduces = introduces_stream(peer, len);

	if (race_uses_tcp(&peer->race) && message_classify(message, len) != MESSAGE_COOKIE_REPLY)
		put_in_stream(peer, message, len);
	if (!race_uses_udp(&peer->race) || introduces)
		return introduces;
	batch->pieces[batch->count++] = (struct datagram_piece){ message, len, batch->ecn };
	if (batch->count == BATCH)
		send_outer(peer, batch);
	return false;
}

void peer_from_kernel(struct peer *peer)
{
	struct relay_client *client = peer->client;
	bool introduces = false;

	for (int round = 0; round < DATAGRAM_ROUNDS && peer->kernel.datagram; round++) {
		struct batch batch = { .count = 0 };
		size_t segment;
		long got = datagram_receive(peer->kernel.datagram, client->bytes, CLIENT_READ_LEN, &segment);

		if (got == -EAGAIN)
			break;
		if (got <= 0)
			continue; /* the kernel's port is closed while its interface is down */
		batch.ecn = datagram_ecn(peer->kernel.datagram);
		for (size_t at = 0, left = (size_t)got; left;) {
			size_t len = left < segment ? left : segment;

			introduces |= take_from_kernel(peer, &batch, client->bytes + at, len);
			at += len;
			left -= len;
		}
		send_outer(peer, &batch);
	}
	if (!race_uses_udp(&peer->race) || introduces ||
		peer->channel.waiting.count >= CHANNEL_WAITING_PACKETS / 2)
		flush_stream(peer);
	else if (race_uses_tcp(&peer->race) && peer->copies_due.ns == MONO_NEVER.ns)
		peer->copies_due = mono_add_ms(client->now, COPY_DELAY_MS);
}

/* ---- towards the kernel ---- */

static bool is_kernels(const struct peer *peer, uint32_t index)
{
	for (size_t i = 0; i < peer->index_count; i++)
		if (peer->indices[i] == index)
			return true;
	return false;
}

/* False: not for the kernel. */
static bool take_from_peer(struct peer *peer, enum carrier carrier, const uint8_t *message, size_t len)
{
	struct traffic *traffic = carrier == CARRIER_UDP ? &peer->udp : &peer->tcp;
	struct race_event event = { .kind = carrier == CARRIER_UDP ? RACE_UDP_ANSWER : RACE_TCP_ANSWER };
	enum message_type type = message_classify(message, len);

	switch (type) {
	case MESSAGE_INITIATION:
		break;
	case MESSAGE_RESPONSE:
		if (is_kernels(peer, get_le32(((const struct response *)message)->receiver_index)))
			peer_event(peer, &event);
		break;
	case MESSAGE_DATA:
		/* A session that began before this relay has indices that it has not seen. */
		if (!peer->index_count ||
			is_kernels(peer, get_le32(((const struct data_header *)message)->receiver_index)))
			peer_event(peer, &event);
		break;
	case MESSAGE_COOKIE_REPLY:
		if (carrier == CARRIER_TCP)
			return false; /* no peer sends that */
		event.kind = RACE_UDP_COOKIE;
		if (is_kernels(peer, get_le32(((const struct cookie_reply *)message)->receiver_index)))
			peer_event(peer, &event);
		break;
	case MESSAGE_NONE:
		return false;
	}
	note_received(traffic, type, len);
	return true;
}

static void send_kernel(struct peer *peer, struct batch *batch)
{
	if (batch->count && peer->kernel.datagram)
		(void)datagram_send(peer->kernel.datagram, batch->pieces, batch->count);
	batch->count = 0;
}

static void put_in_batch(struct peer *peer, struct batch *batch, const uint8_t *message, size_t len)
{
	batch->pieces[batch->count++] = (struct datagram_piece){ message, len, batch->ecn };
	if (batch->count == BATCH)
		send_kernel(peer, batch);
}

void peer_from_outer(struct peer *peer)
{
	struct relay_client *client = peer->client;
	bool failed = false;

	for (int round = 0; round < DATAGRAM_ROUNDS && peer->outer.datagram; round++) {
		struct batch batch = { .count = 0 };
		size_t segment;
		long got = datagram_receive(peer->outer.datagram, client->bytes, CLIENT_READ_LEN, &segment);

		if (got == -EAGAIN)
			break;
		failed |= got < 0;
		if (got <= 0)
			continue;
		batch.ecn = datagram_ecn(peer->outer.datagram);
		for (size_t at = 0, left = (size_t)got; left;) {
			size_t len = left < segment ? left : segment;

			if (take_from_peer(peer, CARRIER_UDP, client->bytes + at, len))
				put_in_batch(peer, &batch, client->bytes + at, len);
			at += len;
			left -= len;
		}
		send_kernel(peer, &batch);
	}
	if (failed)
		udp_failed(peer);
}

/* One read's worth; false: no more of it now. */
static bool read_stream(struct peer *peer)
{
	struct relay_client *client = peer->client;
	long got = channel_read(&peer->channel, client->bytes, CLIENT_READ_LEN);
	uint8_t *input = client->bytes, *message;
	size_t left = (size_t)got, len;
	enum record_state state;
	struct batch batch = { .count = 0 };

	if (got == -EAGAIN)
		return false;
	if (got <= 0) {
		lose_stream(peer);
		return false;
	}
	while ((state = record_stream_next(&peer->channel.in, &input, &left, &message, &len)) ==
		RECORD_COMPLETE) {
		bool lies_in_input = message >= client->bytes && message < client->bytes + CLIENT_READ_LEN;

		if (take_from_peer(peer, CARRIER_TCP, message, len))
			put_in_batch(peer, &batch, message, len);
		if (!peer->channel.tcp)
			break; /* an event has closed it */
		/* One that lies elsewhere is gone with the next. */
		if (!lies_in_input)
			send_kernel(peer, &batch);
	}
	send_kernel(peer, &batch);
	if (!peer->channel.tcp)
		return false;
	if (state == RECORD_INVALID) {
		lose_stream(peer); /* a bug or an attack, docs/wire.md section 2 */
		return false;
	}
	channel_trim(&peer->channel);
	return got == (long)CLIENT_READ_LEN;
}

void peer_stream_ready(struct peer *peer, uint32_t what)
{
	if (what & LOOP_WRITE)
		flush_stream(peer);
	for (int round = 0; round < STREAM_ROUNDS && peer->channel.tcp && what & (LOOP_READ | LOOP_ERROR);
		round++)
		if (!read_stream(peer))
			return;
}
