/* SPDX-License-Identifier: MIT */
/* Every vector of docs/wire.md section 2, every way to split a stream, and the limits. */
#include "core/carrier/record.h"

#include "core/base/bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void vectors(void **unused)
{
	static const struct {
		size_t len;
		uint8_t header[RECORD_HEADER_LEN];
	} rows[] = {
		{ 32, { 0, 0, 0, 0x28, 0, 0, 0xa0, 0xa5 } },  /* keepalive */
		{ 64, { 0, 0, 0, 0x48, 0, 0, 0xac, 0xa5 } },  /* cookie reply */
		{ 92, { 0, 0, 0, 0x64, 0, 0, 0xa9, 0x25 } },  /* handshake response */
		{ 148, { 0, 0, 0, 0x9c, 0, 0, 0xb6, 0x25 } }, /* handshake initiation */
		{ 128, { 0, 0, 0, 0x88, 0, 0, 0xb4, 0xa5 } },
		{ 1452, { 0, 0, 0x05, 0xb4, 0, 0, 0x13, 0x25 } },
		{ 65535, { 0, 1, 0, 0x07, 0, 0, 0xa5, 0x65 } }, /* largest */
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t header[RECORD_HEADER_LEN];
		struct record record;

		record_write_header(header, rows[i].len);
		assert_memory_equal(header, rows[i].header, sizeof(header));
		record = record_parse(header, sizeof(header));
		assert_int_equal(record.state, RECORD_PARTIAL);
		assert_int_equal(record.record, RECORD_HEADER_LEN + rows[i].len);
		assert_int_equal(record.message, RECORD_HEADER_LEN);
		assert_int_equal(record.len, rows[i].len);
	}
}

/* Sets the checksum of a header under test, by the formula of docs/wire.md written down a second time. */
static void sign(uint8_t header[RECORD_HEADER_LEN])
{
	uint16_t c =
		(uint16_t)(get_be16(header) ^ get_be16(header + 2) ^ (uint16_t)(header[5] << 8 | header[4]));

	put_be16(header + 6, (uint16_t)(((c << 5 | c >> 11) & 0xffff) ^ 0xa5a5));
}

static void headers(void **unused)
{
	static const struct {
		uint32_t length;
		uint8_t type, flags;
		uint16_t spoil;
		enum record_state state;
		size_t message;
	} rows[] = {
		{ 40, 0, 0, 0, RECORD_PARTIAL, 8 },
		{ 39, 0, 0, 0, RECORD_INVALID, 0 },
		{ 44, 0, 1, 0, RECORD_PARTIAL, 12 },
		{ 43, 0, 1, 0, RECORD_INVALID, 0 },
		{ 1464, 0, 1, 0, RECORD_PARTIAL, 12 },
		{ 65543, 0, 0, 0, RECORD_PARTIAL, 8 },
		{ 65543, 0, 1, 0, RECORD_PARTIAL, 12 },
		{ 65544, 0, 0, 0, RECORD_INVALID, 0 },
		{ 0xffffffff, 0, 0, 0, RECORD_INVALID, 0 },
		{ 0, 0, 0, 0, RECORD_INVALID, 0 },
		{ 40, 1, 0, 0, RECORD_INVALID, 0 },
		{ 40, 255, 0, 0, RECORD_INVALID, 0 },
		{ 44, 0, 2, 0, RECORD_INVALID, 0 },
		{ 44, 0, 3, 0, RECORD_INVALID, 0 },
		{ 44, 0, 0x80, 0, RECORD_INVALID, 0 },
		{ 40, 0, 0, 1, RECORD_INVALID, 0 },
		{ 40, 0, 0, 0x8000, RECORD_INVALID, 0 },
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t header[RECORD_HEADER_LEN];
		struct record record;

		put_be32(header, rows[i].length);
		header[4] = rows[i].type;
		header[5] = rows[i].flags;
		sign(header);
		put_be16(header + 6, get_be16(header + 6) ^ rows[i].spoil);
		record = record_parse(header, sizeof(header));
		assert_int_equal(record.state, rows[i].state);
		assert_int_equal(record.message, rows[i].message);
		if (rows[i].state == RECORD_PARTIAL)
			assert_int_equal(record.len, rows[i].length - rows[i].message);
	}
	/* The one with the fragment flag in docs/wire.md. */
	assert_int_equal(record_parse((const uint8_t[]){ 0, 0, 0x05, 0xb8, 0, 1, 0x32, 0xa5 }, 8).len, 1452);
	/* Nothing is known before the header is whole. */
	for (size_t len = 0; len < RECORD_HEADER_LEN; len++) {
		struct record record = record_parse((const uint8_t[]){ 9, 9, 9, 9, 9, 9, 9, 9 }, len);

		assert_int_equal(record.state, RECORD_PARTIAL);
		assert_int_equal(record.record, 0);
	}
}

/* ---- streams ---- */

#define SAMPLES 4
static const size_t sample_lens[SAMPLES] = { 32, 44, 92, 33 };

