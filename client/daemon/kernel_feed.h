/* SPDX-License-Identifier: MIT */
/* What two readings of a peer's counters in the kernel tell the fallback machine. Pure.
 * The kernel counts every message of a peer, handshakes and keepalives too, by its bytes on the wire. */
#ifndef WGTCP_CLIENT_DAEMON_KERNEL_FEED_H
#define WGTCP_CLIENT_DAEMON_KERNEL_FEED_H

#include "core/uapi/uapi.h"

struct kernel_counts {
	uint64_t handshake_s; /* of the newest session; 0: none */
	uint32_t handshake_ns;
	uint64_t rx_bytes, tx_bytes;
};

struct kernel_news {
	bool session;  /* a new one stands */
	bool received; /* something authentic came */
	bool data;     /* and more than handshakes */
	bool asked; /* something went out that a living peer answers, sooner or later: data, or an initiation
		     */
};

struct kernel_counts kernel_counts_of(const struct uapi_peer *peer);
/* after is the later of two readings elapsed_ms apart; keepalive_s as the peer is configured. A peer that was
 * made anew between them starts from zero: before is then all zero. */
struct kernel_news kernel_feed(const struct kernel_counts *before, const struct kernel_counts *after,
	uint16_t keepalive_s, uint64_t elapsed_ms);

#endif
