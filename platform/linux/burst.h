/* SPDX-License-Identifier: MIT */
/* A burst of TCP as the TUN device takes and gives it. Pure. Source: virtio 1.2, 5.1.6; RFC 9293. */
#ifndef WGTCP_PLATFORM_LINUX_BURST_H
#define WGTCP_PLATFORM_LINUX_BURST_H

#include "core/base/packet.h"

#include <linux/virtio_net.h>

/* No fewer bytes of payload for each packet: a peer could else make this kernel cut one burst into tens of thousands. */
#define BURST_SEGMENT_MIN 256

/* What the device must be told of it. False: not a burst that may be written, or sent: TCP without IP options and
 * fragments, of two segments or more, with no other flags than ACK, PSH and FIN. The checksum is not looked at. */
bool burst_header(const struct packet *burst, struct virtio_net_hdr *out);
/* Puts the sum of the pseudo header, the only one that a burst has, into its place. */
void burst_set_checksum(struct packet *burst, const struct virtio_net_hdr *header);

#endif
