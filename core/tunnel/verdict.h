/* SPDX-License-Identifier: MIT */
/* What became of a packet. A drop is a named outcome that is counted, not an error. */
#ifndef WGTCP_CORE_TUNNEL_VERDICT_H
#define WGTCP_CORE_TUNNEL_VERDICT_H

enum verdict {
	VERDICT_OK,
	/* outbound */
	VERDICT_NOT_IP,          /* no IPv4 or IPv6 header, or shorter than it says */
	VERDICT_NO_ROUTE,        /* destination in no peer's allowed IPs */
	VERDICT_NO_SESSION,      /* nothing to seal with: keep the packet and want a handshake */
	VERDICT_TOO_LARGE,       /* does not fit the packet's room or the wire */
	VERDICT_TOO_SOON,        /* an initiation within 20 ms of the last one, or a handshake without a key */
	/* inbound */
	VERDICT_NOT_WIREGUARD,   /* type, reserved bytes or length */
	VERDICT_BAD_MAC1,
	VERDICT_COOKIE_WANTED,   /* under load and no valid mac2: answer with a cookie reply (UDP only) */
	VERDICT_RATE_LIMITED,    /* this source sends too many handshakes */
	VERDICT_NOT_FOR_US,      /* initiation not made for our key, or low order */
	VERDICT_UNKNOWN_PEER,
	VERDICT_BAD_HANDSHAKE,   /* known peer or index, but not authentic */
	VERDICT_STALE_TIMESTAMP, /* initiation replayed, or the sender's clock went back */
	VERDICT_FLOODING,        /* more than 50 initiations a second from one peer */
	VERDICT_UNKNOWN_INDEX,
	VERDICT_BAD_COOKIE,
	VERDICT_EXPIRED,         /* session too old or its counter used up */
	VERDICT_FORGED,          /* AEAD */
	VERDICT_REPLAYED,
	VERDICT_SOURCE_NOT_ALLOWED, /* inner source address is not this peer's */
	VERDICT_BAD_INNER,       /* authentic, but neither IP nor one of our extension messages */
	VERDICT_NO_MEMORY,
	VERDICT_COUNT
};

/* "source_not_allowed": for counters and logs. */
const char *verdict_name(enum verdict verdict);

#endif
