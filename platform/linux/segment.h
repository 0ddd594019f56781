/* SPDX-License-Identifier: MIT */
/* Takes what the TUN device gave (one packet, or a burst of one flow that the kernel has left whole) apart
 * into single IP packets with all their lengths and checksums. Pure. */
#ifndef WGTCP_PLATFORM_LINUX_SEGMENT_H
#define WGTCP_PLATFORM_LINUX_SEGMENT_H

#include <linux/virtio_net.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Older kernel headers lack it (Linux 6.2). */
#ifndef VIRTIO_NET_HDR_GSO_UDP_L4
#define VIRTIO_NET_HDR_GSO_UDP_L4 5
#endif

struct segmenter {
	const uint8_t *bytes;
	size_t len;
	size_t transport;   /* offset of the TCP or UDP header */
	size_t header_len;  /* all headers; 0: the packet is whole */
	size_t segment_len; /* payload of each packet but the last */
	size_t done;        /* payload given out so far */
	uint8_t protocol;
	bool finished;
	uint64_t pseudo; /* sum of the addresses and the protocol */
};

/* bytes (they stay the caller's, may be written to) as read behind header. False: not valid, drop it. */
bool segmenter_init(
	struct segmenter *segmenter, const struct virtio_net_hdr *header, uint8_t *bytes, size_t len);
/* The length of the next packet; 0: that was all. */
size_t segmenter_next_len(const struct segmenter *segmenter);
/* Writes the next packet, segmenter_next_len() bytes, to out. */
void segmenter_next(struct segmenter *segmenter, uint8_t *out);
/* Leaves it out. */
void segmenter_skip(struct segmenter *segmenter);

#endif
