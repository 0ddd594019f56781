/* SPDX-License-Identifier: MIT */
/* Connected streams and the listening socket. The engine's thread. Source: tcp(7). */
#include "core/port/tcp.h"

#include "platform/linux/congestion.h"
#include "platform/linux/handles.h"
#include "platform/linux/sockaddr.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#define USER_TIMEOUT_MS 10000
/* With data under way USER_TIMEOUT finds a dead connection in 10 s. Without, nothing is lost by finding it
 * later: the first probe after 25 s keeps the mappings of most middleboxes (the shortest common one is 30 s)
 * and wakes an idle laptop only twice a minute; a probe unanswered for 5 s is then over the user timeout, and
 * the connection ends. */
#define KEEPALIVE_IDLE_S 25
#define KEEPALIVE_INTERVAL_S 5
#define KEEPALIVE_COUNT 3
/* What the socket may hold unsent: a packet that must go first, or a change of carrier, waits no longer than
 * this. */
#define NOTSENT_LOWAT_BYTES (128 * 1024)
#define PIECES_MAX 128

struct tcp {
	int fd;
	struct endpoint remote;
};

struct tcp_listener {
	int fd;
	int reserve; /* given up for one connection when the process has no descriptor left; -1: given up */
};

static bool set_option(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value)) == 0;
}

static int set_options(int fd)
{
	if (!set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1) ||
		!set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, USER_TIMEOUT_MS) ||
		!set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S) ||
		!set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_INTERVAL_S) ||
		!set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_COUNT) ||
		!set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1) ||
		!set_option(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, NOTSENT_LOWAT_BYTES))
		return -errno;
	return 0;
}

int tcp_adopt(int handle, struct tcp **out)
{
	union sockaddr_any address;
	socklen_t len = sizeof(address);
	struct tcp *tcp = NULL;
	int err = descriptor_prepare(handle);

	if (err)
		goto fail;
	err = set_options(handle);
	if (err)
		goto fail;
	congestion_connected(handle);
	if (getpeername(handle, &address.any, &len) < 0) {
		err = -errno;
		goto fail;
	}
	err = -ENOMEM;
	tcp = calloc(1, sizeof(*tcp));
	if (!tcp)
		goto fail;
	tcp->fd = handle;
	tcp->remote = sockaddr_to_endpoint(&address);
	*out = tcp;
	return 0;
fail:
	close(handle);
	return err;
}

void tcp_close(struct tcp *tcp)
{
	if (!tcp)
		return;
	/* Closing with bytes unread would send RST and might take back what the peer has not read yet. */
	shutdown(tcp->fd, SHUT_WR);
	for (int i = 0; i < 8 && recv(tcp->fd, NULL, 1 << 20, MSG_DONTWAIT | MSG_TRUNC) > 0; i++)
		;
	close(tcp->fd);
	free(tcp);
}

void tcp_end(struct tcp *tcp)
{
	(void)shutdown(tcp->fd, SHUT_WR);
}

