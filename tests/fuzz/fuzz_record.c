/* SPDX-License-Identifier: MIT */
/* A stream of records, whole and in pieces: both must give the same messages and the same end. The first byte
 * seeds the pieces, the second chooses the limit. */
#include "core/carrier/record.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Feeds bytes in pieces; a digest of what came out. */
static uint64_t run(const uint8_t *bytes, size_t size, size_t limit, uint32_t pieces)
{
	struct record_stream stream;
	uint64_t digest = 14695981039346656037u;
	enum record_state state = RECORD_PARTIAL;

	record_stream_init(&stream, limit);
	for (size_t at = 0; at < size && state != RECORD_INVALID;) {
		size_t piece = size - at;
		uint8_t *copy, *input, *message;
		size_t left, len;

		if (pieces) {
			pieces = pieces * 1103515245 + 12345;
			if (piece > 1 + (pieces >> 16) % 50)
				piece = 1 + (pieces >> 16) % 50;
		}
		copy = malloc(piece);
		if (!copy)
			abort();
		memcpy(copy, bytes + at, piece);
		input = copy;
		left = piece;
		while ((state = record_stream_next(&stream, &input, &left, &message, &len)) ==
			RECORD_COMPLETE) {
			assert(len >= RECORD_MESSAGE_MIN && len <= limit);
			for (size_t i = 0; i < len; i++)
				digest = (digest ^ message[i]) * 1099511628211u;
			digest = (digest ^ len) * 1099511628211u;
			memset(message, 0, len);
		}
		assert(state == RECORD_INVALID || left == 0);
		assert(stream.room <= limit);
		free(copy);
		at += piece;
	}
	record_stream_free(&stream);
	return digest ^ state;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t limit;

	if (size < 2)
		return 0;
	limit = data[1] & 1 ? RECORD_MAX_LEN : RECORD_UNKNOWN_LIMIT;
	if (run(data + 2, size - 2, limit, 0) != run(data + 2, size - 2, limit, 1u + data[0]))
		abort();
	return 0;
}
