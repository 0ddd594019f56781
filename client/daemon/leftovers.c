/* SPDX-License-Identifier: MIT */
/* The file of what outlives the daemon. Main thread. */
#include "client/daemon/leftovers.h"
#include "client/daemon/file.h"
#include "client/daemon/process.h"
#include "core/port/net_answer.h"
#include "core/port/kernel_tunnel.h"
#include "core/port/net_rule.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define SPARE "/run/wgtcp/state."
#define LINE_LEN 64
#define FILE_MAX ((size_t)LINE_LEN * (LEFTOVERS_MAX + 1))
#define END_WAIT_MS 1000

char *leftovers_write(const struct leftover *list, size_t count, const char *boot_id)
{
	size_t room = LINE_LEN * (count + 1), len, i;
	char *text = malloc(room);

	if (!text)
		return NULL;
	len = (size_t)snprintf(text, room, "boot %s\n", boot_id);
	for (i = 0; i < count; i++)
		switch (list[i].kind) {
		case LEFTOVER_ENGINE:
			len += (size_t)snprintf(text + len, room - len, "engine %d %" PRIu64 "\n",
				(int)list[i].pid, list[i].start_time);
			break;
		case LEFTOVER_TUNNEL:
			len += (size_t)snprintf(text + len, room - len, "tunnel %s\n", list[i].name);
			break;
		case LEFTOVER_RULES:
			len += (size_t)snprintf(text + len, room - len, "rules %" PRIu32 "\n", list[i].mark);
			break;
		case LEFTOVER_LINK:
			len += (size_t)snprintf(
				text + len, room - len, "link %s %" PRIu32 "\n", list[i].name, list[i].mark);
			break;
		case LEFTOVER_SOURCE_MARK:
			len += (size_t)snprintf(text + len, room - len, "source-mark\n");
			break;
		}
	return text;
}

