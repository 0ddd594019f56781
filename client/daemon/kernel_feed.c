/* SPDX-License-Identifier: MIT */
/* From counters to news. Used by kernel_peer.c. */
#include "client/daemon/kernel_feed.h"

/* docs/wire.md section 1: bytes of a message. */
#define INITIATION_LEN 148
#define RESPONSE_LEN 92
#define KEEPALIVE_LEN 32
/* The kernel answers data with a keepalive after so long, and comes again with an initiation. */
#define PASSIVE_MS 10000
#define RETRY_MS 5000

struct kernel_counts kernel_counts_of(const struct uapi_peer *peer)
{
	return (struct kernel_counts){ .handshake_s = peer->last_handshake_s,
		.handshake_ns = peer->last_handshake_ns,
		.rx_bytes = peer->rx_bytes,
		.tx_bytes = peer->tx_bytes };
}

/* At most so many in that time, one at its edge. */
static uint64_t most(uint64_t elapsed_ms, uint64_t interval_ms)
{
	return 1 + (interval_ms ? elapsed_ms / interval_ms : 0);
}

/* Nothing but keepalives, which no peer has to answer. */
static bool only_keepalives(uint64_t bytes, uint16_t keepalive_s, uint64_t elapsed_ms)
{
	uint64_t count = most(elapsed_ms, PASSIVE_MS);

	if (keepalive_s)
		count += most(elapsed_ms, (uint64_t)keepalive_s * 1000);
	return bytes % KEEPALIVE_LEN == 0 && bytes / KEEPALIVE_LEN <= count;
}

/* Our answer to the peer's own initiation is no question. */
static bool only_answers(uint64_t sent, uint64_t received, uint16_t keepalive_s, uint64_t elapsed_ms)
{
	return received >= INITIATION_LEN && sent >= RESPONSE_LEN &&
	       only_keepalives(sent - RESPONSE_LEN, keepalive_s, elapsed_ms);
}

/* Nothing but handshakes: one response, initiations of the peer, and the keepalive that completes a session.
 */
static bool only_handshakes(uint64_t bytes, bool session, uint64_t elapsed_ms)
{
	uint64_t initiations;

	for (initiations = 0; initiations <= most(elapsed_ms, RETRY_MS); initiations++) {
		uint64_t rest = bytes - initiations * INITIATION_LEN;

		if (bytes < initiations * INITIATION_LEN)
			return false;
		if (rest == 0 || (session && rest == RESPONSE_LEN))
			return true;
	}
	return false;
}

struct kernel_news kernel_feed(const struct kernel_counts *before, const struct kernel_counts *after,
	uint16_t keepalive_s, uint64_t elapsed_ms)
{
	struct kernel_news news = { 0 };
	uint64_t rx, tx;

	/* Somebody else has made the peer anew. */
	if (after->rx_bytes < before->rx_bytes || after->tx_bytes < before->tx_bytes) {
		static const struct kernel_counts zero;

		return kernel_feed(&zero, after, keepalive_s, elapsed_ms);
	}
	rx = after->rx_bytes - before->rx_bytes;
	tx = after->tx_bytes - before->tx_bytes;
	news.session = after->handshake_s && (after->handshake_s != before->handshake_s ||
						     after->handshake_ns != before->handshake_ns);
	news.received = rx != 0;
	news.data = rx != 0 && !only_handshakes(rx, news.session, elapsed_ms);
	news.asked = tx != 0 && !only_keepalives(tx, keepalive_s, elapsed_ms) &&
		     !only_answers(tx, rx, keepalive_s, elapsed_ms);
	return news;
}
