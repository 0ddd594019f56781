/* SPDX-License-Identifier: MIT */
/* What a relay beside a kernel client is given: sockets by its seam, and streams that were dialled for it.
 * The daemon's thread. */
#include "core/port/relay_front.h"

#include "core/port/clock.h"
#include "platform/linux/dial.h"
#include "platform/linux/handles.h"
#include "platform/linux/seam_handle.h"
#include "platform/linux/sockaddr.h"
#include "platform/linux/sockets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define BUFFER_BYTES (4 * 1024 * 1024)

struct relay_front {
	int epoll, timer;
	struct seam *seam;
	struct dialler *dialler;
	bool gone;
};

static int watch(struct relay_front *front, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	return epoll_ctl(front->epoll, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

static int open_seam(struct relay_front *front, int *relay_handle)
{
	int ends[2], err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
		return -errno;
	err = seam_adopt(ends[0], &front->seam);
	if (!err)
		err = watch(front, ends[0]);
	if (err) {
		close(ends[1]);
		return err;
	}
	*relay_handle = ends[1];
	return 0;
}

int relay_front_open(struct relay_front **out, int *relay_handle)
{
	struct relay_front *front = calloc(1, sizeof(*front));
	int err;

	if (!front)
		return -ENOMEM;
	front->epoll = epoll_create1(EPOLL_CLOEXEC);
	front->timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	err = front->epoll < 0 || front->timer < 0 ? -errno : dialler_open(&front->dialler);
	if (!err)
		err = watch(front, front->timer);
	if (!err)
		err = watch(front, dialler_handle(front->dialler));
	if (!err)
		err = open_seam(front, relay_handle);
	if (err) {
		relay_front_close(front);
		return err;
	}
	*out = front;
	return 0;
}

void relay_front_close(struct relay_front *front)
{
	if (!front)
		return;
	if (front->seam) {
		(void)seam_send(front->seam, &(struct seam_message){ .kind = SEAM_STOP });
		seam_close(front->seam);
	}
	dialler_close(front->dialler);
	if (front->timer >= 0)
		close(front->timer);
	if (front->epoll >= 0)
		close(front->epoll);
	free(front);
}

int relay_front_handle(const struct relay_front *front)
{
	return front->epoll;
}

/* ---- what comes ---- */

static void arm_timer(struct relay_front *front)
{
	struct mono deadline = dialler_deadline(front->dialler);
	struct itimerspec when = { 0 };

	if (deadline.ns != MONO_NEVER.ns) {
		when.it_value.tv_sec = (time_t)(deadline.ns / 1000000000u);
		when.it_value.tv_nsec = (long)(deadline.ns % 1000000000u);
	}
	/* Also clears an expiry that was waiting. */
	timerfd_settime(front->timer, TFD_TIMER_ABSTIME, &when, NULL);
}

/* True: *out is an event. A relay may have been taken over: what is not its to say is not listened to. It
 * asks to dial as soon as it has no stream; when that is worth while is the caller's to know. */
static bool take(const struct seam_message *message, struct relay_front_event *out)
{
	*out = (struct relay_front_event){ .kind = RELAY_FRONT_NOTHING };
	memcpy(out->public_key, message->public_key, sizeof(out->public_key));
	if (message->kind == SEAM_RELAY_SEEN) {
		out->kind = RELAY_FRONT_SEEN;
		out->seen = relay_seen_read(message);
	} else if (message->kind == SEAM_RELAY_NEWS && message->value >= RELAY_NEWS_TCP_CONNECTED &&
		   message->value <= RELAY_NEWS_NO_ROOM) {
		out->kind = RELAY_FRONT_NEWS;
		out->news = (enum relay_news)message->value;
		out->rtt_us = (uint32_t)message->attempt;
	}
	return out->kind != RELAY_FRONT_NOTHING;
}

static bool pump_seam(struct relay_front *front, struct relay_front_event *out)
{
	while (!front->gone) {
		struct seam_message message;
		int handle, err = seam_receive(front->seam, &message, &handle);

		if (err == -EAGAIN)
			return false;
		if (err) {
			/* Told once; and it is no longer asked, so that it does not stay ready. */
			epoll_ctl(front->epoll, EPOLL_CTL_DEL, seam_descriptor(front->seam), NULL);
			front->gone = true;
			dial_cancel_all(front->dialler);
			*out = (struct relay_front_event){ .kind = RELAY_FRONT_GONE };
			return true;
		}
		if (handle >= 0)
			close(handle); /* nothing comes up with a descriptor */
		if (take(&message, out))
			return true;
	}
	return false;
}

static bool pump_dials(struct relay_front *front, struct relay_front_event *out)
{
	struct dial_result result;

	while (dial_next(front->dialler, clock_now(NULL), &result)) {
		struct seam_message message = { .kind = SEAM_CONNECTED };
		int err = -result.error;

		memcpy(message.public_key, result.public_key, sizeof(message.public_key));
		if (result.fd >= 0) {
			err = seam_send_handle(front->seam, &message, result.fd);
			close(result.fd);
		}
		if (!err)
			continue;
		*out = (struct relay_front_event){ .kind = RELAY_FRONT_DIAL_FAILED, .error = -err };
		memcpy(out->public_key, result.public_key, sizeof(out->public_key));
		return true;
	}
	return false;
}

int relay_front_turn(struct relay_front *front, struct relay_front_event *out)
{
	if (pump_seam(front, out) || pump_dials(front, out))
		return 1;
	arm_timer(front);
	return 0;
}

/* ---- what is given ---- */

static int say(struct relay_front *front, enum seam_kind kind, const uint8_t public_key[32], uint32_t value,
	int handle)
{
	struct seam_message message = { .kind = kind, .value = value };

	if (front->gone)
		return -EPIPE;
	memcpy(message.public_key, public_key, sizeof(message.public_key));
	return seam_send_handle(front->seam, &message, handle);
}

static int open_udp(int family)
{
	int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int size = BUFFER_BYTES;

	if (fd < 0)
		return -errno;
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
	return fd;
}

static int connect_to(int fd, const struct endpoint *remote)
{
	union sockaddr_any address;
	socklen_t len = sockaddr_from_endpoint(&address, remote);

	return connect(fd, &address.any, len) < 0 ? -errno : 0;
}

/* On 127.0.0.1 with this port, or any for 0. */
static int bind_loopback(int fd, uint16_t *port)
{
	struct endpoint local = { .address = { IP_V4, { 127, 0, 0, 1 } }, .port = *port };
	union sockaddr_any address;
	socklen_t len = sockaddr_from_endpoint(&address, &local);
	int on = 1;

	/* The relay may still hold the one before, which is connected to another port of the kernel's. */
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 || bind(fd, &address.any, len) < 0)
		return -errno;
	len = sizeof(address);
	if (getsockname(fd, &address.any, &len) < 0)
		return -errno;
	*port = sockaddr_to_endpoint(&address).port;
	return 0;
}

int relay_front_peer(struct relay_front *front, const uint8_t public_key[32], uint16_t kernel_port,
	uint16_t *loopback_port)
{
	const struct endpoint kernel = { .address = { IP_V4, { 127, 0, 0, 1 } }, .port = kernel_port };
	uint16_t port = *loopback_port;
	int fd = open_udp(AF_INET), err;

	if (fd < 0)
		return fd;
	err = bind_loopback(fd, &port);
	if (!err)
		err = connect_to(fd, &kernel);
	if (!err)
		err = say(front, SEAM_RELAY_PEER, public_key, 0, fd);
	close(fd);
	if (!err)
		*loopback_port = port;
	return err;
}

int relay_front_udp(
	struct relay_front *front, const uint8_t public_key[32], const struct endpoint *remote, uint32_t mark)
{
	int fd, err;

	if (!remote)
		return say(front, SEAM_RELAY_UDP, public_key, 0, -1);
	fd = open_udp(remote->address.family == IP_V6 ? AF_INET6 : AF_INET);
	if (fd < 0)
		return fd;
	err = mark && setsockopt(fd, SOL_SOCKET, SO_MARK, &mark, sizeof(mark)) < 0 ? -errno : 0;
	if (!err)
		err = connect_to(fd, remote);
	if (!err)
		err = say(front, SEAM_RELAY_UDP, public_key, 0, fd);
	close(fd);
	return err;
}

int relay_front_use(struct relay_front *front, const uint8_t public_key[32], enum relay_use use)
{
	return say(front, SEAM_RELAY_USE, public_key, use, -1);
}

int relay_front_dial(struct relay_front *front, const uint8_t public_key[32],
	const struct endpoint *endpoints, size_t count, uint32_t mark)
{
	int err;

	if (front->gone)
		return -EPIPE;
	err = dial_start(front->dialler, public_key, 0, endpoints, count, mark, clock_now(NULL));
	if (!err) {
		/* Due at once: what is ready is found in the next turn. */
		struct itimerspec soon = { .it_value.tv_nsec = 1 };

		timerfd_settime(front->timer, 0, &soon, NULL);
	}
	return err;
}

int relay_front_hang_up(struct relay_front *front, const uint8_t public_key[32])
{
	dial_cancel(front->dialler, public_key, 0);
	return say(front, SEAM_RELAY_CLOSE, public_key, 0, -1);
}

int relay_front_drop(struct relay_front *front, const uint8_t public_key[32])
{
	dial_cancel(front->dialler, public_key, 0);
	return say(front, SEAM_RELAY_PEER, public_key, 0, -1);
}

uint16_t relay_front_free_port(uint32_t mark)
{
	struct socket_pair pair;
	uint16_t port;

	if (sockets_open_udp(0, mark, &pair))
		return 0;
	port = pair.port;
	sockets_close(&pair);
	return port;
}
