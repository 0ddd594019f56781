/* SPDX-License-Identifier: MIT */
/* Which congestion control a carrier's connection begins with, where the machine's default is BBR. Any
 * thread. */
#ifndef WGTCP_PLATFORM_LINUX_CONGESTION_H
#define WGTCP_PLATFORM_LINUX_CONGESTION_H

/* Before connect() or listen(): the connection is not paced. */
void congestion_begin(int fd);
/* As soon as it is connected, before anything is sent: BBR after all, where the other end is not next door.
 */
void congestion_connected(int fd);

#endif