static bool is_name(const char *name)
{
	size_t len = strlen(name);

	return len >= 1 && len <= 15 &&
	       strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_=+.-") == len &&
	       strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

static bool parse_line(const char *line, struct leftover *out)
{
	struct leftover entry = { 0 };
	int pid, end = 0;

	if (sscanf(line, "engine %d %" SCNu64 "%n", &pid, &entry.start_time, &end) == 2 && !line[end] &&
		pid > 1) {
		entry.kind = LEFTOVER_ENGINE;
		entry.pid = pid;
	} else if (sscanf(line, "tunnel %15s%n", entry.name, &end) == 1 && !line[end] &&
		   is_name(entry.name)) {
		entry.kind = LEFTOVER_TUNNEL;
	} else if (sscanf(line, "rules %" SCNu32 "%n", &entry.mark, &end) == 1 && !line[end] && entry.mark) {
		entry.kind = LEFTOVER_RULES;
	} else if (sscanf(line, "link %15s %" SCNu32 "%n", entry.name, &entry.mark, &end) == 2 &&
		   !line[end] && is_name(entry.name)) {
		entry.kind = LEFTOVER_LINK;
	} else if (!strcmp(line, "source-mark")) {
		entry.kind = LEFTOVER_SOURCE_MARK;
	} else {
		return false;
	}
	*out = entry;
	return true;
}

size_t leftovers_parse(const char *text, const char *boot_id, struct leftover *out, size_t max)
{
	bool same_boot = false;
	size_t count = 0;

	while (*text && count < max) {
		size_t len = strcspn(text, "\n");
		char line[LINE_LEN + 1];

		if (len < sizeof(line)) {
			memcpy(line, text, len);
			line[len] = 0;
			if (!strncmp(line, "boot ", 5))
				same_boot = *boot_id && !strcmp(line + 5, boot_id);
			else if (parse_line(line, &out[count]) &&
				 (same_boot || out[count].kind == LEFTOVER_TUNNEL))
				count++;
		}
		text += len + (text[len] == '\n');
	}
	return count;
}

int leftovers_save(int state_folder, const struct leftover *list, size_t count)
{
	char boot_id[BOOT_ID_LEN], *text;
	int error;

	if (count == 0)
		return unlinkat(state_folder, LEFTOVERS_FILE, 0) == 0 || errno == ENOENT ? 0 : -errno;
	process_boot_id(boot_id);
	text = leftovers_write(list, count, boot_id);
	if (!text)
		return -ENOMEM;
	error = file_write(state_folder, LEFTOVERS_FILE, text, strlen(text), 0600);
	free(text);
	return error;
}

/* A socket that nobody listens on any more. */
static bool remove_stale_socket(const char *folder, const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	bool stale;
	int fd;

	if (snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s.sock", folder, name) >=
		(int)sizeof(address.sun_path))
		return false;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	stale = connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0 && errno == ECONNREFUSED;
	close(fd);
	return stale && unlink(address.sun_path) == 0;
}

int leftovers_spare_open(int state_folder, bool make)
{
	char path[sizeof(SPARE) + 48];
	struct stat info;
	int folder, error;

	if (fstat(state_folder, &info) != 0)
		return -errno;
	snprintf(path, sizeof(path), SPARE "%" PRIx64 ".%" PRIx64, (uint64_t)info.st_dev,
		(uint64_t)info.st_ino);
	error = make ? folder_make(path, 0700) : 0;
	if (error)
		return error;
	folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	/* Somebody else's would be a trap. */
	if (folder >= 0 && (fstat(folder, &info) != 0 || info.st_uid != geteuid() || (info.st_mode & 077))) {
		close(folder);
		return -EPERM;
	}
	return folder < 0 ? -errno : folder;
}

/* Only if it is the very one: somebody may have made another of that name since. */
static bool remove_link(const struct leftover *entry)
{
	struct kernel_tunnel *kernel;
	bool removed = false;

	if ((entry->mark && if_nametoindex(entry->name) != entry->mark) || kernel_tunnel_open(&kernel) != 0)
		return false;
	removed = kernel_tunnel_delete(kernel, entry->name) == 0;
	kernel_tunnel_close(kernel);
	return removed;
}

void leftovers_clean(int state_folder, const char *uapi_folder, struct journal *journal)
{
	char boot_id[BOOT_ID_LEN], *text = NULL;
	struct leftover *list;
	struct stat info;
	size_t len = 0, count, i;
	bool was;
	int error;

	error = file_read(state_folder, LEFTOVERS_FILE, FILE_MAX, &text, &len, &info);
	if (error) {
		if (error != -ENOENT)
			journal_say(journal, JOURNAL_WARNING, NULL,
				"the list of what the last daemon left cannot be read: %s", strerror(-error));
		return;
	}
	list = calloc(LEFTOVERS_MAX, sizeof(*list));
	if (!list)
		goto out;
	process_boot_id(boot_id);
	count = leftovers_parse(text, boot_id, list, LEFTOVERS_MAX);
	for (i = 0; i < count; i++)
		switch (list[i].kind) {
		case LEFTOVER_ENGINE:
			if (process_start_time(list[i].pid) != list[i].start_time)
				break;
			if (process_end(list[i].pid, list[i].start_time, END_WAIT_MS))
				journal_say(journal, JOURNAL_INFO, NULL,
					"ended an engine that the last daemon left behind");
			else
				journal_say(journal, JOURNAL_WARNING, NULL,
					"an engine that the last daemon left behind (process %d) does not "
					"end",
					(int)list[i].pid);
			break;
		case LEFTOVER_TUNNEL:
			if (remove_stale_socket(uapi_folder, list[i].name))
				journal_say(journal, JOURNAL_INFO, list[i].name,
					"removed the control socket that the last daemon left behind");
			break;
		case LEFTOVER_RULES:
			if (net_full_tunnel_remove(IP_V4, list[i].mark) == 0 &&
				net_full_tunnel_remove(IP_V6, list[i].mark) == 0)
				journal_say(journal, JOURNAL_INFO, NULL,
					"removed the policy rules that the last daemon left behind");
			net_answer_remove(list[i].mark);
			break;
		case LEFTOVER_LINK:
			if (remove_link(&list[i]))
				journal_say(journal, JOURNAL_INFO, list[i].name,
					"removed the interface that the last daemon left behind");
			break;
		case LEFTOVER_SOURCE_MARK:
			net_answer_check_marks(false, &was);
			break;
		}
	unlinkat(state_folder, LEFTOVERS_FILE, 0);
out:
	free(list);
	file_free(text, len);
}
