/* SPDX-License-Identifier: MIT */
/* Used by standalone.c in both processes. Source: unix(7). */
#include "platform/linux/engine_socket.h"

#include "core/port/process.h"
#include "core/port/rights.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int engine_socket_give(const char *path, int handle)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char byte = 0;
	int fd, err = 0;
	long sent;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		err = -errno;
	else if ((sent = rights_send(fd, &byte, 1, handle, true)) < 0)
		err = (int)sent;
	close(fd);
	return err;
}

static int receive(int fd, int *handle)
{
	char byte;
	long got = rights_receive(fd, &byte, 1, handle, true, NULL);

	if (got < 0)
		return (int)got;
	return *handle < 0 ? -EPROTO : 0;
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
