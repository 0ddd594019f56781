/* SPDX-License-Identifier: MIT */
/* wgtcp-relay turns WireGuard datagrams into records on TCP and back. Two roles:
 *
 * - the server part, in front of any stock WireGuard server: takes TCP connections, and gives each a UDP
 * socket of its own towards the server. server.c (turns, accepting, time), places.c and sources.c (who may
 * stay), traffic.c (messages both ways, cookies).
 * - the client part, beside a stock kernel client: takes the kernel's datagrams on loopback and carries them
 * by UDP or TCP, as wgtcpd says on the seam (core/port/relay_seam.h has every message). client.c (turns, the
 * seam), peer.c (one peer's messages both ways), race.c (the choice between the carriers, pure).
 *
 * pool.c and channel.c serve both. Each role is one thread and one loop. Nothing outside includes any but
 * this header. */
#ifndef WGTCP_CLIENT_RELAY_RELAY_H
#define WGTCP_CLIENT_RELAY_RELAY_H

#include "core/base/address.h"
#include "core/base/time.h"

struct clock;
struct loop;
struct seam;
struct tcp_listener;

struct relay_ports {
	struct clock *clock;
	struct loop *loop;
};

/* ---- the server part ---- */

#define RELAY_LISTENERS_MAX 8

struct relay_settings {
	struct endpoint forward; /* the stock server */
	uint8_t public_key[32];  /* the stock server's */
	size_t handles;          /* how many this process may hold; it keeps fewer places if that is few */
};

struct relay_server;

/* Takes the ports' use, not their ownership. NULL when memory is short. */
struct relay_server *relay_server_new(const struct relay_ports *ports, const struct relay_settings *settings);
void relay_server_free(struct relay_server *server);
/* Takes the listener, also on failure. 0 or -errno (-ENOSPC: RELAY_LISTENERS_MAX are there). */
int relay_server_listen(struct relay_server *server, struct tcp_listener *listener);

/* Waits until something is to be done and does it. 0: go on. -errno: the ports fail. */
int relay_server_turn(struct relay_server *server);
/* When the next turn is due though nothing becomes ready; MONO_NEVER: none. */
struct mono relay_server_deadline(const struct relay_server *server);

/* What the server behind us was last seen to do, for a line in a log. */
enum relay_target {
	RELAY_TARGET_UNKNOWN,
	RELAY_TARGET_ANSWERS,
	RELAY_TARGET_REFUSES, /* nobody listens at the forward address */
};
enum relay_target relay_server_target(const struct relay_server *server);

struct relay_stats {
	size_t unknown, known; /* connections now */
	uint64_t accepted, held, muted, evicted;
	uint64_t to_server, to_clients; /* messages */
	uint64_t refused; /* messages from clients that could not be authentic, or were too many */
	uint64_t dropped; /* messages from the server that found no room towards their client */
	uint64_t cookies; /* cookie replies answered */
};
void relay_server_stats(const struct relay_server *server, struct relay_stats *out);

/* ---- the client part ---- */

struct relay_client;

/* Takes the use of ports and seam, not their ownership. NULL when memory is short. */
struct relay_client *relay_client_new(const struct relay_ports *ports, struct seam *seam);
void relay_client_free(struct relay_client *client);
/* As relay_server_turn; 1: told to stop, or the daemon is gone. */
int relay_client_turn(struct relay_client *client);
struct mono relay_client_deadline(const struct relay_client *client);

#endif
