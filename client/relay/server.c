/* SPDX-License-Identifier: MIT */
/* The server part's life: one turn after the other; accepting, and what time ends. */
#include "client/relay/server.h"

#include <errno.h>
#include <stdlib.h>

#define READY_MAX 64
#define ACCEPT_ROUNDS 64
/* How long a listener rests that met a system without handles or memory. */
#define PAUSE_MS 250
/* Listeners, the loop, standard streams, and some for libraries. */
#define HANDLES_SPARE 32
/* With fewer places for strangers than this, half of all are theirs. */
#define UNKNOWN_LEAST 16

/* Two handles for each connection: one towards the client, one towards the server. */
static void fit_to_handles(size_t handles, size_t *unknown_max, size_t *known_max)
{
	size_t pairs = handles > HANDLES_SPARE + 10 ? (handles - HANDLES_SPARE) / 2 : 5;

	*unknown_max = PLACES_UNKNOWN_MAX;
	*known_max = PLACES_KNOWN_MAX;
	if (pairs >= PLACES_UNKNOWN_MAX + PLACES_KNOWN_MAX)
		return;
	/* A stranger that is closed before it can speak is never known. */
	*unknown_max = pairs / 5 < UNKNOWN_LEAST ? pairs / 2 : pairs / 5;
	*known_max = pairs - *unknown_max;
}

struct relay_server *relay_server_new(const struct relay_ports *ports, const struct relay_settings *settings)
{
	struct relay_server *server = calloc(1, sizeof(*server));
	size_t unknown_max, known_max;

	if (!server)
		return NULL;
	server->ports = *ports;
	server->now = clock_now(ports->clock);
	server->check_at = MONO_NEVER;
	server->forward = settings->forward;
	server->loopback =
		settings->forward.address.family == IP_V4 && settings->forward.address.bytes[0] == 127;
	cookie_checker_init(&server->checker, settings->public_key);
	cookie_maker_init(&server->cookies, settings->public_key);
	fit_to_handles(settings->handles, &unknown_max, &known_max);
	server->limit = limit_new();
	server->stream_bytes = malloc(STREAM_READ_LEN);
	server->datagram_bytes = malloc(DATAGRAM_ROOM);
	if (server->limit && server->stream_bytes && server->datagram_bytes && pool_init(&server->pool)) {
		if (places_init(&server->places, unknown_max, known_max))
			return server;
		pool_wipe(&server->pool);
	}
	limit_free(server->limit);
	free(server->stream_bytes);
	free(server->datagram_bytes);
	free(server);
	return NULL;
}

void relay_server_free(struct relay_server *server)
{
	if (!server)
		return;
	while (server->places.unknown.head)
		connection_close(server, server->places.unknown.head);
	while (server->places.known.head)
		connection_close(server, server->places.known.head);
	places_free_dead(&server->places);
	places_wipe(&server->places);
	for (size_t i = 0; i < server->listener_count; i++) {
		loop_watch_listener(server->ports.loop, server->listeners[i].socket, 0, NULL);
		tcp_listener_close(server->listeners[i].socket);
	}
	pool_wipe(&server->pool);
	limit_free(server->limit);
	free(server->stream_bytes);
	free(server->datagram_bytes);
	secret_wipe(&server->checker, sizeof(server->checker));
	free(server);
}

int relay_server_listen(struct relay_server *server, struct tcp_listener *socket)
{
	struct listener *listener = &server->listeners[server->listener_count];
	int err = -ENOSPC;

	if (server->listener_count == RELAY_LISTENERS_MAX)
		goto fail;
	*listener = (struct listener){ .token = { TOKEN_LISTENER }, .socket = socket };
	err = loop_watch_listener(server->ports.loop, socket, LOOP_READ, &listener->token);
	if (err)
		goto fail;
	server->listener_count++;
	return 0;
fail:
	tcp_listener_close(socket);
	return err;
}

/* ---- connections ---- */

void server_check_by(struct relay_server *server, const struct connection *connection)
{
	server->check_at = mono_min(server->check_at, places_end(&server->places, connection));
}

void connection_watch(struct relay_server *server, struct connection *connection)
{
	bool reading = connection->standing != STANDING_HELD && connection->standing != STANDING_MUTED;

	channel_watch(&connection->channel, server->ports.loop, reading, &connection->token);
}

/* One less of its source is read: another may be. */
static void unhold(struct relay_server *server, struct source *source)
{
	struct connection *connection = places_unhold(&server->places, source);

	if (!connection)
		return;
	connection_watch(server, connection);
	server_check_by(server, connection);
}

static void resume_accepting(struct relay_server *server)
{
	for (size_t i = 0; i < server->listener_count; i++) {
		struct listener *listener = &server->listeners[i];

		if (!listener->paused)
			continue;
		listener->paused = false;
		loop_watch_listener(server->ports.loop, listener->socket, LOOP_READ, &listener->token);
	}
}

void connection_close(struct relay_server *server, struct connection *connection)
{
	struct source *source = connection->source;
	bool others = connection->source && source->held;

	if (connection->standing == STANDING_DEAD)
		return;
	traffic_close_flow(server, connection);
	channel_close(&connection->channel, server->ports.loop, &server->pool);
	secret_wipe(&connection->cookies, sizeof(connection->cookies));
	places_bury(&server->places, connection);
	if (others)
		unhold(server, source);
}