/* Records of the sample lengths, the second with the fragment flag; returns the bytes. */
static size_t sample(uint8_t *out)
{
	size_t at = 0;

	for (size_t i = 0; i < SAMPLES; i++) {
		size_t extra = i == 1 ? RECORD_FRAGMENT_LEN : 0;

		put_be32(out + at, (uint32_t)(RECORD_HEADER_LEN + extra + sample_lens[i]));
		out[at + 4] = 0;
		out[at + 5] = extra ? 1 : 0;
		sign(out + at);
		memset(out + at + RECORD_HEADER_LEN, 0xee, extra);
		memset(out + at + RECORD_HEADER_LEN + extra, (int)(i + 1), sample_lens[i]);
		at += RECORD_HEADER_LEN + extra + sample_lens[i];
	}
	return at;
}

/* Feeds one piece from memory of exactly its size; *next is the sample that comes next. */
static void feed(struct record_stream *stream, const uint8_t *bytes, size_t len, size_t *next)
{
	uint8_t *piece = malloc(len ? len : 1), *input = piece, *message;
	size_t left = len, message_len;
	enum record_state state;

	assert_non_null(piece);
	memcpy(piece, bytes, len);
	while ((state = record_stream_next(stream, &input, &left, &message, &message_len)) ==
		RECORD_COMPLETE) {
		assert_true(*next < SAMPLES);
		assert_int_equal(message_len, sample_lens[*next]);
		for (size_t i = 0; i < message_len; i++)
			assert_int_equal(message[i], *next + 1);
		message[0] = 0; /* may be written to */
		++*next;
	}
	assert_int_equal(state, RECORD_PARTIAL);
	assert_int_equal(left, 0);
	free(piece);
}

static void every_split_in_three(void **unused)
{
	uint8_t bytes[512];
	size_t len = sample(bytes);

	(void)unused;
	for (size_t first = 0; first <= len; first++) {
		for (size_t second = first; second <= len; second++) {
			struct record_stream stream;
			size_t next = 0;

			record_stream_init(&stream, RECORD_UNKNOWN_LIMIT);
			feed(&stream, bytes, first, &next);
			feed(&stream, bytes + first, second - first, &next);
			feed(&stream, bytes + second, len - second, &next);
			assert_int_equal(next, SAMPLES);
			assert_int_equal(stream.len, 0);
			record_stream_free(&stream);
		}
	}
}

static void one_size_of_piece(void **unused)
{
	uint8_t bytes[512];
	size_t len = sample(bytes);

	(void)unused;
	for (size_t size = 1; size <= len; size++) {
		struct record_stream stream;
		size_t next = 0;

		record_stream_init(&stream, RECORD_MAX_LEN);
		for (size_t at = 0; at < len; at += size)
			feed(&stream, bytes + at, len - at < size ? len - at : size, &next);
		assert_int_equal(next, SAMPLES);
		record_stream_free(&stream);
	}
}

static void whole_messages_are_not_copied(void **unused)
{
	uint8_t bytes[512], *input = bytes, *message;
	size_t len = sample(bytes), left = len, message_len;
	struct record_stream stream;

	(void)unused;
	record_stream_init(&stream, RECORD_MAX_LEN);
	for (size_t i = 0; i < SAMPLES; i++) {
		assert_int_equal(
			record_stream_next(&stream, &input, &left, &message, &message_len), RECORD_COMPLETE);
		assert_true(message >= bytes && message + message_len == input);
	}
	assert_int_equal(record_stream_next(&stream, &input, &left, &message, &message_len), RECORD_PARTIAL);
	assert_null(stream.bytes);
	record_stream_free(&stream);
}

/* The answer to a record must not hang on how it was split, the limit included. */
static void limits(void **unused)
{
	static const struct {
		size_t limit, message;
		bool accepted;
	} rows[] = {
		{ RECORD_UNKNOWN_LIMIT, 1016, true },
		{ RECORD_UNKNOWN_LIMIT, 1017, false },
		{ RECORD_UNKNOWN_LIMIT, 65535, false },
		{ RECORD_MAX_LEN, 65535, true },
	};
	/* Behind the record under test stands a small one. */
	static uint8_t bytes[RECORD_MAX_LEN + 40], copy[RECORD_MAX_LEN + 40];

	(void)unused;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t len = RECORD_HEADER_LEN + rows[i].message + 40;

		memset(bytes, 7, sizeof(bytes));
		record_write_header(bytes, rows[i].message);
		record_write_header(bytes + len - 40, 32);
		for (size_t split = 0; split <= len; split += split < 16 ? 1 : 997) {
			struct record_stream stream;
			uint8_t *input = copy, *message;
			size_t left = split, message_len;
			enum record_state state;

			memcpy(copy, bytes, len);
			record_stream_init(&stream, rows[i].limit);
			state = record_stream_next(&stream, &input, &left, &message, &message_len);
			assert_true(stream.room <= rows[i].limit);
			if (state == RECORD_COMPLETE)
				left += len - split;
			else
				assert_int_equal(left, 0);
			if (state == RECORD_PARTIAL && split < len) {
				left = len - split;
				state = record_stream_next(&stream, &input, &left, &message, &message_len);
			}
			assert_int_equal(state, RECORD_COMPLETE);
			assert_true(stream.room <= rows[i].limit);
			if (rows[i].accepted) {
				assert_int_equal(message_len, rows[i].message);
				assert_int_equal(record_stream_next(&stream, &input, &left, &message, &message_len),
					RECORD_COMPLETE);
			}
			/* The one behind it is whole, whether the first was passed over or not. */
			assert_int_equal(message_len, 32);
			assert_int_equal(left, 0);
			assert_int_equal(record_stream_next(&stream, &input, &left, &message, &message_len),
				RECORD_PARTIAL);
			record_stream_free(&stream);
		}
	}
}

