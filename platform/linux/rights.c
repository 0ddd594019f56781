/* SPDX-License-Identifier: MIT */
/* core/port/rights.h by SCM_RIGHTS. Keeps nothing. Source: unix(7), cmsg(3). */
#include "core/port/rights.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Padding leaves room for two. */
union room {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

long rights_send(int socket, const void *bytes, size_t len, int handle, bool wait)
{
	struct iovec piece = { (void *)(uintptr_t)bytes, len };
	struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1 };
	union room room = { .bytes = { 0 } };
	ssize_t sent;

	if (handle >= 0) {
		message.msg_control = &room;
		message.msg_controllen = sizeof(room);
		struct cmsghdr *part = CMSG_FIRSTHDR(&message);

		part->cmsg_level = SOL_SOCKET;
		part->cmsg_type = SCM_RIGHTS;
		part->cmsg_len = CMSG_LEN(sizeof(handle));
		memcpy(CMSG_DATA(part), &handle, sizeof(handle));
	}
	do
		sent = sendmsg(socket, &message, MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT));
	while (sent < 0 && errno == EINTR);
	return sent < 0 ? -errno : sent;
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

long rights_receive(int socket, void *bytes, size_t size, int *handle, bool wait, bool *cut)
{
	struct iovec piece = { bytes, size };
	union room room;
	struct msghdr message;
	ssize_t got;

	/* With a timeout every signal interrupts, and so does being stopped and continued (signal(7)). */
	do {
		message = (struct msghdr){ .msg_iov = &piece,
			.msg_iovlen = 1,
			.msg_control = &room,
			.msg_controllen = sizeof(room) };
		got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | (wait ? 0 : MSG_DONTWAIT));
	} while (got < 0 && errno == EINTR);
	*handle = got < 0 ? -1 : take(&message);
	if (cut)
		*cut = got >= 0 && (message.msg_flags & MSG_TRUNC);
	return got < 0 ? -errno : got;
}