void tcp_abort(struct tcp *tcp)
{
	const struct linger at_once = { .l_onoff = 1, .l_linger = 0 };

	if (!tcp)
		return;
	(void)setsockopt(tcp->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close(tcp->fd);
	free(tcp);
}

const struct endpoint *tcp_remote(const struct tcp *tcp)
{
	return &tcp->remote;
}

long tcp_receive(struct tcp *tcp, uint8_t *out, size_t size)
{
	for (;;) {
		ssize_t n = recv(tcp->fd, out, size, 0);

		if (n >= 0)
			return n;
		if (errno != EINTR)
			return -errno;
	}
}

long tcp_send(struct tcp *tcp, const struct tcp_piece *pieces, size_t count)
{
	struct iovec iov[PIECES_MAX];
	struct msghdr msg = { .msg_iov = iov };

	if (count > PIECES_MAX)
		count = PIECES_MAX; /* the caller goes on with the rest, as after any short send */
	for (size_t i = 0; i < count; i++)
		iov[i] = (struct iovec){ (void *)(uintptr_t)pieces[i].data, pieces[i].len };
	msg.msg_iovlen = count;
	for (;;) {
		ssize_t n = sendmsg(tcp->fd, &msg, MSG_NOSIGNAL);

		if (n >= 0)
			return n;
		if (errno != EINTR)
			return -errno;
	}
}

int tcp_metrics(const struct tcp *tcp, struct tcp_metrics *out)
{
	struct tcp_info info = { 0 }; /* an older kernel fills only its first part */
	socklen_t len = sizeof(info);

	if (getsockopt(tcp->fd, IPPROTO_TCP, TCP_INFO, &info, &len) < 0)
		return -errno;
	*out = (struct tcp_metrics){ .rtt_us = info.tcpi_rtt,
		.min_rtt_us = info.tcpi_min_rtt == UINT32_MAX ? 0 : info.tcpi_min_rtt,
		.delivery_rate = info.tcpi_delivery_rate,
		.unsent = info.tcpi_notsent_bytes,
		.retransmits = info.tcpi_total_retrans,
		.sent_segments = info.tcpi_data_segs_out,
		.received_segments = info.tcpi_data_segs_in,
		.disordered = info.tcpi_rcv_ooopack,
		.segment_bytes = info.tcpi_snd_mss,
		.unacked = info.tcpi_unacked,
		.acked_bytes = info.tcpi_bytes_acked,
		.delivered = info.tcpi_delivered,
		.received_bytes = info.tcpi_bytes_received,
		.timed_out = info.tcpi_ca_state == TCP_CA_Loss };
	return 0;
}

uint32_t tcp_tune(struct tcp *tcp, uint32_t what)
{
	static const char bbr[] = "bbr";
	uint32_t left = 0;

	/* Only what sysctl allows everybody, or what a privilege allows. */
	if ((what & TCP_TUNE_BBR) &&
		setsockopt(tcp->fd, IPPROTO_TCP, TCP_CONGESTION, bbr, sizeof(bbr) - 1) < 0)
		left |= TCP_TUNE_BBR;
	return left | (what & TCP_TUNE_BUFFERS);
}

void tcp_set_unsent(struct tcp *tcp, uint32_t bytes)
{
	(void)set_option(tcp->fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, (int)bytes);
}

void tcp_set_pacing(struct tcp *tcp, uint64_t bytes_per_second)
{
	uint64_t rate = bytes_per_second ? bytes_per_second : UINT64_MAX;

	(void)setsockopt(tcp->fd, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof(rate));
}

int tcp_descriptor(const struct tcp *tcp)
{
	return tcp->fd;
}

int tcp_listener_adopt(int handle, struct tcp_listener **out)
{
	struct tcp_listener *listener = NULL;
	int err = descriptor_prepare(handle);

	if (err)
		goto fail;
	err = -ENOMEM;
	listener = calloc(1, sizeof(*listener));
	if (!listener)
		goto fail;
	listener->fd = handle;
	listener->reserve = fcntl(handle, F_DUPFD_CLOEXEC, 0);
	*out = listener;
	return 0;
fail:
	close(handle);
	return err;
}

void tcp_listener_close(struct tcp_listener *listener)
{
	if (!listener)
		return;
	close(listener->fd);
	if (listener->reserve >= 0)
		close(listener->reserve);
	free(listener);
}

int tcp_accept(struct tcp_listener *listener, struct tcp **out)
{
	/* Without a reserve nothing is taken: what then came could not be told from an attack. */
	if (listener->reserve < 0)
		listener->reserve = fcntl(listener->fd, F_DUPFD_CLOEXEC, 0);
	if (listener->reserve < 0)
		return -errno;
	for (;;) {
		int fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0) {
			int err = tcp_adopt(fd, out);
			/* It was reset while it waited: the next one. */
			if (err == -ENOTCONN || err == -EINVAL)
				continue;
			return err;
		}
		if (errno == EMFILE && listener->reserve >= 0) {
			close(listener->reserve);
			listener->reserve = -1;
			continue;
		}
		/* Errors of the connection that was to be accepted, not of the listener (accept(2)). */
		if (errno == EINTR || errno == ECONNABORTED || errno == EPROTO || errno == ENETDOWN ||
			errno == EHOSTUNREACH || errno == ENETUNREACH)
			continue;
		return -errno;
	}
}

int tcp_listener_descriptor(const struct tcp_listener *listener)
{
	return listener->fd;
}
