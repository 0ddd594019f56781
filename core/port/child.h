/* SPDX-License-Identifier: MIT */
/* A program of the system's that we run for what it writes, and trust with nothing: it may speak IP, and
 * neither reach local sockets nor look into other processes, and it ends with us. */
#ifndef WGTCP_CORE_PORT_CHILD_H
#define WGTCP_CORE_PORT_CHILD_H

#include <stddef.h>

struct child;

/* Starts `name`, which is looked for in the system's own folders whatever PATH says; arguments[0] is what it
 * is told as its name, NULL ends them. Run by root it becomes nobody, else it stays who we are. 0; -ENOENT:
 * there is no such program; -errno. */
int child_start(const char *name, char *const arguments[], struct child **out);
/* Readable when it has written something or has ended. -1 where the system has no such thing. */
int child_handle(const struct child *child);
/* What it wrote: the number of bytes; 0: no more will come; -EAGAIN: not yet; -errno. Never blocks. */
long child_read(struct child *child, char *out, size_t size);
/* Asks it to end, gives it 200 ms, then kills it; when this returns it is gone. NULL is allowed. */
void child_end(struct child *child);

/* In a new process of ours that is to become such a program: takes from it what child_start would. 0 or
 * -errno. */
int child_confine(void);

#endif
