/* SPDX-License-Identifier: MIT */
/* Limits of this process. Source: getrlimit(2). */
#include "core/port/process.h"

#include <sys/resource.h>

/* What select(2) and POSIX let everybody count on. */
#define HANDLES_SURE 256

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
