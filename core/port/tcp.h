/* SPDX-License-Identifier: MIT */
/* Connected streams and the listening socket. Connecting is done by the other side of the seam (core/port/seam.h). */
#ifndef WGTCP_CORE_PORT_TCP_H
#define WGTCP_CORE_PORT_TCP_H

#include "core/base/address.h"

struct tcp;
struct tcp_listener;

struct tcp_piece {
	const uint8_t *data;
	size_t len;
};

struct tcp_metrics {
	uint32_t rtt_us, min_rtt_us;
	uint64_t delivery_rate; /* bytes a second; 0: unknown */
	uint32_t unsent;        /* bytes in the socket that were never sent */
	uint64_t retransmits;
};

/* Sets TCP_NODELAY, TCP_USER_TIMEOUT 10 s and a bound on unsent bytes. */
int tcp_adopt(int handle, struct tcp **out);
/* Closes; FIN where the peer is well. */
void tcp_close(struct tcp *tcp);
const struct endpoint *tcp_remote(const struct tcp *tcp);

/* Bytes read (1..size), 0 at the peer's end, -EAGAIN when dry, or -errno: the connection is dead. */
long tcp_receive(struct tcp *tcp, uint8_t *out, size_t size);
/* Bytes taken (maybe fewer than given), -EAGAIN when there is no room, or -errno: the connection is dead. */
long tcp_send(struct tcp *tcp, const struct tcp_piece *pieces, size_t count);
int tcp_metrics(const struct tcp *tcp, struct tcp_metrics *out);

int tcp_listener_adopt(int handle, struct tcp_listener **out);
/* Listens on one address in this process, for programs without a front. An IPv6 address is for IPv6 only. -EADDRINUSE,
 * -EACCES (a port below 1024), -EADDRNOTAVAIL (not an address of this machine), or another -errno. */
int tcp_listener_open(const struct endpoint *local, struct tcp_listener **out);
void tcp_listener_close(struct tcp_listener *listener);
/* 0, -EAGAIN when there is none, -EMFILE and other -errno: leave it in the backlog for now. A listener keeps a handle in
 * reserve: the first connection that meets a process without any is still taken, none after it until one is free. */
int tcp_accept(struct tcp_listener *listener, struct tcp **out);

#endif
