/* SPDX-License-Identifier: MIT */
/* core/port/datagram.h on any platform. */
#include "core/port/datagram.h"

#include "core/port/udp.h"
#include "tests/contract/cmocka_all.h"
#include "tests/contract/rig.h"

#include <errno.h>
#include <string.h>

#define MANY 200

static const struct ip_address any = { 0 };

/* A datagram port and, at the other end, an ordinary UDP port that has heard it once. */
struct ends {
	struct datagram *near;
	struct udp *far;
	struct endpoint far_at;
	struct udp_path back;
	struct packet_pool *pool;
};

static uint8_t bytes[DATAGRAM_ROOM], room[DATAGRAM_ROOM];

static void fill(uint8_t *out, size_t len, size_t number)
{
	for (size_t i = 0; i < len; i++)
		out[i] = (uint8_t)(i * 7 + number * 13);
}

static void send_near(struct ends *ends, size_t len, size_t number)
{
	struct datagram_piece piece = { .data = bytes, .len = len };

	fill(bytes, len, number);
	assert_int_equal(datagram_send(ends->near, &piece, 1), 0);
}

static struct udp_datagram hear_far(struct ends *ends)
{
	struct udp_datagram got;

	while (udp_receive(ends->far, &got, 1) < 1)
		assert_int_equal(rig_wait(NULL) & LOOP_READ, LOOP_READ);
	return got;
}

static void ends_open(struct ends *ends, enum ip_family family, bool bound)
{
	memset(ends, 0, sizeof(*ends));
	assert_int_equal(udp_adopt(rig_udp(family, &ends->far_at), &ends->far), 0);
	assert_int_equal(
		datagram_open(rig_loop(), bound ? &ends->far_at.address : &any, &ends->far_at, &ends->near),
		0);
	ends->pool = packet_pool_new(MANY, 65507);
	assert_non_null(ends->pool);
	assert_int_equal(loop_watch_udp(rig_loop(), ends->far, LOOP_READ, ends), 0);
	send_near(ends, 32, 0);
	ends->back = hear_far(ends).path;
	loop_watch_udp(rig_loop(), ends->far, 0, NULL);
	assert_int_equal(loop_watch_datagram(rig_loop(), ends->near, LOOP_READ, ends), 0);
}

static void ends_close(struct ends *ends)
{
	if (ends->near) {
		loop_watch_datagram(rig_loop(), ends->near, 0, NULL);
		datagram_close(ends->near);
	}
	if (ends->far)
		udp_close(ends->far);
	packet_pool_free(ends->pool);
}

/* One size after the other, each as often as is told: all come, in order, however they were merged. */
static void towards_the_far_end(void **state)
{
	static const size_t lens[] = { 148, 1452, 1452, 1452, 1452, 700, 1452, 32, 32, 0, 9000, 65507 };
	const size_t count = sizeof(lens) / sizeof(lens[0]);

	(void)state;
	for (int family = 4; family <= 6; family += 2) {
		struct datagram_piece pieces[12];
		struct ends ends;
		size_t at = 0;

		ends_open(&ends, (enum ip_family)family, false);
		loop_watch_datagram(rig_loop(), ends.near, 0, NULL);
		assert_int_equal(loop_watch_udp(rig_loop(), ends.far, LOOP_READ, &ends), 0);
		/* The largest by itself, since all share one buffer here. */
		for (size_t i = 0; i + 1 < count; i++) {
			fill(bytes + at, lens[i], i);
			pieces[i] = (struct datagram_piece){ .data = bytes + at, .len = lens[i] };
			at += lens[i];
		}
		assert_int_equal(datagram_send(ends.near, pieces, count - 1), 0);
		for (size_t i = 0; i < count; i++) {
			if (i == count - 1)
				send_near(&ends, lens[i], i);
			struct udp_datagram got = hear_far(&ends);

			assert_int_equal(got.len, lens[i]);
			fill(room, lens[i], i);
			assert_memory_equal(got.data, room, lens[i]);
		}
		loop_watch_udp(rig_loop(), ends.far, 0, NULL);
		ends_close(&ends);
	}
}

static void from_the_far_end(void **state)
{
	(void)state;
	for (int bound = 0; bound < 2; bound++) {
		struct packet *packets[MANY];
		struct ends ends;
		size_t sent, arrived = 0;

		ends_open(&ends, IP_V4, bound != 0);
		for (size_t i = 0; i < MANY; i++) {
			packets[i] = packet_take(ends.pool);
			packets[i]->len = i == 99 ? 65507 : i % 10 == 9 ? 100 : 1200;
			fill(packets[i]->data, packets[i]->len, i);
		}
		for (size_t at = 0; at < MANY; at += 20) {
			assert_int_equal(udp_send(ends.far, &ends.back, packets + at, 20, &sent), 0);
			while (arrived < at + 20) {
				size_t segment = 0;
				long got = datagram_receive(ends.near, room, sizeof(room), &segment);

				if (got == -EAGAIN) {
					assert_int_equal(rig_wait(NULL) & LOOP_READ, LOOP_READ);
					continue;
				}
				assert_true(got > 0 && segment > 0);
				for (size_t from = 0; from < (size_t)got; from += segment) {
					size_t len =
						(size_t)got - from < segment ? (size_t)got - from : segment;

					assert_int_equal(len, packets[arrived]->len);
					assert_memory_equal(room + from, packets[arrived]->data, len);
					arrived++;
				}
			}
		}
		for (size_t i = 0; i < MANY; i++)
			packet_give(ends.pool, packets[i]);
		size_t segment;

		assert_int_equal(datagram_receive(ends.near, room, sizeof(room), &segment), -EAGAIN);
		ends_close(&ends);
	}
}

