/* SPDX-License-Identifier: MIT */
/* Used by whatever hands sockets, devices or texts to another process. Keeps nothing. */
#include "platform/linux/rights.h"

#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Padding leaves room for two. */
union room {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

ssize_t rights_send(int socket, const void *bytes, size_t len, int fd, int flags)
{
	struct iovec piece = { (void *)(uintptr_t)bytes, len };
	struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1 };
	union room room = { .bytes = { 0 } };

	if (fd >= 0) {
		message.msg_control = &room;
		message.msg_controllen = sizeof(room);
		struct cmsghdr *part = CMSG_FIRSTHDR(&message);

		part->cmsg_level = SOL_SOCKET;
		part->cmsg_type = SCM_RIGHTS;
		part->cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(part), &fd, sizeof(fd));
	}
	return sendmsg(socket, &message, flags | MSG_NOSIGNAL);
}

static int take(struct msghdr *message)
{
	int taken = -1;

	for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part; part = CMSG_NXTHDR(message, part)) {
		if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t at = 0; at + sizeof(int) <= part->cmsg_len - CMSG_LEN(0); at += sizeof(int)) {
			int fd;

			memcpy(&fd, CMSG_DATA(part) + at, sizeof(fd));
			if (taken < 0)
				taken = fd;
			else
				close(fd);
		}
	}
	return taken;
}

ssize_t rights_receive(int socket, void *bytes, size_t size, int *fd, int flags, int *told)
{
	struct iovec piece = { bytes, size };
	union room room;
	struct msghdr message = {
		.msg_iov = &piece, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = sizeof(room)
	};
	ssize_t got = recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);

	*fd = got < 0 ? -1 : take(&message);
	if (told)
		*told = got < 0 ? 0 : message.msg_flags;
	return got;
}
