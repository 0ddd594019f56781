/* SPDX-License-Identifier: MIT */
/* Our messages inside a session, dropped harmlessly by every other implementation. Source: docs/wire.md section 5.
 * Bytes only; core/tunnel/tunnel.h seals and opens them. */
#ifndef WGTCP_CORE_TUNNEL_EXTENSION_H
#define WGTCP_CORE_TUNNEL_EXTENSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum extension_type {
	EXTENSION_HELLO = 1,
	EXTENSION_ECHO_REQUEST = 2,
	EXTENSION_ECHO_REPLY = 3,
	EXTENSION_STAMP = 4,
	EXTENSION_BURST = 5, /* a burst of TCP (core/base/packet.h) follows these bytes */
};

enum {
	CAPABILITY_ECHO = 1,
	CAPABILITY_STREAMS = 2,
	CAPABILITY_STAMPS = 4,
	/* The sender has an endpoint for the receiver, so it would lead the path (docs/wire.md 2): with it both sides know
	 * whether there are two candidates, and the smaller public key leads. */
	CAPABILITY_LEADS = 8,
	/* Bursts are taken on the TCP connection that this hello came on; by UDP it says nothing. */
	CAPABILITY_BURSTS = 16,
};

#define EXTENSION_HEADER_LEN 8
#define EXTENSION_HELLO_LEN 16
#define EXTENSION_STAMP_LEN 16
#define EXTENSION_BURST_LEN 16 /* before the burst */
#define EXTENSION_ECHO_LEN 26 /* id, clock, wanted reply length; padding follows */

struct extension {
	enum extension_type type;
	uint16_t len;          /* whole message, as written in it */
	uint32_t capabilities; /* hello */
	uint16_t streams_max, inner_max;
	uint64_t id, clock_ns; /* echo; clock_ns also for stamp */
	uint16_t reply_len;    /* echo request: length wanted for the reply */
	uint16_t segment;      /* burst: bytes of payload for each packet; not 0 */
};

/* False for anything that is not a well-formed extension message of a known type. len is the padded plaintext. */
bool extension_parse(const uint8_t *plain, size_t len, struct extension *out);
/* Writes exactly extension->len bytes (zero padding included); false when len is below the type's minimum or above
 * room. Of a burst only what comes before it, EXTENSION_BURST_LEN bytes. */
bool extension_write(const struct extension *extension, uint8_t *out, size_t room);

#endif
