/* SPDX-License-Identifier: MIT */
/* Requests and answers of one size on a socketpair that keeps their bounds; descriptors beside them. One
 * question at a time: who asks waits. Called by the ports in the daemon, and by its spawner. Source: unix(7),
 * cmsg(3); capabilities(7). */
#include "core/port/privileged_socket.h"
#include "core/port/rights.h"

#include "platform/linux/privileged.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

/* The other one may be starting a program. */
#define PATIENCE_S 5

enum kind { KIND_BIND = 1, KIND_ICMP, KIND_PACKET };

struct request {
	uint32_t kind;
	int32_t family; /* KIND_ICMP */
	uint32_t len;   /* KIND_BIND, of address */
	uint8_t address[sizeof(struct sockaddr_in6)];
};

static int helper = -1;
/* Answers that have not come yet and for which nobody waits any longer. */
static unsigned owed;

void privileged_socket_use(int handle)
{
	const struct timeval patience = { .tv_sec = PATIENCE_S };

	helper = handle;
	owed = 0;
	if (handle >= 0)
		(void)setsockopt(handle, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
}

/* fd -1: none. 0 or -errno. */
static int send_with(int handle, const void *bytes, size_t len, int fd)
{
	long sent = rights_send(handle, bytes, len, fd, true);

	/* With its bounds kept it is whole or not at all. */
	return sent < 0 ? (int)sent : 0;
}

/* 0 with *fd, or -1 in it; -errno; -EBADMSG: it is not of this size. */
static int receive_with(int handle, void *bytes, size_t len, bool wait, int *fd)
{
	bool cut;
	long got = rights_receive(handle, bytes, len, fd, wait, &cut);

	if (got <= 0)
		return got == 0 ? -EPIPE : (int)got;
	return got == (long)len && !cut ? 0 : -EBADMSG;
}

/* ---- who asks ---- */

/* Takes late answers away, so that none passes for one to something else. 0; -EBUSY: the other one is still
 * at an old question, and is not waited for again. */
static int take_late(void)
{
	while (owed) {
		int32_t ignored;
		int fd, err = receive_with(helper, &ignored, sizeof(ignored), false, &fd);

		if (fd >= 0)
			close(fd);
		if (err)
			return err == -EAGAIN ? -EBUSY : err;
		owed--;
	}
	return 0;
}

/* 0 with *fd, or -errno. */
static int ask(struct request *request, int given, int *fd)
{
	int32_t error = EIO;
	int err = take_late();

	*fd = -1;
	if (err == -EBUSY)
		return err;
	if (!err)
		err = send_with(helper, request, sizeof(*request), given);
	if (!err)
		err = receive_with(helper, &error, sizeof(error), true, fd);
	if (err == -EAGAIN) {
		owed++;
		return -ETIMEDOUT;
	}
	if (err) {
		helper = -1;
		if (*fd >= 0)
			close(*fd);
		return err;
	}
	return -error;
}

int privileged_bind(int fd, const struct sockaddr *address, socklen_t len)
{
	struct request request = { .kind = KIND_BIND, .len = len };
	int ignored, err;

	if (bind(fd, address, len) == 0)
		return 0;
	if (errno != EACCES || helper < 0 || len > sizeof(request.address))
		return -1;
	memcpy(request.address, address, len);
	err = ask(&request, fd, &ignored);
	errno = -err;
	return err ? -1 : 0;
}

int privileged_socket_bind(int fd, const struct sockaddr *address, unsigned int len)
{
	return privileged_bind(fd, address, len);
}

static int open_icmp(int family)
{
	return socket(family, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
		family == AF_INET ? (int)IPPROTO_ICMP : (int)IPPROTO_ICMPV6);
}

int privileged_icmp(int family)
{
	struct request request = { .kind = KIND_ICMP, .family = family };
	int fd = open_icmp(family), err;

	if (fd >= 0 || errno != EPERM || helper < 0)
		return fd;
	err = ask(&request, -1, &fd);
	errno = -err;
	return err ? -1 : fd;
}

static int open_packet(void)
{
	/* Protocol 0 hears nothing until it is bound. */
	return socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

int privileged_packet(void)
{
	struct request request = { .kind = KIND_PACKET };
	int fd = open_packet(), err;

	if (fd >= 0 || errno != EPERM || helper < 0)
		return fd;
	err = ask(&request, -1, &fd);
	errno = -err;
	return err ? -1 : fd;
}

/* ---- who may ---- */

/* An errno. Only IP: whoever asks may have been taken over, and names no file. */
static int32_t serve_bind(const struct request *request, int fd)
{
	union {
		struct sockaddr any;
		uint8_t bytes[sizeof(struct sockaddr_in6)];
	} address;

	memcpy(address.bytes, request->address, sizeof(address.bytes));
	if (fd < 0 || request->len > sizeof(address.bytes) || request->len < sizeof(struct sockaddr_in) ||
		(address.any.sa_family != AF_INET && address.any.sa_family != AF_INET6))
		return EINVAL;
	return bind(fd, &address.any, request->len) == 0 ? 0 : errno;
}

int privileged_socket_serve(int handle)
{
	struct request request;
	int given, made = -1, err = receive_with(handle, &request, sizeof(request), false, &given);
	int32_t error = EINVAL;

	if (err == -EAGAIN || err == -EINTR)
		return 0;
	if (err && err != -EBADMSG)
		return -EPIPE;
	if (!err && request.kind == KIND_BIND)
		error = serve_bind(&request, given);
	if (!err && request.kind == KIND_ICMP && (request.family == AF_INET || request.family == AF_INET6)) {
		made = open_icmp(request.family);
		error = made < 0 ? errno : 0;
	}
	if (!err && request.kind == KIND_PACKET) {
		made = open_packet();
		error = made < 0 ? errno : 0;
	}
	err = send_with(handle, &error, sizeof(error), made);
	if (made >= 0)
		close(made);
	if (given >= 0)
		close(given);
	return err ? -EPIPE : 0;
}
