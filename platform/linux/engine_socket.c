/* SPDX-License-Identifier: MIT */
/* Used by standalone.c in both processes. Source: unix(7), cmsg(3). */
#include "platform/linux/engine_socket.h"

#include "core/port/process.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

union room {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int))];
};

int engine_socket_give(const char *path, int handle)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	union room control = { .bytes = { 0 } };
	char byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};
	struct cmsghdr *part = CMSG_FIRSTHDR(&message);
	int fd, err = 0;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	part->cmsg_level = SOL_SOCKET;
	part->cmsg_type = SCM_RIGHTS;
	part->cmsg_len = CMSG_LEN(sizeof(handle));
	memcpy(CMSG_DATA(part), &handle, sizeof(handle));
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
		sendmsg(fd, &message, MSG_NOSIGNAL) < 0)
		err = -errno;
	close(fd);
	return err;
}

static int receive(int fd, int *handle)
{
	union room control;
	char byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};
	struct cmsghdr *part;

	if (recvmsg(fd, &message, MSG_CMSG_CLOEXEC) < 0)
		return -errno;
	part = CMSG_FIRSTHDR(&message);
	if (!part || part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS ||
		part->cmsg_len != CMSG_LEN(sizeof(*handle)))
		return -EPROTO;
	memcpy(handle, CMSG_DATA(part), sizeof(*handle));
	return 0;
}

int engine_socket_take(int *handle)
{
	int first, fd, err;

	if (process_given_sockets(&first) != 1)
		return -EBADF;
	fd = accept4(first, NULL, NULL, SOCK_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = receive(fd, handle);
	close(fd);
	/* One engine serves one interface. */
	close(first);
	return err;
}
