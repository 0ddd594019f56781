/* SPDX-License-Identifier: MIT */
/* Runs something again and again, and lets one call more succeed each time before one fails: memory, or a
 * call of the system. Linked into a test, it stands in for these functions; nothing of it is in a product. */
#ifndef WGTCP_TESTS_UNIT_FAULTS_FAULT_H
#define WGTCP_TESTS_UNIT_FAULTS_FAULT_H

#include <stdbool.h>
#include <stddef.h>

enum fault_kind {
	FAULT_MEMORY, /* malloc, calloc, realloc: NULL */
	FAULT_SYSTEM, /* open, read, write, sync, rename and their like: EIO, ENOSPC, EMFILE in turn */
};

/* What is tried. Returns whether it worked. With a failure injected it may work (where there is another way),
 * or not, but neither crash nor leave memory or descriptors behind. */
typedef bool fault_story(void *user);

/* How many calls there were to fail. The story has to work once none is left; fails the cmocka test
 * otherwise. */
size_t fault_each(enum fault_kind kind, fault_story *story, void *user);

/* Around what the story does for itself, and not for what is tested. */
void fault_pause(void);
void fault_resume(void);

#endif
