/* SPDX-License-Identifier: MIT */
/* Hears when tables of the packet filter lose something. Used for the kill switch and for the marks on
 * answers. */
#ifndef WGTCP_PLATFORM_LINUX_NFTABLES_WATCH_H
#define WGTCP_PLATFORM_LINUX_NFTABLES_WATCH_H

#include <stdbool.h>

struct nftables_watch;
/* 0 or -errno. */
int nftables_watch_open(struct nftables_watch **out);
/* NULL is allowed. */
void nftables_watch_close(struct nftables_watch *watch);
int nftables_watch_handle(const struct nftables_watch *watch);
/* Takes what waits: whether a table whose name begins so may have gone, or something in it. */
bool nftables_watch_take(struct nftables_watch *watch, const char *prefix);

#endif
