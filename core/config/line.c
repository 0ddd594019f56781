/* SPDX-License-Identifier: MIT */
/* See line.h. */
#include "core/config/line.h"

#include "core/base/text.h"
#include "core/config/error.h"

#include <string.h>

static const char byte_order_mark[] = "\xef\xbb\xbf";
#define BYTE_ORDER_MARK_LEN 3

/* Bytes of the UTF-8 character at text, 0 when it is none (also overlong forms, surrogates, above U+10FFFF).
 * Source: RFC 3629 section 4. */
static size_t character_len(const uint8_t *text, size_t len)
{
	uint8_t low = 0x80, high = 0xbf;
	size_t count;

	if (text[0] < 0x80)
		return 1;
	if (text[0] >= 0xc2 && text[0] <= 0xdf)
		count = 2;
	else if ((text[0] & 0xf0) == 0xe0)
		count = 3;
	else if (text[0] >= 0xf0 && text[0] <= 0xf4)
		count = 4;
	else
		return 0;
	if (text[0] == 0xe0)
		low = 0xa0;
	else if (text[0] == 0xed)
		high = 0x9f;
	else if (text[0] == 0xf0)
		low = 0x90;
	else if (text[0] == 0xf4)
		high = 0x8f;
	if (len < count || text[1] < low || text[1] > high)
		return 0;
	for (size_t i = 2; i < count; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	return count;
}

bool profile_text_check(const char *text, size_t len, struct profile_error *error)
{
	const uint8_t *bytes = (const uint8_t *)text;
	unsigned line = 1;
	size_t line_start = 0, step;

	if (len > PROFILE_TEXT_MAX)
		return profile_fail(error, 1, 1,
			"the file has %lu bytes, and a profile at most %u: give the profile itself, not an "
			"archive or an image",
			(unsigned long)len, PROFILE_TEXT_MAX);
	if (len >= 2 && ((bytes[0] == 0xff && bytes[1] == 0xfe) || (bytes[0] == 0xfe && bytes[1] == 0xff)))
		return profile_fail(error, 1, 1, "the file is saved as UTF-16: save it as UTF-8 text");
	for (size_t i = 0; i < len; i += step) {
		unsigned column = (unsigned)(i - line_start) + 1;
		bool line_end = bytes[i] == '\n';

		step = character_len(bytes + i, len - i);
		if (step == 0)
			return profile_fail(error, line, column,
				"the line has a byte (0x%02x) that is not UTF-8 text: if this is a profile "
				"at all, save it as UTF-8",
				bytes[i]);
		if (bytes[i] == 0)
			return profile_fail(error, line, column,
				"the line has a NUL byte: if this is a profile at all, save it as plain text "
				"(UTF-8)");
		if (bytes[i] == '\r' && !(i + 1 == len || bytes[i + 1] == '\n'))
			return profile_fail(error, line, column,
				"the line has a carriage return in its middle: save the file with line ends "
				"LF or CRLF");
		if ((bytes[i] < 0x20 && !line_end && !text_is_blank(text[i])) || bytes[i] == 0x7f)
			return profile_fail(error, line, column,
				"the line has a control character (0x%02x): delete it, or give the profile "
				"itself if this is another file",
				bytes[i]);
		if (i - line_start > PROFILE_LINE_MAX)
			return profile_fail(error, line, 1,
				"the line is longer than %u bytes: split it into several lines with the same "
				"key",
				PROFILE_LINE_MAX);
		if (line_end) {
			line++;
			line_start = i + 1;
		}
	}
	return true;
}

static void trim(const char **start, const char **end)
{
	while (*start < *end && text_is_blank(**start))
		(*start)++;
	while (*start < *end && text_is_blank((*end)[-1]))
		(*end)--;
}

/* KEY and VALUE around the first '='; false when there is none, or nothing before it. */
static bool split_pair(struct profile_line *line, const char *start, const char *comment, const char *end)
{
	const char *equals = memchr(start, '=', (size_t)(comment - start));
	const char *key = start, *key_end = equals, *value, *value_end = comment;

	if (!equals)
		return false;
	trim(&key, &key_end);
	value = equals + 1;
	trim(&value, &value_end);
	line->key = key;
	line->key_len = (size_t)(key_end - key);
	line->value = value;
	line->value_len = (size_t)(value_end - value);
	/* An empty value before a comment ends up at the '#': the whole one starts there. */
	value = equals + 1;
	value_end = end;
	trim(&value, &value_end);
	line->whole_len = (size_t)(value_end - value);
	if (line->value_len == 0)
		line->value = value;
	return line->key_len > 0;
}

static enum profile_line_kind sort(struct profile_line *line)
{
	const char *start = line->start, *end = line->end, *comment;

	trim(&start, &end);
	if (start == end)
		return PROFILE_LINE_EMPTY;
	if (*start == '#') {
		start++;
		if (split_pair(line, start, end, end) && text_equal_nocase(line->key, line->key_len, "Name"))
			return PROFILE_LINE_NAME;
		return PROFILE_LINE_EMPTY;
	}
	comment = memchr(start, '#', (size_t)(end - start));
	if (!comment)
		comment = end;
	if (*start == '[') {
		const char *inner = start + 1, *inner_end = comment;

		trim(&inner, &inner_end);
		if (inner_end == inner || inner_end[-1] != ']')
			return PROFILE_LINE_OTHER;
		inner_end--;
		trim(&inner, &inner_end);
		line->key = inner;
		line->key_len = (size_t)(inner_end - inner);
		return PROFILE_LINE_SECTION;
	}
	return split_pair(line, start, comment, end) ? PROFILE_LINE_PAIR : PROFILE_LINE_OTHER;
}

bool profile_line_next(const char *text, size_t len, struct profile_line *line)
{
	const char *start = line->next ? line->next : text, *stop = text + len, *end;
	unsigned number = line->number + 1;

	if (!line->next && len >= BYTE_ORDER_MARK_LEN &&
		memcmp(text, byte_order_mark, BYTE_ORDER_MARK_LEN) == 0)
		start += BYTE_ORDER_MARK_LEN;
	if (start == stop)
		return false;
	end = memchr(start, '\n', (size_t)(stop - start));
	*line = (struct profile_line){
		.number = number, .start = start, .end = end ? end : stop, .next = end ? end + 1 : stop
	};
	if (line->end > line->start && line->end[-1] == '\r')
		line->end--;
	line->kind = sort(line);
	return true;
}
