/* SPDX-License-Identifier: MIT */
/* Source: packet(7), raw(7), RFC 791, RFC 768, RFC 9293. */
#include "tests/netns/attack/onpath.h"

#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BUFFER_BYTES (32 << 20)

int onpath_open(const char *interface)
{
	struct sockaddr_ll address = { .sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = (int)if_nametoindex(interface) };
	int fd, size = BUFFER_BYTES;

	if (!address.sll_ifindex)
		return -errno;
	fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, htons(ETH_P_ALL));
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		int err = -errno;

		close(fd);
		return err;
	}
	return fd;
}

size_t onpath_next(int fd, uint8_t out[ONPATH_PACKET_MAX], int ms)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	while (poll(&wait, 1, ms) == 1) {
		struct sockaddr_ll from;
		socklen_t from_len = sizeof(from);
		ssize_t got =
			recvfrom(fd, out, ONPATH_PACKET_MAX, MSG_TRUNC, (struct sockaddr *)&from, &from_len);

		if (got < IP_HEADER_LEN || from.sll_protocol != htons(ETH_P_IP) || out[0] != 0x45)
			continue;
		return (size_t)got;
	}
	return 0;
}

int raw_open(void)
{
	int fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW), size = BUFFER_BYTES;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
	return fd;
}

uint16_t read16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

uint32_t read32(const uint8_t *at)
{
	return (uint32_t)read16(at) << 16 | read16(at + 2);
}

void write16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

void write32(uint8_t *at, uint32_t value)
{
	write16(at, value >> 16);
	write16(at + 2, value);
}

void raw_header(uint8_t *out, uint8_t protocol, uint32_t source_be, uint32_t target_be, size_t len)
{
	memset(out, 0, IP_HEADER_LEN);
	out[0] = 0x45;
	write16(out + 2, (uint32_t)len);
	out[6] = 0x40; /* not to be fragmented */
	out[8] = 64;
	out[9] = protocol;
	memcpy(out + 12, &source_be, 4);
	memcpy(out + 16, &target_be, 4);
	/* The kernel fills the header's checksum. */
}

void raw_udp(uint8_t *out, uint16_t source_port, uint16_t target_port, size_t len)
{
	write16(out, source_port);
	write16(out + 2, target_port);
	write16(out + 4, (uint32_t)len);
	write16(out + 6, 0); /* none */
}

void raw_tcp_checksum(uint8_t *packet, size_t len)
{
	uint8_t *segment = packet + IP_HEADER_LEN;
	size_t segment_len = len - IP_HEADER_LEN;
	uint32_t sum = IPPROTO_TCP + (uint32_t)segment_len;

	write16(segment + 16, 0);
	for (size_t i = 12; i < 20; i += 2)
		sum += read16(packet + i);
	for (size_t i = 0; i + 1 < segment_len; i += 2)
		sum += read16(segment + i);
	if (segment_len % 2)
		sum += (uint32_t)segment[segment_len - 1] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	write16(segment + 16, ~sum & 0xffff);
}

int raw_send(int fd, const uint8_t *packet, size_t len)
{
	struct sockaddr_in to = { .sin_family = AF_INET };

	memcpy(&to.sin_addr, packet + 16, 4);
	return sendto(fd, packet, len, 0, (struct sockaddr *)&to, sizeof(to)) < 0 ? -errno : 0;
}
