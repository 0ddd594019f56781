/* SPDX-License-Identifier: MIT */
/* core/port/tun.h on any platform: single packets. */
#include "core/port/tun.h"

#include "core/base/bytes.h"
#include "tests/contract/cmocka_all.h"
#include "tests/contract/rig.h"

#include <string.h>

#define ROOM 1500

static struct tun *tun;
static struct packet_pool *pool;

/* RFC 1071, as plain as can be. */
static uint16_t sum_of(const uint8_t *bytes, size_t len, uint32_t sum)
{
	for (size_t i = 0; i < len; i++)
		sum += i & 1 ? (uint32_t)bytes[i] : (uint32_t)bytes[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

/* An ICMP echo request, from us to the other side or (inward) back. */
static size_t make_ping(uint8_t *out, enum ip_family family, size_t len, bool inward)
{
	memset(out, 0, len);
	if (family == IP_V4) {
		out[0] = 0x45;
		put_be16(out + 2, (uint16_t)len);
		put_be16(out + 4, 0x1234);
		out[8] = 64;
		out[9] = 1;
		memcpy(out + 12, "\x0a\x4d\0\1\x0a\x4d\0\2", 8);
		if (inward)
			out[15] = 2, out[19] = 1;
		put_be16(out + 10, sum_of(out, 20, 0));
		out[20] = 8;
		put_be16(out + 22, sum_of(out + 20, len - 20, 0));
	} else {
		out[0] = 0x60;
		put_be16(out + 4, (uint16_t)(len - 40));
		out[6] = 58;
		out[7] = 64;
		out[8] = out[24] = 0xfd;
		out[9] = out[25] = 0x77;
		out[23] = inward ? 2 : 1;
		out[39] = inward ? 1 : 2;
		out[40] = 128;
		put_be16(out + 42, sum_of(out + 8, len - 8, (uint32_t)(len - 40 + 58)));
	}
	return len;
}

/* The next packet that is what it should be; others (the system's own chatter) are passed over. */
static void expect_read(const uint8_t *want, size_t len)
{
	for (int i = 0; i < 50; i++) {
		struct packet_list list = { 0 };
		bool found = false;

		assert_true(tun_read(tun, pool, 8, &list) >= 0);
		for (struct packet *packet = list.head; packet; packet = packet->next)
			found |= packet->len == len && memcmp(packet->data, want, len) == 0;
		packet_give_list(pool, &list);
		if (found)
			return;
		rig_wait(NULL);
	}
	fail();
}

static void drain(void)
{
	struct packet_list list = { 0 };

	while (tun_read(tun, pool, 8, &list) == 1)
		packet_give_list(pool, &list);
	packet_give_list(pool, &list);
}

static void what_applications_send_is_read(void **state)
{
	uint8_t ping[ROOM];

	(void)state;
	for (int family = 0; family < 2; family++)
		for (size_t i = 0; i < 3; i++) {
			size_t len = make_ping(
				ping, family ? IP_V6 : IP_V4, (const size_t[]){ 84, 1280, 1420 }[i], false);

			rig_tun_inject(ping, len);
			expect_read(ping, len);
		}
	assert_int_equal(packet_pool_left(pool), 8);
}

static void what_is_written_arrives_as_it_was(void **state)
{
	uint8_t ping[ROOM], got[ROOM + 1];

	(void)state;
	for (int family = 0; family < 2; family++)
		for (size_t i = 0; i < 3; i++) {
			struct packet *packet = packet_take(pool);
			size_t n;

			packet->len = (uint32_t)make_ping(packet->data, family ? IP_V6 : IP_V4,
				(const size_t[]){ 84, 1280, 1420 }[i], true);
			memcpy(ping, packet->data, packet->len);
			tun_write(tun, &packet, 1);
			while ((n = rig_tun_collect(got, sizeof(got))) != 0 &&
				(n != packet->len || memcmp(got, ping, n) != 0))
				;
			assert_int_equal(n, packet->len);
			assert_memory_equal(
				packet->data, ping, packet->len); /* stays the caller's, unchanged */
			packet_give(pool, packet);
		}
}

static void bounds_of_a_read_are_kept(void **state)
{
	struct packet_list list = { 0 }, rest = { 0 };
	uint8_t ping[ROOM];

	(void)state;
	drain();
	for (size_t i = 0; i < 12; i++)
		rig_tun_inject(ping, make_ping(ping, IP_V4, 100 + i, false));
	assert_int_equal(tun_read(tun, pool, 3, &list), 1);
	assert_int_equal(list.count, 3);
	/* The pool has 8: five more, then it is short. */
	assert_int_equal(tun_read(tun, pool, 100, &list), 1);
	assert_int_equal(list.count, 8);
	assert_int_equal(tun_read(tun, pool, 100, &list), 1);
	assert_int_equal(list.count, 8);
	packet_give_list(pool, &list);
	assert_int_equal(rig_wait(NULL) & LOOP_READ, LOOP_READ);
	assert_true(tun_read(tun, pool, 100, &rest) >= 0);
	assert_true(rest.count >= 4);
	packet_give_list(pool, &rest);
}

static void a_packet_larger_than_the_room_is_counted(void **state)
{
	struct packet_pool *small = packet_pool_new(4, 500);
	struct packet_list list = { 0 };
	struct tun_stats before, after;
	uint8_t ping[ROOM];

	(void)state;
	drain();
	tun_stats(tun, &before);
	rig_tun_inject(ping, make_ping(ping, IP_V4, 501, false));
	rig_tun_inject(ping, make_ping(ping, IP_V4, 500, false));
	for (int i = 0; i < 50 && !list.count; i++) {
		assert_true(tun_read(tun, small, 1, &list) >= 0);
		if (!list.count)
			rig_wait(NULL);
	}
	assert_int_equal(list.count, 1);
	assert_int_equal(list.head->len, 500);
	tun_stats(tun, &after);
	assert_int_equal(after.read_dropped, before.read_dropped + 1);
	packet_give_list(small, &list);
	packet_pool_free(small);
}

static void what_the_device_refuses_is_counted(void **state)
{
	struct packet *packet = packet_take(pool);
	struct tun_stats before, after;

	(void)state;
	tun_stats(tun, &before);
	memset(packet->data, 0, 40); /* no version of IP */
	packet->len = 40;
	tun_write(tun, &packet, 1);
	tun_stats(tun, &after);
	assert_int_equal(after.write_dropped, before.write_dropped + 1);
	packet_give(pool, packet);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_applications_send_is_read),
		cmocka_unit_test(what_is_written_arrives_as_it_was),
		cmocka_unit_test(bounds_of_a_read_are_kept),
		cmocka_unit_test(a_packet_larger_than_the_room_is_counted),
		cmocka_unit_test(what_the_device_refuses_is_counted),
	};

	rig_open();
	assert_int_equal(tun_adopt(rig_tun(), &tun), 0);
	pool = packet_pool_new(8, ROOM);
	assert_int_equal(loop_watch_tun(rig_loop(), tun, LOOP_READ, NULL), 0);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	loop_watch_tun(rig_loop(), tun, 0, NULL);
	tun_close(tun);
	packet_pool_free(pool);
	rig_close();
	return failed;
}
