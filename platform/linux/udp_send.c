/* SPDX-License-Identifier: MIT */
/* One UDP socket: sending. Runs of packets of one size go to the kernel as one (UDP_SEGMENT), and all runs of
 * a batch with one sendmmsg; nothing is copied here. The engine's thread. Source: udp(7), ip(7), ipv6(7). */
#include "core/port/udp.h"

#include "platform/linux/udp_socket.h"

#include <errno.h>
#include <linux/udp.h>
#include <string.h>

#define RUN_PACKETS_MAX 64
/* With all its headers, that of the link too, below the 65,536 that a device takes whole: one byte more, and
 * the kernel cuts the run itself before the device. */
#define RUN_BYTES_MAX 65440
#define CONTROL_BYTES 128

/* What does not change from packet to packet. */
struct target {
	union sockaddr_any to;
	socklen_t to_len;
	const struct udp_path *path;
};

union control {
	struct cmsghdr align;
	char bytes[CONTROL_BYTES];
};

/* A message each for runs of packets; packets of one message follow each other in the batch. */
struct batch {
	size_t count;
	struct mmsghdr messages[UDP_BATCH];
	size_t packets[UDP_BATCH];
	struct iovec iov[UDP_BATCH];
	union control control[UDP_BATCH];
};

static void put_control(
	struct msghdr *msg, union control *room, int level, int type, const void *data, size_t len)
{
	struct cmsghdr *cmsg = (struct cmsghdr *)(void *)(room->bytes + msg->msg_controllen);

	memset(cmsg, 0, CMSG_SPACE(len));
	cmsg->cmsg_level = level;
	cmsg->cmsg_type = type;
	cmsg->cmsg_len = CMSG_LEN(len);
	memcpy(CMSG_DATA(cmsg), data, len);
	msg->msg_control = room;
	msg->msg_controllen += CMSG_SPACE(len);
}

static void put_local(struct msghdr *msg, union control *room, const struct udp_path *path)
{
	if (path->local.family == IP_V4) {
		struct in_pktinfo info = { .ipi_ifindex = (int)path->interface };
		memcpy(&info.ipi_spec_dst, path->local.bytes, 4);
		put_control(msg, room, IPPROTO_IP, IP_PKTINFO, &info, sizeof(info));
	} else if (path->local.family == IP_V6) {
		struct in6_pktinfo info = { .ipi6_ifindex = path->interface };
		memcpy(&info.ipi6_addr, path->local.bytes, 16);
		put_control(msg, room, IPPROTO_IPV6, IPV6_PKTINFO, &info, sizeof(info));
	}
}

static void put_ecn(struct msghdr *msg, union control *room, enum ip_family family, uint8_t ecn)
{
	int value = ecn & 3;

	if (!value)
		return;
	if (family == IP_V4)
		put_control(msg, room, IPPROTO_IP, IP_TOS, &value, sizeof(value));
	else
		put_control(msg, room, IPPROTO_IPV6, IPV6_TCLASS, &value, sizeof(value));
}

/* How many packets from the first on can leave as one: equal size and mark, a shorter one ends the run. */
static size_t run_length(struct packet *const *packets, size_t count)
{
	size_t n = 1, bytes = packets[0]->len;

	while (n < count && n < RUN_PACKETS_MAX && packets[n]->len <= packets[0]->len && packets[n]->len &&
		packets[n]->ecn == packets[0]->ecn && bytes + packets[n]->len <= RUN_BYTES_MAX) {
		bytes += packets[n]->len;
		if (packets[n++]->len < packets[0]->len)
			break;
	}
	return n;
}

