/* SPDX-License-Identifier: MIT */
/* Used by dns.c. The backup is one file, written whole before anything is touched:
 *
 *     wgtcp-resolv.conf 1
 *     path /etc/resolv.conf         of the file itself, links followed
 *     like MODE UID GID SECONDS NANOSECONDS
 *     original N                    bytes; "missing": there was none
 *
 * an empty line, and then the original. Ours is known by its first line; without that somebody else has
 * written there meanwhile. */
#include "client/daemon/dns_file.h"
#include "client/daemon/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define HEAD_MAX (PATH_MAX + 256)
#define MARK "# Made by wgtcpd for "

struct held {
	char path[PATH_MAX];
	bool missing;
	struct stat like;
	char *original;
	size_t original_len;
};

static void held_free(struct held *held)
{
	free(held->original);
	*held = (struct held){ 0 };
}

static char *copy(const char *text, size_t len)
{
	char *out = malloc(len + 1);

	if (out) {
		memcpy(out, text, len);
		out[len] = 0;
	}
	return out;
}

static bool is_ours(const char *text)
{
	return !strncmp(text, MARK, sizeof(MARK) - 1);
}

/* ---- the backup ---- */

static bool parse_like(const char *line, struct stat *like)
{
	unsigned mode, uid, gid;
	int64_t s;
	long ns;

	if (sscanf(line, "like %o %u %u %" SCNd64 " %ld", &mode, &uid, &gid, &s, &ns) != 5)
		return false;
	like->st_mode = (mode_t)mode;
	like->st_uid = uid;
	like->st_gid = gid;
	like->st_mtim = like->st_atim = (struct timespec){ .tv_sec = (time_t)s, .tv_nsec = ns };
	return true;
}

static bool parse_held(const char *text, size_t len, struct held *out)
{
	const char *body = strstr(text, "\n\n"), *line = text;
	struct held held = { 0 };
	bool path = false, like = false, original = false;

	if (!body || strncmp(text, "wgtcp-resolv.conf 1\n", 20) != 0)
		return false;
	for (; line < body; line = strchr(line, '\n') + 1) {
		size_t line_len = strcspn(line, "\n");

		if (!strncmp(line, "path ", 5) && line_len - 5 < sizeof(held.path)) {
			memcpy(held.path, line + 5, line_len - 5);
			path = held.path[0] == '/';
		} else if (!strncmp(line, "like ", 5)) {
			like = parse_like(line, &held.like);
		} else if (!strncmp(line, "original missing\n", 17)) {
			held.missing = original = true;
		} else if (sscanf(line, "original %zu", &held.original_len) == 1) {
			original = true;
		}
	}
	body += 2;
	if (!path || !original || (!like && !held.missing) || held.original_len > len ||
		(size_t)(body - text) + held.original_len != len)
		return false;
	held.original = copy(body, held.original_len);
	if (!held.original)
		return false;
	*out = held;
	return true;
}

/* 0; -ENOENT: nothing is held; -EINVAL: what is there is no backup of ours. */
static int load(int state_folder, struct held *out)
{
	struct stat info;
	char *text;
	size_t len;
	int error =
		file_read(state_folder, DNS_FILE_BACKUP, DNS_FILE_TEXT_MAX + HEAD_MAX, &text, &len, &info);

	if (error)
		return error;
	error = parse_held(text, len, out) ? 0 : -EINVAL;
	file_free(text, len);
	return error;
}

static int save(int state_folder, const struct held *held)
{
	size_t room = HEAD_MAX + held->original_len, len;
	char *text = malloc(room), original[32] = "missing";
	int error;

	if (!text)
		return -ENOMEM;
	if (!held->missing)
		snprintf(original, sizeof(original), "%zu", held->original_len);
	len = (size_t)snprintf(text, room,
		"wgtcp-resolv.conf 1\npath %s\nlike %o %u %u %" PRId64 " %ld\noriginal %s\n\n", held->path,
		held->like.st_mode & 07777, held->like.st_uid, held->like.st_gid,
		(int64_t)held->like.st_mtim.tv_sec, held->like.st_mtim.tv_nsec, original);
	memcpy(text + len, held->original, held->original_len);
	error = file_write(state_folder, DNS_FILE_BACKUP, text, len + held->original_len, 0600);
	free(text);
	return error;
}

static int forget(int state_folder)
{
	return unlinkat(state_folder, DNS_FILE_BACKUP, 0) == 0 || errno == ENOENT ? 0 : -errno;
}

/* ---- the file itself ---- */

/* The folder that it lies in. */
static int open_folder(const char *path, const char **name)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX];
	int fd;

	if (slash == path)
		strcpy(folder, "/");
	else
		snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path), path);
	*name = slash + 1;
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* A file that something is mounted on (containers have it so) can not be replaced, only overwritten. */
static int overwrite(int folder, const char *name, const char *text, size_t len)
{
	int fd = openat(folder, name, O_WRONLY | O_TRUNC | O_CLOEXEC), error = 0;
	ssize_t written;

	if (fd < 0)
		return -errno;
	written = write(fd, text, len);
	if (written != (ssize_t)len)
		error = written < 0 ? -errno : -ENOSPC;
	if (close(fd) != 0 && !error)
		error = -errno;
	return error;
}

