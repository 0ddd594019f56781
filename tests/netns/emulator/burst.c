/* SPDX-License-Identifier: MIT */
/* Bursts as rows of frames. No payload is copied and none is summed up, so this costs next to nothing a byte.
 */
#include "tests/netns/emulator/burst.h"

#include <string.h>

/* Linux 6.2 */
#ifndef VIRTIO_NET_HDR_GSO_UDP_L4
#define VIRTIO_NET_HDR_GSO_UDP_L4 5
#endif

enum {
	IPV4_LEN = 20,
	IPV4_TOTAL = 2,
	IPV4_ID = 4,
	IPV4_CHECKSUM = 10,
	IPV4_SOURCE = 12,
	IPV6_LEN = 40,
	IPV6_PAYLOAD = 4,
	IPV6_SOURCE = 8,
	TCP_LEN = 20,
	TCP_SEQUENCE = 4,
	TCP_OFFSET = 12,
	TCP_FLAGS = 13,
	TCP_CHECKSUM = 16,
	UDP_LEN = 8,
	UDP_LENGTH = 4,
	UDP_CHECKSUM = 6,
	FLAG_FIN = 0x01,
	FLAG_PSH = 0x08,
	FLAG_CWR = 0x80,
	PROTOCOL_TCP = 6,
	PROTOCOL_UDP = 17,
};

static uint32_t get16(const uint8_t *at)
{
	return (uint32_t)at[0] << 8 | at[1];
}

static void put16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

/* Internet checksum (RFC 1071) of an even number of bytes, folded, not inverted. */
static uint32_t sum16(uint32_t sum, const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i + 1 < len; i += 2)
		sum += get16(bytes + i);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static bool is_udp(const struct burst *burst)
{
	return (burst->header.gso_type & ~VIRTIO_NET_HDR_GSO_ECN) == VIRTIO_NET_HDR_GSO_UDP_L4;
}

static bool measure_headers(struct burst *burst, const uint8_t *bytes)
{
	size_t transport = burst->header.csum_start;
	size_t least = is_udp(burst) ? UDP_LEN : TCP_LEN, transport_len = least;

	if (!(burst->header.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) || !burst->header.gso_size)
		return false;
	if (bytes[0] >> 4 == 4 ? transport != (size_t)(bytes[0] & 15) * 4 || transport < IPV4_LEN
			       : bytes[0] >> 4 != 6 || transport < IPV6_LEN)
		return false;
	if (transport + least > burst->len)
		return false;
	if (!is_udp(burst))
		transport_len = (size_t)(bytes[transport + TCP_OFFSET] >> 4) * 4;
	burst->transport = transport;
	burst->headers_len = transport + transport_len;
	burst->payload_len = burst->header.gso_size;
	return transport_len >= least && burst->headers_len < burst->len &&
	       burst->headers_len <= BURST_HEADER_MAX;
}

bool burst_measure(struct burst *burst, const struct virtio_net_hdr *header, const uint8_t *bytes, size_t len)
{
	struct burst b = { .header = *header, .len = len, .count = 1 };

	if (!len || len > BURST_BYTES_MAX)
		return false;
	switch (header->gso_type & ~VIRTIO_NET_HDR_GSO_ECN) {
	case VIRTIO_NET_HDR_GSO_NONE:
		break;
	case VIRTIO_NET_HDR_GSO_TCPV4:
	case VIRTIO_NET_HDR_GSO_TCPV6:
	case VIRTIO_NET_HDR_GSO_UDP_L4:
		if (!measure_headers(&b, bytes))
			return false;
		b.count = (len - b.headers_len + b.payload_len - 1) / b.payload_len;
		break;
	default: /* a kind that was not asked for */
		return false;
	}
	*burst = b;
	return true;
}

/* The payload of frames [first, end), and where it starts. */
static size_t payload_of(const struct burst *burst, size_t first, size_t end, size_t *start)
{
	size_t all = burst->len - burst->headers_len, stop = end * burst->payload_len;

	*start = first * burst->payload_len;
	return (stop < all ? stop : all) - *start;
}

size_t burst_frame_len(const struct burst *burst, size_t index)
{
	size_t start;

	return burst->count == 1 ? burst->len
				 : burst->headers_len + payload_of(burst, index, index + 1, &start);
}

static void finish_ip(const struct burst *burst, uint8_t *ip, size_t len, size_t first)
{
	if (ip[0] >> 4 == 6) {
		put16(ip + IPV6_PAYLOAD, (uint32_t)(len - IPV6_LEN));
		return;
	}
	put16(ip + IPV4_TOTAL, (uint32_t)len);
	put16(ip + IPV4_ID, get16(ip + IPV4_ID) + (uint32_t)first);
	put16(ip + IPV4_CHECKSUM, 0);
	put16(ip + IPV4_CHECKSUM, ~sum16(0, ip, burst->transport));
}

/* The field of an unfinished checksum holds the sum of the pseudo header. */
static uint32_t pseudo_sum(const uint8_t *ip, uint8_t protocol, size_t transport_len)
{
	uint32_t sum = protocol + (uint32_t)transport_len;

	return ip[0] >> 4 == 4 ? sum16(sum, ip + IPV4_SOURCE, 8) : sum16(sum, ip + IPV6_SOURCE, 32);
}

static void finish_tcp(uint8_t *tcp, size_t start, bool last)
{
	uint32_t sequence =
		(get16(tcp + TCP_SEQUENCE) << 16 | get16(tcp + TCP_SEQUENCE + 2)) + (uint32_t)start;

	put16(tcp + TCP_SEQUENCE, sequence >> 16);
	put16(tcp + TCP_SEQUENCE + 2, sequence);
	/* CWR stands for the whole burst once; FIN and PSH belong to its end. */
	if (start)
		tcp[TCP_FLAGS] &= (uint8_t)~FLAG_CWR;
	if (!last)
		tcp[TCP_FLAGS] &= (uint8_t) ~(FLAG_FIN | FLAG_PSH);
}

void burst_form(const struct burst *burst, uint8_t *bytes, size_t first, size_t end, struct burst_row *row)
{
	uint8_t *transport = row->headers + burst->transport;
	size_t start, payload, transport_len;

	row->header = burst->header;
	row->iov[0] = (struct iovec){ &row->header, sizeof(row->header) };
	if (burst->count == 1 || (first == 0 && end == burst->count)) {
		row->iov[1] = (struct iovec){ bytes, burst->len };
		row->iov_count = 2;
		return;
	}
	payload = payload_of(burst, first, end, &start);
	transport_len = burst->headers_len - burst->transport + payload;
	memcpy(row->headers, bytes, burst->headers_len);
	finish_ip(burst, row->headers, burst->headers_len + payload, first);
	if (is_udp(burst)) {
		put16(transport + UDP_LENGTH, (uint32_t)transport_len);
		put16(transport + UDP_CHECKSUM, pseudo_sum(row->headers, PROTOCOL_UDP, transport_len));
	} else {
		finish_tcp(transport, start, end == burst->count);
		put16(transport + TCP_CHECKSUM, pseudo_sum(row->headers, PROTOCOL_TCP, transport_len));
	}
	row->header.hdr_len = (uint16_t)burst->headers_len;
	if (end - first == 1) {
		row->header.gso_type = VIRTIO_NET_HDR_GSO_NONE;
		row->header.gso_size = 0;
	}
	row->iov[1] = (struct iovec){ row->headers, burst->headers_len };
	row->iov[2] = (struct iovec){ bytes + burst->headers_len + start, payload };
	row->iov_count = 3;
}
