/* SPDX-License-Identifier: MIT */
/* Reading and replacing small files. Used by profiles.c and leftovers.c, main thread. */
#include "client/daemon/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

void file_free(char *text, size_t len)
{
	if (!text)
		return;
	explicit_bzero(text, len);
	free(text);
}

/* Without symbolic links in what comes from a request or lies in a folder of ours; a path of the system
 * (AT_FDCWD: /etc/resolv.conf) may be one. Older kernels, and filters of system calls that do not know
 * openat2, get the same for the last component, and a name has only one. */
static int open_plain(int at, const char *name)
{
	/* Non-blocking: a FIFO of that name must not hang the daemon. */
	const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	struct open_how how = { .flags = (uint64_t)flags, .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH };
	int fd;

	if (at == AT_FDCWD)
		return open(name, flags);
	fd = (int)syscall(SYS_openat2, at, name, &how, sizeof(how));
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		fd = strchr(name, '/') ? -1 : openat(at, name, flags | O_NOFOLLOW);
	return fd;
}

int file_read(int at, const char *name, size_t max, char **text, size_t *len, struct stat *info)
{
	int fd = open_plain(at, name), error = 0;
	size_t used = 0, room = 0;
	char *bytes = NULL;
	struct stat stat;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &stat) != 0)
		error = -errno;
	else if (!S_ISREG(stat.st_mode))
		error = -EINVAL;
	else if ((size_t)stat.st_size > max)
		error = -EFBIG;
	if (error)
		goto out;
	room = (size_t)stat.st_size + 1;
	bytes = malloc(room + 1);
	if (!bytes) {
		error = -ENOMEM;
		goto out;
	}
	while (used < room) {
		ssize_t n = read(fd, bytes + used, room - used);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			error = -errno;
		if (n <= 0)
			break;
		used += (size_t)n;
	}
	if (!error && used == room)
		error = -EAGAIN; /* it grew while it was being read */
	if (error)
		goto out;
	bytes[used] = 0;
	*text = bytes;
	*len = used;
	*info = stat;
	bytes = NULL;
out:
	file_free(bytes, room);
	close(fd);
	return error;
}

static int write_all(int fd, const char *text, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		text += n;
		len -= (size_t)n;
	}
	return 0;
}

static int be_like(int fd, const struct stat *like)
{
	const struct timespec times[2] = { like->st_atim, like->st_mtim };

	/* The owner first: that may take bits of the mode away. The daemon may give nothing away: what was
	 * somebody else's becomes its own. */
	if (fchown(fd, like->st_uid, like->st_gid) != 0 && errno != EPERM)
		return -errno;
	return fchmod(fd, like->st_mode & 07777) == 0 && futimens(fd, times) == 0 ? 0 : -errno;
}

static int write_beside(
	int at, const char *name, const char *text, size_t len, mode_t mode, const struct stat *like)
{
	char beside[NAME_MAX + 1];
	int fd, error;

	if (snprintf(beside, sizeof(beside), ".%s.new", name) >= (int)sizeof(beside))
		return -ENAMETOOLONG;
	/* A crash may have left one. */
	unlinkat(at, beside, 0);
	fd = openat(at, beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0)
		return -errno;
	error = fchmod(fd, mode) == 0 ? write_all(fd, text, len) : -errno;
	if (!error && like)
		error = be_like(fd, like);
	if (!error && fsync(fd) != 0)
		error = -errno;
	if (close(fd) != 0 && !error)
		error = -errno;
	if (!error && renameat(at, beside, at, name) != 0)
		error = -errno;
	if (error) {
		unlinkat(at, beside, 0);
		return error;
	}
	/* The name, too, has to be on the disk; some file systems cannot sync a folder. */
	(void)!fsync(at);
	return 0;
}

int file_write(int at, const char *name, const char *text, size_t len, mode_t mode)
{
	return write_beside(at, name, text, len, mode, NULL);
}

int file_write_like(int at, const char *name, const char *text, size_t len, const struct stat *like)
{
	return write_beside(at, name, text, len, 0600, like);
}

int folder_make(const char *path, mode_t mode)
{
	char partial[PATH_MAX];
	size_t i, len = strlen(path);
	struct stat info;

	if (len == 0 || len >= sizeof(partial))
		return -ENAMETOOLONG;
	memcpy(partial, path, len + 1);
	for (i = 1; i <= len; i++) {
		if (path[i] != '/' && path[i])
			continue;
		partial[i] = 0;
		/* Those above are for everybody to pass through. */
		if (mkdir(partial, i == len ? mode : 0755) != 0 && errno != EEXIST)
			return -errno;
		partial[i] = path[i];
	}
	if (stat(path, &info) != 0)
		return -errno;
	return S_ISDIR(info.st_mode) ? 0 : -ENOTDIR;
}
