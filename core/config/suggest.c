/* SPDX-License-Identifier: MIT */
/* Guesses at what a person meant, for the sentences of errors. */
#include "core/config/keys.h"

#include "core/base/text.h"

#include <string.h>

#define WORD_MAX 32

/* How many letters must be changed, added, dropped or swapped with their neighbour to make one word of the
 * other (optimal string alignment), letter case apart. Both at most WORD_MAX long. */
static size_t word_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t rows[3][WORD_MAX + 1];
	size_t *before = rows[0], *above = rows[1], *row = rows[2];

	for (size_t j = 0; j <= b_len; j++)
		above[j] = j;
	memcpy(before, above, sizeof(rows[0]));
	for (size_t i = 1; i <= a_len; i++) {
		size_t *oldest = before;

		row[0] = i;
		for (size_t j = 1; j <= b_len; j++) {
			bool same = text_lower(a[i - 1]) == text_lower(b[j - 1]);
			size_t best = above[j - 1] + !same;

			if (above[j] + 1 < best)
				best = above[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			if (i > 1 && j > 1 && text_lower(a[i - 1]) == text_lower(b[j - 2]) &&
				text_lower(a[i - 2]) == text_lower(b[j - 1]) && before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			row[j] = best;
		}
		before = above;
		above = row;
		row = oldest;
	}
	return above[b_len];
}

const char *profile_key_nearest(const char *name, size_t len, unsigned sections)
{
	const char *nearest = NULL;
	size_t best = len / 3 + 1; /* farther than this is another word */

	if (len > WORD_MAX)
		return NULL;
	for (size_t i = 0; i < profile_key_count; i++) {
		size_t distance;

		if (!(profile_keys[i].sections & sections))
			continue;
		distance = word_distance(name, len, profile_keys[i].name, strlen(profile_keys[i].name));
		if (distance > best || (nearest && distance == best))
			continue;
		best = distance;
		nearest = profile_keys[i].name;
	}
	return nearest;
}

/* The length of word at the start of text when "=" follows it, else 0. */
static size_t pair_here(const char *text, size_t len, const char *word)
{
	size_t word_len = strlen(word), at = word_len;

	if (len <= word_len || !text_equal_nocase(text, word_len, word))
		return 0;
	while (at < len && text_is_blank(text[at]))
		at++;
	return at < len && text[at] == '=' ? word_len : 0;
}

const char *profile_lost_line(const char *value, size_t len, size_t *name_len)
{
	static const char *const sections[] = { "[Interface]", "[Peer]" };

	for (size_t i = 1; i < len; i++) {
		for (size_t k = 0; k < 2; k++) {
			*name_len = strlen(sections[k]);
			if (len - i >= *name_len && text_equal_nocase(value + i, *name_len, sections[k]))
				return value + i;
		}
		for (size_t k = 0; k < profile_key_count; k++) {
			*name_len = pair_here(value + i, len - i, profile_keys[k].name);
			if (*name_len)
				return value + i;
		}
	}
	return NULL;
}
