/* SPDX-License-Identifier: MIT */
/* The place where something else than the kernel can answer: a test gives its two ends. */
#ifndef WGTCP_PLATFORM_LINUX_KERNEL_HANDLES_H
#define WGTCP_PLATFORM_LINUX_KERNEL_HANDLES_H

#include "core/port/kernel_tunnel.h"

/* Descriptors that keep the bounds of messages (SOCK_SEQPACKET), for generic netlink and for rtnetlink; they are ours
 * afterwards, also on failure. */
int kernel_tunnel_adopt(int generic_handle, int route_handle, struct kernel_tunnel **out);

#endif
