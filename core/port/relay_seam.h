/* SPDX-License-Identifier: MIT */
/* What wgtcp-relay beside a kernel client says to its daemon and hears from it, on the seam (core/port/seam.h).
 *
 * The kernel's interface has, as its peer's endpoint, a loopback port of the relay, one for each peer. The relay carries
 * the datagrams on, by UDP or as records on TCP, and what comes back to the kernel. It holds no keys, so it can not tell
 * what is authentic; it holds no addresses either: every socket comes down connected, and "peer" is a public key.
 *
 * The daemon sets a peer up with, in this order (any may come again later and then replaces what was):
 *
 *   SEAM_RELAY_PEER   handle, public_key: a UDP socket bound to a loopback address and *connected* to the loopback address
 *                     and listen port of the kernel's interface, so that no other local process can get in between.
 *                     Without a handle: the relay forgets the peer and closes all it has of it.
 *   SEAM_RELAY_UDP    handle, public_key: a UDP socket connected to the peer's endpoint, with the tunnel's mark. To be
 *                     given again when the endpoint changes, or an address of this machine. Without a handle: no UDP.
 *   SEAM_MEMORY       public_key, value: enum fallback_memory of this network (left out: unknown).
 *   SEAM_RELAY_USE    public_key, value: enum relay_use. From here on the relay carries.
 *
 * and later
 *
 *   SEAM_CONNECTED    handle, public_key, attempt: a connected TCP stream; the answer to SEAM_DIAL. With attempt 0: one
 *                     that the daemon has dialled of its own accord. It takes the place of the one before.
 *   SEAM_DIAL_FAILED  public_key, attempt, value: errno.
 *   SEAM_RELAY_CLOSE  public_key: closes the TCP stream and gives up a dial under way. With RELAY_USE_TCP or _BOTH the relay
 *                     would dial again, so say RELAY_USE_UDP before.
 *   SEAM_NETWORK      the network has changed: a race begins anew, and what waits for its time to dial dials now. Sockets
 *                     stay, until the daemon replaces them.
 *   SEAM_STOP         end.
 *
 * A peer that the relay does not know is passed over, its handle closed. At most RELAY_PEERS_MAX peers; one more is told
 * by RELAY_NEWS_NO_ROOM.
 *
 * Upwards
 *
 *   SEAM_READY        everything sent so far has been taken in.
 *   SEAM_DIAL, SEAM_DIAL_CANCEL   public_key, attempt, as an engine says them.
 *   SEAM_RELAY_NEWS   public_key, value: enum relay_news; attempt: for TCP_CONNECTED the round trip in us, 0 if unknown.
 *   SEAM_RELAY_SEEN   public_key: what passed on one carrier since the last such message: relay_seen_read. At once after a
 *                     pause, then at most every RELAY_SEEN_MS for each carrier.
 *
 * None of these is lost when the seam is full: the relay says it again, with its newest value, when there is room. */
#ifndef WGTCP_CORE_PORT_RELAY_SEAM_H
#define WGTCP_CORE_PORT_RELAY_SEAM_H

#include "core/port/seam.h"

#define RELAY_PEERS_MAX 64
#define RELAY_SEEN_MS 100

/* Where the kernel's datagrams go. What comes from the peer goes to the kernel, whatever it came by. */
enum relay_use {
	/* By UDP, with TCP connected beside it; the first carrier that brings an answer to the kernel's handshake is used from
	 * then on (RELAY_NEWS_UDP_WINS, RELAY_NEWS_TCP_WINS). An initiation that stays unanswered on UDP begins it anew. */
	RELAY_USE_RACE,
	/* Not one packet on the other carrier; a connection that stands is read until it is closed. */
	RELAY_USE_UDP,
	/* Not one packet on the other carrier; the relay dials, again and again if it must. A new connection of a session that
	 * lives is of no use to the peer before something authentic has gone out on it, and the relay can not make that: make
	 * the kernel send a keepalive after RELAY_NEWS_TCP_CONNECTED (a change of its persistent keepalive does). */
	RELAY_USE_TCP,
	/* Each datagram on both, by UDP a moment earlier: a trial of UDP while TCP carries, in which nothing is lost, since the
	 * peer drops the copy that comes second as a replay. SEAM_RELAY_SEEN tells whether answers come by UDP. */
	RELAY_USE_BOTH,
};

enum relay_news {
	RELAY_NEWS_TCP_CONNECTED = 1, /* the relay has taken a stream in (also another one in place of the last) */
	RELAY_NEWS_TCP_CLOSED,        /* by the other side, or dead; not by SEAM_RELAY_CLOSE */
	RELAY_NEWS_UDP_FAILED,        /* an ICMP error came, or the system refuses to send */
	RELAY_NEWS_UDP_WINS,          /* point the kernel at the peer directly, and take the peer out of the relay */
	RELAY_NEWS_TCP_WINS,
	/* The kernel's initiation went out by UDP, and a copy of it by TCP after UDP had stayed silent; nothing came back, since
	 * to the peer the copy is a replay if the first arrived and only its answer was lost. Remove the kernel's peer and add
	 * it again, so that it makes a fresh one: the relay sends it by TCP alone. */
	RELAY_NEWS_FRESH_WANTED,
	RELAY_NEWS_NO_ROOM,           /* for this peer */
};

/* The bit of a WireGuard message type in `types`. */
#define RELAY_TYPE_BIT(type) (1u << (type))

struct relay_seen {
	enum carrier carrier;
	uint32_t received, sent;            /* messages from, and to the peer */
	uint8_t received_types, sent_types; /* RELAY_TYPE_BIT of 1 initiation, 2 response, 3 cookie reply, 4 data */
	uint16_t largest;                   /* bytes of the largest message received */
};

static inline void relay_seen_write(struct seam_message *message, const struct relay_seen *seen)
{
	message->kind = SEAM_RELAY_SEEN;
	message->value = (uint32_t)seen->carrier << 16 | seen->largest;
	message->port = (uint16_t)(seen->received_types | seen->sent_types << 8);
	message->attempt = (uint64_t)seen->received << 32 | seen->sent;
}

static inline struct relay_seen relay_seen_read(const struct seam_message *message)
{
	return (struct relay_seen){
		.carrier = message->value >> 16 == CARRIER_TCP ? CARRIER_TCP : CARRIER_UDP,
		.received = (uint32_t)(message->attempt >> 32),
		.sent = (uint32_t)message->attempt,
		.received_types = (uint8_t)message->port,
		.sent_types = (uint8_t)(message->port >> 8),
		.largest = (uint16_t)message->value,
	};
}

#endif