/* A raised limit (the connection has been authenticated) holds from the next record on. */
static void limit_rises(void **unused)
{
	static uint8_t bytes[RECORD_HEADER_LEN + 2000];
	uint8_t *input = bytes, *message;
	size_t left = 100, len;
	struct record_stream stream;

	(void)unused;
	record_write_header(bytes, 2000);
	record_stream_init(&stream, RECORD_UNKNOWN_LIMIT);
	stream.limit = RECORD_MAX_LEN;
	assert_int_equal(record_stream_next(&stream, &input, &left, &message, &len), RECORD_PARTIAL);
	left = sizeof(bytes) - 100;
	assert_int_equal(record_stream_next(&stream, &input, &left, &message, &len), RECORD_COMPLETE);
	assert_int_equal(len, 2000);
	record_stream_free(&stream);
}

/* docs/wire.md section 2, a bit at a time: the checksum of every length there is. */
static void every_length_has_its_checksum(void **unused)
{
	(void)unused;
	for (size_t len = RECORD_MESSAGE_MIN; len <= RECORD_MESSAGE_MAX; len++) {
		uint8_t header[RECORD_HEADER_LEN];
		uint32_t length = (uint32_t)len + RECORD_HEADER_LEN, c = (length >> 16) ^ (length & 0xffff);

		for (int bit = 0; bit < 5; bit++)
			c = (c << 1 & 0xfffe) | (c >> 15 & 1);
		c ^= 0xa5a5;
		record_write_header(header, len);
		assert_int_equal(header[0] << 24 | header[1] << 16 | header[2] << 8 | header[3], length);
		assert_int_equal(header[6] << 8 | header[7], c);
		assert_int_equal(record_parse(header, sizeof(header)).record, length);
	}
}

static void junk_is_invalid_at_once(void **unused)
{
	static const uint8_t junk[] = "GET / HTTP/1.1\r\n";
	uint8_t bytes[sizeof(junk)], *input = bytes, *message;
	size_t left = 7, len;
	struct record_stream stream;

	(void)unused;
	memcpy(bytes, junk, sizeof(junk));
	record_stream_init(&stream, RECORD_UNKNOWN_LIMIT);
	assert_int_equal(record_stream_next(&stream, &input, &left, &message, &len), RECORD_PARTIAL);
	left = 1;
	assert_int_equal(record_stream_next(&stream, &input, &left, &message, &len), RECORD_INVALID);
	record_stream_free(&stream);
}

/* The linker puts this before realloc (--wrap). */
static bool memory_is_short;
void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);

void *__wrap_realloc(void *old, size_t size)
{
	return memory_is_short ? NULL : __real_realloc(old, size);
}

/* At the header, and in the middle of a record. */
static void short_memory_ends_the_stream(void **unused)
{
	(void)unused;
	for (size_t first = 4; first <= 300; first += 296) {
		uint8_t bytes[RECORD_HEADER_LEN + 600] = { 0 }, *input = bytes, *message;
		size_t left = first, len;
		struct record_stream stream;

		record_write_header(bytes, 600);
		record_stream_init(&stream, RECORD_UNKNOWN_LIMIT);
		memory_is_short = true;
		assert_int_equal(record_stream_next(&stream, &input, &left, &message, &len), RECORD_INVALID);
		memory_is_short = false;
		record_stream_free(&stream);
		/* With a part kept already. */
		input = bytes;
		left = first;
		record_stream_init(&stream, RECORD_UNKNOWN_LIMIT);
		assert_int_equal(record_stream_next(&stream, &input, &left, &message, &len), RECORD_PARTIAL);
		assert_int_equal(left, 0);
		left = sizeof(bytes) - first;
		memory_is_short = true;
		assert_int_equal(record_stream_next(&stream, &input, &left, &message, &len), RECORD_INVALID);
		memory_is_short = false;
		record_stream_free(&stream);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vectors),
		cmocka_unit_test(headers),
		cmocka_unit_test(every_split_in_three),
		cmocka_unit_test(one_size_of_piece),
		cmocka_unit_test(whole_messages_are_not_copied),
		cmocka_unit_test(limits),
		cmocka_unit_test(limit_rises),
		cmocka_unit_test(every_length_has_its_checksum),
		cmocka_unit_test(junk_is_invalid_at_once),
		cmocka_unit_test(short_memory_ends_the_stream),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
