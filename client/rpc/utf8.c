/* SPDX-License-Identifier: MIT */
#include "client/rpc/utf8.h"

/* What the first byte promises. C0, C1 and F5 to FF never stand in UTF-8. */
static size_t promised_len(unsigned char first)
{
	if (first < 0x80)
		return 1;
	if (first < 0xc2)
		return 0;
	if (first < 0xe0)
		return 2;
	if (first < 0xf0)
		return 3;
	return first < 0xf5 ? 4 : 0;
}

size_t utf8_character_len(const char *text)
{
	const unsigned char *c = (const unsigned char *)text;
	size_t len = promised_len(c[0]);

	for (size_t i = 1; i < len; i++) {
		if ((c[i] & 0xc0) != 0x80)
			return 0;
	}
	/* Overlong forms, surrogates, and what lies above U+10FFFF. */
	if ((c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] > 0x9f) || (c[0] == 0xf0 && c[1] < 0x90) ||
		(c[0] == 0xf4 && c[1] > 0x8f))
		return 0;
	return len;
}
