/* SPDX-License-Identifier: MIT */
/* The system calls that a program on the packet path makes, and no other. */
#ifndef WGTCP_PLATFORM_LINUX_SYSTEM_CALLS_H
#define WGTCP_PLATFORM_LINUX_SYSTEM_CALLS_H

#include <stdbool.h>

/* From here on the kernel ends the process at the first call that it never makes; what its libraries may try
 * in good faith (a file of the time zone, say) is refused with an error. new_udp: it may open UDP sockets. 0
 * or -errno. */
int system_calls_restrict(bool new_udp);
/* Whether this kernel can do it. */
bool system_calls_can_be_restricted(void);

#endif
