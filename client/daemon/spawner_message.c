/* SPDX-License-Identifier: MIT */
/* Messages between daemon and spawner, of either side. */
#include "client/daemon/spawner_message.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union control {
	struct cmsghdr header;
	char room[CMSG_SPACE(4 * sizeof(int))];
};

int spawner_send(int handle, const struct spawner_message *message, const int handles[2])
{
	struct iovec piece = { (void *)message, sizeof(*message) };
	struct msghdr header = { .msg_iov = &piece, .msg_iovlen = 1 };
	union control control;

	if (handles) {
		struct cmsghdr *c;

		memset(&control, 0, sizeof(control));
		header.msg_control = &control;
		header.msg_controllen = CMSG_SPACE(2 * sizeof(int));
		c = CMSG_FIRSTHDR(&header);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(2 * sizeof(int));
		memcpy(CMSG_DATA(c), handles, 2 * sizeof(int));
	}
	return sendmsg(handle, &header, MSG_NOSIGNAL) == (ssize_t)sizeof(*message) ? 0 : -errno;
}

int spawner_take(int handle, struct spawner_message *out, int handles[2])
{
	struct spawner_message message;
	struct iovec piece = { &message, sizeof(message) };
	union control control;
	struct msghdr header = {
		.msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};
	int taken[4], count = 0, i;
	struct cmsghdr *c;
	ssize_t len;

	len = recvmsg(handle, &header, MSG_CMSG_CLOEXEC);
	if (len < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	for (c = CMSG_FIRSTHDR(&header); c; c = CMSG_NXTHDR(&header, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		count = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		memcpy(taken, CMSG_DATA(c), (size_t)count * sizeof(int));
	}
	if (len == 0)
		return -EPIPE;
	if (len != (ssize_t)sizeof(message) || (header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) ||
		(count != 0 && (count != 2 || !handles))) {
		for (i = 0; i < count; i++)
			close(taken[i]);
		return -EBADMSG;
	}
	if (handles) {
		handles[0] = count ? taken[0] : -1;
		handles[1] = count ? taken[1] : -1;
	}
	*out = message;
	return 0;
}

int spawner_receive(int handle, struct spawner_message *out)
{
	int error = spawner_take(handle, out, NULL);

	return error == -ECONNRESET ? -EPIPE : error;
}
