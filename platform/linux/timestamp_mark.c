/* SPDX-License-Identifier: MIT */
#include "platform/linux/timestamp_mark.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXT_LEN 64

static bool write_path(char out[PATH_MAX], const char *folder, const char *interface, const char *ending)
{
	int len = snprintf(out, PATH_MAX, "%s/%s.timestamp%s", folder, interface, ending);

	return len > 0 && len < PATH_MAX;
}

struct wall timestamp_mark_read(const char *folder, const char *interface)
{
	char path[PATH_MAX], text[TEXT_LEN];
	struct wall mark = { 0 }, none = { 0 };
	int end = 0, fd;
	ssize_t len;

	if (!write_path(path, folder, interface, ""))
		return none;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return none;
	len = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (len <= 0)
		return none;
	text[len] = 0;
	if (sscanf(text, "%" SCNu64 ".%9" SCNu32 "\n%n", &mark.s, &mark.ns, &end) != 2 || end != len)
		return none;
	return mark;
}

int timestamp_mark_write(const char *folder, const char *interface, struct wall mark)
{
	char path[PATH_MAX], beside[PATH_MAX], text[TEXT_LEN];
	int len = snprintf(text, sizeof(text), "%" PRIu64 ".%09" PRIu32 "\n", mark.s, mark.ns), fd, err = 0;

	if (!write_path(path, folder, interface, "") || !write_path(beside, folder, interface, ".new"))
		return -ENAMETOOLONG;
	if (mkdir(folder, 0700) < 0 && errno != EEXIST)
		return -errno;
	fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	/* Renamed when whole. Not synced: what is at stake is a process's restart; after a power cut the clock has
	 * gone on by more than was lost. */
	if (write(fd, text, (size_t)len) != len)
		err = -EIO;
	close(fd);
	if (!err && rename(beside, path) < 0)
		err = -errno;
	if (err)
		unlink(beside);
	return err;
}
