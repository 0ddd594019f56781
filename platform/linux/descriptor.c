/* SPDX-License-Identifier: MIT */
/* What each adopted descriptor needs, wherever it came from. */
#include "platform/linux/handles.h"

#include <errno.h>
#include <fcntl.h>

int descriptor_prepare(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
		return -errno;
	return 0;
}
