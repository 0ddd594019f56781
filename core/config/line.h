/* SPDX-License-Identifier: MIT */
/* Profile text as lines, for the parser and the editor. Private to core/config.
 * Source: wg-quick(8) and wg(8): INI, '#' starts a comment, letter case of keys and sections does not count.
 */
#ifndef WGTCP_CORE_CONFIG_LINE_H
#define WGTCP_CORE_CONFIG_LINE_H

#include "core/config/parse.h"

enum profile_line_kind {
	PROFILE_LINE_EMPTY,   /* blank, or a comment */
	PROFILE_LINE_NAME,    /* "# Name = VALUE": the name that people see */
	PROFILE_LINE_SECTION, /* "[KEY]" */
	PROFILE_LINE_PAIR,    /* "KEY = VALUE" */
	PROFILE_LINE_OTHER,   /* none of these */
};

/* All spans lie in the text and have no blanks at their ends. */
struct profile_line {
	unsigned number;         /* from 1 */
	const char *start, *end; /* without its line end */
	const char *next;        /* the first byte of the next line */
	enum profile_line_kind kind;
	const char *key;
	size_t key_len;
	const char *value;
	size_t value_len; /* up to a '#' */
	size_t whole_len; /* with what follows a '#', for hooks */
};

/* What every text must be before lines are looked at: not too large, no line too long, UTF-8, no control
 * characters. False with error filled. */
bool profile_text_check(const char *text, size_t len, struct profile_error *error);
/* Steps to the next line, starting from an all-zero one; a byte order mark is passed over. False at the end.
 */
bool profile_line_next(const char *text, size_t len, struct profile_line *line);

#endif
