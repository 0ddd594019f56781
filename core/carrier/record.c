/* SPDX-License-Identifier: MIT */
/* The record format of the TCP carrier, and what a connection keeps between two reads. Called by the loop
 * that owns the connection, on its thread. Source: docs/wire.md section 2. */
#include "core/carrier/record.h"

#include "core/base/bytes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
	TYPE_DATA = 0,
	FLAG_FRAGMENT = 1,
	ROOM_MIN = 256,
};

static_assert(RECORD_MAX_LEN == 65543, "largest record, docs/wire.md section 2");

/* Wire layout: bytes only, size checked. docs/wire.md section 2. */
struct header {
	uint8_t length[4]; /* be32, of the whole record */
	uint8_t type;
	uint8_t flags;
	uint8_t checksum[2]; /* be16 */
};
static_assert(sizeof(struct header) == RECORD_HEADER_LEN, "wire size, docs/wire.md section 2");

/* Guards the framing, nothing else. */
static uint16_t header_checksum(uint32_t length, uint8_t type, uint8_t flags)
{
	uint32_t c = (length >> 16) ^ (length & 0xffff) ^ ((uint32_t)flags << 8 | type);

	c = (c << 5 | c >> 11) & 0xffff;
	return (uint16_t)(c ^ 0xa5a5);
}

void record_write_header(uint8_t out[RECORD_HEADER_LEN], size_t len)
{
	struct header header = { .type = TYPE_DATA, .flags = 0 };
	uint32_t length = (uint32_t)(RECORD_HEADER_LEN + len);

	assert(len >= RECORD_MESSAGE_MIN && len <= RECORD_MESSAGE_MAX);
	put_be32(header.length, length);
	put_be16(header.checksum, header_checksum(length, header.type, header.flags));
	memcpy(out, &header, sizeof(header));
}

struct record record_parse(const uint8_t *bytes, size_t len)
{
	struct header header;

	if (len < RECORD_HEADER_LEN)
		return (struct record){ .state = RECORD_PARTIAL };
	memcpy(&header, bytes, sizeof(header));

	uint32_t length = get_be32(header.length);

	if (get_be16(header.checksum) != header_checksum(length, header.type, header.flags))
		return (struct record){ .state = RECORD_INVALID };
	if (header.type != TYPE_DATA || (header.flags & ~FLAG_FRAGMENT))
		return (struct record){ .state = RECORD_INVALID };

	size_t message = RECORD_HEADER_LEN + (header.flags & FLAG_FRAGMENT ? RECORD_FRAGMENT_LEN : 0);

	if (length < message + RECORD_MESSAGE_MIN || length > RECORD_MAX_LEN)
		return (struct record){ .state = RECORD_INVALID };
	return (struct record){
		.state = len < length ? RECORD_PARTIAL : RECORD_COMPLETE,
		.record = length,
		.message = message,
		.len = length - message,
	};
}

void record_stream_init(struct record_stream *stream, size_t limit)
{
	assert(limit >= RECORD_HEADER_LEN);
	*stream = (struct record_stream){ .limit = limit };
}

void record_stream_free(struct record_stream *stream)
{
	free(stream->bytes);
	*stream = (struct record_stream){ .limit = stream->limit };
}

/* Room for `want` bytes (at most the limit). Doubles, so that a connection soon stops allocating. */
static bool reserve(struct record_stream *stream, size_t want)
{
	size_t room = stream->room ? stream->room : ROOM_MIN;

	if (want <= stream->room)
		return true;
	while (room < want)
		room *= 2;
	if (room > stream->limit)
		room = stream->limit;

	uint8_t *bytes = realloc(stream->bytes, room);

	if (!bytes)
		return false;
	stream->bytes = bytes;
	stream->room = room;
	return true;
}

/* Moves input into the kept bytes until they are `want` long or the input is used up. */
static bool keep(struct record_stream *stream, size_t want, uint8_t **input, size_t *left)
{
	size_t take = want - stream->len < *left ? want - stream->len : *left;

	if (!take)
		return true;
	if (!reserve(stream, stream->len + take))
		return false;
	memcpy(stream->bytes + stream->len, *input, take);
	stream->len += take;
	*input += take;
	*left -= take;
	return true;
}

/* Passes over what is left of a record that was too long; false: more of it is to come. */
static bool skip(struct record_stream *stream, uint8_t **input, size_t *left)
{
	size_t take = stream->skip < *left ? stream->skip : *left;

	*input += take;
	*left -= take;
	stream->skip -= take;
	return !stream->skip;
}

enum record_state record_stream_next(
	struct record_stream *stream, uint8_t **input, size_t *left, uint8_t **message, size_t *len)
{
	struct record record;

	while (skip(stream, input, left)) {
		/* Nothing kept: a whole record is handed out where it lies. */
		if (!stream->len) {
			record = record_parse(*input, *left);
			if (record.state == RECORD_INVALID)
				return RECORD_INVALID;
			if (record.record > stream->limit) {
				stream->skip = record.record;
				continue;
			}
			if (record.state == RECORD_COMPLETE) {
				*message = *input + record.message;
				*len = record.len;
				*input += record.record;
				*left -= record.record;
				return RECORD_COMPLETE;
			}
		}

		/* The header first: it says how much belongs to this record, and the next one stays in the input. */
		if (stream->len < RECORD_HEADER_LEN && !keep(stream, RECORD_HEADER_LEN, input, left))
			return RECORD_INVALID;
		record = record_parse(stream->bytes, stream->len);
		if (record.state == RECORD_INVALID)
			return RECORD_INVALID;
		if (!record.record)
			return RECORD_PARTIAL;
		if (record.record > stream->limit) {
			stream->skip = record.record - stream->len;
			stream->len = 0;
			continue;
		}
		if (!keep(stream, record.record, input, left))
			return RECORD_INVALID;
		if (stream->len < record.record)
			return RECORD_PARTIAL;
		*message = stream->bytes + record.message;
		*len = record.len;
		stream->len = 0; /* the bytes stay until the next call */
		return RECORD_COMPLETE;
	}
	return RECORD_PARTIAL;
}
