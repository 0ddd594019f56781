/* SPDX-License-Identifier: MIT */
/* What a daemon that was killed leaves behind, and how the next one cleans it up. The daemon keeps a small
 * file of what it has made that would outlive it; devices, their addresses and routes go with the engine that
 * holds the device. */
#ifndef WGTCP_CLIENT_DAEMON_LEFTOVERS_H
#define WGTCP_CLIENT_DAEMON_LEFTOVERS_H

#include "client/daemon/journal.h"

#include <stdint.h>
#include <sys/types.h>

#define LEFTOVERS_FILE "running"
#define LEFTOVERS_MAX 512

enum leftover_kind {
	LEFTOVER_ENGINE, /* pid, start_time */
	LEFTOVER_TUNNEL, /* name: an interface, and a UAPI socket of that name */
	LEFTOVER_RULES,  /* mark: policy rules of a tunnel, what marks its answers, and the table of the same
			    number */
	LEFTOVER_LINK,   /* name: an interface of the kernel's WireGuard; mark: its index, 0: not known yet */
	LEFTOVER_SOURCE_MARK, /* the reverse path filter looks at marks, which it did not before */
};

struct leftover {
	enum leftover_kind kind;
	pid_t pid;
	uint64_t start_time;
	char name[16];
	uint32_t mark;
};

/* The text of the file; NULL when memory is short. Free with free(). */
char *leftovers_write(const struct leftover *list, size_t count, const char *boot_id);
/* The entries of a text, at most max; those of another boot only where they outlive one (sockets do not
 * either, but their names may): LEFTOVER_TUNNEL. A line that makes no sense is passed over. */
size_t leftovers_parse(const char *text, const char *boot_id, struct leftover *out, size_t max);

/* Replaces the file in the state folder. 0 or -errno. */
int leftovers_save(int state_folder, const struct leftover *list, size_t count);
/* A folder of this state folder's in /run, for when a disk is full or read-only: what outlives a daemon does
 * not outlive a boot anyway. Its descriptor, or -errno; -ENOENT without make: nothing was ever put there. */
int leftovers_spare_open(int state_folder, bool make);
/* Cleans up after the daemon that wrote the file, and removes the file: ends its engines, removes its stale
 * sockets in uapi_folder and its rules. Call with the state folder locked. Says what it did. */
void leftovers_clean(int state_folder, const char *uapi_folder, struct journal *journal);

#endif
