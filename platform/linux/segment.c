/* SPDX-License-Identifier: MIT */
/* Taking bursts apart. Pure. Source: virtio 1.2, 5.1.6 (the header's fields); RFC 9293 (TCP), RFC 768 (UDP).
 */
#include "platform/linux/segment.h"

#include "core/base/bytes.h"
#include "platform/linux/checksum.h"
#include "platform/linux/inner.h"

#include <string.h>

/* The checksum was left to us: its field holds the sum of the pseudo header. */
static bool complete_checksum(const struct virtio_net_hdr *header, uint8_t *bytes, size_t len)
{
	size_t start = header->csum_start, field = start + header->csum_offset;

	if (start >= len || field + 2 > len)
		return false;
	uint16_t sum = (uint16_t)~checksum_fold(checksum_add(0, bytes + start, len - start));
	/* In UDP zero means "no checksum", and all ones mean the same sum. */
	if (sum == 0 && header->csum_offset == UDP_CHECKSUM)
		sum = 0xffff;
	checksum_put(bytes + field, sum);
	return true;
}

static uint64_t addresses_sum(const uint8_t *ip)
{
	return ip[0] >> 4 == 4 ? checksum_add(0, ip + IPV4_SOURCE, 8) : checksum_add(0, ip + IPV6_SOURCE, 32);
}

static bool init_burst(
	struct segmenter *s, const struct virtio_net_hdr *header, uint8_t protocol, uint8_t *bytes)
{
	size_t transport_len;

	/* hdr_len is only a hint, so the headers are measured here. */
	if (!(header->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) || header->gso_size == 0)
		return false;
	s->transport = header->csum_start;
	if (bytes[0] >> 4 == 4 ? s->transport != (size_t)(bytes[0] & 15) * 4 || s->transport < IPV4_LEN
			       : bytes[0] >> 4 != 6 || s->transport < IPV6_LEN)
		return false;
	if (s->transport + (protocol == PROTOCOL_TCP ? (size_t)TCP_LEN : (size_t)UDP_LEN) > s->len)
		return false;
	transport_len =
		protocol == PROTOCOL_TCP ? (size_t)(bytes[s->transport + TCP_OFFSET] >> 4) * 4 : UDP_LEN;
	s->header_len = s->transport + transport_len;
	if ((protocol == PROTOCOL_TCP && transport_len < TCP_LEN) || s->header_len >= s->len)
		return false;
	s->segment_len = header->gso_size;
	s->protocol = protocol;
	s->pseudo = addresses_sum(bytes);
	return true;
}

bool segmenter_init(
	struct segmenter *segmenter, const struct virtio_net_hdr *header, uint8_t *bytes, size_t len)
{
	struct segmenter s = { .bytes = bytes, .len = len };

	if (len == 0)
		return false;
	switch (header->gso_type & ~VIRTIO_NET_HDR_GSO_ECN) {
	case VIRTIO_NET_HDR_GSO_NONE:
		if ((header->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) && !complete_checksum(header, bytes, len))
			return false;
		break;
	case VIRTIO_NET_HDR_GSO_TCPV4:
	case VIRTIO_NET_HDR_GSO_TCPV6:
		if (!init_burst(&s, header, PROTOCOL_TCP, bytes))
			return false;
		break;
	case VIRTIO_NET_HDR_GSO_UDP_L4:
		if (!init_burst(&s, header, PROTOCOL_UDP, bytes))
			return false;
		break;
	default: /* a kind that was not asked for */
		return false;
	}
	*segmenter = s;
	return true;
}

static size_t payload_left(const struct segmenter *s)
{
	return s->len - s->header_len - s->done;
}

static size_t next_payload(const struct segmenter *s)
{
	size_t left = payload_left(s);

	return s->header_len && left > s->segment_len ? s->segment_len : left;
}

size_t segmenter_next_len(const struct segmenter *segmenter)
{
	return segmenter->finished ? 0 : segmenter->header_len + next_payload(segmenter);
}

void segmenter_skip(struct segmenter *segmenter)
{
	segmenter->done += next_payload(segmenter);
	segmenter->finished = payload_left(segmenter) == 0;
}

static void finish_ip(const struct segmenter *s, uint8_t *ip, size_t len, size_t index)
{
	if (ip[0] >> 4 == 6) {
		put_be16(ip + IPV6_PAYLOAD, (uint16_t)(len - IPV6_LEN));
		return;
	}
	put_be16(ip + IPV4_TOTAL, (uint16_t)len);
	put_be16(ip + IPV4_ID, (uint16_t)(get_be16(ip + IPV4_ID) + index));
	put_be16(ip + IPV4_CHECKSUM, 0);
	checksum_put(ip + IPV4_CHECKSUM, (uint16_t)~checksum_fold(checksum_add(0, ip, s->transport)));
}

static uint16_t transport_sum(const struct segmenter *s, const uint8_t *transport, size_t len)
{
	const uint8_t rest[4] = { 0, s->protocol, (uint8_t)(len >> 8), (uint8_t)len };

	return (uint16_t)~checksum_fold(
		checksum_add(checksum_add(s->pseudo, rest, sizeof(rest)), transport, len));
}

static void finish_tcp(const struct segmenter *s, uint8_t *tcp, size_t len, bool first, bool last)
{
	put_be32(tcp + TCP_SEQUENCE, get_be32(tcp + TCP_SEQUENCE) + (uint32_t)s->done);
	/* CWR stands for the whole burst once; FIN and PSH belong to its end. */
	if (!first)
		tcp[TCP_FLAGS] &= (uint8_t)~FLAG_CWR;
	if (!last)
		tcp[TCP_FLAGS] &= (uint8_t) ~(FLAG_FIN | FLAG_PSH);
	put_be16(tcp + TCP_CHECKSUM, 0);
	checksum_put(tcp + TCP_CHECKSUM, transport_sum(s, tcp, len));
}

static void finish_udp(const struct segmenter *s, uint8_t *udp, size_t len)
{
	put_be16(udp + UDP_LENGTH, (uint16_t)len);
	put_be16(udp + UDP_CHECKSUM, 0);
	uint16_t sum = transport_sum(s, udp, len);
	checksum_put(udp + UDP_CHECKSUM, sum ? sum : 0xffff);
}

void segmenter_next(struct segmenter *segmenter, uint8_t *out)
{
	size_t payload = next_payload(segmenter), len = segmenter->header_len + payload;

	memcpy(out, segmenter->bytes, segmenter->header_len);
	memcpy(out + segmenter->header_len, segmenter->bytes + segmenter->header_len + segmenter->done,
		payload);
	if (segmenter->header_len) {
		size_t transport_len = len - segmenter->transport;

		finish_ip(segmenter, out, len, segmenter->done / segmenter->segment_len);
		if (segmenter->protocol == PROTOCOL_TCP)
			finish_tcp(segmenter, out + segmenter->transport, transport_len, segmenter->done == 0,
				payload == payload_left(segmenter));
		else
			finish_udp(segmenter, out + segmenter->transport, transport_len);
	}
	segmenter_skip(segmenter);
}
