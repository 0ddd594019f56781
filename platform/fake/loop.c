/* SPDX-License-Identifier: MIT */
/* Readiness, worked out by looking. Never waits: whoever drives the world moves the clock. */
#include "platform/fake/internal.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int loop_open(struct loop **out)
{
	(void)out;
	return -ENOSYS; /* a host has its loop: host_loop */
}

void loop_close(struct loop *loop)
{
	(void)loop;
}

static int watch(struct loop *loop, enum object_kind kind, void *object, uint32_t what, void *token)
{
	size_t i;

	for (i = 0; i < loop->count && loop->watches[i].object != object; i++)
		;
	if (what || (i < loop->count && token)) {
		assert(i < FAKE_WATCHES_MAX);
		if (i == loop->count)
			loop->count++;
		loop->watches[i] = (struct watch){ kind, object, what, token };
	} else if (i < loop->count) {
		loop->watches[i] = loop->watches[--loop->count];
	}
	return 0;
}

int loop_watch_tun(struct loop *loop, struct tun *tun, uint32_t what, void *token)
{
	return watch(loop, OBJECT_TUN, tun, what, token);
}

int loop_watch_udp(struct loop *loop, struct udp *udp, uint32_t what, void *token)
{
	return watch(loop, OBJECT_UDP, udp, what, token);
}

int loop_watch_tcp(struct loop *loop, struct tcp *tcp, uint32_t what, void *token)
{
	return watch(loop, OBJECT_TCP, tcp, what, token);
}

int loop_watch_listener(struct loop *loop, struct tcp_listener *listener, uint32_t what, void *token)
{
	return watch(loop, OBJECT_LISTENER, listener, what, token);
}

int loop_watch_seam(struct loop *loop, struct seam *seam, uint32_t what, void *token)
{
	return watch(loop, OBJECT_SEAM, seam, what, token);
}

int loop_watch_datagram(struct loop *loop, struct datagram *datagram, uint32_t what, void *token)
{
	return watch(loop, OBJECT_DATAGRAM, datagram, what, token);
}

int loop_watch_control(struct loop *loop, struct control *control, uint32_t what, void *token)
{
	return watch(loop, OBJECT_CONTROL, control, what, token);
}

uint32_t object_ready(const struct watch *watch)
{
	const struct tcp *tcp = watch->object;
	uint32_t what = 0;

	switch (watch->kind) {
	case OBJECT_TUN:
		what = ((const struct tun *)watch->object)->to_engine.count ? LOOP_READ : 0u;
		break;
	case OBJECT_UDP:
		what = LOOP_WRITE | (((const struct udp *)watch->object)->in.count ? LOOP_READ : 0u);
		if (((const struct udp *)watch->object)->error.waiting)
			return LOOP_ERROR;
		break;
	case OBJECT_TCP:
		what = (tcp->in.count || tcp->ended || tcp->reset || tcp->timed_out ? LOOP_READ : 0u) |
			(tcp->out.len < FAKE_STREAM_ROOM ? LOOP_WRITE : 0u);
		break;
	case OBJECT_LISTENER:
		what = ((const struct tcp_listener *)watch->object)->backlog ? LOOP_READ : 0u;
		break;
	case OBJECT_SEAM:
		what = ((const struct seam *)watch->object)->down ? LOOP_READ : 0u;
		break;
	case OBJECT_CONTROL:
		what = LOOP_WRITE | (((const struct control *)watch->object)->to_engine.count ? LOOP_READ : 0u);
		break;
	case OBJECT_DATAGRAM:
		what = LOOP_WRITE | (((const struct datagram *)watch->object)->in.count ||
							((const struct datagram *)watch->object)->error
						? LOOP_READ
						: 0u);
		break;
	case OBJECT_FREE:
		break;
	}
	return what & watch->what;
}

bool host_ready(const struct host *host)
{
	for (size_t i = 0; i < host->loop.count; i++)
		if (object_ready(&host->loop.watches[i]))
			return true;
	return false;
}

int loop_wait(struct loop *loop, struct mono deadline, struct loop_ready *out, size_t max)
{
	size_t count = 0;

	(void)deadline;
	/* Starts elsewhere each time, so that a busy port starves nobody when there are more than max. */
	for (size_t i = 0; i < loop->count && count < max; i++) {
		const struct watch *watched = &loop->watches[(loop->start + i) % loop->count];
		uint32_t what = object_ready(watched);

		if (what)
			out[count++] = (struct loop_ready){ watched->token, what };
	}
	loop->start++;
	return (int)count;
}
