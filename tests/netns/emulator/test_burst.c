/* SPDX-License-Identifier: MIT */
/* Rows of a burst against the burst itself: taken apart by the engine's own segmenter, whatever cuts the
 * emulator makes, the frames are the same, bit by bit and checksum by checksum. */
#include "platform/linux/segment.h"
#include "tests/netns/emulator/direction.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FRAMES_MAX 64
#define FRAME_MAX 1600

struct frames {
	size_t count;
	size_t len[FRAMES_MAX];
	uint8_t bytes[FRAMES_MAX][FRAME_MAX];
};

static void put16(uint8_t *at, size_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

/* A burst as the kernel leaves it: the checksum field holds the pseudo header's sum, which the segmenter
 * works out anew. */
static size_t make_burst(
	uint8_t *bytes, struct virtio_net_hdr *header, bool v6, bool udp, size_t payload, size_t gso_size)
{
	size_t ip = v6 ? 40 : 20, transport = udp ? 8 : 32, len = ip + transport + payload;

	memset(bytes, 0, ip + transport);
	bytes[0] = v6 ? 0x60 : 0x45;
	if (v6) {
		put16(bytes + 4, transport + payload);
		bytes[6] = udp ? 17 : 6;
		memset(bytes + 8, 0xfd, 32);
	} else {
		put16(bytes + 2, len);
		put16(bytes + 4, 0xfff0); /* the identification wraps on the way */
		bytes[9] = udp ? 17 : 6;
		memset(bytes + 12, 10, 8);
	}
	put16(bytes + ip, 1000);
	put16(bytes + ip + 2, 2000);
	if (udp) {
		put16(bytes + ip + 4, transport + payload);
	} else {
		memset(bytes + ip + 4, 0xff, 4); /* so does the sequence */
		bytes[ip + 12] = 0x80;
		bytes[ip + 13] = 0x80 | 0x18 | 0x01; /* CWR, ACK, PSH, FIN */
		memset(bytes + ip + 20, 1, 12);
	}
	for (size_t i = 0; i < payload; i++)
		bytes[ip + transport + i] = (uint8_t)(i * 7 + i / 251);
	*header = (struct virtio_net_hdr){ .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
		.gso_type = udp  ? VIRTIO_NET_HDR_GSO_UDP_L4
			    : v6 ? VIRTIO_NET_HDR_GSO_TCPV6
				 : VIRTIO_NET_HDR_GSO_TCPV4,
		.hdr_len = (uint16_t)(ip + transport),
		.gso_size = (uint16_t)gso_size,
		.csum_start = (uint16_t)ip,
		.csum_offset = udp ? 6 : 16 };
	return len;
}

static void take_apart(struct frames *frames, const struct virtio_net_hdr *header, uint8_t *bytes, size_t len)
{
	struct segmenter segmenter;
	size_t next;

	assert_true(segmenter_init(&segmenter, header, bytes, len));
	while ((next = segmenter_next_len(&segmenter))) {
		assert_true(frames->count < FRAMES_MAX && next <= FRAME_MAX);
		frames->len[frames->count] = next;
		segmenter_next(&segmenter, frames->bytes[frames->count++]);
	}
}

/* What burst_form made, as the other kernel would send it on. */
static void take_row_apart(struct frames *frames, const struct burst_row *row)
{
	static uint8_t whole[BURST_BYTES_MAX];
	size_t len = 0;

	for (int i = 1; i < row->iov_count; i++) {
		memcpy(whole + len, row->iov[i].iov_base, row->iov[i].iov_len);
		len += row->iov[i].iov_len;
	}
	take_apart(frames, &row->header, whole, len);
}

static const struct {
	bool v6, udp;
	size_t payload, gso_size;
} kinds[] = {
	{ false, false, 14480, 1448 },
	{ false, false, 14481, 1448 },
	{ true, false, 9999, 1200 },
	{ false, true, 30000, 1000 },
	{ true, true, 1201, 1200 },
};

static void test_rows_are_the_same_frames(void **state)
{
	static uint8_t bytes[BURST_BYTES_MAX], copy[BURST_BYTES_MAX];
	static struct frames expected, got;

	(void)state;
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		struct virtio_net_hdr header;
		struct burst burst;
		struct burst_row row;
		size_t len = make_burst(
			bytes, &header, kinds[k].v6, kinds[k].udp, kinds[k].payload, kinds[k].gso_size);

		memcpy(copy, bytes, len);
		expected.count = 0;
		take_apart(&expected, &header, copy, len);
		assert_true(burst_measure(&burst, &header, bytes, len));
		assert_int_equal(burst.count, expected.count);
		for (size_t first = 0; first < burst.count; first++) {
			assert_int_equal(burst_frame_len(&burst, first), expected.len[first]);
			for (size_t end = first + 1; end <= burst.count; end++) {
				got.count = 0;
				burst_form(&burst, bytes, first, end, &row);
				take_row_apart(&got, &row);
				assert_int_equal(got.count, end - first);
				for (size_t i = 0; i < got.count; i++) {
					assert_int_equal(got.len[i], expected.len[first + i]);
					assert_memory_equal(
						got.bytes[i], expected.bytes[first + i], got.len[i]);
				}
			}
		}
	}
}

