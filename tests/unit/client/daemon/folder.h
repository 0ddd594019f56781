/* SPDX-License-Identifier: MIT */
/* A temporary folder of one test, with helpers to fill and remove it. */
#ifndef WGTCP_TESTS_UNIT_CLIENT_DAEMON_FOLDER_H
#define WGTCP_TESTS_UNIT_CLIENT_DAEMON_FOLDER_H

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct folder {
	char path[64];
	int at;
};

static inline struct folder folder_new(void)
{
	struct folder folder = { .path = "/tmp/wgtcp-test-XXXXXX" };

	if (!mkdtemp(folder.path))
		abort();
	folder.at = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return folder;
}

static inline void folder_put(const struct folder *folder, const char *name, const char *text, mode_t mode)
{
	int fd = openat(folder->at, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) || fchmod(fd, mode) != 0)
		abort();
	close(fd);
}

static inline size_t folder_count(const struct folder *folder)
{
	DIR *dir = opendir(folder->path);
	size_t count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count - 2; /* . and .. */
}

static inline void folder_remove(struct folder *folder)
{
	DIR *dir = opendir(folder->path);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (unlinkat(folder->at, entry->d_name, 0) != 0)
			unlinkat(folder->at, entry->d_name, AT_REMOVEDIR);
	if (dir)
		closedir(dir);
	close(folder->at);
	rmdir(folder->path);
}

#endif
