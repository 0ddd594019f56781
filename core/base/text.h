/* SPDX-License-Identifier: MIT */
/* Small pieces of text parsing that the address, UAPI and profile parsers share. Text is bytes with a length,
 * not a C string; letters are ASCII whatever the locale. Pure. */
#ifndef WGTCP_CORE_BASE_TEXT_H
#define WGTCP_CORE_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 0 to 15, or -1. */
int text_hex_digit(char c);
char text_lower(char c);
bool text_is_blank(char c); /* space, tab, CR, VT, FF: what stands between words of one line */
/* Whether the len bytes are exactly the C string word; letter case counts, or does not. */
bool text_equal(const char *text, size_t len, const char *word);
bool text_equal_nocase(const char *text, size_t len, const char *word);
/* A decimal number from min to max: digits only, no sign, no leading zeros. */
bool text_parse_decimal(const char *text, size_t len, uint64_t min, uint64_t max, uint64_t *out);

#endif
