/* SPDX-License-Identifier: MIT */
/* Questions to the daemon. Used by probe_look_up.c and probe_fetch.c. */
#include "client/daemon/probe_ask.h"
#include "client/daemon/probe.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int handle = -1;

void probe_ask_open(int questions)
{
	handle = questions;
}

static int take_handle(struct msghdr *header)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(header);
	int fd = -1;

	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
		c->cmsg_len == CMSG_LEN(sizeof(fd)))
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

int probe_ask(uint32_t id, int family, bool stream)
{
	struct probe_question question = { id, family == AF_INET ? IP_V4 : IP_V6, stream };
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	int32_t error = 0;
	struct iovec piece = { &error, sizeof(error) };
	struct msghdr header = {
		.msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};
	ssize_t len;
	int fd;

	if (family != AF_INET && family != AF_INET6)
		return -EAFNOSUPPORT;
	if (send(handle, &question, sizeof(question), MSG_NOSIGNAL) != (ssize_t)sizeof(question))
		_exit(0);
	do
		len = recvmsg(handle, &header, MSG_CMSG_CLOEXEC);
	while (len < 0 && errno == EINTR);
	if (len != (ssize_t)sizeof(error))
		_exit(0);
	fd = take_handle(&header);
	if (fd >= 0)
		return fd;
	return error > 0 ? -error : -EIO;
}
