/* SPDX-License-Identifier: MIT */
/* Limits of this process, and what it was started with. Source: getrlimit(2), sd_listen_fds(3). */
#include "core/port/process.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* What select(2) and POSIX let everybody count on. */
#define HANDLES_SURE 256
/* Of sockets that are handed over. */
#define GIVEN_FIRST 3
#define GIVEN_MAX 64

size_t process_allow_handles(size_t wanted)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return HANDLES_SURE;
	if (limit.rlim_cur >= wanted)
		return wanted;
	limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
	if (setrlimit(RLIMIT_NOFILE, &limit) < 0 && getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return HANDLES_SURE;
	return limit.rlim_cur;
}

void process_allow_locked_memory(void)
{
	const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };

	(void)setrlimit(RLIMIT_MEMLOCK, &all);
}

size_t process_given_sockets(int *first)
{
	const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
	long given = pid && count && strtol(pid, NULL, 10) == (long)getpid() ? strtol(count, NULL, 10) : 0;

	/* Not for children. */
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	if (given < 1 || given > GIVEN_MAX)
		return 0;
	*first = GIVEN_FIRST;
	return (size_t)given;
}
