/* SPDX-License-Identifier: MIT */
/* What the server part holds. Internal to client/relay. */
#ifndef WGTCP_CLIENT_RELAY_SERVER_H
#define WGTCP_CLIENT_RELAY_SERVER_H

#include "client/relay/places.h"
#include "client/relay/relay.h"
#include "core/port/clock.h"
#include "core/port/datagram.h"
#include "core/port/loop.h"
#include "core/port/tcp.h"
#include "core/tunnel/limit.h"

#define STREAM_READ_LEN (64u << 10)

struct listener {
	struct token token;
	struct tcp_listener *socket;
	bool paused; /* no place or no handle is left: what comes stays in the backlog */
};

struct relay_server {
	struct relay_ports ports;
	struct mono now;
	struct mono check_at; /* no place ends, and no listener goes on, before this */

	struct endpoint forward;
	bool loopback; /* forward is within 127.0.0.0/8 */
	struct cookie_checker checker;
	struct cookie_maker cookies; /* as each connection begins */
	enum relay_target target;

	struct listener listeners[RELAY_LISTENERS_MAX];
	size_t listener_count;
	struct places places;
	struct limit *limit; /* handshakes, and data of connections that the server has not answered */
	struct pool pool;
	struct relay_stats stats;

	/* a turn's scratch */
	uint8_t *stream_bytes;   /* STREAM_READ_LEN */
	uint8_t *datagram_bytes; /* DATAGRAM_ROOM */
};

/* ---- server.c ---- */
void connection_close(struct relay_server *server, struct connection *connection);
/* Holds it unread until its time is over, or, if it is known, closes it. */
void connection_refuse(struct relay_server *server, struct connection *connection);
/* The server has answered it. */
void connection_answered(struct relay_server *server, struct connection *connection);
void connection_watch(struct relay_server *server, struct connection *connection);
/* Something about the connection's end has changed. */
void server_check_by(struct relay_server *server, const struct connection *connection);

/* ---- traffic.c ---- */
void traffic_close_flow(struct relay_server *server, struct connection *connection);
void traffic_from_client(struct relay_server *server, struct connection *connection);
void traffic_from_server(struct relay_server *server, struct connection *connection);
/* Writes what waits for the client, as far as the socket takes it. */
void traffic_flush(struct relay_server *server, struct connection *connection);

#endif
