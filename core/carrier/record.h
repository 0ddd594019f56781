/* SPDX-License-Identifier: MIT */
/* WireGuard messages as records on a byte stream. Source: docs/wire.md section 2. Pure. */
#ifndef WGTCP_CORE_CARRIER_RECORD_H
#define WGTCP_CORE_CARRIER_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECORD_HEADER_LEN 8
#define RECORD_FRAGMENT_LEN 4
#define RECORD_MESSAGE_MIN 32
#define RECORD_MESSAGE_MAX 65535
#define RECORD_MAX_LEN (RECORD_HEADER_LEN + RECORD_MESSAGE_MAX)

/* Writes the header for a message of len bytes (RECORD_MESSAGE_MIN..MAX). We never set the fragment flag. */
void record_write_header(uint8_t out[RECORD_HEADER_LEN], size_t len);

enum record_state {
	RECORD_COMPLETE, /* message and len are set */
	RECORD_PARTIAL,  /* need more bytes; `record` is how many in all, 0 while the header is incomplete */
	RECORD_INVALID,  /* a bug or an attack: close the connection */
};

struct record {
	enum record_state state;
	size_t record;    /* bytes that the whole record takes */
	size_t message;   /* offset of the message in the record */
	size_t len;       /* bytes of the message */
};

/* Looks at the first record in a stream's bytes. */
struct record record_parse(const uint8_t *bytes, size_t len);

/* What is left of a stream between two reads: the head of a record that has not arrived whole. Grows only to what an
 * authenticated connection may hold (RECORD_MAX_LEN); before that to unknown_max. */
struct record_stream {
	uint8_t *bytes;  /* owned; NULL while empty */
	size_t len, room;
	size_t limit;    /* longest record accepted; longer ones are passed over */
	size_t skip;     /* bytes of such a one that are still to come */
};

#define RECORD_UNKNOWN_LIMIT 1024 /* docs/architecture.md, What bounds what */

void record_stream_init(struct record_stream *stream, size_t limit);
void record_stream_free(struct record_stream *stream);

/* Gives the next whole message of (kept bytes || input). input and left are moved on; a partial rest is kept in
 * the stream, and the answer is then RECORD_PARTIAL. A message that lies in the input stays valid as long as the
 * input does, one that was kept (anywhere else) until the next call; it may be written to. A record longer than the
 * limit is passed over as if it had not been sent, without keeping any of it: whoever is not known yet may go on
 * with a session whose packets are large. RECORD_INVALID: bad header, or memory is short. */
enum record_state record_stream_next(struct record_stream *stream, uint8_t **input, size_t *left, uint8_t **message,
	size_t *len);

#endif
