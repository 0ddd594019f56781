/* SPDX-License-Identifier: MIT */
/* Messages both ways.
 *
 * A relay holds no keys, so it can not tell what is authentic; but a WireGuard server answers nothing that is
 * not. So a connection may say at first what can be authentic (a handshake message with a valid mac1; data,
 * since a client that redials goes on in the session it has, also after this relay was started anew), at the
 * rate of its source (and a little more where somebody there was authentic before), and once the server has
 * answered it may say what it likes.
 *
 * A cookie reply proves nothing to a client on TCP, whose address is proved, and WGTCP peers must not see
 * one: it is answered here, by the same handshake message with mac2. Source: WireGuard paper 5.3, 5.4.7. */
#include "client/relay/server.h"

#include "core/base/bytes.h"

#include <errno.h>
#include <string.h>

/* As much as stays in the cache; and a busy connection does not keep the others waiting. */
#define BATCH 64
#define STREAM_ROUNDS 4
#define DATAGRAM_ROUNDS 64

/* What a connection of a source that has been authentic before may send in advance: a client that comes back
 * in the middle of a transfer has this much under way until the first answer. */
#define WELCOME_MESSAGES 64

struct batch {
	struct datagram_piece pieces[BATCH];
	size_t count;
};

/* ---- from the client ---- */

static bool open_flow(struct relay_server *server, struct connection *connection)
{
	const struct ip_address any = { 0 };
	struct flow *flow = &connection->flow;
	int err = -EADDRNOTAVAIL;

	if (flow->socket)
		return true;
	if (server->loopback) {
		const struct ip_address local = source_loopback(connection->source);

		err = datagram_open(server->ports.loop, &local, &server->forward, &flow->socket);
	}
	/* Not every system has all of 127.0.0.0/8. */
	if (err)
		err = datagram_open(server->ports.loop, &any, &server->forward, &flow->socket);
	if (err) {
		flow->socket = NULL;
		return false;
	}
	loop_watch_datagram(server->ports.loop, flow->socket, LOOP_READ, &flow->token);
	return true;
}

void traffic_close_flow(struct relay_server *server, struct connection *connection)
{
	struct flow *flow = &connection->flow;

	if (!flow->socket)
		return;
	loop_watch_datagram(server->ports.loop, flow->socket, 0, NULL);
	datagram_close(flow->socket);
	flow->socket = NULL;
}

static void send_batch(struct relay_server *server, struct connection *connection, struct batch *batch)
{
	int err;

	if (!batch->count)
		return;
	if (!open_flow(server, connection)) {
		server->stats.refused += batch->count;
		batch->count = 0;
		return;
	}
	err = datagram_send(connection->flow.socket, batch->pieces, batch->count);
	server->stats.to_server += batch->count;
	batch->count = 0;
	if (err == -ECONNREFUSED)
		server->target = RELAY_TARGET_REFUSES;
	else if (err == -ENETUNREACH || err == -EADDRNOTAVAIL || err == -EINVAL || err == -ENODEV)
		/* Our address has gone: the next message opens another. */
		traffic_close_flow(server, connection);
}

/* Keeps a handshake message in case the server wants a cookie, and gives it the mac2 that it may have had
 * before. */
static void keep_handshake(
	struct relay_server *server, struct connection *connection, uint8_t *message, size_t len)
{
	cookie_maker_sign(&connection->cookies, message, len, server->now);
	memcpy(connection->handshake, message, len);
	connection->handshake_len = len;
	connection->resent = false;
}

/* Whether a message may go to the server; false also after the connection has been refused. */
static bool admit(struct relay_server *server, struct connection *connection, uint8_t *message, size_t len)
{
	const struct endpoint *remote = tcp_remote(connection->channel.tcp);

	switch (message_classify(message, len)) {
	case MESSAGE_INITIATION:
	case MESSAGE_RESPONSE:
		if (cookie_checker_check(&server->checker, message, len, remote, server->now) == MAC_INVALID)
			break;
		if (!limit_allow(server->limit, &remote->address, server->now))
			return false;
		keep_handshake(server, connection, message, len);
		return true;
	case MESSAGE_DATA:
		if (connection->standing == STANDING_KNOWN ||
			(connection->welcome && connection->unanswered++ < WELCOME_MESSAGES))
			return true;
		return limit_allow(server->limit, &remote->address, server->now);
	case MESSAGE_COOKIE_REPLY:
	case MESSAGE_NONE:
		break;
	}
	/* Of a known one only the message is lost, as on UDP. */
	if (connection->standing != STANDING_KNOWN)
		connection_refuse(server, connection);
	return false;
}

