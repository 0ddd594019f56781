/* SPDX-License-Identifier: MIT */
/* The privileged side of the seam of one wgtcp-relay beside a kernel client (core/port/relay_seam.h): opens,
 * marks, binds and connects its sockets, and dials for it. Which carrier is used is for the caller to say. It
 * parses nothing that comes from the network.
 *
 * One descriptor to wait on, no callbacks, no threads, never blocks. */
#ifndef WGTCP_CORE_PORT_RELAY_FRONT_H
#define WGTCP_CORE_PORT_RELAY_FRONT_H

#include "core/port/relay_seam.h"

struct relay_front;

enum relay_front_event_kind {
	RELAY_FRONT_NOTHING,
	RELAY_FRONT_NEWS,        /* public_key, news; with RELAY_NEWS_TCP_CONNECTED rtt_us */
	RELAY_FRONT_SEEN,        /* public_key, seen */
	RELAY_FRONT_DIAL_FAILED, /* public_key, error: errno; what a dial that worked brings is
				    RELAY_NEWS_TCP_CONNECTED */
	RELAY_FRONT_GONE,        /* the relay closed its side or died */
};

struct relay_front_event {
	enum relay_front_event_kind kind;
	uint8_t public_key[32];
	enum relay_news news;
	uint32_t rtt_us;
	struct relay_seen seen;
	int error;
};

/* 0 or -errno with nothing left behind. *relay_handle is the other end of the seam: the relay's process
 * inherits it as descriptor 3; the caller closes its copy. */
int relay_front_open(struct relay_front **out, int *relay_handle);
/* Tells the relay to end, and closes everything. NULL is allowed. */
void relay_front_close(struct relay_front *front);

int relay_front_handle(const struct relay_front *front);
/* Handles what is ready. 1: *out is an event, call again; 0: nothing more. */
int relay_front_turn(struct relay_front *front, struct relay_front_event *out);

/* Gives the relay a socket that talks with the kernel's interface on this port. *loopback_port: the port
 * wanted, 0: any; set to what it is: the kernel's endpoint of the peer. */
int relay_front_peer(struct relay_front *front, const uint8_t public_key[32], uint16_t kernel_port,
	uint16_t *loopback_port);
/* A socket connected to the peer's endpoint, in place of the one before; remote NULL: no UDP. */
int relay_front_udp(struct relay_front *front, const uint8_t public_key[32], const struct endpoint *remote,
	uint32_t mark);
int relay_front_use(struct relay_front *front, const uint8_t public_key[32], enum relay_use use);
/* Connects to one of them; the relay gets the stream. A dial to the same peer that is under way is given up.
 */
int relay_front_dial(struct relay_front *front, const uint8_t public_key[32],
	const struct endpoint *endpoints, size_t count, uint32_t mark);
/* Ends a dial under way, and closes the stream. */
int relay_front_hang_up(struct relay_front *front, const uint8_t public_key[32]);
/* The relay forgets the peer. */
int relay_front_drop(struct relay_front *front, const uint8_t public_key[32]);

/* A UDP port that nobody uses just now, for the kernel to listen on. 0 when there is none. */
uint16_t relay_front_free_port(uint32_t mark);

#endif
