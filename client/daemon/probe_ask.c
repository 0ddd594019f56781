/* SPDX-License-Identifier: MIT */
/* Questions to the daemon. Used by probe_look_up.c and probe_fetch.c. */
#include "client/daemon/probe_ask.h"
#include "client/daemon/probe.h"
#include "core/port/rights.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

static int handle = -1;

void probe_ask_open(int questions)
{
	handle = questions;
}

int probe_ask(uint32_t id, int family, bool stream)
{
	struct probe_question question = { id, family == AF_INET ? IP_V4 : IP_V6, stream };
	int32_t error = 0;
	int fd;

	if (family != AF_INET && family != AF_INET6)
		return -EAFNOSUPPORT;
	if (send(handle, &question, sizeof(question), MSG_NOSIGNAL) != (ssize_t)sizeof(question))
		_exit(0);
	if (rights_receive(handle, &error, sizeof(error), &fd, true, NULL) != (long)sizeof(error))
		_exit(0);
	if (fd >= 0)
		return fd;
	return error > 0 ? -error : -EIO;
}
