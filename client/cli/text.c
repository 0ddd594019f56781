/* SPDX-License-Identifier: MIT */
#include "client/cli/text.h"

#include "core/base/wipe.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void text_free(struct text *text)
{
	if (text->bytes)
		memory_wipe(text->bytes, text->len);
	free(text->bytes);
	*text = (struct text){ 0 };
}

void text_add(struct text *text, const char *bytes, size_t len)
{
	if (text->len + len + 1 > text->room) {
		size_t room = (text->len + len + 1) * 2;
		char *larger = malloc(room);

		if (!larger)
			return;
		if (text->bytes) {
			memcpy(larger, text->bytes, text->len);
			memory_wipe(text->bytes, text->len);
		}
		free(text->bytes);
		text->bytes = larger;
		text->room = room;
	}
	memcpy(text->bytes + text->len, bytes, len);
	text->len += len;
	text->bytes[text->len] = '\0';
}

void text_addf(struct text *text, const char *format, ...)
{
	va_list args;
	int len;
	char *line;

	va_start(args, format);
	len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	line = len < 0 ? NULL : malloc((size_t)len + 1);
	if (!line)
		return;
	va_start(args, format);
	vsnprintf(line, (size_t)len + 1, format, args);
	va_end(args);
	text_add(text, line, (size_t)len);
	memory_wipe(line, (size_t)len);
	free(line);
}

void text_add_clean(struct text *text, const char *from)
{
	for (const unsigned char *at = (const unsigned char *)from; *at; at++) {
		if (at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0) {
			text_add(text, "?", 1);
			at++;
		} else if ((*at < 0x20 && *at != '\t') || *at == 0x7f) {
			text_add(text, "?", 1);
		} else {
			text_add(text, (const char *)at, 1);
		}
	}
}

size_t text_columns(const char *text)
{
	size_t columns = 0;

	for (; *text; text++) {
		if (((unsigned char)*text & 0xc0) != 0x80)
			columns++;
	}
	return columns;
}

/* Columns of the first len bytes. */
static size_t word_columns(const char *word, size_t len)
{
	size_t columns = 0;

	for (size_t i = 0; i < len; i++) {
		if (((unsigned char)word[i] & 0xc0) != 0x80)
			columns++;
	}
	return columns;
}

void text_add_wrapped(struct text *text, const char *from, size_t at, size_t indent, size_t width)
{
	bool first = true;

	while (*from) {
		size_t len = strcspn(from, " ");
		size_t columns = word_columns(from, len);

		if (!first && width && at + 1 + columns > width) {
			text_addf(text, "\n%*s", (int)indent, "");
			at = indent;
		} else if (!first) {
			text_add(text, " ", 1);
			at++;
		}
		text_add(text, from, len);
		at += columns;
		first = false;
		from += len;
		from += strspn(from, " ");
	}
}
