/* SPDX-License-Identifier: MIT */
/* core/port/ipc.h over a unix stream socket. Used by wgtcp-cli, on its one thread. */
#include "core/port/ipc.h"
#include "core/port/handover.h"
#include "core/port/rights.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

struct ipc {
	int fd;
	int handle; /* came beside the bytes, and is not taken yet; -1: none */
};

const char *ipc_default_path(void)
{
	return "/run/wgtcp/wgtcpd.sock";
}

int ipc_connect(const char *path, struct ipc **out)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct ipc *ipc;
	struct stat file;
	int err;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, strlen(path) + 1);
	ipc = malloc(sizeof(*ipc));
	if (!ipc)
		return -ENOMEM;
	ipc->handle = -1;
	ipc->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	/* A unix socket connects at once, or waits only while the daemon's backlog is full. */
	if (ipc->fd < 0 || connect(ipc->fd, (const struct sockaddr *)&address, sizeof(address))) {
		err = -errno;
		/* The kernel says the same of a file that is no socket; nobody may take that for a daemon's
		 * old one. */
		if (err == -ECONNREFUSED && !stat(path, &file) && !S_ISSOCK(file.st_mode))
			err = -ENOTSOCK;
		ipc_close(ipc);
		return err;
	}
	*out = ipc;
	return 0;
}

void ipc_close(struct ipc *ipc)
{
	if (!ipc)
		return;
	handover_close(ipc->handle);
	if (ipc->fd >= 0)
		close(ipc->fd);
	free(ipc);
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Waits for events. console.c keeps SIGINT and SIGTERM blocked outside of this wait, so that none is lost
 * between a look at the flag and the wait; interruptible lets them in. */
static int wait_for(struct ipc *ipc, short events, uint32_t *left_ms, bool interruptible)
{
	struct pollfd pollfd = { .fd = ipc->fd, .events = events };
	struct timespec timeout = { .tv_sec = *left_ms / 1000, .tv_nsec = (long)(*left_ms % 1000) * 1000000 };
	uint64_t start = now_ms(), passed;
	sigset_t mask;
	int ready, err;

	sigprocmask(SIG_SETMASK, NULL, &mask);
	if (interruptible) {
		sigdelset(&mask, SIGINT);
		sigdelset(&mask, SIGTERM);
	}
	ready = ppoll(&pollfd, 1, *left_ms == IPC_FOREVER ? NULL : &timeout, &mask);
	err = ready < 0 ? -errno : ready == 0 ? -ETIMEDOUT : 0;
	passed = now_ms() - start;
	if (*left_ms != IPC_FOREVER)
		*left_ms -= passed < *left_ms ? (uint32_t)passed : *left_ms;
	return err;
}

int ipc_send(struct ipc *ipc, const char *bytes, size_t len, uint32_t *left_ms)
{
	while (len) {
		ssize_t sent = send(ipc->fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (sent >= 0) {
			bytes += sent;
			len -= (size_t)sent;
		} else if (errno == EAGAIN) {
			int err = wait_for(ipc, POLLOUT, left_ms, false);

			if (err && err != -EINTR)
				return err;
		} else if (errno != EINTR) {
			return errno == ECONNRESET ? -EPIPE : -errno;
		}
	}
	return 0;
}

long ipc_receive(struct ipc *ipc, char *out, size_t size, uint32_t *left_ms)
{
	for (;;) {
		int err = wait_for(ipc, POLLIN, left_ms, true), handle;
		long got;

		if (err)
			return err;
		got = rights_receive(ipc->fd, out, size, &handle, false, NULL);
		if (handle >= 0) {
			handover_close(ipc->handle);
			ipc->handle = handle;
		}
		if (got >= 0)
			return got;
		if (got == -ECONNRESET)
			return 0;
		if (got != -EAGAIN)
			return got;
	}
}

int ipc_take_text(struct ipc *ipc, size_t len, char **text)
{
	int handle = ipc->handle;

	if (handle < 0)
		return -EPROTO;
	ipc->handle = -1;
	return handover_take(handle, len, text);
}
