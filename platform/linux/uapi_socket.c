/* SPDX-License-Identifier: MIT */
/* Making and removing the UAPI socket. Source: wireguard.com/xplatform, unix(7). */
#include "platform/linux/uapi_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
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

/* Makes room where one that died has left its socket. -EADDRINUSE: one is alive, or it is no socket. */
static int clear_place(const struct sockaddr_un *address)
{
	struct stat st;
	int alive;

	if (lstat(address->sun_path, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	/* Anything but a socket is not ours to remove. */
	if (!S_ISSOCK(st.st_mode))
		return -EADDRINUSE;
	alive = is_alive(address);
	if (alive)
		return alive < 0 ? alive : -EADDRINUSE;
	return unlink(address->sun_path) < 0 && errno != ENOENT ? -errno : 0;
}

/* To its name, which nobody must have taken meanwhile. */
static int give_name(const struct sockaddr_un *from, const struct sockaddr_un *to)
{
	if (renameat2(AT_FDCWD, from->sun_path, AT_FDCWD, to->sun_path, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno == EEXIST)
		return -EADDRINUSE;
	/* A file system that cannot look first. */
	if ((errno == EINVAL || errno == ENOSYS) && rename(from->sun_path, to->sun_path) == 0)
		return 0;
	return -errno;
}

/* It gets its name when it listens already: `wg` removes a socket that refuses it. */
static int bind_and_listen(int fd, const struct sockaddr_un *address, const struct sockaddr_un *first)
{
	int err = clear_place(address);

	/* The file gets the socket's mode, so that it is never open to others for a moment. */
	if (!err && fchmod(fd, 0600) < 0)
		err = -errno;
	if (err)
		return err;
	unlink(first->sun_path); /* of a process with our number that died here */
	if (bind(fd, (const struct sockaddr *)first, sizeof(*first)) < 0)
		return -errno;
	if (listen(fd, BACKLOG) < 0)
		err = -errno;
	if (!err)
		err = give_name(first, address);
	if (err)
		unlink(first->sun_path);
	return err;
}

/* 0, or -ENAMETOOLONG. */
static int write_path(struct sockaddr_un *out, const char *directory, const char *interface, bool first)
{
	int n = first ? snprintf(out->sun_path, sizeof(out->sun_path), "%s/.%s.%d", directory, interface,
				(int)getpid())
		      : snprintf(out->sun_path, sizeof(out->sun_path), "%s/%s.sock", directory, interface);

	out->sun_family = AF_UNIX;
	return n < 0 || (size_t)n >= sizeof(out->sun_path) ? -ENAMETOOLONG : 0;
}

int uapi_socket_open(const char *directory, const char *interface, struct uapi_socket *out)
{
	struct uapi_socket made = { .fd = -1 };
	struct sockaddr_un first = { 0 };
	struct stat st;
	int err = write_path(&made.address, directory, interface, false);

	if (!err)
		err = write_path(&first, directory, interface, true);
	if (err)
		return err;
	if (mkdir(directory, 0755) < 0 && errno != EEXIST)
		return -errno;
	made.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (made.fd < 0)
		return -errno;
	err = bind_and_listen(made.fd, &made.address, &first);
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
