/* SPDX-License-Identifier: MIT */
/* bind and sockets by hand, by a process that may, where this one may not (core/port/privileged_socket.h). */
#ifndef WGTCP_PLATFORM_LINUX_PRIVILEGED_H
#define WGTCP_PLATFORM_LINUX_PRIVILEGED_H

#include <sys/socket.h>

/* As bind(2), errno included. */
int privileged_bind(int fd, const struct sockaddr *address, socklen_t len);
/* A non-blocking raw socket for ICMP of this family, or -1 with errno. */
int privileged_icmp(int family);
/* A non-blocking packet socket that is not bound yet, or -1 with errno. */
int privileged_packet(void);

#endif
