/* SPDX-License-Identifier: MIT */
/* Opening, marking and binding the carriers' sockets. Pairs are IPv4, IPv6; -1 where the system lacks the
 * family. */
#ifndef WGTCP_PLATFORM_LINUX_SOCKETS_H
#define WGTCP_PLATFORM_LINUX_SOCKETS_H

#include "core/base/address.h"

struct socket_pair {
	int fd[2];
	uint16_t port;
};

#define SOCKET_PAIR_NONE ((struct socket_pair){ .fd = { -1, -1 } })

/* UDP for both families on the same port; port 0: the system chooses one that is free in both. */
int sockets_open_udp(uint16_t port, uint32_t mark, struct socket_pair *out);
int sockets_open_listeners(uint16_t port, uint32_t mark, struct socket_pair *out);
void sockets_close(struct socket_pair *pair);
bool sockets_open(const struct socket_pair *pair);
/* The mark of sockets that are in use already. */
int sockets_mark(const struct socket_pair *pair, uint32_t mark);
/* Begins to connect: 0 (under way or done) with *fd, or -errno. */
int socket_connect(const struct endpoint *remote, uint32_t mark, int *fd);
/* Sets what it can of a connection's options, bits of enum tcp_tune (core/port/tcp.h). */
void socket_tune(int fd, uint32_t what);

#endif
