/* SPDX-License-Identifier: MIT */
/* Connected UDP sockets. Datagrams of one size go to the kernel as one (UDP_SEGMENT) and come from it so
 * (UDP_GRO), which merges none of different ECN bits. The relay's thread. Source: udp(7), ip(7), ipv6(7). */
#include "core/port/datagram.h"

#include "platform/linux/handles.h"
#include "platform/linux/sockaddr.h"

#include <errno.h>
#include <linux/udp.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As much as the system's limit lets us: a burst of a server finds room while the relay is busy elsewhere. */
#define SOCKET_BUFFER_BYTES (1024 * 1024)
#define RUN_PIECES_MAX 64
#define RUN_BYTES_MAX 65000 /* with its headers below 65535 */
#define ECN_MASK 3

struct datagram {
	int fd;
	bool segmentation; /* the kernel takes UDP_SEGMENT, as far as is known */
	bool v6;
	uint8_t ecn; /* of what came last */
};

/* Each of these is missed only in speed where a kernel lacks it. */
static void set_options(int fd)
{
	const struct {
		int level, name, value;
	} options[] = {
		{ SOL_SOCKET, SO_RCVBUF, SOCKET_BUFFER_BYTES },
		{ SOL_SOCKET, SO_SNDBUF, SOCKET_BUFFER_BYTES },
		{ IPPROTO_UDP, UDP_GRO, 1 },
		/* As kernel WireGuard: outer packets may be fragmented. One of the two is for the other
		   family. */
		{ IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DONT },
		{ IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DONT },
		{ IPPROTO_IP, IP_RECVTOS, 1 },
		{ IPPROTO_IPV6, IPV6_RECVTCLASS, 1 },
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		(void)!setsockopt(fd, options[i].level, options[i].name, &options[i].value, sizeof(int));
}

int datagram_adopt(int handle, struct datagram **out)
{
	struct datagram *datagram = NULL;
	union sockaddr_any remote;
	socklen_t len = sizeof(remote);
	int err = descriptor_prepare(handle);

	if (err)
		goto fail;
	if (getpeername(handle, &remote.any, &len) < 0) {
		err = -errno;
		goto fail;
	}
	err = -ENOMEM;
	datagram = malloc(sizeof(*datagram));
	if (!datagram)
		goto fail;
	*datagram = (struct datagram){
		.fd = handle, .segmentation = true, .v6 = remote.any.sa_family == AF_INET6
	};
	set_options(handle);
	*out = datagram;
	return 0;
fail:
	close(handle);
	return err;
}

int datagram_open(struct loop *loop, const struct ip_address *local, const struct endpoint *remote,
	struct datagram **out)
{
	const struct endpoint from = { .address = *local };
	union sockaddr_any address;
	socklen_t len = sockaddr_from_endpoint(&address, remote);
	int fd, err;

	(void)loop;
	if (!len)
		return -EDESTADDRREQ;
	fd = socket(address.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	len = sockaddr_from_endpoint(&address, &from);
	if (len && bind(fd, &address.any, len) < 0)
		goto fail;
	len = sockaddr_from_endpoint(&address, remote);
	if (connect(fd, &address.any, len) < 0)
		goto fail;
	return datagram_adopt(fd, out);
fail:
	err = -errno;
	close(fd);
	return err;
}

void datagram_close(struct datagram *datagram)
{
	if (!datagram)
		return;
	close(datagram->fd);
	free(datagram);
}

/* How long each of those that came together is; 0: the message does not say. */
static size_t segment_of(const struct cmsghdr *cmsg)
{
	int bytes;

	if (cmsg->cmsg_level != IPPROTO_UDP || cmsg->cmsg_type != UDP_GRO)
		return 0;
	memcpy(&bytes, CMSG_DATA(cmsg), sizeof(bytes));
	return bytes > 0 ? (size_t)bytes : 0;
}

static uint8_t ecn_of(const struct cmsghdr *cmsg)
{
	int value = 0;

	if (cmsg->cmsg_level == IPPROTO_IP && cmsg->cmsg_type == IP_TOS)
		value = *CMSG_DATA(cmsg);
	else if (cmsg->cmsg_level == IPPROTO_IPV6 && cmsg->cmsg_type == IPV6_TCLASS)
		memcpy(&value, CMSG_DATA(cmsg), sizeof(value));
	return (uint8_t)(value & ECN_MASK);
}

long datagram_receive(struct datagram *datagram, uint8_t *out, size_t size, size_t *segment)
{
	union {
		struct cmsghdr align;
		char bytes[3 * CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = { out, size };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control };
	ssize_t n;

	do {
		msg.msg_controllen = sizeof(control);
		n = recvmsg(datagram->fd, &msg, MSG_DONTWAIT);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	*segment = (size_t)n;
	datagram->ecn = 0;
	for (struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg); cmsg; cmsg = CMSG_NXTHDR(&msg, cmsg)) {
		size_t bytes = segment_of(cmsg);

		if (bytes)
			*segment = bytes;
		datagram->ecn |= ecn_of(cmsg);
	}
	return n;
}

uint8_t datagram_ecn(const struct datagram *datagram)
{
	return datagram->ecn;
}

/* How many pieces from the first on can leave as one: of equal size and mark, a shorter one ends the run. */
static size_t run_length(const struct datagram_piece *pieces, size_t count)
{
	size_t n = 1, bytes = pieces[0].len;

	while (n < count && n < RUN_PIECES_MAX && pieces[n - 1].len == pieces[0].len && pieces[n].len &&
		pieces[n].len <= pieces[0].len && pieces[n].ecn == pieces[0].ecn &&
		bytes + pieces[n].len <= RUN_BYTES_MAX)
		bytes += pieces[n++].len;
	return n;
}

struct control {
	alignas(struct cmsghdr) char bytes[CMSG_SPACE(sizeof(uint16_t)) + CMSG_SPACE(sizeof(int))];
	size_t len;
};

static void add_control(struct control *control, int level, int type, const void *value, size_t len)
{
	struct cmsghdr header = { .cmsg_level = level, .cmsg_type = type, .cmsg_len = CMSG_LEN(len) };
	char *at = control->bytes + control->len;

	memcpy(at, &header, sizeof(header));
	memcpy(at + CMSG_LEN(0), value, len);
	control->len += CMSG_SPACE(len);
}

static int send_run(const struct datagram *datagram, const struct datagram_piece *pieces, size_t count)
{
	struct control control = { 0 };
	struct iovec iov[RUN_PIECES_MAX];
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = count };
	int ecn = pieces[0].ecn & ECN_MASK;

	for (size_t i = 0; i < count; i++)
		iov[i] = (struct iovec){ (void *)(uintptr_t)pieces[i].data, pieces[i].len };
	if (count > 1) {
		uint16_t segment = (uint16_t)pieces[0].len;

		add_control(&control, IPPROTO_UDP, UDP_SEGMENT, &segment, sizeof(segment));
	}
	if (ecn)
		add_control(&control, datagram->v6 ? IPPROTO_IPV6 : IPPROTO_IP,
			datagram->v6 ? IPV6_TCLASS : IP_TOS, &ecn, sizeof(ecn));
	if (control.len) {
		msg.msg_control = control.bytes;
		msg.msg_controllen = control.len;
	}
	while (sendmsg(datagram->fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

/* The kernel or the device can not cut this run. */
static bool needs_single(int err)
{
	return err == -EIO || err == -EINVAL || err == -EOPNOTSUPP || err == -EMSGSIZE;
}

int datagram_send(struct datagram *datagram, const struct datagram_piece *pieces, size_t count)
{
	bool merge = datagram->segmentation;
	int result = 0;

	while (count) {
		size_t n = merge ? run_length(pieces, count) : 1;
		int err = send_run(datagram, pieces, n);

		/* An ICMP error for an earlier datagram is told to the next call, which has then sent
		 * nothing. */
		if (err == -ECONNREFUSED) {
			result = err;
			err = send_run(datagram, pieces, n);
		}
		if (n > 1 && needs_single(err)) {
			if (err == -EIO || err == -EOPNOTSUPP)
				datagram->segmentation = false;
			merge = false;
			continue;
		}
		/* A full queue loses datagrams, as anywhere else on the way. */
		if (err && err != -EAGAIN && err != -ENOBUFS)
			result = err;
		pieces += n;
		count -= n;
	}
	return result;
}

int datagram_descriptor(const struct datagram *datagram)
{
	return datagram->fd;
}
