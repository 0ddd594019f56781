/* SPDX-License-Identifier: MIT */
/* One UDP socket: receiving. Datagrams of one flow come merged (UDP_GRO) and are taken apart here, without
 * copying. The engine's thread. Source: udp(7), ip(7), ipv6(7). */
#include "core/port/udp.h"

#include "platform/linux/handles.h"
#include "platform/linux/udp_socket.h"

#include <errno.h>
#include <linux/errqueue.h>
#include <linux/udp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SOCKET_BUFFER_BYTES (4 * 1024 * 1024)
#define CONTROL_BYTES 128
#define ECN_MASK 3

static void set_optional(int fd, int level, int name, int value)
{
	(void)!setsockopt(fd, level, name, &value, sizeof(value));
}

/* Whoever opened the socket may have been allowed to go past the system's limit: never shrink. */
static void grow_buffer(int fd, int name)
{
	int bytes = 0;
	socklen_t len = sizeof(bytes);

	/* The kernel answers with twice of what was asked for. */
	if (getsockopt(fd, SOL_SOCKET, name, &bytes, &len) == 0 && bytes < 2 * SOCKET_BUFFER_BYTES)
		set_optional(fd, SOL_SOCKET, name, SOCKET_BUFFER_BYTES);
}

/* Each of these is missed only in speed or comfort where a kernel lacks it. */
static void set_options(int fd, enum ip_family family)
{
	grow_buffer(fd, SO_RCVBUF);
	grow_buffer(fd, SO_SNDBUF);
	set_optional(fd, IPPROTO_UDP, UDP_GRO, 1);
	if (family == IP_V4) {
		set_optional(fd, IPPROTO_IP, IP_PKTINFO, 1);
		set_optional(fd, IPPROTO_IP, IP_RECVTOS, 1);
		set_optional(fd, IPPROTO_IP, IP_RECVERR, 1);
		/* As kernel WireGuard: outer packets may be fragmented, so that a path whose ICMP is filtered
		 * passes them all the same. */
		set_optional(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DONT);
	} else {
		set_optional(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
		set_optional(fd, IPPROTO_IPV6, IPV6_RECVTCLASS, 1);
		set_optional(fd, IPPROTO_IPV6, IPV6_RECVERR, 1);
		set_optional(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DONT);
	}
}

static int family_of(int fd, enum ip_family *out)
{
	int domain = 0;
	socklen_t len = sizeof(domain);

	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) < 0)
		return -errno;
	if (domain != AF_INET && domain != AF_INET6)
		return -EAFNOSUPPORT;
	*out = domain == AF_INET ? IP_V4 : IP_V6;
	return 0;
}

