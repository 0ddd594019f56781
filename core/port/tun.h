/* SPDX-License-Identifier: MIT */
/* The inner interface. Offloads are the platform's business: on this side stand single IP packets, in batches. */
#ifndef WGTCP_CORE_PORT_TUN_H
#define WGTCP_CORE_PORT_TUN_H

#include "core/base/packet.h"

struct tun;

/* Takes over an OS handle (a descriptor on Unix). 0 or -errno; the handle is closed by tun_close, also on failure. */
int tun_adopt(int handle, struct tun **out);
void tun_close(struct tun *tun);

/* Reads until dry, max packets are there or the pool is short; never blocks. Appends to list. Packets larger than the
 * pool's room are dropped and counted.
 * 0: dry. 1: there may be more. -errno: the device is gone or down (-EIO while it is down: not fatal). */
int tun_read(struct tun *tun, struct packet_pool *pool, size_t max, struct packet_list *list);
/* Writes a batch; the packets stay the caller's. What the device does not take is dropped and counted. */
void tun_write(struct tun *tun, struct packet *const *packets, size_t count);

struct tun_stats {
	uint64_t read_dropped;  /* not valid, or larger than a packet of the pool */
	uint64_t write_dropped; /* not taken by the device */
};
void tun_stats(const struct tun *tun, struct tun_stats *out);

#endif
