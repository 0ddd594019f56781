/* SPDX-License-Identifier: MIT */
/* Raw ICMP sockets bound to an interface. The kernel lets in replies alone; one is ours by the secret in it,
 * which the far end returns. The owner's thread. Source: RFC 792, RFC 4443, raw(7), ipv6(7). */
#include "core/port/echo.h"

#include "core/base/bytes.h"
#include "platform/linux/sockaddr.h"

#include <assert.h>
#include "platform/linux/privileged.h"

#include <errno.h>
#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define IPV4_HEADER_LEN 20
#define IPV6_HEADER_LEN 40
#define ROOM 65535

/* ICMP and ICMPv6 agree on this much. */
struct message {
	uint8_t type, code, checksum[2], ident[2], sequence[2];
	uint8_t secret[8], id[8];
};
static_assert(sizeof(struct message) == 24, "wire size");

struct echo {
	int fd;
	enum ip_family family;
	uint8_t secret[8];
	uint16_t sequence;
	uint8_t bytes[ROOM];
};

static int set(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value)) < 0 ? -errno : 0;
}

static int set_replies_only_v4(int fd)
{
	/* SOL_RAW's ICMP_FILTER, by its numbers: linux/icmp.h and netinet/ip_icmp.h can not stand together.
	 */
	uint32_t blocked = ~(1u << ICMP_ECHOREPLY);

	return setsockopt(fd, SOL_RAW, 1, &blocked, sizeof(blocked)) < 0 ? -errno : 0;
}

static int set_replies_only_v6(int fd)
{
	struct icmp6_filter filter;

	memset(&filter, 0xff, sizeof(filter));
	filter.data[ICMPV6_ECHO_REPLY >> 5] &= ~(1u << (ICMPV6_ECHO_REPLY & 31));
	return setsockopt(fd, IPPROTO_ICMPV6, ICMPV6_FILTER, &filter, sizeof(filter)) < 0 ? -errno : 0;
}

static int prepare(int fd, enum ip_family family, uint32_t interface)
{
	int err = set(fd, SOL_SOCKET, SO_BINDTOIFINDEX, (int)interface);

	if (!err)
		err = family == IP_V4 ? set_replies_only_v4(fd) : set_replies_only_v6(fd);
	/* Whole or not at all, and whatever path MTU was learnt before. */
	if (!err)
		err = family == IP_V4 ? set(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE)
				      : set(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE);
	if (!err && family == IP_V6)
		err = set(fd, IPPROTO_IPV6, IPV6_DONTFRAG, 1);
	return err;
}

int echo_open(enum ip_family family, uint32_t interface, struct echo **out)
{
	struct echo *echo = calloc(1, sizeof(*echo));
	int err;

	if (!echo)
		return -ENOMEM;
	echo->family = family;
	if (getrandom(echo->secret, sizeof(echo->secret), 0) != (ssize_t)sizeof(echo->secret)) {
		free(echo);
		return -EIO;
	}
	echo->fd = privileged_icmp(family == IP_V4 ? AF_INET : AF_INET6);
	err = echo->fd < 0 ? -errno : prepare(echo->fd, family, interface);
	if (err) {
		if (echo->fd >= 0)
			close(echo->fd);
		free(echo);
		return err;
	}
	*out = echo;
	return 0;
}

void echo_close(struct echo *echo)
{
	if (!echo)
		return;
	close(echo->fd);
	free(echo);
}

int echo_handle(const struct echo *echo)
{
	return echo->fd;
}

/* RFC 1071. IPv6's covers addresses too and is the kernel's. */
static void put_checksum(uint8_t *bytes, size_t len)
{
	uint32_t sum = 0;

	for (size_t i = 0; i + 1 < len; i += 2)
		sum += (uint32_t)bytes[i] << 8 | bytes[i + 1];
	if (len % 2)
		sum += (uint32_t)bytes[len - 1] << 8;
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~((sum & 0xffff) + (sum >> 16));
	bytes[2] = (uint8_t)(sum >> 8);
	bytes[3] = (uint8_t)sum;
}

