/* SPDX-License-Identifier: MIT */
/* The carriers' sockets, as the front opens them. Marks and large buffers need CAP_NET_ADMIN.
 * Source: socket(7), udp(7), tcp(7), ipv6(7). */
#include "platform/linux/sockets.h"

#include "core/port/tcp.h"
#include "platform/linux/congestion.h"
#include "platform/linux/privileged.h"
#include "platform/linux/sockaddr.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <unistd.h>

#define UDP_BUFFER_BYTES (4 * 1024 * 1024)
/* Half of what the kernel will count (socket(7)): a path of 1 Gb/s and 100 ms. */
#define TCP_SEND_BUFFER_BYTES (16 * 1024 * 1024)
/* The system cuts this to its own limit. What waits here costs the engine nothing. */
#define BACKLOG 4096
#define RANDOM_PORT_TRIES 32

static int set_mark(int fd, uint32_t mark)
{
	return setsockopt(fd, SOL_SOCKET, SO_MARK, &mark, sizeof(mark)) < 0 ? -errno : 0;
}

static bool set_on(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value)) == 0;
}

static int open_marked(int family, int type, uint32_t mark)
{
	int fd = socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int err;

	if (fd < 0)
		return -errno;
	err = mark ? set_mark(fd, mark) : 0;
	if (err) {
		close(fd);
		return err;
	}
	return fd;
}

/* A bound socket, or -errno. */
static int open_bound(enum ip_family family, int type, uint16_t port, uint32_t mark)
{
	struct endpoint any = { .address.family = family, .port = port };
	union sockaddr_any address;
	socklen_t len = sockaddr_from_endpoint(&address, &any);
	int fd = open_marked(family == IP_V4 ? AF_INET : AF_INET6, type, mark);

	if (fd < 0)
		return fd;
	/* Each family has its own socket, so that no address is ever a mapped one. */
	if (family == IP_V6 && !set_on(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1))
		goto fail;
	/* A listener may come back while connections of the one before it end; two live ones still collide.
	 */
	if (type == SOCK_STREAM && !set_on(fd, SOL_SOCKET, SO_REUSEADDR, 1))
		goto fail;
	if (type == SOCK_DGRAM) {
		(void)set_on(fd, SOL_SOCKET, SO_RCVBUFFORCE, UDP_BUFFER_BYTES);
		(void)set_on(fd, SOL_SOCKET, SO_SNDBUFFORCE, UDP_BUFFER_BYTES);
	}
	if (privileged_bind(fd, &address.any, len) < 0)
		goto fail;
	if (type == SOCK_STREAM)
		congestion_begin(fd);
	if (type == SOCK_STREAM && listen(fd, BACKLOG) < 0)
		goto fail;
	return fd;
fail:;
	int err = -errno;
	close(fd);
	return err;
}

static uint16_t bound_port(int fd)
{
	union sockaddr_any address;
	socklen_t len = sizeof(address);

	if (getsockname(fd, &address.any, &len) < 0)
		return 0;
	return sockaddr_to_endpoint(&address).port;
}

/* The machine has no such family at all, or has it switched off. */
static bool no_family(int err)
{
	return err == -EAFNOSUPPORT || err == -EADDRNOTAVAIL || err == -EPROTONOSUPPORT;
}

static int open_pair(int type, uint16_t port, uint32_t mark, struct socket_pair *out)
{
	struct socket_pair pair = SOCKET_PAIR_NONE;
	int v6 = open_bound(IP_V6, type, port, mark);

	if (v6 < 0 && !no_family(v6))
		return v6;
	pair.fd[1] = v6 < 0 ? -1 : v6;
	pair.port = v6 < 0 ? port : bound_port(v6);
	int v4 = open_bound(IP_V4, type, pair.port, mark);
	if (v4 < 0 && (v6 < 0 || !no_family(v4))) {
		sockets_close(&pair);
		return v4;
	}
	pair.fd[0] = v4 < 0 ? -1 : v4;
	if (!pair.port)
		pair.port = bound_port(v4);
	*out = pair;
	return 0;
}

int sockets_open_udp(uint16_t port, uint32_t mark, struct socket_pair *out)
{
	int err = -EADDRINUSE;

	/* The port that was free for IPv6 may be taken for IPv4: another one, then. */
	for (int i = 0; err == -EADDRINUSE && i < (port ? 1 : RANDOM_PORT_TRIES); i++)
		err = open_pair(SOCK_DGRAM, port, mark, out);
	return err;
}

int sockets_open_listeners(uint16_t port, uint32_t mark, struct socket_pair *out)
{
	return open_pair(SOCK_STREAM, port, mark, out);
}

bool sockets_open(const struct socket_pair *pair)
{
	return pair->fd[0] >= 0 || pair->fd[1] >= 0;
}

void sockets_close(struct socket_pair *pair)
{
	for (int i = 0; i < 2; i++)
		if (pair->fd[i] >= 0)
			close(pair->fd[i]);
	*pair = SOCKET_PAIR_NONE;
}

int sockets_mark(const struct socket_pair *pair, uint32_t mark)
{
	int err = 0;

	for (int i = 0; i < 2 && !err; i++)
		if (pair->fd[i] >= 0)
			err = set_mark(pair->fd[i], mark);
	return err;
}

int socket_connect(const struct endpoint *remote, uint32_t mark, int *fd)
{
	union sockaddr_any address;
	socklen_t len = sockaddr_from_endpoint(&address, remote);
	int made;

	if (!len)
		return -EDESTADDRREQ;
	made = open_marked(address.any.sa_family, SOCK_STREAM, mark);
	if (made < 0)
		return made;
	congestion_begin(made);
	if (connect(made, &address.any, len) < 0 && errno != EINPROGRESS) {
		int err = -errno;
		close(made);
		return err;
	}
	*fd = made;
	return 0;
}

void socket_tune(int fd, uint32_t what)
{
	static const char bbr[] = "bbr";

	if (what & TCP_TUNE_BBR)
		(void)setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, bbr, sizeof(bbr) - 1);
	/* Only what is sent: a receive buffer set on a living connection ends the kernel's own tuning, and
	 * its window stays as small as it began (seen: 64 KB). */
	if (what & TCP_TUNE_BUFFERS)
		(void)set_on(fd, SOL_SOCKET, SO_SNDBUFFORCE, TCP_SEND_BUFFER_BYTES);
}
