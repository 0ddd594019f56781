/* SPDX-License-Identifier: MIT */
/* Holds the numbers of closed standard streams. Each program calls it first; its only thread. Source:
 * open(2), "the lowest-numbered file descriptor not currently open". */
#include "core/port/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

void streams_hold(void)
{
	/* Opened the wrong way round: to read or write fails as it would on a closed one. */
	static const int ways[] = { O_WRONLY, O_RDONLY, O_RDONLY };
	int stream;

	for (stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
		if (fcntl(stream, F_GETFD) < 0 && errno == EBADF && open("/dev/null", ways[stream]) != stream)
			return; /* a system without /dev/null has worse troubles */
}
