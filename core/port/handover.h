/* SPDX-License-Identifier: MIT */
/* A text that one process hands to another on the same machine, in memory of its own beside their stream: a
 * private key is then in no stream, no buffer and no file, and who took it out wipes what held it.
 * core/port/rights.h carries the handle. Any thread. */
#ifndef WGTCP_CORE_PORT_HANDOVER_H
#define WGTCP_CORE_PORT_HANDOVER_H

#include <stddef.h>

/* Longer ones are refused. */
#define HANDOVER_MAX (1024 * 1024)

/* len bytes, 1 to HANDOVER_MAX, without a zero among them. The handle, which the caller closes, or -errno. */
int handover_make(const char *text, size_t len);
/* Out of a handle that came: *text, which ends with a zero, is the caller's to wipe and free. The handle is
 * wiped and closed in every case. 0; -EPROTO: it does not hold such a text of len bytes; -ENOMEM. */
int handover_take(int handle, size_t len, char **text);
/* A negative one is allowed. */
void handover_close(int handle);

#endif
