/* SPDX-License-Identifier: MIT */
/* See key_text.h. A character becomes its value, and back, by arithmetic on all ranges at once, so that the
 * time and the memory touched do not depend on the key. */
#include "core/config/key_text.h"

#include "core/base/wipe.h"

#include <string.h>

/* All ones when low <= c <= high, else 0. c, low and high are below 256. */
static uint32_t in_range(uint32_t c, uint32_t low, uint32_t high)
{
	return ~((c - low) >> 8 | (high - c) >> 8) & 1 ? UINT32_MAX : 0;
}

/* 0 to 63; anything above 63 is no base64 character. */
static uint32_t value_of(char character)
{
	uint32_t c = (uint8_t)character;
	uint32_t value = in_range(c, 'A', 'Z') & (c - 'A' + 1);

	value |= in_range(c, 'a', 'z') & (c - 'a' + 27);
	value |= in_range(c, '0', '9') & (c - '0' + 53);
	value |= in_range(c, '+', '+') & 63;
	value |= in_range(c, '/', '/') & 64;
	return value - 1;
}

static char character_of(uint32_t value)
{
	uint32_t c = in_range(value, 0, 25) & (value + 'A');

	c |= in_range(value, 26, 51) & (value - 26 + 'a');
	c |= in_range(value, 52, 61) & (value - 52 + '0');
	c |= in_range(value, 62, 62) & '+';
	c |= in_range(value, 63, 63) & '/';
	return (char)c;
}

bool profile_key_parse(const char *text, size_t len, uint8_t out[PROFILE_KEY_LEN])
{
	uint8_t key[PROFILE_KEY_LEN];
	uint32_t bits = 0, wrong = 0;
	bool ok = false;

	if (len != PROFILE_KEY_TEXT_LEN || text[PROFILE_KEY_TEXT_LEN - 1] != '=')
		return false;
	for (size_t i = 0, at = 0, held = 0; i < PROFILE_KEY_TEXT_LEN - 1; i++) {
		uint32_t value = value_of(text[i]);

		wrong |= value >> 6;
		bits = bits << 6 | (value & 63);
		held += 6;
		if (held >= 8) {
			held -= 8;
			key[at++] = (uint8_t)(bits >> held);
		}
	}
	wrong |= bits & 3; /* 43 characters are 258 bits: two are spare */
	if (!wrong) {
		memcpy(out, key, sizeof(key));
		ok = true;
	}
	memory_wipe(key, sizeof(key));
	memory_wipe(&bits, sizeof(bits));
	return ok;
}

void profile_key_write(const uint8_t key[PROFILE_KEY_LEN], char out[PROFILE_KEY_TEXT_LEN + 1])
{
	uint32_t bits = 0;
	size_t at = 0;

	for (size_t i = 0, held = 0; i < PROFILE_KEY_LEN; i++) {
		bits = bits << 8 | key[i];
		for (held += 8; held >= 6; held -= 6)
			out[at++] = character_of(bits >> (held - 6) & 63);
	}
	out[at++] = character_of(bits << 2 & 63);
	out[at++] = '=';
	out[at] = 0;
	memory_wipe(&bits, sizeof(bits));
}
