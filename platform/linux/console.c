/* SPDX-License-Identifier: MIT */
/* core/port/console.h on Linux. Used by wgtcp-cli, on its one thread. */
#include "core/port/console.h"

#include "core/base/wipe.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static bool out_failed, out_full;
static volatile sig_atomic_t interrupted;

static int descriptor(enum console_stream stream)
{
	return stream == CONSOLE_OUT ? STDOUT_FILENO : STDERR_FILENO;
}

void console_write(enum console_stream stream, const char *bytes, size_t len)
{
	while (len) {
		ssize_t written = write(descriptor(stream), bytes, len);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0) {
			if (stream == CONSOLE_OUT) {
				out_failed = true;
				out_full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
			}
			return;
		}
		bytes += written;
		len -= (size_t)written;
	}
}

bool console_failed(void)
{
	return out_failed;
}

bool console_is_full(void)
{
	return out_full;
}

bool console_is_terminal(enum console_stream stream)
{
	return isatty(descriptor(stream));
}

uint32_t console_width(enum console_stream stream)
{
	struct winsize size;

	if (ioctl(descriptor(stream), TIOCGWINSZ, &size))
		return 0;
	return size.ws_col;
}

uint32_t console_height(enum console_stream stream)
{
	struct winsize size;

	if (ioctl(descriptor(stream), TIOCGWINSZ, &size))
		return 0;
	return size.ws_row;
}

bool console_is_utf8(void)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	bool utf8;

	if (!locale)
		return false;
	utf8 = !strcmp(nl_langinfo_l(CODESET, locale), "UTF-8");
	freelocale(locale);
	return utf8;
}

bool console_wants_colour(enum console_stream stream)
{
	const char *no_color = getenv("NO_COLOR");
	const char *terminal = getenv("TERM");

	return console_is_terminal(stream) && !(no_color && *no_color) && terminal &&
	       strcmp(terminal, "dumb") != 0;
}

bool console_is_admin(void)
{
	return geteuid() == 0;
}

int console_read_file(const char *path, size_t max, char **text, size_t *len)
{
	int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : dup(STDIN_FILENO);
	struct stat stat;
	char *bytes = NULL;
	size_t got = 0;
	int err = 0;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &stat) && S_ISDIR(stat.st_mode)) {
		err = -EISDIR;
		goto out;
	}
	bytes = malloc(max + 2);
	if (!bytes) {
		err = -ENOMEM;
		goto out;
	}
	for (;;) {
		ssize_t more = read(fd, bytes + got, max + 1 - got);

		if (more < 0 && errno == EINTR)
			continue;
		if (more < 0) {
			err = -errno;
			goto out;
		}
		if (!more)
			break;
		got += (size_t)more;
		if (got > max) {
			err = -EFBIG;
			goto out;
		}
	}
	bytes[got] = '\0';
	*text = bytes;
	*len = got;
	bytes = NULL;
out:
	if (bytes)
		memory_wipe(bytes, got);
	free(bytes);
	close(fd);
	return err;
}

static bool ends_with(const char *name, const char *suffix)
{
	size_t len = strlen(name), suffix_len = strlen(suffix);

	return len > suffix_len && name[0] != '.' && !strcmp(name + len - suffix_len, suffix);
}

int console_list_folder(const char *folder, const char *suffix, char ***names, size_t *count)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	char **list = NULL;
	size_t used = 0;
	int err = 0;

	if (!dir)
		return -errno;
	while (!err && (entry = readdir(dir))) {
		char **longer;

		if (!ends_with(entry->d_name, suffix))
			continue;
		longer = realloc(list, (used + 1) * sizeof(*list));
		if (longer) {
			list = longer;
			list[used] = strdup(entry->d_name);
		}
		if (longer && list[used])
			used++;
		else
			err = -ENOMEM;
	}
	closedir(dir);
	if (err) {
		while (used)
			free(list[--used]);
		free(list);
		return err;
	}
	*names = list;
	*count = used;
	return 0;
}

int console_write_secret(const char *path, const char *bytes, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), err = 0;

	if (fd < 0)
		return -errno;
	while (len && !err) {
		ssize_t written = write(fd, bytes, len);

		if (written >= 0) {
			bytes += written;
			len -= (size_t)written;
		} else if (errno != EINTR) {
			err = -errno;
		}
	}
	if (!err && fsync(fd))
		err = -errno;
	if (close(fd) && !err)
		err = -errno;
	if (err)
		unlink(path);
	return err;
}

bool console_file_exists(const char *path)
{
	return access(path, F_OK) == 0;
}

static void on_signal(int number)
{
	(void)number;
	interrupted = 1;
}

static void stop_signals(sigset_t *out)
{
	sigemptyset(out);
	sigaddset(out, SIGINT);
	sigaddset(out, SIGTERM);
}

void console_catch_interrupt(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	sigset_t stop;

	interrupted = 0;
	/* Blocked but for the waits in ipc.c and below, so that none arrives between a look at the flag and a
	 * wait. */
	stop_signals(&stop);
	sigprocmask(SIG_BLOCK, &stop, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

bool console_interrupted(void)
{
	sigset_t pending;

	if (interrupted)
		return true;
	sigpending(&pending);
	return sigismember(&pending, SIGINT) || sigismember(&pending, SIGTERM);
}

void console_release_interrupt(void)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, usual = { .sa_handler = SIG_DFL };
	sigset_t stop;

	/* One that waits has been answered by now: ignoring it takes it away. */
	sigaction(SIGINT, &ignore, NULL);
	sigaction(SIGTERM, &ignore, NULL);
	stop_signals(&stop);
	sigprocmask(SIG_UNBLOCK, &stop, NULL);
	sigaction(SIGINT, &usual, NULL);
	sigaction(SIGTERM, &usual, NULL);
}

uint64_t console_now(void)
{
	return (uint64_t)time(NULL);
}

void console_local_time(uint64_t unix_s, char *out, size_t size)
{
	time_t when = (time_t)unix_s;
	struct tm broken;

	if (!localtime_r(&when, &broken) || !strftime(out, size, "%Y-%m-%d %H:%M:%S", &broken))
		snprintf(out, size, "?");
}
