/* SPDX-License-Identifier: MIT */
/* Bursts on a real TUN device: two namespaces with a device each, the kernel's own TCP and UDP on both sides,
 * and the ports between them. Each packet that passes is looked at with checksums computed the plainest way.
 */
#include "core/port/tun.h"

#include "core/base/bytes.h"
#include "platform/linux/inner.h"
#include "platform/linux/sockaddr.h"
#include "platform/linux/udp_socket.h"
#include "tests/contract/cmocka_all.h"
#include "tests/contract/linux/namespace.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/udp.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRANSFER_BYTES (4u << 20)

static int ns[2];
static struct tun *tun[2];
static struct packet_pool *pool;

/* What the ports passed. */
static struct {
	uint64_t packets;
	size_t largest_batch;
	size_t bursts, largest_burst;
	bool corrupt_next;
	bool cut_next; /* each other burst goes through tun_cut */
} passed;

static uint32_t add_words(const uint8_t *bytes, size_t len, uint32_t sum)
{
	for (size_t i = 0; i < len; i++)
		sum += i & 1 ? (uint32_t)bytes[i] : (uint32_t)bytes[i] << 8;
	return sum;
}

static uint16_t fold(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

/* Lengths and checksums of a single packet, as the kernel of a stock peer would check them. */
static void check_packet(const struct packet *packet)
{
	const uint8_t *ip = packet->data;
	bool v4 = ip[0] >> 4 == 4;
	size_t header = v4 ? (size_t)(ip[0] & 15) * 4 : IPV6_LEN;
	uint8_t protocol = v4 ? ip[IPV4_PROTOCOL] : ip[IPV6_NEXT];
	size_t len = packet->len - header;
	uint32_t pseudo;

	assert_true(packet->len <= 1420);
	if (v4) {
		assert_int_equal(get_be16(ip + IPV4_TOTAL), packet->len);
		assert_int_equal(fold(add_words(ip, header, 0)), 0xffff);
		pseudo = add_words(ip + IPV4_SOURCE, 8, 0);
	} else {
		assert_int_equal(get_be16(ip + IPV6_PAYLOAD) + IPV6_LEN, packet->len);
		pseudo = add_words(ip + IPV6_SOURCE, 32, 0);
	}
	if (protocol != PROTOCOL_TCP && protocol != PROTOCOL_UDP)
		return;
	if (protocol == PROTOCOL_UDP)
		assert_int_equal(get_be16(ip + header + UDP_LENGTH), len);
	assert_int_equal(fold(add_words(ip + header, len, pseudo + protocol + (uint32_t)len)), 0xffff);
}

/* Carries everything that waits from one device to the other. */
static void carry(int from)
{
	struct packet_list list = { 0 };
	struct packet *batch[512];
	int more;

	do {
		size_t count = 0;

		more = tun_read(tun[from], pool, 512, &list);
		assert_true(more >= 0);
		for (struct packet *packet; (packet = packet_list_pop(&list));) {
			if (packet->segment) {
				passed.bursts++;
				if (packet->len > passed.largest_burst)
					passed.largest_burst = packet->len;
				if (passed.bursts % 2 && passed.cut_next) {
					struct packet_list cut = { 0 };

					tun_cut(tun[from], packet, pool, &cut);
					assert_true(cut.count > 1);
					packet_list_prepend(&list, &cut);
					continue;
				}
				batch[count++] = packet;
				continue;
			}
			check_packet(packet);
			if (passed.corrupt_next && packet->len == 1420) {
				packet->data[1400] ^= 1;
				passed.corrupt_next = false;
			}
			batch[count++] = packet;
		}
		passed.packets += count;
		if (count > passed.largest_batch)
			passed.largest_batch = count;
		tun_write(tun[1 - from], batch, count);
		for (size_t i = 0; i < count; i++)
			packet_give(pool, batch[i]);
	} while (more);
}

static int open_socket(int at, int type, const char *address, bool bind_it)
{
	struct endpoint endpoint = endpoint_of(address);
	union sockaddr_any any;
	socklen_t len = sockaddr_from_endpoint(&any, &endpoint);
	int fd;

	namespace_enter(ns[at]);
	fd = socket(any.any.sa_family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	assert_true(fd >= 0);
	if (bind_it)
		assert_int_equal(bind(fd, &any.any, len), 0);
	else if (connect(fd, &any.any, len) < 0)
		assert_int_equal(errno, EINPROGRESS);
	return fd;
}

/* One direction of a TCP transfer; returns rx_packets of the receiving device for it. */
static uint64_t transfer(const char *address, bool corrupt)
{
	uint8_t *sent = malloc(TRANSFER_BYTES), *got = malloc(TRANSFER_BYTES);
	int listener = open_socket(1, SOCK_STREAM, address, true), peer = -1, client;
	size_t out = 0, in = 0;
	uint64_t before;

	for (size_t i = 0; i < TRANSFER_BYTES; i++)
		sent[i] = (uint8_t)(i * 2654435761u >> 13);
	assert_int_equal(listen(listener, 1), 0);
	namespace_enter(ns[1]);
	before = statistic("tunb", true);
	client = open_socket(0, SOCK_STREAM, address, false);
	passed.corrupt_next = corrupt;
	for (int idle = 0; in < TRANSFER_BYTES && idle < 3000; idle++) {
		ssize_t n;

		carry(0);
		carry(1);
		if (peer < 0)
			peer = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
		n = out < TRANSFER_BYTES ? send(client, sent + out, TRANSFER_BYTES - out, MSG_NOSIGNAL) : 0;
		if (n > 0)
			out += (size_t)n, idle = 0;
		n = peer >= 0 ? recv(peer, got + in, TRANSFER_BYTES - in, 0) : -1;
		if (n > 0)
			in += (size_t)n, idle = 0;
		else
			poll(NULL, 0, 1);
	}
	assert_int_equal(in, TRANSFER_BYTES);
	assert_memory_equal(sent, got, TRANSFER_BYTES);
	namespace_enter(ns[1]);
	uint64_t packets = statistic("tunb", true) - before;
	close(client);
	close(peer);
	close(listener);
	carry(0);
	carry(1);
	free(sent);
	free(got);
	return packets;
}

static void tcp_bursts_are_taken_apart_and_merged(void **state)
{
	static const char *const addresses[2] = { "10.78.0.2:5001", "[fd78::2]:5001" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		memset(&passed, 0, sizeof(passed));
		uint64_t received = transfer(addresses[i], false);
		uint64_t segments = TRANSFER_BYTES / 1420;

		assert_true(passed.packets >= segments);
		assert_true(passed.largest_batch >= 20); /* the kernel gave whole bursts */
		/* and got whole bursts: far fewer than the segments that they hold. */
		assert_true(received < segments / 4);
	}
}

/* From one kernel to the other without being taken apart; and the same where some are. */
static void tcp_bursts_pass_whole(void **state)
{
	static const char *const addresses[] = { "10.78.0.2:5005", "[fd78::2]:5005", "10.78.0.2:5006", "[fd78::2]:5006" };
	struct tun_stats before, after;

	(void)state;
	assert_true(tun_has_bursts(tun[0]) && tun_has_bursts(tun[1]));
	tun_read_whole(tun[0], true);
	for (size_t i = 0; i < 4; i++) {
		memset(&passed, 0, sizeof(passed));
		passed.cut_next = i >= 2;
		tun_stats(tun[1], &before);
		transfer(addresses[i], false);
		tun_stats(tun[1], &after);
		assert_true(passed.bursts > 0 && passed.largest_burst > 20000);
		assert_int_equal(after.write_dropped, before.write_dropped);
		if (i < 2) {
			assert_int_equal(after.whole_written - before.whole_written, passed.bursts);
			assert_true(passed.packets < TRANSFER_BYTES / 1420 / 4);
		} else {
			assert_true(passed.packets > TRANSFER_BYTES / 1420 / 4);
		}
	}
	tun_read_whole(tun[0], false);
	memset(&passed, 0, sizeof(passed));
	transfer("10.78.0.2:5007", false);
	assert_int_equal(passed.bursts, 0);
}

/* What a peer sends as a burst and is none gets no further. */
static void a_burst_that_is_none_is_dropped(void **state)
{
	struct packet *burst = packet_take_burst(pool);
	struct tun_stats before, after;

	(void)state;
	memset(burst->data, 0, 3000);
	burst->data[0] = 0x45;
	put_be16(burst->data + IPV4_TOTAL, 3000);
	burst->data[IPV4_PROTOCOL] = PROTOCOL_UDP;
	burst->len = 3000;
	burst->segment = 1000;
	tun_stats(tun[1], &before);
	tun_write(tun[1], &burst, 1);
	tun_stats(tun[1], &after);
	assert_int_equal(after.write_dropped, before.write_dropped + 1);
	packet_give(pool, burst);
}

/* A packet damaged on the way must not hide in a burst whose checksum nobody looks at. */
static void a_damaged_packet_is_not_merged(void **state)
{
	(void)state;
	memset(&passed, 0, sizeof(passed));
	transfer("10.78.0.2:5002", true);
	assert_false(passed.corrupt_next); /* it was damaged, and the bytes arrived all the same */
	transfer("[fd78::2]:5002", true);
	assert_false(passed.corrupt_next);
}

static void udp_bursts_keep_their_datagrams(void **state)
{
	static const char *const addresses[2] = { "10.78.0.2:5003", "[fd78::2]:5003" };
	uint8_t sent[40 * 1000 + 300], got[2000];

	(void)state;
	for (size_t i = 0; i < sizeof(sent); i++)
		sent[i] = (uint8_t)(i * 31 >> 3);
	for (size_t i = 0; i < 2; i++) {
		int there = open_socket(1, SOCK_DGRAM, addresses[i], true);
		int here = open_socket(0, SOCK_DGRAM, addresses[i], false);
		int segment = 1000;

		assert_int_equal(setsockopt(here, IPPROTO_UDP, UDP_SEGMENT, &segment, sizeof(segment)), 0);
		assert_int_equal(send(here, sent, sizeof(sent), 0), sizeof(sent));
		carry(0);
		for (size_t at = 0; at < sizeof(sent);) {
			size_t want = sizeof(sent) - at < 1000 ? sizeof(sent) - at : 1000;
			assert_int_equal(recv(there, got, sizeof(got), 0), want);
			assert_memory_equal(got, sent + at, want);
			at += want;
		}
		assert_int_equal(recv(there, got, sizeof(got), 0), -1);
		close(here);
		close(there);
	}
}

/* With a pool too small for a burst it comes in parts, and nothing of it is lost. */
static void a_burst_waits_for_room(void **state)
{
	struct packet_pool *small = packet_pool_new(7, 1420);
	int fd = open_socket(0, SOCK_DGRAM, "10.78.0.2:5004", false), segment = 200;
	uint8_t sent[40 * 200];
	size_t at = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(sent); i++)
		sent[i] = (uint8_t)(i / 200);
	assert_int_equal(setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &segment, sizeof(segment)), 0);
	assert_int_equal(send(fd, sent, sizeof(sent), 0), sizeof(sent));
	for (int i = 0; i < 100 && at < sizeof(sent); i++) {
		struct packet_list list = { 0 };
		int more = tun_read(tun[0], small, 100, &list);

		assert_true(list.count <= 7);
		for (struct packet *packet = list.head; packet; packet = packet->next) {
			if (packet->data[0] != 0x45)
				continue; /* the system's own chatter */
			assert_int_equal(packet->len, IPV4_LEN + UDP_LEN + 200);
			assert_memory_equal(packet->data + IPV4_LEN + UDP_LEN, sent + at, 200);
			at += 200;
		}
		assert_true(at == sizeof(sent) || more == 1);
		packet_give_list(small, &list);
	}
	assert_int_equal(at, sizeof(sent));
	close(fd);
	packet_pool_free(small);
}

int main(void)
{
	static const char *const names[2] = { "tuna", "tunb" };
	static const char *const v4[2] = { "10.78.0.1/24", "10.78.0.2/24" };
	static const char *const v6[2] = { "fd78::1/64", "fd78::2/64" };
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tcp_bursts_are_taken_apart_and_merged),
		cmocka_unit_test(a_damaged_packet_is_not_merged),
		cmocka_unit_test(udp_bursts_keep_their_datagrams),
		cmocka_unit_test(a_burst_waits_for_room),
		cmocka_unit_test(tcp_bursts_pass_whole),
		cmocka_unit_test(a_burst_that_is_none_is_dropped),
	};

	for (int i = 0; i < 2; i++) {
		ns[i] = namespace_new();
		assert_int_equal(tun_adopt(namespace_tun(names[i], v4[i], v6[i]), &tun[i]), 0);
	}
	pool = packet_pool_new(1024, 1420);
	assert_true(packet_pool_add_bursts(pool, 64, 65536));
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	for (int i = 0; i < 2; i++) {
		tun_close(tun[i]);
		close(ns[i]);
	}
	packet_pool_free(pool);
	return failed;
}
