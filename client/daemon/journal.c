/* SPDX-License-Identifier: MIT */
/* A ring of lines. Main thread of wgtcpd. */
#include "client/daemon/journal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct journal {
	struct journal_line lines[JOURNAL_LINES];
	uint64_t total;
	bool print;
	void (*added)(const struct journal_line *line, void *user);
	void *user;
};

struct journal *journal_new(bool print)
{
	struct journal *journal = calloc(1, sizeof(*journal));

	if (journal)
		journal->print = print;
	return journal;
}

void journal_free(struct journal *journal)
{
	free(journal);
}

const char *journal_level_name(enum journal_level level)
{
	switch (level) {
	case JOURNAL_ERROR:
		return "error";
	case JOURNAL_WARNING:
		return "warning";
	case JOURNAL_INFO:
		return "info";
	}
	return "info";
}

static void copy_printable(char *out, size_t size, const char *text)
{
	size_t len = strlen(text), i;

	if (len >= size) {
		len = size - 1;
		/* Not in the middle of a UTF-8 character. */
		while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80)
			len--;
	}
	for (i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		out[i] = c < 0x20 || c == 0x7f ? ' ' : (char)c;
	}
	while (len > 0 && out[len - 1] == ' ')
		len--;
	out[len] = 0;
}

void journal_add(struct journal *journal, struct wall now, enum journal_level level, const char *tunnel,
	const char *text)
{
	struct journal_line *line = &journal->lines[journal->total % JOURNAL_LINES];

	line->number = ++journal->total;
	line->time = now;
	line->level = level;
	copy_printable(line->tunnel, sizeof(line->tunnel), tunnel ? tunnel : "");
	copy_printable(line->text, sizeof(line->text), text);
	if (journal->print)
		fprintf(stderr, "wgtcpd: %s%s%s%s%s\n",
			level == JOURNAL_INFO ? "" : journal_level_name(level),
			level == JOURNAL_INFO ? "" : ": ", line->tunnel, *line->tunnel ? ": " : "",
			line->text);
	if (journal->added)
		journal->added(line, journal->user);
}

void journal_say(
	struct journal *journal, enum journal_level level, const char *tunnel, const char *format, ...)
{
	char text[2 * JOURNAL_TEXT_LEN];
	struct timespec now;
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	clock_gettime(CLOCK_REALTIME, &now);
	journal_add(
		journal, (struct wall){ (uint64_t)now.tv_sec, (uint32_t)now.tv_nsec }, level, tunnel, text);
}

void journal_watch(
	struct journal *journal, void (*added)(const struct journal_line *line, void *user), void *user)
{
	journal->added = added;
	journal->user = user;
}

size_t journal_count(const struct journal *journal)
{
	return journal->total < JOURNAL_LINES ? (size_t)journal->total : JOURNAL_LINES;
}

const struct journal_line *journal_at(const struct journal *journal, size_t index)
{
	size_t count = journal_count(journal);

	if (index >= count)
		return NULL;
	return &journal->lines[(journal->total - count + index) % JOURNAL_LINES];
}
