/* SPDX-License-Identifier: MIT */
/* Offloads of a TUN device. Source: linux/if_tun.h. */
#include "platform/linux/tun_offload.h"

#include <linux/if_tun.h>
#include <sys/ioctl.h>

/* Linux 6.2 */
#ifndef TUN_F_USO4
#define TUN_F_USO4 0x20
#define TUN_F_USO6 0x40
#endif

bool tun_offload_enable(int fd, bool *udp)
{
	const unsigned long tcp = TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6;
	int header_len = 10; /* struct virtio_net_hdr, as segment.c and merge.c have it */

	*udp = false;
	if (ioctl(fd, TUNSETVNETHDRSZ, &header_len) < 0)
		return false;
	if (ioctl(fd, TUNSETOFFLOAD, tcp | TUN_F_USO4 | TUN_F_USO6) == 0) {
		*udp = true;
		return true;
	}
	return ioctl(fd, TUNSETOFFLOAD, tcp) == 0;
}
