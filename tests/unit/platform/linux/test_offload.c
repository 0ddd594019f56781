/* SPDX-License-Identifier: MIT */
/* Checksums, taking bursts apart, and what may and may not be merged. */
#include "platform/linux/burst.h"
#include "platform/linux/checksum.h"
#include "platform/linux/checksum_kinds.h"
#include "platform/linux/inner.h"
#include "platform/linux/merge.h"
#include "platform/linux/segment.h"

#include "core/base/bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* RFC 1071, as plain as can be. */
static uint16_t plain_sum(const uint8_t *bytes, size_t len)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < len; i++)
		sum += i & 1 ? (uint32_t)bytes[i] : (uint32_t)bytes[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

static void sums_equal_the_plain_ones(void **state)
{
	static uint8_t bytes[70000];
	uint8_t stored[2];
	uint32_t seed = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++) {
		seed = seed * 1103515245u + 12345u;
		bytes[i] = (uint8_t)(seed >> 16);
	}
	for (size_t len = 0; len < 300; len++)
		for (size_t offset = 0; offset < 9; offset++) {
			checksum_put(stored, checksum_fold(checksum_add(0, bytes + offset, len)));
			assert_int_equal(get_be16(stored), plain_sum(bytes + offset, len));
		}
	/* In two parts, and where the carries are most. */
	checksum_put(stored, checksum_fold(checksum_add(checksum_add(0, bytes, 1000), bytes + 1000, 69000)));
	assert_int_equal(get_be16(stored), plain_sum(bytes, 70000));
	memset(bytes, 0xff, sizeof(bytes));
	checksum_put(stored, checksum_fold(checksum_add(UINT64_MAX, bytes, 70000)));
	assert_int_equal(get_be16(stored), 0xffff);
}

/* Each way of adding that this machine has gives the plain sum for every length and alignment, at the end of
 * its buffer too, so that a sanitizer sees what reads on. */
static void every_kind_gives_the_plain_sum(void **state)
{
	struct checksum_kind kinds[CHECKSUM_KINDS_MAX + 1] = { { "portable", checksum_add_portable } };
	size_t count = 1 + checksum_vector_kinds(kinds + 1);

	(void)state;
	for (size_t k = 0; k < count; k++) {
		for (size_t len = 0; len < 600; len++) {
			uint8_t *bytes = malloc(len + 3), stored[2];

			assert_non_null(bytes);
			for (size_t i = 0; i < len + 3; i++)
				bytes[i] = len % 3 ? (uint8_t)(i * 151 + len) : 0xff;
			for (size_t offset = 0; offset < 4; offset++) {
				checksum_put(stored,
					checksum_fold(kinds[k].add(0, bytes + offset, len + 3 - offset)));
				assert_int_equal(
					get_be16(stored), plain_sum(bytes + offset, len + 3 - offset));
			}
			/* A sum so far is carried on: this one, which is 1, lies in the lower byte here. */
			checksum_put(
				stored, checksum_fold(kinds[k].add(UINT64_C(0x1ffffffff), bytes, len + 3)));
			assert_int_equal(
				get_be16(stored) % 0xffff, (plain_sum(bytes, len + 3) + 256) % 0xffff);
			free(bytes);
		}
	}
}

/* A packet of TCP or UDP with right checksums. */
struct made {
	bool v6, udp;
	uint32_t sequence;
	uint8_t flags;
	size_t payload;
};

static void finish(uint8_t *bytes, size_t len)
{
	bool v6 = bytes[0] >> 4 == 6;
	size_t transport = v6 ? IPV6_LEN : IPV4_LEN;
	uint8_t protocol = v6 ? bytes[IPV6_NEXT] : bytes[IPV4_PROTOCOL];
	uint8_t *field =
		bytes + transport + (protocol == PROTOCOL_TCP ? (int)TCP_CHECKSUM : (int)UDP_CHECKSUM);

	if (!v6) {
		put_be16(bytes + IPV4_CHECKSUM, 0);
		checksum_put(
			bytes + IPV4_CHECKSUM, (uint16_t)~checksum_fold(checksum_add(0, bytes, IPV4_LEN)));
	}
	put_be16(field, 0);
	uint64_t pseudo = v6 ? checksum_pseudo(bytes + IPV6_SOURCE, bytes + IPV6_DESTINATION, 16, protocol,
				       (uint32_t)(len - transport))
			     : checksum_pseudo(bytes + IPV4_SOURCE, bytes + IPV4_DESTINATION, 4, protocol,
				       (uint32_t)(len - transport));
	checksum_put(
		field, (uint16_t)~checksum_fold(checksum_add(pseudo, bytes + transport, len - transport)));
}

