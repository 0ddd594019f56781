/* SPDX-License-Identifier: MIT */
/* Names of processes that outlive a daemon. Called by leftovers.c, main thread, and by the spawner. */
#include "client/daemon/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool read_small(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len;

	if (fd < 0)
		return false;
	len = read(fd, out, size - 1);
	close(fd);
	if (len <= 0)
		return false;
	out[len] = 0;
	return true;
}

uint64_t process_stat_start_time(const char *text)
{
	const char *p = strrchr(text, ')');
	unsigned long long value;
	char *end;
	int field;

	/* A process that only waits to be reaped is none. */
	if (!p || p[1] != ' ' || p[2] == 'Z' || p[2] == 'X')
		return 0;
	/* p stands at the end of field 2; field 22 is 20 blanks later. */
	for (field = 2; field < 22; field++) {
		p = strchr(p + 1, ' ');
		if (!p)
			return 0;
	}
	if (p[1] < '0' || p[1] > '9')
		return 0;
	errno = 0;
	value = strtoull(p + 1, &end, 10);
	return errno || (*end != ' ' && *end != '\n' && *end) ? 0 : value;
}

uint64_t process_start_time(pid_t pid)
{
	char path[40], text[1024];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	return read_small(path, text, sizeof(text)) ? process_stat_start_time(text) : 0;
}

uint64_t process_cpu_ms(pid_t pid)
{
	char path[40], text[1024];
	const char *p;
	unsigned long long user, system;
	long ticks = sysconf(_SC_CLK_TCK);
	int field;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (ticks <= 0 || !read_small(path, text, sizeof(text)))
		return 0;
	p = strrchr(text, ')');
	for (field = 2; p && field < 14; field++)
		p = strchr(p + 1, ' ');
	if (!p || sscanf(p, "%llu %llu", &user, &system) != 2)
		return 0;
	return (user + system) * 1000 / (unsigned long)ticks;
}

void process_boot_id(char out[BOOT_ID_LEN])
{
	if (!read_small("/proc/sys/kernel/random/boot_id", out, BOOT_ID_LEN))
		out[0] = 0;
	out[strcspn(out, "\n")] = 0;
}

bool process_end(pid_t pid, uint64_t start_time, int wait_ms)
{
	static const int signals[] = { SIGTERM, SIGKILL };
	bool gone = false;
	size_t i;
	int fd;

	if (pid <= 1 || start_time == 0)
		return true;
	fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (fd < 0)
		return errno == ESRCH;
	/* Only now, with the descriptor held, does the comparison mean anything. */
	if (process_start_time(pid) != start_time)
		gone = true;
	for (i = 0; i < 2 && !gone; i++) {
		struct pollfd wait = { .fd = fd, .events = POLLIN };

		syscall(SYS_pidfd_send_signal, fd, signals[i], NULL, 0);
		gone = poll(&wait, 1, wait_ms) > 0;
	}
	close(fd);
	return gone;
}
