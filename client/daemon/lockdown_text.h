/* SPDX-License-Identifier: MIT */
/* The file that says for which tunnels the kill switch is on, so that it is on again after a restart. Pure.
 */
#ifndef WGTCP_CLIENT_DAEMON_LOCKDOWN_TEXT_H
#define WGTCP_CLIENT_DAEMON_LOCKDOWN_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOCKDOWN_FILE "killswitch"
#define LOCKDOWN_MAX 64
#define LOCKDOWN_TEXT_MAX 8192

struct lockdown_hold {
	char name[16]; /* the tunnel, which is its interface too */
	bool lan;      /* the local network may be reached */
};

struct lockdown_file {
	struct lockdown_hold holds[LOCKDOWN_MAX];
	size_t count;
	uint64_t open_until; /* Unix time, s; 0: it is not opened */
};

/* Freed with free(); NULL when memory is short. */
char *lockdown_write(const struct lockdown_file *file);
/* A line that makes no sense is passed over: a damaged file must not open what it was to close. */
void lockdown_parse(const char *text, struct lockdown_file *out);
/* Adds a hold, or changes the one of that name. False when there is no room. */
bool lockdown_file_add(struct lockdown_file *file, const char *name, bool lan);
/* False when there was none. */
bool lockdown_file_remove(struct lockdown_file *file, const char *name);

#endif
