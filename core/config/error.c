/* SPDX-License-Identifier: MIT */
/* See error.h. */
#include "core/config/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool profile_fail(struct profile_error *error, unsigned line, unsigned column, const char *format, ...)
{
	va_list arguments;

	error->line = line;
	error->column = column;
	va_start(arguments, format);
	vsnprintf(error->sentence, sizeof(error->sentence), format, arguments);
	va_end(arguments);
	return false;
}

char *profile_quote(const char *text, size_t len, char out[PROFILE_QUOTE_LEN])
{
	static const char dots[] = "...";
	size_t room = PROFILE_QUOTE_LEN - sizeof(dots);
	size_t count = len < room ? len : room;

	/* Never half a UTF-8 character. */
	while (count < len && count > 0 && ((uint8_t)text[count] & 0xc0) == 0x80)
		count--;
	memcpy(out, text, count);
	for (size_t i = 0; i < count; i++)
		if ((uint8_t)out[i] < 0x20 || out[i] == 0x7f)
			out[i] = '?';
	memcpy(out + count, dots, sizeof(dots));
	if (count == len)
		out[count] = 0;
	return out;
}
