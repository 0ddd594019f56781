/* SPDX-License-Identifier: MIT */
/* What makes a burst valid, and its header for the device. Called by tun.c. Source: virtio 1.2, 5.1.6; RFC 9293. */
#include "platform/linux/burst.h"

#include "platform/linux/checksum.h"
#include "platform/linux/inner.h"

bool burst_header(const struct packet *burst, struct virtio_net_hdr *out)
{
	const uint8_t *ip = burst->data, *tcp;
	uint8_t protocol;
	size_t transport = inner_ip_header(ip, burst->len, &protocol), header_len;

	if (!transport || protocol != PROTOCOL_TCP || burst->len < transport + TCP_LEN || burst->segment < BURST_SEGMENT_MIN)
		return false;
	tcp = ip + transport;
	header_len = transport + (size_t)(tcp[TCP_OFFSET] >> 4) * 4;
	if (header_len < transport + TCP_LEN || burst->len <= header_len + burst->segment ||
		(tcp[TCP_FLAGS] & ~(FLAG_PSH | FLAG_FIN)) != FLAG_ACK || (tcp[TCP_OFFSET] & 15))
		return false;
	*out = (struct virtio_net_hdr){
		.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
		.gso_type = ip[0] >> 4 == 4 ? VIRTIO_NET_HDR_GSO_TCPV4 : VIRTIO_NET_HDR_GSO_TCPV6,
		.hdr_len = (uint16_t)header_len,
		.gso_size = burst->segment,
		.csum_start = (uint16_t)transport,
		.csum_offset = TCP_CHECKSUM,
	};
	return true;
}

void burst_set_checksum(struct packet *burst, const struct virtio_net_hdr *header)
{
	uint8_t *ip = burst->data;

	checksum_put(ip + header->csum_start + TCP_CHECKSUM,
		checksum_fold(inner_pseudo_sum(ip, PROTOCOL_TCP, burst->len - header->csum_start)));
	/* The header's own sum is the sender's word. */
	inner_set_ip_checksum(ip);
}