static size_t make(uint8_t *out, const struct made *what)
{
	size_t transport = what->v6 ? IPV6_LEN : IPV4_LEN;
	size_t len = transport + (what->udp ? (size_t)UDP_LEN : (size_t)TCP_LEN) + what->payload;
	uint8_t *header = out + transport;

	memset(out, 0, transport + TCP_LEN);
	if (what->v6) {
		out[0] = 0x60;
		put_be16(out + IPV6_PAYLOAD, (uint16_t)(len - IPV6_LEN));
		out[IPV6_NEXT] = what->udp ? PROTOCOL_UDP : PROTOCOL_TCP;
		out[7] = 64;
		out[IPV6_SOURCE] = out[IPV6_DESTINATION] = 0xfd;
		out[IPV6_DESTINATION + 15] = 1;
	} else {
		out[0] = 0x45;
		put_be16(out + IPV4_TOTAL, (uint16_t)len);
		put_be16(out + IPV4_ID, (uint16_t)(what->sequence / 100));
		out[IPV4_FRAGMENT] = 0x40;
		out[IPV4_TTL] = 64;
		out[IPV4_PROTOCOL] = what->udp ? PROTOCOL_UDP : PROTOCOL_TCP;
		out[IPV4_SOURCE] = out[IPV4_DESTINATION] = 10;
		out[IPV4_DESTINATION + 3] = 1;
	}
	put_be16(header, 1000);
	put_be16(header + 2, 2000);
	if (what->udp) {
		put_be16(header + UDP_LENGTH, (uint16_t)(UDP_LEN + what->payload));
	} else {
		put_be32(header + TCP_SEQUENCE, what->sequence);
		put_be32(header + TCP_ACKNOWLEDGED, 77);
		header[TCP_OFFSET] = 5 << 4;
		header[TCP_FLAGS] = what->flags;
		put_be16(header + 14, 500);
	}
	for (size_t i = 0; i < what->payload; i++)
		out[len - what->payload + i] = (uint8_t)(what->sequence + i);
	finish(out, len);
	return len;
}

/* The packets of a test. */
static struct packet_pool *pool;

static struct packet *packet(const struct made *what)
{
	struct packet *made = packet_take(pool);

	assert_non_null(made);
	made->len = (uint32_t)make(made->data, what);
	return made;
}

static void a_merged_burst_comes_apart_into_what_it_was(void **state)
{
	(void)state;
	for (int v6 = 0; v6 < 2; v6++)
		for (int udp = 0; udp < 2; udp++) {
			struct packet *packets[4];
			struct merge_table table = { .udp = true };
			struct merge_view view;
			struct merge_write write;
			struct segmenter segmenter;
			uint8_t burst[1000], out[1000];
			size_t len = 0;

			for (uint32_t i = 0; i < 4; i++)
				packets[i] = packet(&(struct made){ v6, udp, 5000 + i * 100,
					(uint8_t)(FLAG_ACK | (i == 3 ? FLAG_PSH : 0)), i == 3 ? 60 : 100 });
			assert_true(merge_view(&view, packets[0], true));
			assert_true(view.joins);
			merge_start(&table, &view, packets[0]);
			struct merge *merge = merge_oldest(&table);
			for (size_t i = 1; i < 4; i++) {
				assert_false(merge_complete(merge));
				assert_true(merge_view(&view, packets[i], true));
				assert_ptr_equal(merge_find(&table, &view), merge);
				assert_true(merge_join(merge, &view, packets[i]));
			}
			assert_true(merge_complete(merge)); /* a shorter one is the last */
			merge_prepare(merge, &write);
			for (int i = 1; i < write.iov_count; i++) {
				memcpy(burst + len, write.iov[i].iov_base, write.iov[i].iov_len);
				len += write.iov[i].iov_len;
			}
			assert_int_equal(write.header.gso_size, 100);
			assert_true(segmenter_init(&segmenter, &write.header, burst, len));
			for (size_t i = 0; i < 4; i++) {
				assert_int_equal(segmenter_next_len(&segmenter), packets[i]->len);
				segmenter_next(&segmenter, out);
				assert_memory_equal(out, packets[i]->data, packets[i]->len);
			}
			assert_int_equal(segmenter_next_len(&segmenter), 0);
			merge_remove(&table, merge);
			assert_null(merge_oldest(&table));
			for (size_t i = 0; i < 4; i++)
				packet_give(pool, packets[i]);
		}
}

