/* SPDX-License-Identifier: MIT */
/* Making and removing the UAPI socket. Source: wireguard.com/xplatform, unix(7). */
#include "platform/linux/uapi_socket.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define BACKLOG 16

/* Whether somebody accepts connections there. */
static int is_alive(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int alive;

	if (fd < 0)
		return -errno;
	/* EAGAIN: alive, with a full backlog. */
	alive = connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0 || errno == EAGAIN;
	close(fd);
	return alive;
}

static int bind_and_listen(int fd, const struct sockaddr_un *address)
{
	/* The file gets the socket's mode, so that it is never open to others for a moment. */
	if (fchmod(fd, 0600) < 0)
		return -errno;
	if (bind(fd, (const struct sockaddr *)address, sizeof(*address)) < 0) {
		struct stat st;
		int alive = errno == EADDRINUSE ? is_alive(address) : -errno;

		if (alive)
			return alive < 0 ? alive : -EADDRINUSE;
		/* Left by one that died. Anything but a socket is not ours to remove. */
		if (lstat(address->sun_path, &st) < 0 || !S_ISSOCK(st.st_mode))
			return -EADDRINUSE;
		if (unlink(address->sun_path) < 0 ||
			bind(fd, (const struct sockaddr *)address, sizeof(*address)) < 0)
			return -errno;
	}
	if (listen(fd, BACKLOG) < 0) {
		int err = -errno;
		unlink(address->sun_path);
		return err;
	}
	return 0;
}

int uapi_socket_open(const char *directory, const char *interface, struct uapi_socket *out)
{
	struct uapi_socket made = { .fd = -1, .address.sun_family = AF_UNIX };
	struct stat st;
	int n = snprintf(
		made.address.sun_path, sizeof(made.address.sun_path), "%s/%s.sock", directory, interface);

	if (n < 0 || (size_t)n >= sizeof(made.address.sun_path))
		return -ENAMETOOLONG;
	if (mkdir(directory, 0755) < 0 && errno != EEXIST)
		return -errno;
	made.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (made.fd < 0)
		return -errno;
	int err = bind_and_listen(made.fd, &made.address);
	if (err) {
		close(made.fd);
		return err;
	}
	if (stat(made.address.sun_path, &st) == 0) {
		made.device = st.st_dev;
		made.inode = st.st_ino;
	}
	*out = made;
	return 0;
}

void uapi_socket_close(struct uapi_socket *socket)
{
	struct stat st;

	if (socket->fd < 0)
		return;
	if (stat(socket->address.sun_path, &st) == 0 && st.st_dev == socket->device &&
		st.st_ino == socket->inode)
		unlink(socket->address.sun_path);
	close(socket->fd);
	socket->fd = -1;
}
