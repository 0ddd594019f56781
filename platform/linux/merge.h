/* SPDX-License-Identifier: MIT */
/* Joins packets of one flow that follow each other into one that the TUN device takes as a burst: the stack
 * above then works once instead of forty times. As for UDP, equal sizes
 * in a row. Pure.
 *
 * A burst is written with its checksum left out, and nobody checks it after us; so a packet joins only when
 * its own checksums are right. One that fails goes alone, for the kernel to see and drop. */
#ifndef WGTCP_PLATFORM_LINUX_MERGE_H
#define WGTCP_PLATFORM_LINUX_MERGE_H

#include "core/base/packet.h"

#include <linux/virtio_net.h>
#include <sys/uio.h>

#define MERGE_PACKETS_MAX 64
#define MERGE_FLOWS_MAX 8
#define MERGE_HEADER_MAX 100 /* IPv6 and a TCP header with all its options */

/* What there is to know of a packet that could belong to a burst. */
struct merge_view {
	const uint8_t *bytes;
	size_t len, transport, header_len, payload_len;
	uint8_t protocol;
	bool joins;  /* nothing in it forbids to be part of a burst */
	bool closes; /* may only be the last */
};

/* A burst under way. */
struct merge {
	struct packet *packets[MERGE_PACKETS_MAX];
	size_t count;
	size_t len; /* of the merged packet */
	struct merge_view first;
	uint32_t next_sequence;
	bool psh;
};

struct merge_table {
	struct merge flows[MERGE_FLOWS_MAX];
	size_t order[MERGE_FLOWS_MAX]; /* in use, oldest first */
	size_t count;
	bool udp; /* the device takes bursts of UDP too */
};

/* What goes to the device in one write. */
struct merge_write {
	struct virtio_net_hdr header;
	uint8_t copy[MERGE_HEADER_MAX]; /* of the packet headers, with their new lengths */
	struct iovec iov[MERGE_PACKETS_MAX + 2];
	int iov_count;
};

/* True: packet belongs to a flow that could be merged. */
bool merge_view(struct merge_view *view, const struct packet *packet, bool udp);
/* The burst of the same flow, if one is under way. */
struct merge *merge_find(struct merge_table *table, const struct merge_view *view);
/* Adds the packet to its flow's burst; false: it does not fit there. */
bool merge_join(struct merge *merge, const struct merge_view *view, struct packet *packet);
/* Whether nothing more can join. */
bool merge_complete(const struct merge *merge);
/* Starts a burst; the table must have room and view->joins be true. */
void merge_start(struct merge_table *table, const struct merge_view *view, struct packet *packet);
/* Takes a burst out of the table once it is written. */
void merge_remove(struct merge_table *table, struct merge *merge);
struct merge *merge_oldest(struct merge_table *table); /* NULL: none */
/* One write for a burst of two packets or more. */
void merge_prepare(const struct merge *merge, struct merge_write *out);

#endif
