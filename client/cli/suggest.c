/* SPDX-License-Identifier: MIT */
/* Distance: the fewest letters to add, drop, change, or swap with a neighbour (optimal string alignment).
 * Letter case costs nothing. */
#include "client/cli/suggest.h"

#include <stdint.h>
#include <string.h>

#define WORD_MAX 40

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t least = a < b ? a : b;

	return least < c ? least : c;
}

/* SIZE_MAX for words too long to compare. */
static size_t distance(const char *a, const char *b)
{
	size_t rows[3][WORD_MAX + 1];
	size_t a_len = strlen(a), b_len = strlen(b);

	if (a_len > WORD_MAX || b_len > WORD_MAX)
		return SIZE_MAX;
	for (size_t j = 0; j <= b_len; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];

		row[0] = i;
		for (size_t j = 1; j <= b_len; j++) {
			size_t change = lower(a[i - 1]) != lower(b[j - 1]);

			row[j] = min3(above[j] + 1, row[j - 1] + 1, above[j - 1] + change);
			if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
				lower(a[i - 2]) == lower(b[j - 1]) && two_above[j - 2] + 1 < row[j])
				row[j] = two_above[j - 2] + 1;
		}
	}
	return rows[a_len % 3][b_len];
}

void suggestion_start(struct suggestion *suggestion, const char *typed)
{
	/* A third of the letters may be wrong: "ofice", but not "x" for "up". */
	*suggestion = (struct suggestion){ .typed = typed, .distance = (strlen(typed) + 2) / 3 + 1 };
}

void suggestion_offer(struct suggestion *suggestion, const char *word)
{
	size_t next = distance(suggestion->typed, word);

	if (next < suggestion->distance && next < strlen(word)) {
		suggestion->distance = next;
		suggestion->nearest = word;
	}
}
