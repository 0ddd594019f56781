/* SPDX-License-Identifier: MIT */
/* A text that grows, for output that is built before it is written. When memory runs out the text stays
 * short. Pure. */
#ifndef WGTCP_CLIENT_CLI_TEXT_H
#define WGTCP_CLIENT_CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
	char *bytes; /* NUL-terminated once something was added; else NULL */
	size_t len, room;
};

void text_free(struct text *text);
void text_add(struct text *text, const char *bytes, size_t len);
/* printf's format. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void text_addf(struct text *text, const char *format, ...);
/* What somebody else wrote, for a terminal: control characters (also those of Unicode's C1) become '?'. */
void text_add_clean(struct text *text, const char *from);
/* Columns that a UTF-8 text takes: one a character, which is right for the names and words that we print. */
size_t text_columns(const char *text);
/* Adds from, wrapped at blanks so that no line is longer than width (0: no limit) unless one word is. The
 * text stands at column `at`; later lines start with `indent` blanks. No newline at the end. */
void text_add_wrapped(struct text *text, const char *from, size_t at, size_t indent, size_t width);

#endif
