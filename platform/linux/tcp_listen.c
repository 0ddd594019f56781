/* SPDX-License-Identifier: MIT */
/* Opening a listening socket in the process that will accept. Source: socket(7), tcp(7), ipv6(7). */
#include "core/port/tcp.h"

#include "platform/linux/congestion.h"
#include "platform/linux/sockaddr.h"

#include <errno.h>
#include <unistd.h>

/* The system cuts this to its own limit. What waits here costs this process nothing. */
#define BACKLOG 4096

static bool set_on(int fd, int level, int name)
{
	const int on = 1;

	return setsockopt(fd, level, name, &on, sizeof(on)) == 0;
}

int tcp_listener_open(const struct endpoint *local, struct tcp_listener **out)
{
	union sockaddr_any address;
	socklen_t len = sockaddr_from_endpoint(&address, local);
	int fd, err;

	if (!len)
		return -EDESTADDRREQ;
	fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	congestion_begin(fd);
	/* It may come back while connections of the one before it end; two live ones still collide. Each
	 * family has its own socket, so that no address is ever a mapped one. */
	if (!set_on(fd, SOL_SOCKET, SO_REUSEADDR) ||
		(local->address.family == IP_V6 && !set_on(fd, IPPROTO_IPV6, IPV6_V6ONLY)) ||
		bind(fd, &address.any, len) < 0 || listen(fd, BACKLOG) < 0) {
		err = -errno;
		close(fd);
		return err;
	}
	return tcp_listener_adopt(fd, out);
}
