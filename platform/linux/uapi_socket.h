/* SPDX-License-Identifier: MIT */
/* The listening socket IFNAME.sock, where tools look for a userspace WireGuard. */
#ifndef WGTCP_PLATFORM_LINUX_UAPI_SOCKET_H
#define WGTCP_PLATFORM_LINUX_UAPI_SOCKET_H

#include <sys/un.h>

struct uapi_socket {
	int fd;
	struct sockaddr_un address;
	unsigned long device, inode; /* of the file made, so that no other's is removed */
};

/* -EADDRINUSE: a living engine answers there. -ENAMETOOLONG. */
int uapi_socket_open(const char *directory, const char *interface, struct uapi_socket *out);
void uapi_socket_close(struct uapi_socket *socket);

#endif