/* Takes up to UDP_BATCH packets into messages. */
static void build(const struct udp *udp, const struct target *target, struct packet *const *packets,
	size_t count, bool merge, struct batch *out)
{
	size_t at = 0;

	out->count = 0;
	while (at < count) {
		size_t n = merge ? run_length(packets + at, count - at) : 1;
		struct msghdr *msg = &out->messages[out->count].msg_hdr;
		union control *room = &out->control[out->count];

		for (size_t i = 0; i < n; i++)
			out->iov[at + i] = (struct iovec){ packets[at + i]->data, packets[at + i]->len };
		*msg = (struct msghdr){ .msg_name = (void *)(uintptr_t)&target->to,
			.msg_namelen = target->to_len,
			.msg_iov = &out->iov[at],
			.msg_iovlen = n };
		put_local(msg, room, target->path);
		put_ecn(msg, room, udp->family, packets[at]->ecn);
		if (n > 1) {
			uint16_t segment = (uint16_t)packets[at]->len;
			put_control(msg, room, IPPROTO_UDP, UDP_SEGMENT, &segment, sizeof(segment));
		}
		out->packets[out->count++] = n;
		at += n;
	}
}

static int send_once(const struct udp *udp, struct mmsghdr *messages, size_t count)
{
	int n;

	do
		n = sendmmsg(udp->fd, messages, (unsigned int)count, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* An ICMP error for an earlier packet is told to the next call, whomever that sends to: so a failure counts
 * only when it comes twice. The number of messages sent, or -errno. */
static int send_messages(const struct udp *udp, struct mmsghdr *messages, size_t count)
{
	int n = send_once(udp, messages, count);

	return n < 0 && n != -EAGAIN ? send_once(udp, messages, count) : n;
}

/* Whether a failure can mean that our own address or interface of the path has gone. */
static bool may_be_stale(int err)
{
	switch (err) {
	case -EINVAL:
	case -EADDRNOTAVAIL:
	case -ENODEV:
	case -ENXIO:
	case -ENETUNREACH:
	case -EHOSTUNREACH:
	case -ENETDOWN:
		return true;
	default:
		return false;
	}
}

/* Deals with the message that could not be sent: *packets is how many packets are done with (0: try these
 * again, with what has been changed). Returns what there is to report. */
static int handle_failure(
	struct udp *udp, struct udp_path *path, bool *merge, size_t message_packets, int err, size_t *packets)
{
	*packets = 0;
	/* EIO: the device has no checksum offload, so never again. EINVAL: segments larger than the path's
	 * MTU. */
	if (message_packets > 1 &&
		(err == -EIO || err == -EINVAL || err == -EOPNOTSUPP || err == -EMSGSIZE)) {
		if (err == -EIO || err == -EOPNOTSUPP)
			udp->segmentation = false;
		*merge = false;
		return 0;
	}
	if (path->local.family != IP_NONE && may_be_stale(err)) {
		path->local = (struct ip_address){ 0 };
		path->interface = 0;
		return 0;
	}
	*packets = message_packets;
	/* A full queue of the device: lost on the way, as anywhere else on the path. */
	return err == -ENOBUFS ? 0 : err;
}

int udp_send(
	struct udp *udp, struct udp_path *path, struct packet *const *packets, size_t count, size_t *sent)
{
	struct batch batch;
	struct target target = { .path = path };
	bool merge = udp->segmentation;
	size_t done = 0;
	int result = 0;

	target.to_len = sockaddr_from_endpoint(&target.to, &path->remote);
	if (!target.to_len || path->remote.address.family != udp->family) {
		*sent = count;
		return -EAFNOSUPPORT;
	}
	if (path->local.family != udp->family)
		path->local = (struct ip_address){ 0 };
	while (done < count) {
		size_t left = count - done, at = 0, finished;

		build(udp, &target, packets + done, left < UDP_BATCH ? left : UDP_BATCH, merge, &batch);
		while (at < batch.count) {
			int n = send_messages(udp, batch.messages + at, batch.count - at);
			if (n == -EAGAIN) {
				*sent = done;
				return -EAGAIN;
			}
			if (n >= 0) {
				for (int i = 0; i < n; i++)
					done += batch.packets[at++];
				continue;
			}
			int err = handle_failure(udp, path, &merge, batch.packets[at], n, &finished);
			if (err && !result)
				result = err;
			done += finished;
			if (!finished)
				break; /* build anew from here */
			at++;
		}
	}
	*sent = count;
	return result;
}
