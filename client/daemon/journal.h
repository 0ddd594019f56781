/* SPDX-License-Identifier: MIT */
/* The daemon's last lines, for `wgtcp-cli logs`, and the same lines on standard error. Lines never hold keys,
 * and no addresses; what a person needs to see of those is in the status. One thread. */
#ifndef WGTCP_CLIENT_DAEMON_JOURNAL_H
#define WGTCP_CLIENT_DAEMON_JOURNAL_H

#include "core/base/time.h"

#include <stdbool.h>
#include <stddef.h>

#define JOURNAL_LINES 1000
#define JOURNAL_TEXT_LEN 256 /* longer lines are cut */

enum journal_level { JOURNAL_ERROR, JOURNAL_WARNING, JOURNAL_INFO };

struct journal_line {
	uint64_t number; /* counts from 1 since the start */
	struct wall time;
	enum journal_level level;
	char tunnel[16]; /* "" for the daemon itself */
	char text[JOURNAL_TEXT_LEN];
};

struct journal;

/* NULL when memory is short. print: also to standard error. */
struct journal *journal_new(bool print);
void journal_free(struct journal *journal);

/* tunnel may be NULL. Control characters are replaced, so that a line stays a line. */
void journal_add(struct journal *journal, struct wall now, enum journal_level level, const char *tunnel,
	const char *text);
/* The same at the present time, with printf's format. */
void journal_say(struct journal *journal, enum journal_level level, const char *tunnel, const char *format,
	...) __attribute__((format(printf, 4, 5)));

/* Called after each line that was added; NULL: nobody. */
void journal_watch(
	struct journal *journal, void (*added)(const struct journal_line *line, void *user), void *user);

size_t journal_count(const struct journal *journal);
/* The line at index, 0 is the oldest that is still there; NULL past the end. Borrowed until the next line. */
const struct journal_line *journal_at(const struct journal *journal, size_t index);

/* "error", "warning", "info" */
const char *journal_level_name(enum journal_level level);

#endif