void connection_refuse(struct relay_server *server, struct connection *connection)
{
	if (connection->standing == STANDING_KNOWN) {
		connection_close(server, connection);
		return;
	}
	server->stats.muted++;
	traffic_close_flow(server, connection);
	record_stream_free(&connection->channel.in);
	places_move(&server->places, connection, STANDING_MUTED);
	connection_watch(server, connection);
	server_check_by(server, connection);
}

void connection_answered(struct relay_server *server, struct connection *connection)
{
	struct connection *victim;

	server->target = RELAY_TARGET_ANSWERS;
	connection->last_answer = server->now;
	if (connection->standing == STANDING_KNOWN)
		return;
	victim = places_victim_known(&server->places);
	if (victim) {
		server->stats.evicted++;
		connection_close(server, victim);
	}
	connection->channel.in.limit = RECORD_MAX_LEN;
	places_move(&server->places, connection, STANDING_KNOWN);
	server_check_by(server, connection);
	unhold(server, connection->source);
}

static void take_in(struct relay_server *server, struct tcp *tcp)
{
	struct connection *victim = places_victim_unknown(&server->places), *connection;

	if (victim) {
		server->stats.evicted++;
		connection_close(server, victim);
	}
	connection = places_take(&server->places, &tcp_remote(tcp)->address, server->now);
	if (!connection) {
		tcp_close(tcp); /* accept_all has made sure that there is a place */
		return;
	}
	channel_open(&connection->channel, tcp, RECORD_UNKNOWN_LIMIT);
	connection->cookies = server->cookies;
	server->stats.accepted++;
	if (connection->standing == STANDING_HELD) {
		server->stats.held++;
		/* Those of its source that have had their time without being pressed may have to go now. */
		server->check_at = mono_min(server->check_at, mono_add_ms(server->now, PAUSE_MS));
	}
	connection_watch(server, connection);
	server_check_by(server, connection);
}

static void accept_all(struct relay_server *server, struct listener *listener)
{
	for (int round = 0; round < ACCEPT_ROUNDS; round++) {
		struct tcp *tcp;
		int error =
			places_are_used_up(&server->places) ? -EMFILE : tcp_accept(listener->socket, &tcp);

		if (error == -EAGAIN)
			return;
		if (error) {
			/* Leaves the rest in the backlog until there is something to take it with. */
			listener->paused = true;
			loop_watch_listener(server->ports.loop, listener->socket, 0, NULL);
			server->check_at = mono_min(server->check_at, mono_add_ms(server->now, PAUSE_MS));
			return;
		}
		take_in(server, tcp);
	}
}

/* Closes what has had its time, and finds out when to look again. */
static void check_places(struct relay_server *server)
{
	struct places_list *lists[] = { &server->places.unknown, &server->places.known };

	server->check_at = MONO_NEVER;
	for (size_t i = 0; i < 2; i++)
		for (struct connection *connection = lists[i]->head, *next; connection; connection = next) {
			next = connection->next;
			if (mono_reached(server->now, places_end(&server->places, connection)))
				connection_close(server, connection);
		}
	/* Closing has changed what the others may have. */
	for (size_t i = 0; i < 2; i++)
		for (struct connection *connection = lists[i]->head; connection;
			connection = connection->next)
			server_check_by(server, connection);
	resume_accepting(server);
}

/* ---- turns ---- */

struct mono relay_server_deadline(const struct relay_server *server)
{
	return server->check_at;
}

static void connection_ready(struct relay_server *server, struct connection *connection, uint32_t what)
{
	switch (connection->standing) {
	case STANDING_HELD:
	case STANDING_MUTED:
		/* It is not watched for reading: the peer has gone, and there is nothing to hold any longer.
		 */
		connection_close(server, connection);
		return;
	case STANDING_SILENT:
	case STANDING_SPOKEN:
	case STANDING_KNOWN:
		break;
	case STANDING_FREE:
	case STANDING_DEAD:
		return;
	}
	if (what & LOOP_WRITE)
		traffic_flush(server, connection);
	if (connection->standing != STANDING_DEAD && (what & (LOOP_READ | LOOP_ERROR)))
		traffic_from_client(server, connection);
}

static void do_ready(struct relay_server *server, const struct loop_ready *ready)
{
	struct token *token = ready->token;

	switch (token->kind) {
	case TOKEN_LISTENER:
		accept_all(server, (struct listener *)token);
		break;
	case TOKEN_CONNECTION:
		connection_ready(server, (struct connection *)token, ready->what);
		break;
	case TOKEN_FLOW:
		traffic_from_server(server, ((struct flow *)token)->connection);
		break;
	}
}

int relay_server_turn(struct relay_server *server)
{
	struct loop_ready ready[READY_MAX];
	int count = loop_wait(server->ports.loop, server->check_at, ready, READY_MAX);

	if (count < 0 && count != -EINTR)
		return count;
	server->now = clock_now(server->ports.clock);
	for (int i = 0; i < count; i++)
		do_ready(server, &ready[i]);
	if (mono_reached(server->now, server->check_at))
		check_places(server);
	places_free_dead(&server->places);
	return 0;
}

enum relay_target relay_server_target(const struct relay_server *server)
{
	return server->target;
}

void relay_server_stats(const struct relay_server *server, struct relay_stats *out)
{
	*out = server->stats;
	out->unknown = server->places.unknown.count;
	out->known = server->places.known.count;
}
