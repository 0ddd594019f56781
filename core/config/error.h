/* SPDX-License-Identifier: MIT */
/* How the parser says what is wrong. Private to core/config. */
#ifndef WGTCP_CORE_CONFIG_ERROR_H
#define WGTCP_CORE_CONFIG_ERROR_H

#include "core/config/parse.h"

#define PROFILE_QUOTE_LEN 72

/* Fills error and returns false, so that `return profile_fail(...)` reads as what it does. */
__attribute__((format(printf, 4, 5))) bool profile_fail(
	struct profile_error *error, unsigned line, unsigned column, const char *format, ...);

/* A person's text for a sentence: shortened, with no byte that could upset a terminal. Never call it with a
 * secret. Returns out. */
char *profile_quote(const char *text, size_t len, char out[PROFILE_QUOTE_LEN]);

#endif
