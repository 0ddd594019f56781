/* SPDX-License-Identifier: MIT */
/* A text that one process hands to another on the same machine, in memory of its own beside their stream: a
 * private key is then in no stream, no buffer and no file, and who took it out wipes what held it. A handle is a
 * small number, as in core/port/loop.h. Any thread. */
#ifndef WGTCP_CORE_PORT_HANDOVER_H
#define WGTCP_CORE_PORT_HANDOVER_H

#include <stddef.h>

/* Longer ones are refused. */
#define HANDOVER_MAX (1024 * 1024)

/* len bytes, 1 to HANDOVER_MAX, without a zero among them. The handle, which the caller closes, or -errno. */
int handover_make(const char *text, size_t len);
/* Out of a handle that came: *text, which ends with a zero, is the caller's to wipe and free. The handle is wiped
 * and closed in every case. 0; -EPROTO: it does not hold such a text of len bytes; -ENOMEM. */
int handover_take(int handle, size_t len, char **text);
/* A negative one is allowed. */
void handover_close(int handle);

/* Bytes of a local stream socket with a handle beside the first of them; the caller's handle stays open. How many were
 * taken, or -errno (-EAGAIN: not now). */
long handover_send(int stream, const char *bytes, size_t len, int handle);
/* Bytes, at least one, 0 at the end of the stream, or -errno (-EAGAIN: none now). *handle: what came beside them, the
 * caller's to close, or -1. */
long handover_receive(int stream, char *out, size_t size, int *handle);

#endif
