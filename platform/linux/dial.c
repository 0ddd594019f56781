/* SPDX-License-Identifier: MIT */
/* Non-blocking connects with a time limit. The front's thread. Source: RFC 8305, connect(2). */
#include "platform/linux/dial.h"

#include "platform/linux/sockets.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define DIALS_MAX 256
#define DIAL_LIMIT_MS 10000
/* RFC 8305: "Connection Attempt Delay", recommended value. */
#define HEAD_START_MS 250

struct dial {
	struct dial *next;
	uint8_t public_key[DIAL_KEY_LEN];
	uint64_t attempt;
	uint32_t mark;
	bool further;
	struct mono limit, next_start;
	size_t count, started; /* endpoints; how many of them have been begun */
	int error;
	struct endpoint endpoints[DIAL_ENDPOINTS_MAX];
	int fds[DIAL_ENDPOINTS_MAX]; /* -1: not begun, or failed */
};

struct dialler {
	int epoll; /* only to wake up: what is ready is asked of each dial */
	size_t count;
	struct dial *dials;
};

int dialler_open(struct dialler **out)
{
	struct dialler *dialler = calloc(1, sizeof(*dialler));

	if (!dialler)
		return -ENOMEM;
	dialler->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (dialler->epoll < 0) {
		int err = -errno;
		free(dialler);
		return err;
	}
	*out = dialler;
	return 0;
}

static void dial_free(struct dialler *dialler, struct dial *dial)
{
	struct dial **at = &dialler->dials;

	while (*at != dial)
		at = &(*at)->next;
	*at = dial->next;
	dialler->count--;
	for (size_t i = 0; i < dial->count; i++)
		if (dial->fds[i] >= 0)
			close(dial->fds[i]);
	free(dial);
}

void dial_cancel_all(struct dialler *dialler)
{
	while (dialler->dials)
		dial_free(dialler, dialler->dials);
}

void dialler_close(struct dialler *dialler)
{
	if (!dialler)
		return;
	dial_cancel_all(dialler);
	close(dialler->epoll);
	free(dialler);
}

int dialler_handle(const struct dialler *dialler)
{
	return dialler->epoll;
}

struct mono dialler_deadline(const struct dialler *dialler)
{
	struct mono deadline = MONO_NEVER;

	for (const struct dial *dial = dialler->dials; dial; dial = dial->next) {
		deadline = mono_min(deadline, dial->limit);
		if (dial->started < dial->count)
			deadline = mono_min(deadline, dial->next_start);
	}
	return deadline;
}

static int start(struct dialler *dialler, const uint8_t public_key[DIAL_KEY_LEN], uint64_t attempt,
	const struct endpoint *endpoints, size_t count, uint32_t mark, bool further, struct mono now)
{
	if (count == 0)
		return -EDESTADDRREQ;
	if (count > DIAL_ENDPOINTS_MAX)
		count = DIAL_ENDPOINTS_MAX;
	if (dialler->count == DIALS_MAX)
		return -EBUSY;
	struct dial *dial = calloc(1, sizeof(*dial));
	if (!dial)
		return -ENOMEM;
	memcpy(dial->public_key, public_key, DIAL_KEY_LEN);
	memcpy(dial->endpoints, endpoints, count * sizeof(*endpoints));
	memset(dial->fds, -1, sizeof(dial->fds));
	dial->attempt = attempt;
	dial->mark = mark;
	dial->further = further;
	dial->count = count;
	dial->limit = mono_add_ms(now, DIAL_LIMIT_MS);
	dial->next_start = now;
	dial->next = dialler->dials;
	dialler->dials = dial;
	dialler->count++;
	return 0;
}

int dial_start(struct dialler *dialler, const uint8_t public_key[DIAL_KEY_LEN], uint64_t attempt,
	const struct endpoint *endpoints, size_t count, uint32_t mark, struct mono now)
{
	for (struct dial *old = dialler->dials; old && count; old = old->next)
		if (!old->further && memcmp(old->public_key, public_key, DIAL_KEY_LEN) == 0) {
			dial_free(dialler, old);
			break;
		}
	return start(dialler, public_key, attempt, endpoints, count, mark, false, now);
}

