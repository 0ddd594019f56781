/* SPDX-License-Identifier: MIT */
/* Which work a TUN device and we leave to each other; asked at run time. */
#ifndef WGTCP_PLATFORM_LINUX_TUN_OFFLOAD_H
#define WGTCP_PLATFORM_LINUX_TUN_OFFLOAD_H

#include <stdbool.h>

/* For a device with IFF_VNET_HDR: asks for unfinished checksums and whole bursts. True: it gives and takes
 * bursts of TCP; *udp: of UDP as well. */
bool tun_offload_enable(int fd, bool *udp);

#endif
