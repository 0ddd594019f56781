/* SPDX-License-Identifier: MIT */
/* The TUN device. On the kernel's side packets come and go with a header that says which of their checksums
 * and cuts have been left out (IFF_VNET_HDR); on ours they are single and complete, but for bursts of TCP where the
 * engine asks for these. The engine's thread. Source:
 * Documentation/networking/tuntap; virtio 1.2, 5.1.6. */
#include "core/port/tun.h"

#include "platform/linux/burst.h"
#include "platform/linux/handles.h"
#include "platform/linux/merge.h"
#include "platform/linux/segment.h"
#include "platform/linux/tun_offload.h"

#include <errno.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define PACKET_AT 64
#define BURST_BYTES (128 * 1024) /* more than the 65,535 of any burst: kernels may learn larger ones */

struct tun {
	int fd;
	bool vnet_header;
	bool bursts; /* it takes merged packets */
	bool whole;  /* bursts are given out as such, where they may */
	uint8_t *memory;
	bool has_burst;       /* burst holds packets that were read and not yet taken */
	size_t burst_packets; /* taken so far from this burst, or from the last one */
	struct segmenter burst;
	struct tun_stats stats;
	struct merge_table table;
	struct merge_write write;
};

int tun_adopt(int handle, struct tun **out)
{
	struct tun *tun = calloc(1, sizeof(*tun));
	struct ifreq request = { 0 };
	int err = -ENOMEM;

	if (!tun)
		goto fail;
	err = descriptor_prepare(handle);
	if (err)
		goto fail;
	if (ioctl(handle, TUNGETIFF, &request) < 0) {
		err = -errno;
		goto fail;
	}
	tun->vnet_header = request.ifr_flags & IFF_VNET_HDR;
	/* What is on can not be read back, so it is set again. */
	if (tun->vnet_header)
		tun->bursts = tun_offload_enable(handle, &tun->table.udp);
	void *memory = mmap(
		NULL, BURST_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (memory == MAP_FAILED) {
		err = -errno;
		goto fail;
	}
	tun->memory = memory;
	tun->fd = handle;
	*out = tun;
	return 0;
fail:
	free(tun);
	close(handle);
	return err;
}

void tun_close(struct tun *tun)
{
	if (!tun)
		return;
	munmap(tun->memory, BURST_BYTES);
	close(tun->fd);
	free(tun);
}

int tun_descriptor(const struct tun *tun)
{
	return tun->fd;
}

bool tun_holds_packets(const struct tun *tun)
{
	return tun->has_burst;
}

void tun_stats(const struct tun *tun, struct tun_stats *out)
{
	*out = tun->stats;
}

bool tun_has_bursts(const struct tun *tun)
{
	return tun->bursts;
}

void tun_read_whole(struct tun *tun, bool whole)
{
	tun->whole = whole && tun->bursts;
}

/* What was read is a burst that may be passed on whole. */
static bool is_whole(const struct virtio_net_hdr *header, struct packet *packet, size_t len)
{
	struct virtio_net_hdr again;

	if ((header->gso_type != VIRTIO_NET_HDR_GSO_TCPV4 && header->gso_type != VIRTIO_NET_HDR_GSO_TCPV6) ||
		len > packet->room)
		return false;
	packet->len = (uint32_t)len;
	packet->segment = header->gso_size;
	if (burst_header(packet, &again) && again.csum_start == header->csum_start && again.gso_type == header->gso_type)
		return true;
	packet->len = 0;
	packet->segment = 0;
	return false;
}

/* 0 with a burst in tun->burst, or in *large, which is then set to be passed on whole; or -errno. large: where to read;
 * NULL: to the device's own memory. */
static int read_burst(struct tun *tun, struct packet *large)
{
	struct virtio_net_hdr header = { 0 };
	size_t header_len = tun->vnet_header ? sizeof(header) : 0;
	/* The header lies before the packet, which begins at a cache line: a plain read costs less than a
	 * readv. */
	uint8_t *packet = large ? large->data : tun->memory + PACKET_AT, *start = packet - header_len;
	size_t room = header_len + (large ? large->room : BURST_BYTES - PACKET_AT);

	for (;;) {
		ssize_t n = read(tun->fd, start, room);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		memcpy(&header, start, header_len);
		if (large && (size_t)n >= header_len && is_whole(&header, large, (size_t)n - header_len))
			return 0;
		if ((size_t)n >= header_len &&
			segmenter_init(&tun->burst, &header, packet, (size_t)n - header_len)) {
			tun->has_burst = true;
			tun->burst_packets = 0;
			return 0;
		}
		tun->stats.read_dropped++;
	}
}

/* Takes packets out of the burst until it is empty, or max are there (or the pool is short): false. */
static bool take_packets(
	struct tun *tun, struct packet_pool *pool, size_t max, size_t *count, struct packet_list *list)
{
	for (size_t len; (len = segmenter_next_len(&tun->burst)) != 0;) {
		struct packet *packet;

		if (*count == max)
			return false;
		packet = packet_take(pool);
		if (!packet)
			return false;
		if (len > packet->room) {
			packet_give(pool, packet);
			segmenter_skip(&tun->burst);
			tun->stats.read_dropped++;
			continue;
		}
		segmenter_next(&tun->burst, packet->data);
		packet->len = (uint32_t)len;
		packet_list_push(list, packet);
		++*count;
		tun->burst_packets++;
	}
	tun->has_burst = false;
	return true;
}

/* Packets that a burst stands for, at least. */
static size_t segments_of(const struct packet *burst)
{
	return (burst->len + burst->segment - 1) / burst->segment;
}

static int read_packets(
	struct tun *tun, struct packet_pool *pool, size_t max, struct packet **large, struct packet_list *list)
{
	size_t count = 0;

	for (;;) {
		if (!tun->has_burst) {
			/* No burst is begun that, like the last one, would not fit: cut in two it costs twice
			 * further on. */
			if (count >= max || (count && count + tun->burst_packets > max) ||
				packet_pool_left(pool) == 0)
				return 1;
			int err = read_burst(tun, *large);
			if (err)
				return err == -EAGAIN ? 0 : err;
			if (*large && (*large)->segment) {
				tun->burst_packets = segments_of(*large);
				count += tun->burst_packets;
				packet_list_push(list, *large);
				*large = packet_take_burst(pool);
				continue;
			}
		}
		if (!take_packets(tun, pool, max, &count, list))
			return 1;
	}
}

int tun_read(struct tun *tun, struct packet_pool *pool, size_t max, struct packet_list *list)
{
	struct packet *large = tun->whole ? packet_take_burst(pool) : NULL;
	int result = read_packets(tun, pool, max, &large, list);

	/* What is left of a burst outlives the packet it was read into. */
	if (large && tun->has_burst && tun->burst.bytes == large->data) {
		memcpy(tun->memory + PACKET_AT, large->data, tun->burst.len);
		tun->burst.bytes = tun->memory + PACKET_AT;
	}
	packet_give(pool, large);
	return result;
}

void tun_cut(struct tun *tun, struct packet *burst, struct packet_pool *pool, struct packet_list *list)
{
	struct virtio_net_hdr header;
	struct segmenter segmenter;

	if (!burst_header(burst, &header) || !segmenter_init(&segmenter, &header, burst->data, burst->len)) {
		tun->stats.read_dropped++;
		packet_give(pool, burst);
		return;
	}
	for (size_t len; (len = segmenter_next_len(&segmenter)) != 0;) {
		struct packet *packet = packet_take(pool);

		if (!packet || len > packet->room) {
			packet_give(pool, packet);
			segmenter_skip(&segmenter);
			tun->stats.read_dropped++;
			continue;
		}
		segmenter_next(&segmenter, packet->data);
		packet->len = (uint32_t)len;
		packet->queued = burst->queued;
		packet_list_push(list, packet);
	}
	packet_give(pool, burst);
}

/* False: the device did not take it. */
static bool write_all(const struct tun *tun, const struct iovec *iov, int count)
{
	ssize_t n;

	do
		n = writev(tun->fd, iov, count);
	while (n < 0 && errno == EINTR);
	return n >= 0;
}

static void write_single(struct tun *tun, struct packet *packet)
{
	struct virtio_net_hdr header = { 0 };
	struct iovec iov[2] = { { &header, sizeof(header) }, { packet->data, packet->len } };

	if (!(tun->vnet_header ? write_all(tun, iov, 2) : write_all(tun, iov + 1, 1)))
		tun->stats.write_dropped++;
}

static void write_merge(struct tun *tun, struct merge *merge)
{
	bool written = false;

	if (merge->count > 1) {
		merge_prepare(merge, &tun->write);
		written = write_all(tun, tun->write.iov, tun->write.iov_count);
	}
	for (size_t i = 0; !written && i < merge->count; i++)
		write_single(tun, merge->packets[i]);
	merge_remove(&tun->table, merge);
}

static void write_burst(struct tun *tun, struct packet *burst)
{
	struct virtio_net_hdr header;
	struct iovec iov[2] = { { &header, sizeof(header) }, { burst->data, burst->len } };

	if (!tun->bursts || !burst_header(burst, &header)) {
		tun->stats.write_dropped++;
		return;
	}
	burst_set_checksum(burst, &header);
	if (write_all(tun, iov, 2))
		tun->stats.whole_written++;
	else
		tun->stats.write_dropped++;
}

static void write_merges(struct tun *tun)
{
	for (struct merge *merge; (merge = merge_oldest(&tun->table));)
		write_merge(tun, merge);
}

void tun_write(struct tun *tun, struct packet *const *packets, size_t count)
{
	struct merge_table *table = &tun->table;
	struct merge *merge;

	for (size_t i = 0; i < count; i++) {
		struct merge_view view;

		if (packets[i]->segment) {
			write_merges(tun); /* what came before it in its flow goes before it */
			write_burst(tun, packets[i]);
			continue;
		}
		if (!tun->bursts || count == 1 || !merge_view(&view, packets[i], table->udp)) {
			write_single(tun, packets[i]);
			continue;
		}
		merge = merge_find(table, &view);
		if (merge && merge_join(merge, &view, packets[i])) {
			if (merge_complete(merge))
				write_merge(tun, merge);
			continue;
		}
		/* What came before it in its flow goes before it. */
		if (merge)
			write_merge(tun, merge);
		if (!view.joins) {
			write_single(tun, packets[i]);
			continue;
		}
		if (table->count == MERGE_FLOWS_MAX)
			write_merge(tun, merge_oldest(table));
		merge_start(table, &view, packets[i]);
	}
	write_merges(tun);
}
