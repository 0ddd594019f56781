/* SPDX-License-Identifier: MIT */
/* Whole files that hold secrets or state: read with a bound, written so that a crash leaves the old or the
 * new. */
#ifndef WGTCP_CLIENT_DAEMON_FILE_H
#define WGTCP_CLIENT_DAEMON_FILE_H

#include <stddef.h>
#include <sys/stat.h>

/* Reads the regular file `name` in the folder `at`. -ELOOP: it is a symbolic link, which is not followed (in
 * the folder's own path it is). The caller wipes and frees *text (file_free), which ends with a NUL that *len
 * does not count. *info is of the very file that was read. -EFBIG: more than max bytes; -EINVAL: not a
 * regular file; other -errno. */
int file_read(int at, const char *name, size_t max, char **text, size_t *len, struct stat *info);
void file_free(char *text, size_t len);
/* Writes beside, syncs, renames, syncs the folder. On failure the old file is as it was and nothing is left
 * beside it. */
int file_write(int at, const char *name, const char *text, size_t len, mode_t mode);
/* The same, with the mode and times of `like`, and its owner where this process may give a file to him. */
int file_write_like(int at, const char *name, const char *text, size_t len, const struct stat *like);
/* Makes a folder and those above it. 0 also when it is there. */
int folder_make(const char *path, mode_t mode);

#endif