int udp_adopt(int handle, struct udp **out)
{
	struct udp *udp = calloc(1, sizeof(*udp));
	int err = -ENOMEM;

	if (!udp)
		goto fail;
	err = descriptor_prepare(handle);
	if (err)
		goto fail;
	err = family_of(handle, &udp->family);
	if (err)
		goto fail;
	/* Prefaulted, so that no first burst pays for page faults. */
	void *memory = mmap(NULL, UDP_BUFFERS * UDP_BUFFER_BYTES, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (memory == MAP_FAILED) {
		err = -errno;
		goto fail;
	}
	udp->memory = memory;
	udp->fd = handle;
	udp->segmentation = true;
	set_options(handle, udp->family);
	*out = udp;
	return 0;
fail:
	free(udp);
	close(handle);
	return err;
}

void udp_close(struct udp *udp)
{
	if (!udp)
		return;
	munmap(udp->memory, UDP_BUFFERS * UDP_BUFFER_BYTES);
	close(udp->fd);
	free(udp);
}

enum ip_family udp_family(const struct udp *udp)
{
	return udp->family;
}

int udp_descriptor(const struct udp *udp)
{
	return udp->fd;
}

bool udp_holds_datagrams(const struct udp *udp)
{
	return udp->burst_at < udp->burst_count;
}

static void read_control(struct msghdr *msg, struct udp_burst *burst)
{
	for (struct cmsghdr *cmsg = CMSG_FIRSTHDR(msg); cmsg; cmsg = CMSG_NXTHDR(msg, cmsg)) {
		const void *data = CMSG_DATA(cmsg);

		if (cmsg->cmsg_level == IPPROTO_IP && cmsg->cmsg_type == IP_PKTINFO) {
			struct in_pktinfo info;
			memcpy(&info, data, sizeof(info));
			burst->path.local.family = IP_V4;
			memcpy(burst->path.local.bytes, &info.ipi_spec_dst, 4);
			burst->path.interface = (uint32_t)info.ipi_ifindex;
		} else if (cmsg->cmsg_level == IPPROTO_IPV6 && cmsg->cmsg_type == IPV6_PKTINFO) {
			struct in6_pktinfo info;
			memcpy(&info, data, sizeof(info));
			burst->path.local.family = IP_V6;
			memcpy(burst->path.local.bytes, &info.ipi6_addr, 16);
			burst->path.interface = info.ipi6_ifindex;
		} else if (cmsg->cmsg_level == IPPROTO_IP && cmsg->cmsg_type == IP_TOS) {
			burst->ecn = *(const uint8_t *)data & ECN_MASK;
		} else if (cmsg->cmsg_level == IPPROTO_IPV6 && cmsg->cmsg_type == IPV6_TCLASS) {
			int tclass;
			memcpy(&tclass, data, sizeof(tclass));
			burst->ecn = (uint8_t)(tclass & ECN_MASK);
		} else if (cmsg->cmsg_level == IPPROTO_UDP && cmsg->cmsg_type == UDP_GRO) {
			int segment;
			memcpy(&segment, data, sizeof(segment));
			if (segment > 0)
				burst->segment = (size_t)segment;
		}
	}
}

/* 0, -EAGAIN or -errno; fills the bursts. */
static int receive_bursts(struct udp *udp)
{
	struct mmsghdr messages[UDP_BUFFERS];
	struct iovec iov[UDP_BUFFERS];
	union sockaddr_any from[UDP_BUFFERS];
	union {
		struct cmsghdr align;
		char bytes[CONTROL_BYTES];
	} control[UDP_BUFFERS];
	int n;

	for (size_t i = 0; i < UDP_BUFFERS; i++) {
		iov[i] = (struct iovec){ udp->memory + i * UDP_BUFFER_BYTES, UDP_BUFFER_BYTES };
		messages[i].msg_hdr = (struct msghdr){ .msg_name = &from[i],
			.msg_namelen = sizeof(from[i]),
			.msg_iov = &iov[i],
			.msg_iovlen = 1,
			.msg_control = &control[i],
			.msg_controllen = sizeof(control[i]) };
	}
	/* An ICMP error also makes one receive call fail; it waits in the error queue for udp_error. */
	for (int tries = 0;; tries++) {
		n = recvmmsg(udp->fd, messages, UDP_BUFFERS, MSG_DONTWAIT, NULL);
		if (n >= 0)
			break;
		if (errno == EAGAIN || tries == 16)
			return errno == EAGAIN ? -EAGAIN : -errno;
		if (errno == EBADF || errno == ENOTSOCK || errno == EFAULT || errno == ENOMEM)
			return -errno;
	}
	udp->burst_at = 0;
	udp->burst_count = (size_t)n;
	for (size_t i = 0; i < (size_t)n; i++) {
		struct udp_burst *burst = &udp->bursts[i];
		size_t len = messages[i].msg_len;

		*burst = (struct udp_burst){
			.next = iov[i].iov_base, .left = len, .segment = len, .empty = !len, .fresh = true
		};
		burst->path.remote = sockaddr_to_endpoint(&from[i]);
		read_control(&messages[i].msg_hdr, burst);
	}
	return 0;
}

static size_t datagrams_left(const struct udp_burst *burst)
{
	return burst->segment ? (burst->left + burst->segment - 1) / burst->segment : 1;
}

int udp_receive(struct udp *udp, struct udp_datagram *out, size_t max)
{
	size_t count = 0;

	if (!udp_holds_datagrams(udp)) {
		int err = receive_bursts(udp);
		if (err)
			return err == -EAGAIN ? 0 : err;
	}
	/* At most one call to the kernel: another would write over what stands in out. */
	while (count < max && udp_holds_datagrams(udp)) {
		struct udp_burst *burst = &udp->bursts[udp->burst_at];
		size_t len = burst->left < burst->segment ? burst->left : burst->segment;

		/* What came as one is handed out as one, where it fits: it may become one again on its way.
		 */
		if (count && burst->fresh && count + datagrams_left(burst) > max)
			break;
		burst->fresh = false;
		if (len || burst->empty)
			out[count++] = (struct udp_datagram){
				.data = burst->next, .len = len, .path = burst->path, .ecn = burst->ecn
			};
		burst->next += len;
		burst->left -= len;
		if (!burst->left)
			udp->burst_at++;
	}
	return (int)count;
}

int udp_error(struct udp *udp, struct endpoint *remote)
{
	for (;;) {
		union sockaddr_any to = { 0 };
		char byte;
		struct iovec iov = { &byte, 1 };
		union {
			struct cmsghdr align;
			char bytes[512];
		} control;
		struct msghdr msg = { .msg_name = &to,
			.msg_namelen = sizeof(to),
			.msg_iov = &iov,
			.msg_iovlen = 1,
			.msg_control = &control,
			.msg_controllen = sizeof(control) };

		if (recvmsg(udp->fd, &msg, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) {
			if (errno == EINTR)
				continue;
			return 0;
		}
		for (struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg); cmsg; cmsg = CMSG_NXTHDR(&msg, cmsg)) {
			struct sock_extended_err what;

			if (!(cmsg->cmsg_level == IPPROTO_IP && cmsg->cmsg_type == IP_RECVERR) &&
				!(cmsg->cmsg_level == IPPROTO_IPV6 && cmsg->cmsg_type == IPV6_RECVERR))
				continue;
			memcpy(&what, CMSG_DATA(cmsg), sizeof(what));
			/* A local error was the answer of udp_send already. "Packet too big" is not a
			 * refusal: the kernel has learnt the size and the next packet is cut to it. */
			if ((what.ee_origin != SO_EE_ORIGIN_ICMP && what.ee_origin != SO_EE_ORIGIN_ICMP6) ||
				what.ee_errno == EMSGSIZE || what.ee_errno == 0)
				continue;
			*remote = sockaddr_to_endpoint(&to);
			return -(int)what.ee_errno;
		}
	}
}