static int replace(const char *path, const char *text, size_t len, const struct stat *like)
{
	const char *name;
	int folder = open_folder(path, &name), error;

	if (folder < 0)
		return folder;
	error = file_write_like(folder, name, text, len, like);
	if (error == -EBUSY)
		error = overwrite(folder, name, text, len);
	close(folder);
	return error;
}

/* Follows links; where nothing is there yet, the path itself. -ENOENT: a link that leads nowhere, or no
 * folder. */
static int find(const char *path, char out[PATH_MAX], bool *missing)
{
	struct stat info;

	*missing = false;
	if (realpath(path, out))
		return 0;
	if (errno != ENOENT || lstat(path, &info) == 0 || strlen(path) >= PATH_MAX)
		return -errno;
	strcpy(out, path);
	*missing = true;
	return 0;
}

static int read_path(const char *path, char **text, size_t *len, struct stat *info)
{
	return file_read(AT_FDCWD, path, DNS_FILE_TEXT_MAX, text, len, info);
}

/* What is there now, as something to come back to; or what is held already, if it is our own that is there.
 * *fresh: the backup has to be written. */
static int take_original(int state_folder, const char *path, struct held *held, bool *fresh)
{
	struct held now = { 0 };
	char *text = NULL;
	size_t len = 0;
	int error = load(state_folder, held);

	if (error && error != -ENOENT && error != -EINVAL)
		return error;
	*fresh = error != 0;
	error = find(path, now.path, &now.missing);
	if (!error && !now.missing)
		error = read_path(now.path, &text, &len, &now.like);
	if (error)
		goto out;
	/* Gone while it was ours: what was there before us is still what comes back. */
	if (!*fresh && (now.missing || is_ours(text)) && !strcmp(now.path, held->path))
		goto out;
	*fresh = true;
	now.original = copy(text ? text : "", len);
	now.original_len = len;
	if (!now.original) {
		error = -ENOMEM;
		goto out;
	}
	held_free(held);
	*held = now;
out:
	file_free(text, len);
	return error;
}

int dns_file_set(
	int state_folder, const char *path, const char *name, const struct dns_servers *dns, bool *was_there)
{
	char comment[sizeof(MARK) + 128], *text = NULL;
	struct held held = { 0 };
	struct stat like;
	bool fresh;
	int error = take_original(state_folder, path, &held, &fresh);

	if (error)
		goto out;
	snprintf(comment, sizeof(comment), "%s%.32s: what was here before comes back when it goes down",
		&MARK[2], name);
	text = dns_text_write(comment, dns, held.original);
	error = text ? 0 : -ENOMEM;
	if (!error && fresh)
		error = save(state_folder, &held);
	if (error)
		goto out;
	like = held.like;
	if (held.missing)
		like.st_mode = 0644;
	clock_gettime(CLOCK_REALTIME, &like.st_mtim);
	like.st_atim = like.st_mtim;
	error = replace(held.path, text, strlen(text), &like);
	if (error && fresh)
		forget(state_folder);
	if (!error)
		*was_there = !held.missing;
out:
	free(text);
	held_free(&held);
	return error;
}

bool dns_file_is_ours(const char *path)
{
	char *text = NULL;
	struct stat info;
	size_t len = 0;
	bool ours = read_path(path, &text, &len, &info) == 0 && is_ours(text);

	file_free(text, len);
	return ours;
}

static int put_back(const struct held *held)
{
	if (!held->missing)
		return replace(held->path, held->original, held->original_len, &held->like);
	return unlink(held->path) == 0 || errno == ENOENT ? 0 : -errno;
}

int dns_file_restore(int state_folder, enum dns_file_restored *out)
{
	enum dns_file_restored restored = DNS_FILE_RESTORED;
	struct held held = { 0 };
	char *text = NULL;
	struct stat info;
	size_t len = 0;
	int error = load(state_folder, &held);

	if (error == -ENOENT || error == -EINVAL) {
		/* Nothing was touched before the backup was whole. */
		*out = DNS_FILE_NONE_HELD;
		return forget(state_folder);
	}
	if (error)
		return error;
	error = read_path(held.path, &text, &len, &info);
	if (error && error != -ENOENT)
		goto out;
	if (error || is_ours(text))
		error = put_back(&held);
	else if (held.missing || len != held.original_len || memcmp(text, held.original, len) != 0)
		restored = DNS_FILE_CHANGED;
	if (!error)
		error = forget(state_folder);
	if (!error)
		*out = restored;
out:
	file_free(text, len);
	held_free(&held);
	return error;
}

char *dns_file_before(int state_folder)
{
	struct held held = { 0 };
	char *before = NULL;

	if (load(state_folder, &held) == 0) {
		before = held.original;
		held.original = NULL;
	}
	held_free(&held);
	return before;
}
