/* SPDX-License-Identifier: MIT */
/* One descriptor beside the bytes of a unix socket. For the ports in this folder. Source: unix(7), cmsg(3). */
#ifndef WGTCP_PLATFORM_LINUX_RIGHTS_H
#define WGTCP_PLATFORM_LINUX_RIGHTS_H

#include <sys/types.h>

/* As sendmsg(2) with MSG_NOSIGNAL; fd -1: none. */
ssize_t rights_send(int socket, const void *bytes, size_t len, int fd, int flags);
/* As recvmsg(2). *fd: the one that came, the caller's to close, or -1; any more are closed. *told, if not NULL: the
 * message's flags (MSG_TRUNC). */
ssize_t rights_receive(int socket, void *bytes, size_t size, int *fd, int flags, int *told);

#endif