static void take_message(struct relay_server *server, struct connection *connection, struct batch *batch,
	uint8_t *message, size_t len)
{
	bool lies_in_input =
		message >= server->stream_bytes && message < server->stream_bytes + STREAM_READ_LEN;

	if (!admit(server, connection, message, len)) {
		server->stats.refused++;
		return;
	}
	if (connection->standing == STANDING_SILENT) {
		places_move(&server->places, connection, STANDING_SPOKEN);
		server_check_by(server, connection);
	}
	batch->pieces[batch->count++] = (struct datagram_piece){ .data = message, .len = len };
	/* One that lies elsewhere is gone with the next. */
	if (batch->count == BATCH || !lies_in_input)
		send_batch(server, connection, batch);
}

static bool is_read(const struct connection *connection)
{
	switch (connection->standing) {
	case STANDING_SILENT:
	case STANDING_SPOKEN:
	case STANDING_KNOWN:
		return true;
	case STANDING_HELD:
	case STANDING_MUTED:
	case STANDING_FREE:
	case STANDING_DEAD:
		break;
	}
	return false;
}

/* One read's worth; false: no more of it now. */
static bool read_once(struct relay_server *server, struct connection *connection)
{
	struct channel *channel = &connection->channel;
	long got = channel_read(channel, server->stream_bytes, STREAM_READ_LEN);
	uint8_t *input = server->stream_bytes, *message;
	size_t left = (size_t)got, len;
	enum record_state state = RECORD_PARTIAL;
	struct batch batch = { .count = 0 };

	if (got == -EAGAIN)
		return false;
	if (got <= 0) {
		connection_close(server, connection);
		return false;
	}
	connection->last_in = server->now;
	while (is_read(connection) &&
		(state = record_stream_next(&channel->in, &input, &left, &message, &len)) == RECORD_COMPLETE)
		take_message(server, connection, &batch, message, len);
	if (is_read(connection))
		send_batch(server, connection, &batch);
	if (is_read(connection) && state == RECORD_INVALID)
		connection_refuse(server, connection);
	if (!is_read(connection))
		return false;
	channel_trim(channel);
	return got == (long)STREAM_READ_LEN;
}

void traffic_from_client(struct relay_server *server, struct connection *connection)
{
	for (int round = 0; round < STREAM_ROUNDS && is_read(connection); round++)
		if (!read_once(server, connection))
			return;
}

/* ---- from the server ---- */

static void answer_cookie(struct relay_server *server, struct connection *connection, const uint8_t *message)
{
	struct cookie_reply reply;
	struct batch batch = { .count = 1 };

	memcpy(&reply, message, sizeof(reply));
	if (!cookie_reply_consume(&connection->cookies, &reply, server->now))
		return;
	/* A server that wants yet another cookie at once gets it with the client's next message. */
	if (!connection->handshake_len || connection->resent)
		return;
	cookie_maker_sign(
		&connection->cookies, connection->handshake, connection->handshake_len, server->now);
	connection->resent = true;
	server->stats.cookies++;
	batch.pieces[0] =
		(struct datagram_piece){ .data = connection->handshake, .len = connection->handshake_len };
	send_batch(server, connection, &batch);
}

static void take_answer(
	struct relay_server *server, struct connection *connection, const uint8_t *message, size_t len)
{
	switch (message_classify(message, len)) {
	case MESSAGE_INITIATION:
	case MESSAGE_RESPONSE:
	case MESSAGE_DATA:
		connection_answered(server, connection);
		if (channel_push(&connection->channel, &server->pool, message, len, server->now))
			server->stats.to_clients++;
		else
			server->stats.dropped++;
		break;
	case MESSAGE_COOKIE_REPLY:
		answer_cookie(server, connection, message);
		break;
	case MESSAGE_NONE:
		break;
	}
}

void traffic_flush(struct relay_server *server, struct connection *connection)
{
	if (channel_flush(&connection->channel, &server->pool, server->now))
		connection_close(server, connection);
	else
		connection_watch(server, connection);
}

void traffic_from_server(struct relay_server *server, struct connection *connection)
{
	for (int round = 0; round < DATAGRAM_ROUNDS && connection->flow.socket; round++) {
		size_t segment;
		long got = datagram_receive(
			connection->flow.socket, server->datagram_bytes, DATAGRAM_ROOM, &segment);

		if (got == -EAGAIN)
			break;
		if (got == -ECONNREFUSED)
			server->target = RELAY_TARGET_REFUSES;
		if (got <= 0)
			continue;
		for (size_t at = 0, left = (size_t)got; left;) {
			size_t len = left < segment ? left : segment;

			take_answer(server, connection, server->datagram_bytes + at, len);
			at += len;
			left -= len;
		}
	}
	if (connection->standing == STANDING_KNOWN)
		traffic_flush(server, connection);
}
