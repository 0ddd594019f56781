/* SPDX-License-Identifier: MIT */
/* libnftables, in this process. Nobody else includes <nftables/libnftables.h>. */
#ifndef WGTCP_PLATFORM_LINUX_NFTABLES_H
#define WGTCP_PLATFORM_LINUX_NFTABLES_H

#include <stddef.h>

/* Carries out commands (nft(8)) as one transaction: all or none. 0; -EPERM; -EOPNOTSUPP: the kernel lacks
 * something that they need; -EIO. why (may be NULL): what nftables said, one line. */
int nftables_run(const char *commands, char *why, size_t size);

#endif
