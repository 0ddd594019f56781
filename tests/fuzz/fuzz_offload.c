/* SPDX-License-Identifier: MIT */
/* Bursts both ways. The first byte chooses: the rest is what a TUN device gave, to be taken apart; or packets
 * that a peer sent (each with a length before it), to be merged: and a burst that was merged must come apart
 * into packets of the same payload; or a whole burst that a peer sent, which must come apart into its payload
 * where it is taken for one. */
#include "core/base/bytes.h"
#include "platform/linux/burst.h"
#include "platform/linux/checksum.h"
#include "platform/linux/merge.h"
#include "platform/linux/segment.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define PACKETS_MAX 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take_apart(const uint8_t *data, size_t size)
{
	struct virtio_net_hdr header;
	struct segmenter segmenter;

	if (size <= sizeof(header))
		return;
	memcpy(&header, data, sizeof(header));
	size -= sizeof(header);
	uint8_t *bytes = malloc(size);
	assert(bytes);
	memcpy(bytes, data + sizeof(header), size);
	if (segmenter_init(&segmenter, &header, bytes, size)) {
		size_t len, packets = 0;

		while ((len = segmenter_next_len(&segmenter)) != 0) {
			uint8_t *out = malloc(len);
			assert(out && len <= size && packets++ <= size);
			segmenter_next(&segmenter, out);
			free(out);
		}
	}
	free(bytes);
}

static void check_burst(const struct merge *merge)
{
	struct merge_write write;
	struct segmenter segmenter;
	uint8_t *burst = malloc(merge->len), *out = malloc(merge->len);
	size_t len = 0;

	assert(burst && out);
	merge_prepare(merge, &write);
	for (int i = 1; i < write.iov_count; i++) {
		memcpy(burst + len, write.iov[i].iov_base, write.iov[i].iov_len);
		len += write.iov[i].iov_len;
	}
	assert(len == merge->len);
	assert(segmenter_init(&segmenter, &write.header, burst, len));
	for (size_t i = 0; i < merge->count; i++) {
		const struct packet *packet = merge->packets[i];

		assert(segmenter_next_len(&segmenter) == packet->len);
		segmenter_next(&segmenter, out);
		assert(memcmp(out + merge->first.header_len, packet->data + merge->first.header_len,
			       packet->len - merge->first.header_len) == 0);
	}
	assert(segmenter_next_len(&segmenter) == 0);
	free(burst);
	free(out);
}

/* A fuzzer does not find checksums by itself. */
static void make_right(struct packet *packet)
{
	uint8_t *bytes = packet->data;
	bool v6 = packet->len >= 40 && bytes[0] >> 4 == 6;
	size_t transport = v6 ? 40 : 20;

	if (packet->len < transport + 20)
		return;
	uint8_t protocol = v6 ? bytes[6] : bytes[9];
	uint8_t *field = bytes + transport + (protocol == 6 ? 16 : 6);
	size_t len = packet->len - transport;
	if (!v6) {
		put_be16(bytes + 2, (uint16_t)packet->len);
		put_be16(bytes + 10, 0);
		checksum_put(bytes + 10, (uint16_t)~checksum_fold(checksum_add(0, bytes, 20)));
	} else {
		put_be16(bytes + 4, (uint16_t)len);
	}
	put_be16(field, 0);
	uint64_t sum = checksum_pseudo(
		bytes + (v6 ? 8 : 12), bytes + (v6 ? 24 : 16), v6 ? 16 : 4, protocol, (uint32_t)len);
	checksum_put(field, (uint16_t)~checksum_fold(checksum_add(sum, bytes + transport, len)));
}

static void merge_packets(const uint8_t *data, size_t size, bool right)
{
	struct merge_table table = { .udp = true };
	struct packet packets[PACKETS_MAX];
	struct merge *merge;
	size_t count = 0;

	while (count < PACKETS_MAX && size >= 2) {
		size_t len = (size_t)data[0] + 1 < size - 1 ? (size_t)data[0] + 1 : size - 1;
		struct merge_view view;

		packets[count] = (struct packet){ .data = malloc(len), .len = (uint32_t)len };
		assert(packets[count].data);
		memcpy(packets[count].data, data + 1, len);
		data += len + 1;
		size -= len + 1;
		if (right)
			make_right(&packets[count]);
		if (merge_view(&view, &packets[count], true)) {
			merge = merge_find(&table, &view);
			if (!(merge && merge_join(merge, &view, &packets[count])) && view.joins) {
				if (merge) {
					check_burst(merge);
					merge_remove(&table, merge);
				}
				merge_start(&table, &view, &packets[count]);
			}
		}
		count++;
	}
	while ((merge = merge_oldest(&table))) {
		check_burst(merge);
		merge_remove(&table, merge);
	}
	while (count)
		free(packets[--count].data);
}

static void look_at_burst(const uint8_t *data, size_t size)
{
	struct packet burst = { .len = (uint32_t)size - 2, .segment = get_be16(data) };
	struct virtio_net_hdr header;
	struct segmenter segmenter;
	size_t len, payload = 0, packets = 0;

	burst.data = malloc(burst.len);
	assert(burst.data);
	memcpy(burst.data, data + 2, burst.len);
	if (burst_header(&burst, &header)) {
		size_t most = burst.len / BURST_SEGMENT_MIN + 1;

		burst_set_checksum(&burst, &header);
		assert(segmenter_init(&segmenter, &header, burst.data, burst.len));
		while ((len = segmenter_next_len(&segmenter)) != 0) {
			uint8_t *out = malloc(len);

			assert(out && len > header.hdr_len && len <= (size_t)header.hdr_len + burst.segment);
			segmenter_next(&segmenter, out);
			assert(memcmp(out + header.hdr_len, burst.data + header.hdr_len + payload,
				       len - header.hdr_len) == 0);
			payload += len - header.hdr_len;
			packets++;
			free(out);
		}
		assert(packets >= 2 && packets <= most && payload == burst.len - header.hdr_len);
	}
	free(burst.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1)
		return 0;
	if (data[0] & 0x80) {
		if (size > 3)
			look_at_burst(data + 1, size - 1);
	} else if (data[0] % 3 == 0)
		take_apart(data + 1, size - 1);
	else
		merge_packets(data + 1, size - 1, data[0] % 3 == 1);
	return 0;
}