int dial_start_further(struct dialler *dialler, const uint8_t public_key[DIAL_KEY_LEN], uint64_t attempt,
	const struct endpoint *endpoints, size_t count, uint32_t mark, struct mono now)
{
	return start(dialler, public_key, attempt, endpoints, count, mark, true, now);
}

void dial_cancel(struct dialler *dialler, const uint8_t public_key[DIAL_KEY_LEN], uint64_t attempt)
{
	for (struct dial *dial = dialler->dials; dial; dial = dial->next)
		if (dial->attempt == attempt && memcmp(dial->public_key, public_key, DIAL_KEY_LEN) == 0) {
			dial_free(dialler, dial);
			return;
		}
}

/* Begins the next endpoint. */
static void begin(struct dialler *dialler, struct dial *dial, struct mono now)
{
	size_t i = dial->started++;
	struct epoll_event event = { .events = EPOLLOUT };
	int err = socket_connect(&dial->endpoints[i], dial->mark, &dial->fds[i]);

	if (!err && epoll_ctl(dialler->epoll, EPOLL_CTL_ADD, dial->fds[i], &event) < 0) {
		err = -errno;
		close(dial->fds[i]);
		dial->fds[i] = -1;
	}
	if (err)
		dial->error = -err;
	/* After a failure the next one goes at once. */
	dial->next_start = err ? now : mono_add_ms(now, HEAD_START_MS);
}

/* The connected descriptor, or -1; failed ones are closed and *failed is set. */
static int look(struct dial *dial, bool *failed)
{
	struct pollfd polls[DIAL_ENDPOINTS_MAX];
	int connected = -1;

	for (size_t i = 0; i < dial->count; i++)
		polls[i] = (struct pollfd){ .fd = dial->fds[i], .events = POLLOUT };
	if (poll(polls, dial->count, 0) <= 0)
		return -1;
	for (size_t i = 0; i < dial->count && connected < 0; i++) {
		int error = 0;
		socklen_t len = sizeof(error);

		if (dial->fds[i] < 0 || !polls[i].revents)
			continue;
		if (getsockopt(dial->fds[i], SOL_SOCKET, SO_ERROR, &error, &len) < 0)
			error = errno;
		if (error || (polls[i].revents & POLLHUP)) {
			dial->error = error ? error : ECONNRESET;
			close(dial->fds[i]);
			dial->fds[i] = -1;
			*failed = true;
		} else {
			connected = dial->fds[i];
			dial->fds[i] = -1;
		}
	}
	return connected;
}

static bool all_failed(const struct dial *dial)
{
	for (size_t i = 0; i < dial->count; i++)
		if (dial->fds[i] >= 0)
			return false;
	return dial->started == dial->count;
}

/* True when the dial has ended. */
static bool step(struct dialler *dialler, struct dial *dial, struct mono now, int *fd)
{
	bool failed = false;

	*fd = look(dial, &failed);
	if (*fd >= 0) {
		epoll_ctl(dialler->epoll, EPOLL_CTL_DEL, *fd, NULL);
		return true;
	}
	if (failed)
		dial->next_start = now;
	while (dial->started < dial->count && mono_reached(now, dial->next_start))
		begin(dialler, dial, now);
	if (mono_reached(now, dial->limit)) {
		dial->error = ETIMEDOUT;
		return true;
	}
	return all_failed(dial);
}

bool dial_next(struct dialler *dialler, struct mono now, struct dial_result *out)
{
	for (struct dial *dial = dialler->dials; dial; dial = dial->next) {
		int fd;

		if (!step(dialler, dial, now, &fd))
			continue;
		memcpy(out->public_key, dial->public_key, DIAL_KEY_LEN);
		out->attempt = dial->attempt;
		out->fd = fd;
		out->error = fd >= 0 ? 0 : dial->error;
		dial_free(dialler, dial);
		return true;
	}
	return false;
}
