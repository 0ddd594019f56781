/* SPDX-License-Identifier: MIT */
/* Called by listener.c, main thread. Source: unix(7), inotify(7). */
#include "client/daemon/listener_socket.h"

#include "client/daemon/file.h"

#include <errno.h>
#include <glib-unix.h>
#include <glib.h>
#include <stdbool.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 32

struct listener_file {
	char *path;
	dev_t device;
	ino_t inode;
	int notify;
	guint source;
	void (*gone)(void *user);
	void *user;
};

/* Whoever can write to a folder can replace a socket in it by his own, and be taken for the daemon. In a
 * sticky one he can not. */
static int check_folder(const char *folder)
{
	struct stat info;

	if (stat(folder, &info) != 0)
		return -errno;
	if (info.st_uid != 0 && info.st_uid != geteuid())
		return -EPERM;
	return (info.st_mode & (S_IWGRP | S_IWOTH)) && !(info.st_mode & S_ISVTX) ? -EPERM : 0;
}

static int prepare_folder(const char *path)
{
	char *folder = g_path_get_dirname(path);
	int error = folder_make(folder, 0755);

	if (!error)
		error = check_folder(folder);
	g_free(folder);
	return error;
}

/* A socket file that nobody listens on is what a killed daemon left. */
static int bind_socket(int fd, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int probe, error;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return 0;
	if (errno != EADDRINUSE)
		return -errno;
	probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (probe < 0)
		return -errno;
	error = connect(probe, (struct sockaddr *)&address, sizeof(address)) == 0 ? 0 : errno;
	close(probe);
	if (error != ECONNREFUSED)
		return -EADDRINUSE;
	if (unlink(path) != 0)
		return -errno;
	return bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 ? 0 : -errno;
}

int listener_socket_open(const char *path, int *fd)
{
	int error = prepare_folder(path), handle;
	mode_t mask;

	if (error)
		return error;
	handle = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (handle < 0)
		return -errno;
	/* Everybody may read the state; each request is judged by its sender's credentials. */
	mask = umask(0111);
	error = bind_socket(handle, path);
	umask(mask);
	if (!error && listen(handle, BACKLOG) != 0)
		error = -errno;
	if (error) {
		close(handle);
		return error;
	}
	*fd = handle;
	return 0;
}

static bool is_there(const struct listener_file *file)
{
	struct stat info;

	return lstat(file->path, &info) == 0 && info.st_dev == file->device && info.st_ino == file->inode;
}

static gboolean changed(gint fd, GIOCondition condition, gpointer user)
{
	char events[4096] __attribute__((aligned(8)));
	struct listener_file *file = user;

	(void)condition;
	while (read(fd, events, sizeof(events)) > 0)
		;
	if (is_there(file))
		return G_SOURCE_CONTINUE;
	file->source = 0;
	file->gone(file->user); /* which closes it */
	return G_SOURCE_REMOVE;
}

struct listener_file *listener_file_watch(const char *path, void (*gone)(void *user), void *user)
{
	struct listener_file *file = g_new0(struct listener_file, 1);
	char *folder = g_path_get_dirname(path);
	struct stat info;

	file->path = g_strdup(path);
	file->gone = gone;
	file->user = user;
	if (lstat(path, &info) == 0) {
		file->device = info.st_dev;
		file->inode = info.st_ino;
	}
	file->notify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (file->notify >= 0 &&
		inotify_add_watch(file->notify, folder,
			IN_DELETE | IN_MOVED_FROM | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR) >= 0)
		file->source = g_unix_fd_add(file->notify, G_IO_IN, changed, file);
	g_free(folder);
	return file;
}

void listener_file_forget(struct listener_file *file)
{
	if (!file)
		return;
	if (file->source)
		g_source_remove(file->source);
	if (file->notify >= 0)
		close(file->notify);
	g_free(file->path);
	g_free(file);
}

void listener_file_close(struct listener_file *file)
{
	if (file && is_there(file))
		unlink(file->path);
	listener_file_forget(file);
}