/* What anybody else sends to its port does not come in. */
static void only_its_remote_is_heard(void **state)
{
	struct packet *packet;
	struct endpoint stranger_at;
	struct udp *stranger;
	struct ends ends;
	size_t sent, segment;

	(void)state;
	ends_open(&ends, IP_V4, false);
	assert_int_equal(udp_adopt(rig_udp(IP_V4, &stranger_at), &stranger), 0);
	packet = packet_take(ends.pool);
	packet->len = 64;
	fill(packet->data, 64, 1);
	struct udp_path path = { .remote = ends.back.remote };

	(void)udp_send(stranger, &path, &packet, 1, &sent);
	fill(packet->data, 64, 2);
	assert_int_equal(udp_send(ends.far, &ends.back, &packet, 1, &sent), 0);
	assert_int_equal(rig_wait(NULL) & LOOP_READ, LOOP_READ);
	assert_int_equal(datagram_receive(ends.near, room, sizeof(room), &segment), 64);
	assert_memory_equal(room, packet->data, 64);
	assert_int_equal(datagram_receive(ends.near, room, sizeof(room), &segment), -EAGAIN);
	packet_give(ends.pool, packet);
	udp_close(stranger);
	ends_close(&ends);
}

/* Each with its own mark, in both directions, however they were merged. */
static void ecn_travels(void **state)
{
	(void)state;
	for (int family = 4; family <= 6; family += 2) {
		struct datagram_piece pieces[40];
		struct udp_datagram got[40];
		struct packet *packet;
		struct ends ends;
		size_t sent, segment, heard = 0;

		ends_open(&ends, (enum ip_family)family, false);
		for (size_t i = 0; i < 40; i++)
			pieces[i] = (struct datagram_piece){ bytes, 500, (uint8_t)(i / 5 % 4) };
		assert_int_equal(datagram_send(ends.near, pieces, 40), 0);
		assert_int_equal(loop_watch_udp(rig_loop(), ends.far, LOOP_READ, &ends), 0);
		while (heard < 40) {
			int n;

			assert_int_not_equal(rig_wait(NULL) & LOOP_READ, 0);
			n = udp_receive(ends.far, got, 40);
			for (int i = 0; i < n; i++)
				assert_int_equal(got[i].ecn, heard++ / 5 % 4);
		}
		loop_watch_udp(rig_loop(), ends.far, 0, NULL);
		for (uint8_t ecn = 0; ecn < 4; ecn++) {
			packet = packet_take(ends.pool);
			packet->len = 300;
			packet->ecn = ecn;
			assert_int_equal(udp_send(ends.far, &ends.back, &packet, 1, &sent), 0);
			assert_int_not_equal(rig_wait(NULL) & LOOP_READ, 0);
			assert_int_equal(datagram_receive(ends.near, room, sizeof(room), &segment), 300);
			assert_int_equal(datagram_ecn(ends.near), ecn);
			packet_give(ends.pool, packet);
		}
		ends_close(&ends);
	}
}

/* An ICMP error is told once, and harms nothing that comes after. */
static void a_refusal_is_told(void **state)
{
	struct datagram_piece piece = { .data = bytes, .len = 32 };
	struct ends ends;
	size_t segment;

	(void)state;
	ends_open(&ends, IP_V4, false);
	udp_close(ends.far);
	ends.far = NULL;
	assert_int_equal(datagram_send(ends.near, &piece, 1), 0);
	assert_int_not_equal(rig_wait(NULL), 0);
	assert_int_equal(datagram_receive(ends.near, room, sizeof(room), &segment), -ECONNREFUSED);
	assert_int_equal(datagram_receive(ends.near, room, sizeof(room), &segment), -EAGAIN);
	assert_int_equal(datagram_send(ends.near, &piece, 1), 0);
	assert_int_not_equal(rig_wait(NULL), 0);
	/* Or to the sender, whose datagram goes all the same. */
	assert_int_equal(datagram_send(ends.near, &piece, 1), -ECONNREFUSED);
	ends_close(&ends);
}

static void what_is_not_connected_is_not_taken(void **state)
{
	struct datagram *datagram;
	struct endpoint at, none = { 0 };

	(void)state;
	assert_true(datagram_adopt(rig_udp(IP_V4, &at), &datagram) < 0);
	assert_int_equal(datagram_open(rig_loop(), &any, &none, &datagram), -EDESTADDRREQ);
	datagram_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(towards_the_far_end),
		cmocka_unit_test(from_the_far_end),
		cmocka_unit_test(only_its_remote_is_heard),
		cmocka_unit_test(ecn_travels),
		cmocka_unit_test(a_refusal_is_told),
		cmocka_unit_test(what_is_not_connected_is_not_taken),
	};

	rig_open();
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	rig_close();
	return failed;
}