/* Names our own address as the source. header has room for the control data. */
static void put_source(struct msghdr *header, const struct ip_address *source)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(header);

	if (source->family == IP_V4) {
		struct in_pktinfo info = { 0 };

		memcpy(&info.ipi_spec_dst, source->bytes, sizeof(info.ipi_spec_dst));
		c->cmsg_level = IPPROTO_IP;
		c->cmsg_type = IP_PKTINFO;
		c->cmsg_len = CMSG_LEN(sizeof(info));
		memcpy(CMSG_DATA(c), &info, sizeof(info));
		header->msg_controllen = CMSG_SPACE(sizeof(info));
	} else {
		struct in6_pktinfo info = { 0 };

		memcpy(&info.ipi6_addr, source->bytes, sizeof(info.ipi6_addr));
		c->cmsg_level = IPPROTO_IPV6;
		c->cmsg_type = IPV6_PKTINFO;
		c->cmsg_len = CMSG_LEN(sizeof(info));
		memcpy(CMSG_DATA(c), &info, sizeof(info));
		header->msg_controllen = CMSG_SPACE(sizeof(info));
	}
}

int echo_send(struct echo *echo, const struct ip_address *source, const struct ip_address *target,
	uint64_t id, size_t size)
{
	size_t len = size - (echo->family == IP_V4 ? IPV4_HEADER_LEN : IPV6_HEADER_LEN);
	struct endpoint to = { .address = *target };
	union sockaddr_any address;
	union {
		struct cmsghdr align;
		uint8_t bytes[CMSG_SPACE(sizeof(struct in6_pktinfo))];
	} control = { 0 };
	struct message message = { .type = echo->family == IP_V4 ? ICMP_ECHO : ICMPV6_ECHO_REQUEST };
	struct iovec piece = { echo->bytes, len };
	struct msghdr header = { .msg_iov = &piece, .msg_iovlen = 1 };

	if (size < ECHO_SIZE_SMALL || size > ROOM || target->family != echo->family)
		return -EINVAL;
	memcpy(message.ident, echo->secret, sizeof(message.ident));
	message.sequence[0] = (uint8_t)(++echo->sequence >> 8);
	message.sequence[1] = (uint8_t)echo->sequence;
	memcpy(message.secret, echo->secret, sizeof(message.secret));
	put_le64(message.id, id);
	memset(echo->bytes, 0, len);
	memcpy(echo->bytes, &message, sizeof(message));
	if (echo->family == IP_V4)
		put_checksum(echo->bytes, len);
	header.msg_name = &address;
	header.msg_namelen = sockaddr_from_endpoint(&address, &to);
	if (source->family == echo->family) {
		header.msg_control = &control;
		header.msg_controllen = sizeof(control);
		put_source(&header, source);
	}
	return sendmsg(echo->fd, &header, MSG_DONTWAIT) < 0 ? -errno : 0;
}

/* Whether the bytes that came are an answer to us. */
static bool is_ours(const struct echo *echo, size_t got, uint64_t *id)
{
	uint8_t wanted = echo->family == IP_V4 ? ICMP_ECHOREPLY : ICMPV6_ECHO_REPLY;
	struct message message;
	size_t skip = 0;

	/* A raw IPv4 socket shows the IP header. */
	if (echo->family == IP_V4)
		skip = got ? (size_t)(echo->bytes[0] & 15) * 4 : 0;
	if (got < skip + sizeof(message))
		return false;
	memcpy(&message, echo->bytes + skip, sizeof(message));
	if (message.type != wanted || memcmp(message.secret, echo->secret, sizeof(message.secret)) != 0)
		return false;
	*id = get_le64(message.id);
	return true;
}

int echo_receive(struct echo *echo, uint64_t *id)
{
	for (;;) {
		ssize_t got = recv(echo->fd, echo->bytes, sizeof(echo->bytes), MSG_DONTWAIT);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return errno == EWOULDBLOCK ? -EAGAIN : -errno;
		if (is_ours(echo, (size_t)got, id))
			return 0;
	}
}
