/* SPDX-License-Identifier: MIT */
/* A local byte stream to the daemon: a unix socket on Linux. For one waiting thread. */
#ifndef WGTCP_CORE_PORT_IPC_H
#define WGTCP_CORE_PORT_IPC_H

#include <stddef.h>
#include <stdint.h>

struct ipc;

#define IPC_FOREVER UINT32_MAX

/* Where the daemon listens unless told otherwise. */
const char *ipc_default_path(void);
/* 0 or -errno: -ENOENT or -ECONNREFUSED: nobody listens there; -EACCES: not permitted; -ENOTSOCK: something
 * else is there; -ENAMETOOLONG. */
int ipc_connect(const char *path, struct ipc **out);
/* NULL is allowed. */
void ipc_close(struct ipc *ipc);

/* Both wait at most *left_ms and take from it the time that passed (IPC_FOREVER stays); -ETIMEDOUT when it is
 * up. Sends all of it, whatever the person presses, so that no half a line is left behind: 0, or -errno
 * (-EPIPE: the other side is gone). */
int ipc_send(struct ipc *ipc, const char *bytes, size_t len, uint32_t *left_ms);
/* The number of bytes that came, at least 1; 0: the other side has closed; -EINTR: the person has asked to
 * stop (console_catch_interrupt); -errno. */
long ipc_receive(struct ipc *ipc, char *out, size_t size, uint32_t *left_ms);
/* The text of len bytes that came beside what was received last: as handover_take; -EPROTO: there was none. */
int ipc_take_text(struct ipc *ipc, size_t len, char **text);

#endif
