/* SPDX-License-Identifier: MIT */
/* A packet of a device with IFF_VNET_HDR: one frame of the wire, or a burst of one flow that the kernel has
 * left whole. Tells how many frames it stands for, and forms any row of them again as one packet. Checksums
 * stay unfinished: the other side's kernel knows that. Pure. Source: virtio 1.2, 5.1.6; RFC 9293, RFC 768. */
#ifndef WGTCP_TESTS_NETNS_EMULATOR_BURST_H
#define WGTCP_TESTS_NETNS_EMULATOR_BURST_H

#include <linux/virtio_net.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define BURST_BYTES_MAX 65536
#define BURST_HEADER_MAX 160 /* IPv4 and TCP with all options, or IPv6 with some and TCP */
#define BURST_IOV_MAX 3

struct burst {
	struct virtio_net_hdr header;
	size_t len;
	size_t count;       /* frames */
	size_t transport;   /* offset of the TCP or UDP header; count > 1 only */
	size_t headers_len; /* IP and transport header; count > 1 only */
	size_t payload_len; /* of each frame but the last */
};

/* What goes to the other device in one write. */
struct burst_row {
	struct virtio_net_hdr header;
	uint8_t headers[BURST_HEADER_MAX];
	struct iovec iov[BURST_IOV_MAX];
	int iov_count;
};

/* bytes as read behind header. False: not understood; drop it. */
bool burst_measure(
	struct burst *burst, const struct virtio_net_hdr *header, const uint8_t *bytes, size_t len);
/* The length of frame index, IP header included. */
size_t burst_frame_len(const struct burst *burst, size_t index);
/* Frames [first, end) of the burst in bytes; the row borrows them. */
void burst_form(const struct burst *burst, uint8_t *bytes, size_t first, size_t end, struct burst_row *row);

#endif