/* The fate of 40,000 frames, one letter each, when they come in bursts of so many. */
static void fates(char *out, size_t burst_frames)
{
	const struct direction_settings settings = {
		.bad_enter = 0.01, .bad_leave = 0.25, .bad_loss = 0.9, .loss = 0.01
	};
	struct direction *direction = direction_new(&settings, 5, 128);
	size_t done = 0;

	memset(out, 'x', 40000);
	while (done < 40000) {
		struct virtio_net_hdr header;
		struct burst burst;
		struct direction_row due;
		uint8_t *room = direction_room(direction);
		size_t len = make_burst(room, &header, false, false, burst_frames * 100, 100);

		if (burst_frames == 1)
			header.gso_type = VIRTIO_NET_HDR_GSO_NONE;
		assert_true(burst_measure(&burst, &header, room, len));
		assert_int_equal(burst.count, burst_frames);
		direction_push(direction, &burst, done);
		while (direction_due(direction, done, &due)) {
			memset(out + done + due.first, '.', due.end - due.first);
			direction_pop(direction, &due);
		}
		done += burst_frames;
	}
	direction_free(direction);
}

static void test_loss_knows_no_bursts(void **state)
{
	static char single[40000], bursts[40000];
	size_t lost = 0;

	(void)state;
	fates(single, 1);
	fates(bursts, 40);
	assert_memory_equal(single, bursts, sizeof(single));
	for (size_t i = 0; i < sizeof(single); i++)
		lost += single[i] == 'x';
	/* 1/26 of the time bad: 4.42 % on average. */
	assert_in_range(lost, 40000 * 38 / 1000, 40000 * 51 / 1000);
}

static void test_rate_takes_bursts_apart(void **state)
{
	/* 120 + 52 bytes at 1.376 Mb/s take 1 ms. */
	const struct direction_settings settings = { .rate_bps = 1376000, .queue_bytes = 5 * 172 };
	struct direction *direction = direction_new(&settings, 1, 64);
	struct direction_stats stats;
	struct direction_row due;
	struct virtio_net_hdr header;
	struct burst burst;
	uint8_t *room = direction_room(direction);
	size_t len = make_burst(room, &header, false, false, 960, 120);

	(void)state;
	assert_true(burst_measure(&burst, &header, room, len));
	direction_push(direction, &burst, 0);
	for (uint64_t ms = 1; ms <= 5; ms++) {
		assert_int_equal(direction_deadline(direction), ms * 1000000);
		assert_false(direction_due(direction, ms * 1000000 - 1, &due));
		assert_true(direction_due(direction, ms * 1000000, &due));
		assert_int_equal(due.first, ms - 1);
		assert_int_equal(due.end, ms);
		direction_pop(direction, &due);
	}
	assert_int_equal(direction_deadline(direction), UINT64_MAX);
	direction_stats(direction, &stats);
	assert_int_equal(stats.dropped, 3); /* five of eight fit */
	direction_free(direction);
}

static void test_reordered_frames_come_later(void **state)
{
	const struct direction_settings settings = { .delay_us = 1000, .reorder = 0.1, .reorder_us = 5000 };
	struct direction *direction = direction_new(&settings, 1, 256);
	struct direction_stats stats;
	struct direction_row due;
	bool late[100] = { false };
	size_t at_once = 0, later = 0;

	(void)state;
	for (int round = 0; round < 20; round++) {
		struct virtio_net_hdr header;
		struct burst burst;
		uint64_t now = (uint64_t)round * 100000000;
		uint8_t *room = direction_room(direction);
		size_t len = make_burst(room, &header, false, false, 40 * 100, 100);

		assert_true(burst_measure(&burst, &header, room, len));
		direction_push(direction, &burst, now);
		memset(late, 1, sizeof(late));
		while (direction_due(direction, now + 1000000, &due)) {
			at_once += due.end - due.first;
			memset(late + due.first, 0, due.end - due.first);
			direction_pop(direction, &due);
		}
		assert_false(direction_due(direction, now + 5999999, &due));
		while (direction_due(direction, now + 6000000, &due)) {
			later += due.end - due.first;
			for (size_t i = due.first; i < due.end; i++)
				assert_true(late[i]);
			direction_pop(direction, &due);
		}
	}
	assert_int_equal(at_once + later, 800);
	assert_in_range(later, 40, 130);
	direction_stats(direction, &stats);
	assert_int_equal(stats.late, later);
	assert_int_equal(stats.delivered, 800);
	direction_free(direction);
}

static void test_nonsense_is_refused(void **state)
{
	static uint8_t bytes[BURST_BYTES_MAX];
	struct virtio_net_hdr good, header;
	struct burst burst;
	size_t len = make_burst(bytes, &good, false, false, 5000, 1000);

	(void)state;
	assert_false(burst_measure(&burst, &good, bytes, 0));
	assert_false(burst_measure(&burst, &good, bytes, 40));
	header = good, header.gso_size = 0;
	assert_false(burst_measure(&burst, &header, bytes, len));
	header = good, header.csum_start = 24;
	assert_false(burst_measure(&burst, &header, bytes, len));
	header = good, header.csum_start = 65535;
	assert_false(burst_measure(&burst, &header, bytes, len));
	header = good, header.gso_type = 0x7f;
	assert_false(burst_measure(&burst, &header, bytes, len));
	bytes[20 + 12] = 0x10;
	assert_false(burst_measure(&burst, &good, bytes, len));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_are_the_same_frames),
		cmocka_unit_test(test_loss_knows_no_bursts),
		cmocka_unit_test(test_rate_takes_bursts_apart),
		cmocka_unit_test(test_reordered_frames_come_later),
		cmocka_unit_test(test_nonsense_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
