/* SPDX-License-Identifier: MIT */
/* The newest handshake timestamp of an interface, kept over restarts: a peer ignores initiations that are not newer than
 * the last it saw, so after a clock that went back we would be locked out (WireGuard paper 5.1). For an engine without
 * a daemon; wgtcpd keeps its own. */
#ifndef WGTCP_PLATFORM_LINUX_TIMESTAMP_MARK_H
#define WGTCP_PLATFORM_LINUX_TIMESTAMP_MARK_H

#include "core/base/time.h"

/* {0} when none was kept. */
struct wall timestamp_mark_read(const char *folder, const char *interface);
/* Makes the folder (root only) when it is missing. 0 or -errno; the old mark stays on failure. */
int timestamp_mark_write(const char *folder, const char *interface, struct wall mark);

#endif
