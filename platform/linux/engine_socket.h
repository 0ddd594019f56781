/* SPDX-License-Identifier: MIT */
/* How a dialler and an engine meet that are services of their own: one connection, one message, one descriptor. */
#ifndef WGTCP_PLATFORM_LINUX_ENGINE_SOCKET_H
#define WGTCP_PLATFORM_LINUX_ENGINE_SOCKET_H

/* The dialler: gives the engine's end of a seam to whoever listens at path. 0 or -errno. */
int engine_socket_give(const char *path, int handle);
/* The engine: waits for that, on the socket that the service manager handed over. 0 with *handle; -EBADF: none was; else
 * -errno. */
int engine_socket_take(int *handle);

#endif
