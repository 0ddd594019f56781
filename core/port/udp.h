/* SPDX-License-Identifier: MIT */
/* One UDP socket of one family (or of both, where the platform has it so), in batches. */
#ifndef WGTCP_CORE_PORT_UDP_H
#define WGTCP_CORE_PORT_UDP_H

#include "core/base/address.h"
#include "core/base/packet.h"

struct udp;

/* Where a datagram goes to, or came from, and which of our addresses was or is to be used (unset: the system chooses).
 * A server with several addresses must answer from the one that was asked. */
struct udp_path {
	struct endpoint remote;
	struct ip_address local;
	uint32_t interface; /* index; 0: any */
};

struct udp_datagram {
	uint8_t *data; /* the port's buffer; valid until the next udp_receive; may be written to */
	size_t len;
	struct udp_path path;
	uint8_t ecn;
};

#define UDP_BATCH 128

int udp_adopt(int handle, struct udp **out);
void udp_close(struct udp *udp);
enum ip_family udp_family(const struct udp *udp);

/* Up to max datagrams (merged ones are taken apart); never blocks. The number, 0 when dry, -errno. */
int udp_receive(struct udp *udp, struct udp_datagram *out, size_t max);
/* Sends packets (with their ecn) to one place; never blocks. Sets *sent to how many went or were refused for good; less
 * than count only with -EAGAIN (wait for LOOP_WRITE). Packets stay the caller's.
 * When path->local is no longer ours it is cleared and the system's choice is used.
 * 0, -EAGAIN, or what the system said of a packet (-ENETUNREACH, -EPERM, -EMSGSIZE, ...): the rest has been sent. */
int udp_send(struct udp *udp, struct udp_path *path, struct packet *const *packets, size_t count, size_t *sent);
/* An ICMP error that came back for something sent to *remote, then -errno (-ECONNREFUSED, ...); 0: none waiting. */
int udp_error(struct udp *udp, struct endpoint *remote);

#endif
