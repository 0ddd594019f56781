/* SPDX-License-Identifier: MIT */
/* See text.h. */
#include "core/base/text.h"

#include <string.h>

int text_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

char text_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool text_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

bool text_equal(const char *text, size_t len, const char *word)
{
	return strlen(word) == len && memcmp(text, word, len) == 0;
}

bool text_equal_nocase(const char *text, size_t len, const char *word)
{
	if (strlen(word) != len)
		return false;
	for (size_t i = 0; i < len; i++)
		if (text_lower(text[i]) != text_lower(word[i]))
			return false;
	return true;
}

bool text_parse_decimal(const char *text, size_t len, uint64_t min, uint64_t max, uint64_t *out)
{
	uint64_t value = 0;

	if (len == 0 || (len > 1 && text[0] == '0'))
		return false;
	for (size_t i = 0; i < len; i++) {
		uint64_t digit = (uint64_t)(text[i] - '0');

		if (text[i] < '0' || text[i] > '9' || value > (UINT64_MAX - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	if (value < min || value > max)
		return false;
	*out = value;
	return true;
}
