/* SPDX-License-Identifier: MIT */
/* A UDP socket that talks with one remote only and keeps no buffers: a relay has thousands. core/port/udp.h
 * is for the few busy sockets of an engine. */
#ifndef WGTCP_CORE_PORT_DATAGRAM_H
#define WGTCP_CORE_PORT_DATAGRAM_H

#include "core/base/address.h"

struct datagram;
struct loop;

struct datagram_piece {
	const uint8_t *data;
	size_t len;
	uint8_t ecn; /* ECN bits (RFC 3168) that its header shall carry */
};

/* datagram_receive wants at least this much room. */
#define DATAGRAM_ROOM 65535

/* Takes over a connected handle, also on failure. 0 or -errno. */
int datagram_adopt(int handle, struct datagram **out);
/* A new one from local (unset: the system chooses) to remote, to be watched by loop. 0 or -errno. */
int datagram_open(struct loop *loop, const struct ip_address *local, const struct endpoint *remote,
	struct datagram **out);
void datagram_close(struct datagram *datagram);

/* Reads one datagram, or several that came together, each of *segment bytes but the last, which may be
 * shorter. Never blocks. The bytes of all of them, 0 for an empty one, -EAGAIN when dry; else -errno: an ICMP
 * error for something sent before (-ECONNREFUSED, ...), or the socket is of no more use. */
long datagram_receive(struct datagram *datagram, uint8_t *out, size_t size, size_t *segment);
/* The ECN bits that all of what datagram_receive gave last came with; 0 where the system does not tell. */
uint8_t datagram_ecn(const struct datagram *datagram);
/* Sends each piece as a datagram. Never blocks: what finds no room is lost, as on the way. 0, or the -errno
 * that the system had for one of them; the others have been sent all the same. */
int datagram_send(struct datagram *datagram, const struct datagram_piece *pieces, size_t count);

#endif
