/* SPDX-License-Identifier: MIT */
/* The inner interface. Offloads are the platform's business: on this side stand single IP packets, in batches, and bursts
 * of TCP (core/base/packet.h) only for whoever asks for them. */
#ifndef WGTCP_CORE_PORT_TUN_H
#define WGTCP_CORE_PORT_TUN_H

#include "core/base/packet.h"

struct tun;

/* Takes over an OS handle (a descriptor on Unix). 0 or -errno; the handle is closed by tun_close, also on failure. */
int tun_adopt(int handle, struct tun **out);
void tun_close(struct tun *tun);

/* Reads until dry, max packets are there or the pool is short; never blocks. Appends to list. Packets larger than the
 * pool's room are dropped and counted.
 * A burst counts as the packets that it stands for.
 * 0: dry. 1: there may be more. -errno: the device is gone or down (-EIO while it is down: not fatal). */
int tun_read(struct tun *tun, struct packet_pool *pool, size_t max, struct packet_list *list);
/* Whether the device gives and takes bursts of TCP. */
bool tun_has_bursts(const struct tun *tun);
/* From now on tun_read gives them whole, where the pool has a packet for one; false: no longer. */
void tun_read_whole(struct tun *tun, bool whole);
/* Appends the single packets that a burst stands for, and gives the burst back; where the pool is short the rest is dropped
 * and counted. */
void tun_cut(struct tun *tun, struct packet *burst, struct packet_pool *pool, struct packet_list *list);
/* Writes a batch; the packets stay the caller's. A burst may come from anybody: it is looked at before it is written.
 * What is not valid, or is not taken by the device, is dropped and counted. */
void tun_write(struct tun *tun, struct packet *const *packets, size_t count);

struct tun_stats {
	uint64_t read_dropped;  /* not valid, or larger than a packet of the pool */
	uint64_t write_dropped; /* not valid, or not taken by the device */
	uint64_t whole_written; /* bursts */
};
void tun_stats(const struct tun *tun, struct tun_stats *out);

#endif