static void set8(uint8_t *bytes, size_t at, uint8_t value)
{
	bytes[at] = value;
}

/* What differs between the first packet of a burst and the next one. */
static void what_must_not_join_does_not(void **state)
{
	static const struct {
		const char *what;
		bool v6, udp;
		size_t payload;
		size_t at; /* this byte becomes value, with the checksums made right again */
		uint8_t value;
		bool joins;
	} cases[] = {
		{ "nothing", false, false, 100, 0, 0x45, true },
		{ "nothing", true, false, 100, 0, 0x60, true },
		{ "nothing", false, true, 100, 0, 0x45, true },
		{ "nothing", true, true, 100, 0, 0x60, true },
		{ "shorter", false, false, 1, 0, 0x45, true },
		{ "longer", false, false, 101, 0, 0x45, false },
		{ "longer", true, true, 101, 0, 0x60, false },
		{ "empty", false, false, 0, 0, 0x45, false },
		{ "TOS", false, false, 100, IPV4_TOS, 3, false },
		{ "TTL", false, false, 100, IPV4_TTL, 63, false },
		{ "may be fragmented", false, false, 100, IPV4_FRAGMENT, 0, false },
		{ "a fragment", false, false, 100, IPV4_FRAGMENT + 1, 1, false },
		{ "source", false, false, 100, IPV4_SOURCE + 3, 9, false },
		{ "IPv4 options", false, false, 100, 0, 0x46, false },
		{ "traffic class", true, false, 100, 1, 0x30, false },
		{ "flow label", true, false, 100, 3, 1, false },
		{ "hop limit", true, false, 100, 7, 63, false },
		{ "destination", true, true, 100, IPV6_DESTINATION + 14, 1, false },
		{ "port", false, false, 100, IPV4_LEN + 1, 1, false },
		{ "port", true, true, 100, IPV6_LEN + 3, 1, false },
		{ "sequence", false, false, 100, IPV4_LEN + TCP_SEQUENCE, 1, false },
		{ "acknowledged", false, false, 100, IPV4_LEN + TCP_ACKNOWLEDGED, 1, false },
		{ "window", false, false, 100, IPV4_LEN + 14, 9, false },
		{ "options", false, false, 100, IPV4_LEN + TCP_OFFSET, 6 << 4, false },
		{ "reserved", false, false, 100, IPV4_LEN + TCP_OFFSET, 5 << 4 | 1, false },
		{ "FIN", false, false, 100, IPV4_LEN + TCP_FLAGS, FLAG_ACK | FLAG_FIN, false },
		{ "SYN", false, false, 100, IPV4_LEN + TCP_FLAGS, FLAG_ACK | 2, false },
		{ "RST", true, false, 100, IPV6_LEN + TCP_FLAGS, FLAG_ACK | 4, false },
		{ "URG", true, false, 100, IPV6_LEN + TCP_FLAGS, FLAG_ACK | 0x20, false },
		{ "ECE", true, false, 100, IPV6_LEN + TCP_FLAGS, FLAG_ACK | 0x40, false },
		{ "CWR", true, false, 100, IPV6_LEN + TCP_FLAGS, FLAG_ACK | FLAG_CWR, false },
		{ "PSH", true, false, 100, IPV6_LEN + TCP_FLAGS, FLAG_ACK | FLAG_PSH, true },
		{ "UDP length", false, true, 100, IPV4_LEN + UDP_LENGTH + 1, 50, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct packet *first =
			packet(&(struct made){ cases[i].v6, cases[i].udp, 5000, FLAG_ACK, 100 });
		struct packet *next =
			packet(&(struct made){ cases[i].v6, cases[i].udp, 5100, FLAG_ACK, cases[i].payload });
		struct merge_table table = { .udp = true };
		struct merge_view view;
		struct merge *merge;
		bool joined;

		set8(next->data, cases[i].at, cases[i].value);
		finish(next->data, next->len);
		assert_true(merge_view(&view, first, true));
		merge_start(&table, &view, first);
		joined = merge_view(&view, next, true) && (merge = merge_find(&table, &view)) != NULL &&
			 merge_join(merge, &view, next);
		if (joined != cases[i].joins)
			fail_msg("case %zu, %s", i, cases[i].what);
		packet_give(pool, first);
		packet_give(pool, next);
	}
}

/* Each byte of a packet, damaged: what the checksums cover must not join; nothing may be read past its end.
 */
static void what_is_damaged_goes_alone(void **state)
{
	(void)state;
	for (int kind = 0; kind < 4; kind++) {
		struct made what = { kind & 1, kind & 2, 5000, FLAG_ACK, 33 };
		struct packet *good = packet(&what);

		for (size_t at = 0; at < good->len; at++) {
			struct merge_view view;

			good->data[at] ^= 0x21;
			bool joins = merge_view(&view, good, true) && view.joins;
			good->data[at] ^= 0x21;
			/* IPv6 covers neither its first word nor the hop limit; there the neighbours are
			 * compared. */
			if (joins && !(what.v6 && (at < 4 || at == 7)))
				fail_msg("byte %zu of kind %d", at, kind);
		}
		for (uint32_t len = 0; len < good->len; len++) {
			struct packet cut = *good;
			struct merge_view view;

			cut.data = malloc(len ? len : 1);
			memcpy(cut.data, good->data, len);
			cut.len = len;
			assert_false(merge_view(&view, &cut, true) && view.joins);
			free(cut.data);
		}
		packet_give(pool, good);
	}
}

static void bursts_that_are_not_valid_are_dropped(void **state)
{
	struct made what = { .sequence = 5000, .flags = FLAG_ACK, .payload = 100 };
	const struct virtio_net_hdr good = { .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
		.gso_type = VIRTIO_NET_HDR_GSO_TCPV4,
		.gso_size = 40,
		.csum_start = IPV4_LEN,
		.csum_offset = TCP_CHECKSUM };
	struct virtio_net_hdr headers[8];
	struct segmenter segmenter;
	uint8_t bytes[200];
	size_t len = make(bytes, &what);

	(void)state;
	assert_true(segmenter_init(&segmenter, &good, bytes, len));
	for (size_t i = 0; i < 8; i++)
		headers[i] = good;
	headers[0].gso_size = 0;
	headers[1].flags = 0;
	headers[2].csum_start = 19;
	headers[3].csum_start = 24;
	headers[4].csum_start = (uint16_t)len;
	headers[5].gso_type = 3; /* UFO */
	headers[6].gso_type = 0x7f;
	headers[7].gso_type = VIRTIO_NET_HDR_GSO_NONE;
	headers[7].csum_offset = UINT16_MAX;
	for (size_t i = 0; i < 8; i++)
		assert_false(segmenter_init(&segmenter, &headers[i], bytes, len));
	assert_false(segmenter_init(&segmenter, &good, bytes, 0));
	assert_false(segmenter_init(
		&segmenter, &good, bytes, IPV4_LEN + TCP_LEN)); /* nothing behind its headers */
	assert_false(segmenter_init(&segmenter, &good, bytes, IPV4_LEN + 10));
	bytes[IPV4_LEN + TCP_OFFSET] = 4 << 4;
	assert_false(segmenter_init(&segmenter, &good, bytes, len));
	bytes[IPV4_LEN + TCP_OFFSET] = 15 << 4;
	assert_true(segmenter_init(&segmenter, &good, bytes, len));
	bytes[0] = 0x15;
	assert_false(segmenter_init(&segmenter, &good, bytes, len));
}

/* FIN and PSH belong to the last part, CWR to the first; a whole packet's checksum is completed where it was
 * left out. */
static void flags_and_single_packets(void **state)
{
	struct made what = { .v6 = true,
		.sequence = 5000,
		.flags = FLAG_ACK | FLAG_FIN | FLAG_PSH | FLAG_CWR,
		.payload = 100 };
	struct virtio_net_hdr header = { .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
		.gso_type = VIRTIO_NET_HDR_GSO_TCPV6 | VIRTIO_NET_HDR_GSO_ECN,
		.gso_size = 40,
		.csum_start = IPV6_LEN,
		.csum_offset = TCP_CHECKSUM };
	static const uint8_t flags[3] = { FLAG_ACK | FLAG_CWR, FLAG_ACK, FLAG_ACK | FLAG_FIN | FLAG_PSH };
	struct segmenter segmenter;
	uint8_t bytes[200], out[200], whole[200];
	size_t len = make(bytes, &what);

	(void)state;
	memcpy(whole, bytes, len);
	assert_true(segmenter_init(&segmenter, &header, bytes, len));
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(segmenter_next_len(&segmenter), IPV6_LEN + TCP_LEN + (i == 2 ? 20 : 40));
		segmenter_next(&segmenter, out);
		assert_int_equal(out[IPV6_LEN + TCP_FLAGS], flags[i]);
		assert_int_equal(get_be32(out + IPV6_LEN + TCP_SEQUENCE), 5000 + 40 * i);
	}
	header.gso_type = VIRTIO_NET_HDR_GSO_NONE;
	checksum_put(bytes + IPV6_LEN + TCP_CHECKSUM,
		checksum_fold(checksum_pseudo(bytes + IPV6_SOURCE, bytes + IPV6_DESTINATION, 16, PROTOCOL_TCP,
			(uint32_t)(len - IPV6_LEN))));
	assert_true(segmenter_init(&segmenter, &header, bytes, len));
	assert_int_equal(segmenter_next_len(&segmenter), len);
	segmenter_next(&segmenter, out);
	assert_memory_equal(out, whole, len);
	assert_int_equal(segmenter_next_len(&segmenter), 0);
}

