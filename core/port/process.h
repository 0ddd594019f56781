/* SPDX-License-Identifier: MIT */
/* What a process may ask of the system for itself. */
#ifndef WGTCP_CORE_PORT_PROCESS_H
#define WGTCP_CORE_PORT_PROCESS_H

#include <stddef.h>

/* Raises the number of handles (descriptors) this process may hold to wanted, as far as the system lets it.
 * How many it may hold now. */
size_t process_allow_handles(size_t wanted);

/* How many sockets the service manager has handed over, in a row from *first on; 0: none. Asked once, before
 * anything is forked. */
size_t process_given_sockets(int *first);

/* Lets this process, and those that it starts, keep all their memory out of swap, as far as the system lets
 * it. */
void process_allow_locked_memory(void);

#endif
