/* SPDX-License-Identifier: MIT */
/* Finding, reading and writing profile files. Used by the methods and by tunnel.c. */
#include "client/daemon/profiles.h"
#include "client/daemon/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SUFFIX ".conf"

struct profiles {
	const char *folders[2]; /* the second may be NULL */
};

struct profiles *profiles_new(const char *folder, const char *second)
{
	struct profiles *profiles = calloc(1, sizeof(*profiles));

	if (profiles) {
		profiles->folders[0] = folder;
		profiles->folders[1] = second;
	}
	return profiles;
}

void profiles_free(struct profiles *profiles)
{
	free(profiles);
}

void notes_add(struct rpc_notes *notes, uint32_t line, const char *text)
{
	struct rpc_note *items = realloc(notes->items, (notes->count + 1) * sizeof(*items));

	if (!items)
		return;
	notes->items = items;
	items[notes->count] = (struct rpc_note){ .line = line };
	snprintf(items[notes->count].text, sizeof(items[notes->count].text), "%s", text);
	notes->count++;
}

void profile_error_tell(struct rpc_error *out, const char *file, const struct profile_error *error)
{
	rpc_error_set(out, RPC_CODE_CONFIG, "%.150s:%u: %s", file, error->line, error->sentence);
	out->cause = RPC_CAUSE_CONFIG;
	notes_add(&out->notes, error->line, error->sentence);
	if (out->notes.count)
		out->notes.items[0].column = error->column;
}

static int open_folder(const char *path)
{
	return path ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
}

static void file_name(const char *name, char out[PROFILE_NAME_LEN + sizeof(SUFFIX)])
{
	snprintf(out, PROFILE_NAME_LEN + sizeof(SUFFIX), "%.15s" SUFFIX, name);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct profile_file *)a)->name, ((const struct profile_file *)b)->name);
}

static bool holds(const struct profile_file *list, size_t count, const char *name)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!strcmp(list[i].name, name))
			return true;
	return false;
}

size_t profiles_list(const struct profiles *profiles, struct profile_file **out)
{
	struct profile_file *list = NULL, *larger;
	size_t count = 0, room = 0, folder;

	for (folder = 0; folder < 2; folder++) {
		int fd = open_folder(profiles->folders[folder]);
		DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
		struct dirent *entry;

		while (dir && (entry = readdir(dir))) {
			size_t len = strlen(entry->d_name), suffix = strlen(SUFFIX);

			if (len <= suffix || strcmp(entry->d_name + len - suffix, SUFFIX) != 0)
				continue;
			entry->d_name[len - suffix] = 0;
			if (!profile_name_valid(entry->d_name, len - suffix) ||
				holds(list, count, entry->d_name))
				continue;
			if (count == room) {
				room = room ? 2 * room : 16;
				larger = realloc(list, room * sizeof(*list));
				if (!larger)
					break;
				list = larger;
			}
			list[count] = (struct profile_file){ .read_only = folder == 1 };
			memcpy(list[count].name, entry->d_name, len - suffix + 1);
			count++;
		}
		if (dir)
			closedir(dir);
		else if (fd >= 0)
			close(fd);
	}
	if (count)
		qsort(list, count, sizeof(*list), by_name);
	*out = list;
	return count;
}

bool profiles_find(const struct profiles *profiles, const char *name, struct profile_file *out)
{
	char file[PROFILE_NAME_LEN + sizeof(SUFFIX)];
	size_t folder;

	if (!profile_name_valid(name, strlen(name)))
		return false;
	file_name(name, file);
	for (folder = 0; folder < 2; folder++) {
		int at = open_folder(profiles->folders[folder]);
		struct stat info;
		bool found = at >= 0 && fstatat(at, file, &info, AT_SYMLINK_NOFOLLOW) == 0;

		if (at >= 0)
			close(at);
		if (!found)
			continue;
		*out = (struct profile_file){ .read_only = folder == 1 };
		strcpy(out->name, name);
		return true;
	}
	return false;
}

bool profiles_name(const struct profiles *profiles, const char *given, char name[PROFILE_NAME_LEN],
	struct rpc_error *error)
{
	char parsed[PROFILE_NAME_LEN];
	struct profile_file file;

	if (profile_name_parse(given, strlen(given), parsed) && profiles_find(profiles, parsed, &file)) {
		strcpy(name, parsed);
		return true;
	}
	rpc_error_set(error, RPC_CODE_NO_SUCH_TUNNEL,
		"no tunnel is called '%.64s': `wgtcp-cli list` shows all, `wgtcp-cli import FILE` adds one",
		given);
	return false;
}

/* Only its owner may be able to change a profile: whoever can, can send all traffic where he likes. */
static bool check_owner(
	const char *path, const struct stat *folder, const struct stat *file, struct rpc_error *error)
{
	if ((file->st_uid != 0 && file->st_uid != geteuid()) ||
		(folder->st_uid != 0 && folder->st_uid != geteuid())) {
		rpc_error_set(error, RPC_CODE_CONFIG,
			"%.200s or its folder belongs to another user than root, who could change it: `chown "
			"root` them",
			path);
		return false;
	}
	if ((file->st_mode & (S_IWGRP | S_IWOTH)) || (folder->st_mode & S_IWOTH)) {
		rpc_error_set(error, RPC_CODE_CONFIG,
			"%.200s or its folder can be changed by others: `chmod go-w` them", path);
		return false;
	}
	return true;
}

