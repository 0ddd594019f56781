/* SPDX-License-Identifier: MIT */
/* One handle beside the bytes of a socket between two processes of one machine. A handle is a small number,
 * as in core/port/loop.h; what came is the caller's to close. Any thread. */
#ifndef WGTCP_CORE_PORT_RIGHTS_H
#define WGTCP_CORE_PORT_RIGHTS_H

#include <stdbool.h>
#include <stddef.h>

/* handle -1: none; it stays open here. How many bytes were taken, or -errno (-EAGAIN: not now, if !wait). */
long rights_send(int socket, const void *bytes, size_t len, int handle, bool wait);
/* How many bytes came, 0 at the end, or -errno (-EAGAIN: none now, if !wait or within the socket's own
 * patience). *handle: what came beside them, or -1; any more are closed. *cut, if not NULL: the message was
 * longer than size. */
long rights_receive(int socket, void *bytes, size_t size, int *handle, bool wait, bool *cut);

#endif
