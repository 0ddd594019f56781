/* SPDX-License-Identifier: MIT */
/* Making the TUN device. */
#ifndef WGTCP_PLATFORM_LINUX_DEVICE_H
#define WGTCP_PLATFORM_LINUX_DEVICE_H

#include "platform/linux/netlink.h"

/* A TUN device of this name; take_over: also one that is there and that nobody holds. It lives until *fd is
 * closed everywhere, unless it was made persistent by somebody else. -EBUSY: the name is taken. -EPERM: not
 * allowed. -ENOENT, -ENODEV: this kernel has no TUN. -EINVAL: not a name. */
int device_open(struct netlink *netlink, const char *name, bool take_over, int *fd, uint32_t *index);
/* Follows the MTU: bursts no larger than what goes out in one piece. */
void device_fit_bursts(struct netlink *netlink, uint32_t index, uint32_t mtu);

#endif