/* What a kernel hands over with a burst: made with the sum of the pseudo header alone. */
static void a_burst_is_told_to_the_device(void **state)
{
	(void)state;
	for (int v6 = 0; v6 < 2; v6++) {
		const struct made what = { .v6 = v6, .sequence = 9, .flags = FLAG_ACK | FLAG_PSH, .payload = 1200 };
		struct packet *burst = packet(&what);
		struct virtio_net_hdr header;
		struct segmenter segmenter;
		uint8_t out[1500];
		size_t transport = v6 ? IPV6_LEN : IPV4_LEN, at = transport + TCP_LEN;

		burst->segment = 500;
		assert_true(burst_header(burst, &header));
		assert_int_equal(header.flags, VIRTIO_NET_HDR_F_NEEDS_CSUM);
		assert_int_equal(header.gso_type, v6 ? VIRTIO_NET_HDR_GSO_TCPV6 : VIRTIO_NET_HDR_GSO_TCPV4);
		assert_int_equal(header.hdr_len, at);
		assert_int_equal(header.gso_size, 500);
		assert_int_equal(header.csum_start, transport);
		assert_int_equal(header.csum_offset, TCP_CHECKSUM);
		/* A sender may put anything where the sums belong. */
		put_be16(burst->data + transport + TCP_CHECKSUM, 0x1234);
		if (!v6)
			put_be16(burst->data + IPV4_CHECKSUM, 0x1234);
		burst_set_checksum(burst, &header);
		assert_true(segmenter_init(&segmenter, &header, burst->data, burst->len));
		for (size_t payload = 0, len; (len = segmenter_next_len(&segmenter)); payload += len - at) {
			uint8_t again[1500];

			segmenter_next(&segmenter, out);
			memcpy(again, out, len);
			finish(again, len);
			assert_memory_equal(out, again, len);
			assert_memory_equal(out + at, burst->data + at + payload, len - at);
		}
		packet_give(pool, burst);
	}
}

