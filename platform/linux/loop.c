/* SPDX-License-Identifier: MIT */
/* Waiting with epoll. The engine's thread.
 *
 * TUN and UDP ports may hold packets of a burst that the kernel has already given out; epoll knows nothing of
 * them, so the loop asks these ports itself before it sleeps. */
#include "core/port/loop.h"

#include "platform/linux/handles.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#define HOLDERS_MAX 16
#define EVENTS_MAX 64

struct holder {
	const struct tun *tun;
	const struct udp *udp;
	void *token;
};

struct loop {
	int epoll;
	size_t holder_count;
	struct holder holders[HOLDERS_MAX]; /* the ports watched for reading that may hold packets */
};

int loop_open(struct loop **out)
{
	struct loop *loop = calloc(1, sizeof(*loop));

	if (!loop)
		return -ENOMEM;
	loop->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (loop->epoll < 0) {
		int err = -errno;
		free(loop);
		return err;
	}
	*out = loop;
	return 0;
}

void loop_close(struct loop *loop)
{
	if (!loop)
		return;
	close(loop->epoll);
	free(loop);
}

static int watch(struct loop *loop, int fd, uint32_t what, void *token)
{
	struct epoll_event event = { .events = (what & LOOP_READ ? EPOLLIN : 0u) |
					       (what & LOOP_WRITE ? EPOLLOUT : 0u) |
					       (what & LOOP_ERROR ? EPOLLERR : 0u),
		.data.ptr = token };

	if (!what)
		return epoll_ctl(loop->epoll, EPOLL_CTL_DEL, fd, NULL) == 0 || errno == ENOENT ? 0 : -errno;
	if (epoll_ctl(loop->epoll, EPOLL_CTL_MOD, fd, &event) == 0)
		return 0;
	if (errno == ENOENT && epoll_ctl(loop->epoll, EPOLL_CTL_ADD, fd, &event) == 0)
		return 0;
	return -errno;
}

static void holder_remove(struct loop *loop, const struct tun *tun, const struct udp *udp)
{
	for (size_t i = 0; i < loop->holder_count; i++)
		if (loop->holders[i].tun == tun && loop->holders[i].udp == udp) {
			loop->holders[i] = loop->holders[--loop->holder_count];
			return;
		}
}

static int holder_set(
	struct loop *loop, const struct tun *tun, const struct udp *udp, uint32_t what, void *token)
{
	holder_remove(loop, tun, udp);
	if (!(what & LOOP_READ))
		return 0;
	if (loop->holder_count == HOLDERS_MAX)
		return -ENOSPC;
	loop->holders[loop->holder_count++] = (struct holder){ tun, udp, token };
	return 0;
}

int loop_watch_tun(struct loop *loop, struct tun *tun, uint32_t what, void *token)
{
	int err = holder_set(loop, tun, NULL, what, token);

	return err ? err : watch(loop, tun_descriptor(tun), what, token);
}

int loop_watch_udp(struct loop *loop, struct udp *udp, uint32_t what, void *token)
{
	int err = holder_set(loop, NULL, udp, what, token);

	return err ? err : watch(loop, udp_descriptor(udp), what, token);
}

int loop_watch_tcp(struct loop *loop, struct tcp *tcp, uint32_t what, void *token)
{
	return watch(loop, tcp_descriptor(tcp), what, token);
}

int loop_watch_listener(struct loop *loop, struct tcp_listener *listener, uint32_t what, void *token)
{
	return watch(loop, tcp_listener_descriptor(listener), what, token);
}

int loop_watch_seam(struct loop *loop, struct seam *seam, uint32_t what, void *token)
{
	return watch(loop, seam_descriptor(seam), what, token);
}

int loop_watch_control(struct loop *loop, struct control *control, uint32_t what, void *token)
{
	return watch(loop, control_descriptor(control), what, token);
}

int loop_watch_datagram(struct loop *loop, struct datagram *datagram, uint32_t what, void *token)
{
	return watch(loop, datagram_descriptor(datagram), what, token);
}

static bool holds(const struct holder *holder)
{
	return holder->tun ? tun_holds_packets(holder->tun) : udp_holds_datagrams(holder->udp);
}

/* Puts the ports that hold packets in, or adds LOOP_READ where epoll named them for something else. */
static size_t add_holders(const struct loop *loop, struct loop_ready *out, size_t count, size_t max)
{
	for (size_t i = 0; i < loop->holder_count; i++) {
		size_t at = 0;

		if (!holds(&loop->holders[i]))
			continue;
		while (at < count && out[at].token != loop->holders[i].token)
			at++;
		if (at < count)
			out[at].what |= LOOP_READ;
		else if (count < max)
			out[count++] = (struct loop_ready){ loop->holders[i].token, LOOP_READ };
	}
	return count;
}

static bool any_holds(const struct loop *loop)
{
	for (size_t i = 0; i < loop->holder_count; i++)
		if (holds(&loop->holders[i]))
			return true;
	return false;
}

/* -1: no limit. Rounded up, so that the deadline has come when the wait ends. */
static int timeout_ms(struct mono deadline)
{
	struct timespec ts;

	if (deadline.ns == MONO_NEVER.ns)
		return -1;
	clock_gettime(CLOCK_BOOTTIME, &ts);
	uint64_t now_ns = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
	if (deadline.ns <= now_ns)
		return 0;
	uint64_t ms = (deadline.ns - now_ns + 999999) / 1000000;
	/* epoll counts no sleep; after a minute at most the caller looks at its clock again. */
	return ms > 60000 ? 60000 : (int)ms;
}

int loop_wait(struct loop *loop, struct mono deadline, struct loop_ready *out, size_t max)
{
	struct epoll_event events[EVENTS_MAX];
	size_t count = 0;

	if (max == 0)
		return -EINVAL;
	int n = epoll_wait(loop->epoll, events, max < EVENTS_MAX ? (int)max : EVENTS_MAX,
		any_holds(loop) ? 0 : timeout_ms(deadline));
	if (n < 0 && errno != EINTR)
		return -errno;
	for (int i = 0; i < n; i++) {
		uint32_t e = events[i].events;
		/* A peer's hang-up is read as the end of the stream. */
		out[count++] = (struct loop_ready){ events[i].data.ptr,
			(e & (EPOLLIN | EPOLLHUP) ? LOOP_READ : 0u) | (e & EPOLLOUT ? LOOP_WRITE : 0u) |
				(e & EPOLLERR ? LOOP_ERROR : 0u) };
	}
	return (int)add_holders(loop, out, count, max);
}
