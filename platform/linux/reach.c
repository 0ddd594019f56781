/* SPDX-License-Identifier: MIT */
/* One connecting socket, looked at now and then. Called by the daemon, main thread. Source: ip(7),
 * IP_RECVERR: without it a UDP socket is told of closed ports, but not of firewalls that say no. */
#include "core/port/reach.h"

#include "platform/linux/sockaddr.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

struct reach {
	int fd;
	bool stream;
	int answer; /* -EINPROGRESS until it is known */
};

static int open_socket(const struct reach *reach, int family, uint32_t mark)
{
	int fd = socket(family, (reach->stream ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int on = 1, err;

	if (fd < 0)
		return -errno;
	if ((mark && setsockopt(fd, SOL_SOCKET, SO_MARK, &mark, sizeof(mark)) < 0) ||
		setsockopt(fd, family == AF_INET ? IPPROTO_IP : IPPROTO_IPV6,
			family == AF_INET ? IP_RECVERR : IPV6_RECVERR, &on, sizeof(on)) < 0) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

int reach_open(enum carrier carrier, const struct endpoint *endpoint, uint32_t mark, struct reach **out)
{
	union sockaddr_any address;
	socklen_t len = sockaddr_from_endpoint(&address, endpoint);
	struct reach *reach = len ? calloc(1, sizeof(*reach)) : NULL;
	int err;

	if (!reach)
		return len ? -ENOMEM : -EDESTADDRREQ;
	reach->stream = carrier == CARRIER_TCP;
	reach->answer = -EINPROGRESS;
	reach->fd = open_socket(reach, address.any.sa_family, mark);
	if (reach->fd < 0) {
		err = reach->fd;
		free(reach);
		return err;
	}
	if ((connect(reach->fd, &address.any, len) < 0 && errno != EINPROGRESS) ||
		(!reach->stream && send(reach->fd, "", 0, MSG_NOSIGNAL) < 0)) {
		err = -errno;
		reach_close(reach);
		return err;
	}
	*out = reach;
	return 0;
}

void reach_close(struct reach *reach)
{
	if (!reach)
		return;
	close(reach->fd);
	free(reach);
}

int reach_look(struct reach *reach)
{
	struct pollfd ready = { .fd = reach->fd, .events = reach->stream ? POLLOUT : 0 };
	socklen_t len = sizeof(int);
	int error = 0;

	if (reach->answer != -EINPROGRESS || poll(&ready, 1, 0) <= 0)
		return reach->answer;
	if (getsockopt(reach->fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
		error = errno;
	if (error)
		reach->answer = -error;
	else if (reach->stream)
		reach->answer = 0;
	return reach->answer;
}
