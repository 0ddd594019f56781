/* SPDX-License-Identifier: MIT */
/* Called by main, before there are threads. */
#include "client/daemon/background.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int background_enter(int *ready)
{
	int ends[2];
	pid_t child;
	char byte;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return -errno;
	child = fork();
	if (child < 0)
		return -errno;
	if (child > 0) {
		ssize_t n;

		close(ends[1]);
		do
			n = read(ends[0], &byte, 1);
		while (n < 0 && errno == EINTR);
		_exit(n == 1 ? 0 : 1); /* it has said why */
	}
	close(ends[0]);
	if (setsid() < 0)
		return -errno;
	*ready = ends[1];
	return 0;
}

void background_ready(int ready)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null >= 0) {
		dup2(null, 0);
		dup2(null, 1);
		dup2(null, 2);
		close(null);
	}
	(void)!write(ready, "", 1);
	close(ready);
}
