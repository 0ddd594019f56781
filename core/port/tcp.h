/* SPDX-License-Identifier: MIT */
/* Connected streams and the listening socket. Connecting is done by the other side of the seam (core/port/seam.h). */
#ifndef WGTCP_CORE_PORT_TCP_H
#define WGTCP_CORE_PORT_TCP_H

#include "core/base/address.h"

#include <stddef.h>

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
	/* Counted since the connection stands, in segments, those sent again included. */
	uint64_t sent_segments, received_segments;
	uint64_t disordered;    /* came in before one that was sent earlier: something was lost on the way to us */
	uint32_t segment_bytes; /* payload of a full one; 0: unknown */
	uint32_t unacked;       /* segments */
	uint64_t acked_bytes, received_bytes;
	uint64_t delivered; /* segments that have arrived, in whatever order */
	bool timed_out;         /* recovers from a retransmission timeout */
};

/* What the congestion control and the buffers of a connection may be. */
enum { TCP_TUNE_BBR = 1, TCP_TUNE_BUFFERS = 2 };

/* Sets TCP_NODELAY, TCP_USER_TIMEOUT 10 s and a bound on unsent bytes. */
int tcp_adopt(int handle, struct tcp **out);
/* Closes; FIN where the peer is well. */
void tcp_close(struct tcp *tcp);
/* Closes at once, by RST: for a connection that the peer has ended. Were that end made up by somebody on the way, the two
 * would disagree about what was said, and a FIN of ours might never be taken. */
void tcp_abort(struct tcp *tcp);
/* Says FIN after what was sent; what the peer still sends can be read. */
void tcp_end(struct tcp *tcp);
const struct endpoint *tcp_remote(const struct tcp *tcp);

/* Bytes read (1..size), 0 at the peer's end, -EAGAIN when dry, or -errno: the connection is dead. */
long tcp_receive(struct tcp *tcp, uint8_t *out, size_t size);
/* Bytes taken (maybe fewer than given), -EAGAIN when there is no room, or -errno: the connection is dead. */
long tcp_send(struct tcp *tcp, const struct tcp_piece *pieces, size_t count);
int tcp_metrics(const struct tcp *tcp, struct tcp_metrics *out);
/* Sets these options; the bits that this process may not set are given back: the front may (SEAM_TUNE). */
uint32_t tcp_tune(struct tcp *tcp, uint32_t what);
/* Bound on bytes in the socket that were never sent. */
void tcp_set_unsent(struct tcp *tcp, uint32_t bytes);
/* Sends no faster than this many bytes a second; 0: no bound. */
void tcp_set_pacing(struct tcp *tcp, uint64_t bytes_per_second);

int tcp_listener_adopt(int handle, struct tcp_listener **out);
/* Listens on one address in this process, for programs without a front. An IPv6 address is for IPv6 only. -EADDRINUSE,
 * -EACCES (a port below 1024), -EADDRNOTAVAIL (not an address of this machine), or another -errno. */
int tcp_listener_open(const struct endpoint *local, struct tcp_listener **out);
void tcp_listener_close(struct tcp_listener *listener);
/* 0, -EAGAIN when there is none, -EMFILE and other -errno: leave it in the backlog for now. A listener keeps a handle in
 * reserve: the first connection that meets a process without any is still taken, none after it until one is free. */
int tcp_accept(struct tcp_listener *listener, struct tcp **out);

#endif