static void what_is_no_burst_is_refused(void **state)
{
	static const struct {
		const char *why;
		struct made what;
		size_t at; /* one byte that is changed; 0: none */
		uint8_t value;
		uint16_t segment;
	} rows[] = {
		{ "a valid one", { .flags = FLAG_ACK, .payload = 1200 }, 0, 0, 500 },
		{ "the end of the data", { .flags = FLAG_ACK | FLAG_FIN, .payload = 1200 }, 0, 0, 500 },
		{ "no segment", { .flags = FLAG_ACK, .payload = 1200 }, 0, 0, 0 },
		{ "tiny segments", { .flags = FLAG_ACK, .payload = 1200 }, 0, 0, 255 },
		{ "a single packet", { .flags = FLAG_ACK, .payload = 1200 }, 0, 0, 1200 },
		{ "UDP", { .udp = true, .payload = 1200 }, 0, 0, 500 },
		{ "SYN", { .flags = FLAG_ACK | 0x02, .payload = 1200 }, 0, 0, 500 },
		{ "RST", { .flags = FLAG_ACK | 0x04, .payload = 1200 }, 0, 0, 500 },
		{ "URG", { .flags = FLAG_ACK | 0x20, .payload = 1200 }, 0, 0, 500 },
		{ "CWR", { .flags = FLAG_ACK | FLAG_CWR, .payload = 1200 }, 0, 0, 500 },
		{ "no ACK", { .flags = FLAG_PSH, .payload = 1200 }, 0, 0, 500 },
		{ "a short TCP header", { .flags = FLAG_ACK, .payload = 1200 }, IPV4_LEN + TCP_OFFSET, 4 << 4, 500 },
		{ "reserved bits", { .flags = FLAG_ACK, .payload = 1200 }, IPV4_LEN + TCP_OFFSET, 5 << 4 | 1, 500 },
		{ "all header", { .flags = FLAG_ACK, .payload = 30 }, IPV4_LEN + TCP_OFFSET, 15 << 4, 500 },
		{ "IP options", { .flags = FLAG_ACK, .payload = 1200 }, 0, 0, 500 },
		{ "a fragment", { .flags = FLAG_ACK, .payload = 1200 }, IPV4_FRAGMENT, 0x20, 500 },
		{ "another length", { .flags = FLAG_ACK, .payload = 1200 }, IPV4_TOTAL + 1, 1, 500 },
		{ "no IP", { .flags = FLAG_ACK, .payload = 1200 }, IPV4_PROTOCOL, 1, 500 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct packet *burst = packet(&rows[i].what);
		struct virtio_net_hdr header;

		if (rows[i].at)
			burst->data[rows[i].at] = rows[i].value;
		if (strcmp(rows[i].why, "IP options") == 0)
			burst->data[0] = 0x46;
		burst->segment = rows[i].segment;
		if (burst_header(burst, &header) != (i < 2))
			fail_msg("%s: %s", rows[i].why, i < 2 ? "refused" : "taken");
		packet_give(pool, burst);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_equal_the_plain_ones),
		cmocka_unit_test(every_kind_gives_the_plain_sum),
		cmocka_unit_test(a_merged_burst_comes_apart_into_what_it_was),
		cmocka_unit_test(what_must_not_join_does_not),
		cmocka_unit_test(what_is_damaged_goes_alone),
		cmocka_unit_test(bursts_that_are_not_valid_are_dropped),
		cmocka_unit_test(flags_and_single_packets),
		cmocka_unit_test(a_burst_is_told_to_the_device),
		cmocka_unit_test(what_is_no_burst_is_refused),
	};

	pool = packet_pool_new(8, 1500);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	packet_pool_free(pool);
	return failed;
}
