/* SPDX-License-Identifier: MIT */
/* The two small protocols themselves, which need no library. Called by main.c. */
#include "client/daemon/service_manager.h"

#include "core/port/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static bool option_is(int fd, int name, int wanted)
{
	int value = -1;
	socklen_t len = sizeof(value);

	return getsockopt(fd, SOL_SOCKET, name, &value, &len) == 0 && value == wanted;
}

int service_manager_socket(void)
{
	int fd, flags;

	if (process_given_sockets(&fd) != 1 || !option_is(fd, SO_DOMAIN, AF_UNIX) ||
		!option_is(fd, SO_TYPE, SOCK_STREAM) || !option_is(fd, SO_ACCEPTCONN, 1))
		return -1;
	flags = fcntl(fd, F_GETFL);
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
		return -1;
	return fd;
}

void service_manager_ready(void)
{
	static const char ready[] = "READY=1";
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *path = getenv("NOTIFY_SOCKET");
	size_t len = path ? strlen(path) : 0;
	int fd;

	if (len < 2 || len >= sizeof(address.sun_path) || (path[0] != '/' && path[0] != '@'))
		return;
	memcpy(address.sun_path, path, len);
	if (path[0] == '@')
		address.sun_path[0] = 0; /* a name without a file */
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	(void)!sendto(fd, ready, sizeof(ready) - 1, MSG_NOSIGNAL, (const struct sockaddr *)&address,
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + len));
	close(fd);
	unsetenv("NOTIFY_SOCKET");
}