/* Reads from the first folder that has it. */
static bool read_text(
	const struct profiles *profiles, const char *name, struct loaded *loaded, struct rpc_error *error)
{
	char file[PROFILE_NAME_LEN + sizeof(SUFFIX)];
	struct stat info, folder_info;
	size_t folder;

	file_name(name, file);
	for (folder = 0; folder < 2; folder++) {
		int at = open_folder(profiles->folders[folder]), failure;

		if (at < 0)
			continue;
		failure = file_read(at, file, PROFILE_TEXT_MAX, &loaded->text, &loaded->len, &info);
		if (fstat(at, &folder_info) != 0)
			folder_info = (struct stat){ .st_mode = S_IWOTH };
		close(at);
		if (failure == -ENOENT)
			continue;
		snprintf(loaded->path, sizeof(loaded->path), "%s/%s", profiles->folders[folder], file);
		loaded->read_only = folder == 1;
		switch (failure) {
		case 0:
			loaded->exposed = info.st_mode & S_IROTH;
			return check_owner(loaded->path, &folder_info, &info, error);
		case -EFBIG:
			rpc_error_set(error, RPC_CODE_CONFIG,
				"%.200s is larger than 1 MiB: that is no profile", loaded->path);
			break;
		case -EACCES:
			rpc_error_set(error, RPC_CODE_CONFIG,
				"%.200s belongs to another user than root, and the daemon has no privilege "
				"over his files: "
				"`chown root` it and `chmod 600` it",
				loaded->path);
			break;
		case -ELOOP:
		case -EXDEV:
			rpc_error_set(error, RPC_CODE_CONFIG,
				"%.200s is a symbolic link, which is not followed: whoever can change what "
				"it leads to could "
				"change the profile; put the file itself there",
				loaded->path);
			break;
		case -EINVAL:
		case -ENXIO:
			rpc_error_set(error, RPC_CODE_CONFIG, "%.200s is not a regular file", loaded->path);
			break;
		default:
			rpc_error_set(error, RPC_CODE_OTHER, "%.200s cannot be read: %s", loaded->path,
				strerror(-failure));
			break;
		}
		return false;
	}
	rpc_error_set(error, RPC_CODE_NO_SUCH_TUNNEL,
		"no tunnel is called '%.64s': `wgtcp-cli list` shows all", name);
	return false;
}

bool profiles_load(
	const struct profiles *profiles, const char *name, struct loaded *out, struct rpc_error *error)
{
	struct loaded loaded = { 0 };
	struct profile_error wrong = { 0 };

	if (!read_text(profiles, name, &loaded, error)) {
		error->cause = RPC_CAUSE_CONFIG;
		loaded_free(&loaded);
		return false;
	}
	if (!profile_parse(loaded.path, loaded.text, loaded.len, &loaded.profile, &wrong, &loaded.warnings)) {
		profile_error_tell(error, loaded.path, &wrong);
		loaded_free(&loaded);
		return false;
	}
	*out = loaded;
	return true;
}

void loaded_free(struct loaded *loaded)
{
	file_free(loaded->text, loaded->len);
	profile_free(&loaded->profile);
	*loaded = (struct loaded){ 0 };
}

bool profiles_store(struct profiles *profiles, const char *name, const char *text, size_t len,
	char path[RPC_PATH_LEN], struct rpc_error *error)
{
	char file[PROFILE_NAME_LEN + sizeof(SUFFIX)];
	int at, failure;

	file_name(name, file);
	failure = folder_make(profiles->folders[0], 0700);
	at = failure ? -1 : open_folder(profiles->folders[0]);
	if (!failure && at < 0)
		failure = -errno;
	if (!failure)
		failure = file_write(at, file, text, len, 0600);
	if (at >= 0)
		close(at);
	if (failure) {
		rpc_error_set(error, RPC_CODE_OTHER, "%.200s/%s cannot be written: %s", profiles->folders[0],
			file, strerror(-failure));
		return false;
	}
	snprintf(path, RPC_PATH_LEN, "%s/%s", profiles->folders[0], file);
	return true;
}

bool profiles_delete(struct profiles *profiles, const char *name, struct rpc_error *error)
{
	char file[PROFILE_NAME_LEN + sizeof(SUFFIX)];
	int at = open_folder(profiles->folders[0]), failure;

	file_name(name, file);
	failure = at >= 0 && unlinkat(at, file, 0) == 0 ? 0 : -errno;
	if (!failure)
		(void)!fsync(at);
	if (at >= 0)
		close(at);
	if (!failure)
		return true;
	if (failure == -ENOENT)
		rpc_error_set(error, RPC_CODE_NOT_PERMITTED,
			"%s/%s belongs to wg-quick and is only read here: remove it yourself if it is not "
			"needed",
			profiles->folders[1] ? profiles->folders[1] : "", file);
	else
		rpc_error_set(error, RPC_CODE_OTHER, "%.200s/%s cannot be removed: %s", profiles->folders[0],
			file, strerror(-failure));
	return false;
}
