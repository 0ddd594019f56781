/* SPDX-License-Identifier: MIT */
#ifndef WGTCP_PLATFORM_LINUX_PRIVILEGES_BOUND_H
#define WGTCP_PLATFORM_LINUX_PRIVILEGES_BOUND_H

#include <stdint.h>

/* Takes all other capabilities (by number, as bits) out of what a program may have when it is started, now or
 * later, if this process may do that. */
void privileges_bound(uint64_t kept);

#endif
