/* SPDX-License-Identifier: MIT */
/* One end of the emulated wire: a TUN device in some network namespace that hands bursts over whole, with
 * unfinished checksums, where the kernel can. One thread. Source: linux/if_tun.h. */
#ifndef WGTCP_TESTS_NETNS_EMULATOR_DEVICE_H
#define WGTCP_TESTS_NETNS_EMULATOR_DEVICE_H

#include "tests/netns/emulator/burst.h"

/* where is NETNS:NAME, NETNS a path. The descriptor or -errno. */
int device_open(const char *where);
/* 0, -EAGAIN when there is none, or -errno. bytes has room for BURST_BYTES_MAX. A packet that is not
 * understood has a count of 0. */
int device_read(int fd, uint8_t *bytes, struct burst *burst);
/* 0 or -errno. A row that the device does not take is lost, as on a wire; only -EAGAIN asks for another try.
 */
int device_write(int fd, const struct burst_row *row);

#endif
