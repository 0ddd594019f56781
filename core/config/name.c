/* SPDX-License-Identifier: MIT */
/* See name.h. */
#include "core/config/name.h"

#include "core/base/text.h"

#include <stdio.h>
#include <string.h>

#define NAME_MAX_LEN (PROFILE_NAME_LEN - 1)
#define HASH_DIGITS 4

static bool name_character(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
	       c == '=' || c == '+' || c == '.' || c == '-';
}

/* What the system's settings and its loopback are called: no tunnel's interface can be. */
static bool name_taken(const char *name, size_t len)
{
	return text_equal(name, len, "all") || text_equal(name, len, "default") ||
	       text_equal(name, len, "lo");
}

bool profile_name_valid(const char *name, size_t len)
{
	if (len == 0 || len > NAME_MAX_LEN || text_equal(name, len, ".") || text_equal(name, len, "..") ||
		name_taken(name, len))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!name_character(name[i]))
			return false;
	return true;
}

static size_t without_conf(const char *text, size_t len)
{
	return len > 5 && text_equal_nocase(text + len - 5, 5, ".conf") ? len - 5 : len;
}

bool profile_name_parse(const char *text, size_t len, char out[PROFILE_NAME_LEN])
{
	len = without_conf(text, len);
	if (!profile_name_valid(text, len))
		return false;
	memcpy(out, text, len);
	out[len] = 0;
	return true;
}

/* FNV-1a: no secret, only to tell names apart. */
static unsigned hash16(const char *text, size_t len)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (uint8_t)text[i]) * 16777619u;
	return (hash >> 16 ^ hash) & 0xffff;
}

/* The letter below the accent for U+00C0 to U+00FF, in UTF-8 0xC3 0x80 to 0xBF; '-' for what has none. */
static char plain_letter(uint8_t last)
{
	static const char letters[] = "AAAAAAACEEEEIIIIDNOOOOO-OUUUUYTs"
				      "aaaaaaaceeeeiiiidnooooo-ouuuuyty";

	return letters[last - 0x80];
}

/* The character at *at, which moves behind it; '-' for all that a name cannot hold. */
static char next_character(const char *text, size_t len, size_t *at)
{
	uint8_t c = (uint8_t)text[(*at)++];

	if (c < 0x80)
		return name_character((char)c) ? (char)c : '-';
	if (c == 0xc3 && *at < len && ((uint8_t)text[*at] & 0xc0) == 0x80)
		return plain_letter((uint8_t)text[(*at)++]);
	while (*at < len && ((uint8_t)text[*at] & 0xc0) == 0x80) /* the rest of the same character */
		(*at)++;
	/* U+0300 to U+036F, accents that stand behind their letter, leave no trace. */
	return c == 0xcc || c == 0xcd ? 0 : '-';
}

void profile_name_derive(const char *file_name, char out[PROFILE_NAME_LEN])
{
	const char *base = file_name;
	char name[NAME_MAX_LEN + 1] = "";
	size_t len, count = 0, at = 0;
	bool cut = false;

	for (const char *c = file_name; *c; c++)
		if (*c == '/' || *c == '\\')
			base = c + 1;
	len = strlen(base);
	for (size_t shorter; (shorter = without_conf(base, len)) != len;) /* also "wg0.conf.conf" */
		len = shorter;
	while (at < len && !cut) {
		char c = next_character(base, len, &at);

		if (!c || ((c == '-' || c == '.') && count == 0) || (c == '-' && name[count - 1] == '-'))
			continue;
		if (count == NAME_MAX_LEN)
			cut = true;
		else
			name[count++] = c;
	}
	if (cut)
		count = NAME_MAX_LEN - HASH_DIGITS - 1;
	while (count > 0 && (name[count - 1] == '-' || name[count - 1] == '.'))
		count--;
	name[count] = 0;
	if (count == 0)
		snprintf(out, PROFILE_NAME_LEN, "tunnel-%04x", hash16(base, len));
	else if (cut || name_taken(name, count))
		snprintf(out, PROFILE_NAME_LEN, "%.10s-%04x", name, hash16(base, len));
	else
		memcpy(out, name, count + 1);
}
