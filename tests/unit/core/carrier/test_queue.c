/* SPDX-License-Identifier: MIT */
/* FQ-CoDel: fairness, bounds, marks and drops, and that no packet is ever lost sight of. */
#include "core/carrier/queue.h"

#include "core/base/bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define MS 1000000ull
#define POOL 600

struct fixture {
	struct packet_pool *pool;
	struct queue *queue;
	struct packet_list dropped;
};

static const struct queue_settings usual = {
	.flows = 64,
	.quantum = 1420,
	.limit_bytes = 1000000,
	.limit_packets = 500,
	.target_us = 5000,
	.interval_us = 100000,
	.hash_seed = 3,
};

static struct mono at(uint64_t ms)
{
	return (struct mono){ (10000 + ms) * MS };
}

static void fixture_init(struct fixture *fixture, const struct queue_settings *settings)
{
	*fixture = (struct fixture){ .pool = packet_pool_new(POOL, 1500), .queue = queue_new(settings) };
	assert_non_null(fixture->pool);
	assert_non_null(fixture->queue);
}

/* Every packet is somewhere. */
static void fixture_end(struct fixture *fixture)
{
	struct packet_list rest = { 0 };
	size_t inside = queue_packets(fixture->queue);

	queue_free(fixture->queue, &rest);
	assert_int_equal(rest.count, inside);
	packet_give_list(fixture->pool, &rest);
	packet_give_list(fixture->pool, &fixture->dropped);
	assert_int_equal(packet_pool_left(fixture->pool), POOL);
	packet_pool_free(fixture->pool);
}

/* A UDP packet of flow `port`; its number stands at the end. */
static struct packet *make(struct fixture *fixture, uint16_t port, uint32_t len, uint8_t ecn, uint32_t number)
{
	struct packet *packet = packet_take(fixture->pool);

	assert_non_null(packet);
	memset(packet->data, 0, len);
	packet->data[0] = 0x45;
	packet->data[1] = ecn;
	packet->data[9] = 17;
	put_be16(packet->data + 20, port);
	put_be32(packet->data + len - 4, number);
	packet->len = len;
	packet->ecn = ecn;
	return packet;
}

static uint16_t port_of(const struct packet *packet)
{
	return get_be16(packet->data + 20);
}

static uint32_t number_of(const struct packet *packet)
{
	return get_be32(packet->data + packet->len - 4);
}

static void push(struct fixture *fixture, uint16_t port, uint32_t len, uint32_t number, uint64_t ms)
{
	queue_push(fixture->queue, make(fixture, port, len, 0, number), at(ms), &fixture->dropped);
}

static void one_flow_keeps_its_order(void **unused)
{
	struct fixture fixture;

	(void)unused;
	fixture_init(&fixture, &usual);
	assert_null(queue_pop(fixture.queue, at(0), &fixture.dropped));
	for (uint32_t i = 0; i < 100; i++)
		push(&fixture, 1, 100 + i, i, 0);
	for (uint32_t i = 0; i < 100; i++) {
		struct packet *packet = queue_pop(fixture.queue, at(1), &fixture.dropped);

		assert_int_equal(number_of(packet), i);
		assert_int_equal(packet->queued.ns, at(0).ns);
		packet_give(fixture.pool, packet);
	}
	assert_null(queue_pop(fixture.queue, at(1), &fixture.dropped));
	assert_int_equal(queue_packets(fixture.queue), 0);
	assert_int_equal(queue_bytes(fixture.queue), 0);
	assert_int_equal(fixture.dropped.count, 0);
	fixture_end(&fixture);
}

/* Flows of large and of small packets, always full: each gets the same bytes. */
static void flows_share_by_bytes(void **unused)
{
	static const uint32_t lens[] = { 1420, 1000, 200, 60 };
	uint64_t bytes[4] = { 0 };
	struct fixture fixture;
	struct queue_settings settings = usual;

	(void)unused;
	settings.target_us = 1000000; /* CoDel stays out of this */
	fixture_init(&fixture, &settings);
	for (uint16_t flow = 0; flow < 4; flow++)
		for (uint32_t i = 0; i < 40; i++)
			push(&fixture, flow, lens[flow], i, 0);
	for (int i = 0; i < 20000; i++) {
		struct packet *packet = queue_pop(fixture.queue, at(1), &fixture.dropped);
		uint16_t flow = port_of(packet);

		bytes[flow] += packet->len;
		packet_give(fixture.pool, packet);
		push(&fixture, flow, lens[flow], 0, 1);
	}
	for (int flow = 1; flow < 4; flow++)
		assert_in_range(bytes[flow], bytes[0] - 2 * 1420, bytes[0] + 2 * 1420);
	fixture_end(&fixture);
}

/* A packet of a flow that has nothing queued goes before those of a bulk flow, and cannot do so for ever. */
static void sparse_flows_go_first(void **unused)
{
	struct fixture fixture;
	struct packet *first;
	unsigned sparse = 0;

	(void)unused;
	fixture_init(&fixture, &usual);
	for (uint32_t i = 0; i < 200; i++)
		push(&fixture, 1, 1420, i, 0);
	packet_give(fixture.pool, queue_pop(fixture.queue, at(0), &fixture.dropped));
	packet_give(fixture.pool, queue_pop(fixture.queue, at(0), &fixture.dropped));
	push(&fixture, 2, 100, 7, 0);
	first = queue_pop(fixture.queue, at(0), &fixture.dropped);
	assert_int_equal(port_of(first), 2);
	packet_give(fixture.pool, first);
	/* Sending one at a time, it gets no more than its share. */
	for (int i = 0; i < 100; i++) {
		struct packet *packet;

		push(&fixture, 2, 1420, 7, 0);
		packet = queue_pop(fixture.queue, at(0), &fixture.dropped);
		sparse += port_of(packet) == 2;
		packet_give(fixture.pool, packet);
	}
	assert_in_range(sparse, 40, 60);
	fixture_end(&fixture);
}

/* Found empty, a new flow passes through the old ones before it is new again (RFC 8290, 4.2). */
static void pausing_does_not_keep_a_flow_new(void **unused)
{
	static const uint16_t want[] = { 1, 2, 3, 1, 2, 3 };
	struct fixture fixture;

	(void)unused;
	fixture_init(&fixture, &usual);
	for (uint32_t i = 0; i < 20; i++) {
		push(&fixture, 1, 1420, i, 0);
		push(&fixture, 2, 1420, i, 0);
	}
	for (size_t i = 0; i < 6; i++) {
		struct packet *packet;

		if (i == 2 || i == 4)
			push(&fixture, 3, 100, 0, 0);
		packet = queue_pop(fixture.queue, at(0), &fixture.dropped);
		assert_int_equal(port_of(packet), want[i]);
		packet_give(fixture.pool, packet);
	}
	fixture_end(&fixture);
}

static void full_queue_drops_from_the_head_of_the_fattest(void **unused)
{
	static const struct {
		size_t limit_bytes, limit_packets;
	} rows[] = { { 20000, 500 }, { 1000000, 24 } };

	(void)unused;
	for (size_t i = 0; i < 2; i++) {
		struct queue_settings settings = usual;
		struct fixture fixture;
		uint32_t next = 0;

		settings.limit_bytes = rows[i].limit_bytes;
		settings.limit_packets = rows[i].limit_packets;
		fixture_init(&fixture, &settings);
		for (uint32_t k = 0; k < 5; k++)
			push(&fixture, 2, 100, k, 0);
		for (uint32_t k = 0; k < 100; k++) {
			push(&fixture, 1, 1000, k, 0);
			assert_true(queue_bytes(fixture.queue) <= rows[i].limit_bytes);
			assert_true(queue_packets(fixture.queue) <= rows[i].limit_packets);
		}
		assert_int_equal(fixture.dropped.count, 81);
		for (struct packet *packet; (packet = packet_list_pop(&fixture.dropped));) {
			assert_int_equal(port_of(packet), 1);
			assert_int_equal(number_of(packet), next++);
			packet_give(fixture.pool, packet);
		}
		fixture_end(&fixture);
	}
}

static void packet_larger_than_the_limit(void **unused)
{
	struct queue_settings settings = usual;
	struct fixture fixture;

	(void)unused;
	settings.limit_bytes = 500;
	fixture_init(&fixture, &settings);
	push(&fixture, 1, 501, 1, 0);
	assert_int_equal(fixture.dropped.count, 1);
	assert_null(queue_pop(fixture.queue, at(0), &fixture.dropped));
	fixture_end(&fixture);
}

static uint16_t sum(const uint8_t *header)
{
	uint32_t total = 0;

	for (size_t i = 0; i < 20; i += 2)
		total += get_be16(header + i);
	while (total >> 16)
		total = (total & 0xffff) + (total >> 16);
	return (uint16_t)~total;
}

/* One flow, a packet in and a packet out each ms, 50 ms of queue: strikes at the times of CoDel's table
 * (test_codel.c); they are drops, or marks where the packet can be marked. */
static void codel_drops_or_marks(void **unused)
{
	static const uint64_t strikes[] = { 100, 200, 271, 329, 379, 424, 464, 502, 538, 571 };

	(void)unused;
	for (uint8_t ecn = 0; ecn < 4; ecn++) {
		struct fixture fixture;
		size_t next = 0, marked = 0;

		fixture_init(&fixture, &usual);
		for (uint32_t i = 0; i < 50; i++)
			queue_push(fixture.queue, make(&fixture, 1, 1000, ecn, i), at(0), &fixture.dropped);
		for (uint64_t ms = 50; ms < 650; ms++) {
			struct packet *packet = make(&fixture, 1, 1000, ecn, 0);
			bool struck, want = next < 10 && ms == strikes[next] + 50;

			put_be16(packet->data + 10, 0);
			put_be16(packet->data + 10, sum(packet->data));
			queue_push(fixture.queue, packet, at(ms), &fixture.dropped);
			packet = queue_pop(fixture.queue, at(ms), &fixture.dropped);
			struck =
				ecn ? queue_marked(fixture.queue) != marked : fixture.dropped.count != marked;
			marked = ecn ? queue_marked(fixture.queue) : fixture.dropped.count;
			assert_int_equal(struck, want);
			if (ecn) {
				assert_int_equal(packet->data[1], struck ? 3 : ecn);
				assert_int_equal(packet->ecn, struck ? 3 : ecn);
				if (ms > 110)
					assert_int_equal(sum(packet->data), 0);
			}
			next += struck;
			packet_give(fixture.pool, packet);
			if (struck && !ecn) /* keep the queue's length */
				queue_push(fixture.queue, make(&fixture, 1, 1000, ecn, 0), at(ms),
					&fixture.dropped);
		}
		assert_int_equal(next, 10);
		assert_int_equal(ecn ? fixture.dropped.count : queue_marked(fixture.queue), 0);
		fixture_end(&fixture);
	}
}

static void codel_changes_while_running(void **unused)
{
	struct fixture fixture;

	(void)unused;
	fixture_init(&fixture, &usual);
	for (uint32_t i = 0; i < 100; i++)
		push(&fixture, 1, 1000, i, 0);
	queue_set_codel(fixture.queue, 1000000, 2000000);
	for (uint64_t ms = 20; ms < 60; ms++)
		packet_give(fixture.pool, queue_pop(fixture.queue, at(ms * 10), &fixture.dropped));
	assert_int_equal(fixture.dropped.count, 0);
	queue_set_codel(fixture.queue, 5000, 20000);
	for (uint64_t ms = 60; ms < 90; ms++)
		packet_give(fixture.pool, queue_pop(fixture.queue, at(ms * 10), &fixture.dropped));
	assert_true(fixture.dropped.count > 5);
	fixture_end(&fixture);
}

static void put_back_goes_first(void **unused)
{
	struct fixture fixture;
	struct packet *a, *b;

	(void)unused;
	fixture_init(&fixture, &usual);
	for (uint32_t i = 0; i < 4; i++)
		push(&fixture, (uint16_t)i, 1000, i, 0);
	a = queue_pop(fixture.queue, at(1), &fixture.dropped);
	b = queue_pop(fixture.queue, at(1), &fixture.dropped);
	queue_push_front(fixture.queue, b);
	queue_push_front(fixture.queue, a);
	assert_int_equal(queue_packets(fixture.queue), 4);
	assert_int_equal(queue_bytes(fixture.queue), 4000);
	for (uint32_t i = 0; i < 4; i++) {
		struct packet *packet = queue_pop(fixture.queue, at(1), &fixture.dropped);

		assert_int_equal(number_of(packet), i);
		packet_give(fixture.pool, packet);
	}
	fixture_end(&fixture);
}

static void waiting_packets_expire(void **unused)
{
	struct fixture fixture;

	(void)unused;
	fixture_init(&fixture, &usual);
	for (uint32_t i = 0; i < 10; i++) {
		push(&fixture, 1, 100, i, i * 100);
		push(&fixture, (uint16_t)(2 + i), 100, i, i * 100);
	}
	for (int i = 0; i < 2; i++)
		queue_push_front(fixture.queue, queue_pop(fixture.queue, at(900), &fixture.dropped));
	queue_expire(fixture.queue, at(1000), 500, &fixture.dropped);
	assert_int_equal(fixture.dropped.count, 10); /* 0 to 400; what has waited exactly 500 stays */
	assert_int_equal(queue_packets(fixture.queue), 10);
	queue_expire(fixture.queue, at(10000), 500, &fixture.dropped);
	assert_int_equal(queue_packets(fixture.queue), 0);
	assert_int_equal(queue_bytes(fixture.queue), 0);
	assert_null(queue_pop(fixture.queue, at(10000), &fixture.dropped));
	push(&fixture, 1, 100, 5, 10000); /* and it goes on */
	packet_give(fixture.pool, queue_pop(fixture.queue, at(10000), &fixture.dropped));
	fixture_end(&fixture);
}

static void anything_goes(void **unused)
{
	uint64_t state = 88172645463325252ull;
	struct queue_settings settings = usual;
	struct fixture fixture;
	uint64_t ms = 0;

	(void)unused;
	settings.flows = 8;
	settings.limit_packets = 50;
	settings.limit_bytes = 30000;
	fixture_init(&fixture, &settings);
	for (int i = 0; i < 200000; i++) {
		struct packet *packet;

		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		ms += state >> 60;
		switch (state % 8) {
		case 0:
		case 1:
		case 2:
		case 3:
			queue_push(fixture.queue,
				make(&fixture, (uint16_t)(state >> 8 & 31),
					28 + (uint32_t)(state >> 16 & 1023), state >> 28 & 3, 0),
				at(ms), &fixture.dropped);
			assert_true(
				queue_packets(fixture.queue) <= 50 && queue_bytes(fixture.queue) <= 30000);
			break;
		case 4:
			if (state >> 40 & 63)
				break;
			queue_expire(fixture.queue, at(ms), 100, &fixture.dropped);
			break;
		default:
			packet = queue_pop(fixture.queue, at(ms), &fixture.dropped);
			assert_true(packet || !queue_packets(fixture.queue));
			if (packet && (state >> 50 & 15) == 0)
				queue_push_front(fixture.queue, packet);
			else
				packet_give(fixture.pool, packet);
			break;
		}
		packet_give_list(fixture.pool, &fixture.dropped);
		assert_int_equal(queue_packets(fixture.queue), POOL - packet_pool_left(fixture.pool));
	}
	fixture_end(&fixture);
}

static uint32_t lane_of(struct fixture *fixture, uint16_t port, uint64_t ms)
{
	push(fixture, port, 1000, 0, ms);
	for (uint32_t lane = 0; lane < QUEUE_LANES_MAX; lane++) {
		struct packet *packet = queue_pop_lane(fixture->queue, lane, at(ms), &fixture->dropped);

		if (packet) {
			assert_int_equal(port_of(packet), port);
			packet_give(fixture->pool, packet);
			return lane;
		}
	}
	fail();
	return 0;
}

/* A new flow goes to the lane with the fewest, stays there while it is active, and may move after a pause. */
static void flows_are_pinned_to_the_least_loaded_lane(void **unused)
{
	struct queue_settings settings = usual;
	struct fixture fixture;
	uint32_t lanes[4], counts[QUEUE_LANES_MAX] = { 0 };

	(void)unused;
	settings.flows = 1024; /* so that these ports do not collide */
	fixture_init(&fixture, &settings);
	for (uint32_t lane = 1; lane < 4; lane++)
		queue_open_lane(fixture.queue, lane, at(0));
	for (uint16_t flow = 0; flow < 4; flow++)
		counts[lanes[flow] = lane_of(&fixture, flow, 1)]++;
	for (uint32_t lane = 0; lane < 4; lane++)
		assert_int_equal(counts[lane], 1);
	for (uint64_t ms = 2; ms < 3000; ms += 500)
		for (uint16_t flow = 0; flow < 4; flow++)
			assert_int_equal(lane_of(&fixture, flow, ms), lanes[flow]);
	/* Flow 0 is bulk now, the others pause: a new one goes anywhere but to its lane. */
	for (uint32_t i = 0; i < 100; i++)
		lane_of(&fixture, 0, 3000);
	lane_of(&fixture, 0, 5000);
	for (uint16_t flow = 10; flow < 13; flow++)
		assert_int_not_equal(lane_of(&fixture, flow, 5000), lanes[0]);
	fixture_end(&fixture);
}

static void bulk_moves_to_a_new_lane_and_back_in_order(void **unused)
{
	struct queue_settings settings = usual;
	struct fixture fixture;
	uint32_t number[4] = { 0 }, counts[QUEUE_LANES_MAX] = { 0 };

	(void)unused;
	settings.flows = 1024;
	settings.target_us = 1000000;
	fixture_init(&fixture, &settings);
	for (uint16_t flow = 0; flow < 4; flow++)
		for (uint32_t i = 0; i < 80; i++)
			push(&fixture, flow, 1000, i, 0);
	queue_open_lane(fixture.queue, 5, at(0));
	queue_open_lane(fixture.queue, 15, at(0));
	for (int i = 0; i < 60; i++)
		for (uint32_t lane = 0; lane < QUEUE_LANES_MAX; lane += 5) {
			struct packet *packet = queue_pop_lane(fixture.queue, lane, at(0), &fixture.dropped);

			if (!packet)
				continue;
			counts[lane]++;
			assert_int_equal(number_of(packet), number[port_of(packet)]++);
			packet_give(fixture.pool, packet);
		}
	assert_true(counts[0] && counts[5] && counts[15]);
	queue_close_lane(fixture.queue, 0, at(0));
	queue_close_lane(fixture.queue, 15, at(0));
	queue_close_lane(fixture.queue, 5, at(0)); /* the last one stays */
	assert_null(queue_pop_lane(fixture.queue, 0, at(0), &fixture.dropped));
	for (struct packet *packet; (packet = queue_pop_lane(fixture.queue, 5, at(0), &fixture.dropped));) {
		assert_int_equal(number_of(packet), number[port_of(packet)]++);
		packet_give(fixture.pool, packet);
	}
	for (int flow = 0; flow < 4; flow++)
		assert_int_equal(number[flow], 80);
	assert_int_equal(queue_packets(fixture.queue), 0);
	fixture_end(&fixture);
}

/* Without lanes in mind, what waits in all of them comes out. */
static void a_pop_looks_into_every_lane(void **unused)
{
	struct fixture fixture;
	uint32_t count = 0;

	(void)unused;
	fixture_init(&fixture, &usual);
	queue_open_lane(fixture.queue, 3, at(0));
	for (uint16_t flow = 0; flow < 40; flow++)
		push(&fixture, flow, 100, 0, 0);
	for (struct packet *packet; (packet = queue_pop(fixture.queue, at(0), &fixture.dropped)); count++)
		packet_give(fixture.pool, packet);
	assert_int_equal(count, 40);
	fixture_end(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_flow_keeps_its_order),
		cmocka_unit_test(flows_are_pinned_to_the_least_loaded_lane),
		cmocka_unit_test(bulk_moves_to_a_new_lane_and_back_in_order),
		cmocka_unit_test(a_pop_looks_into_every_lane),
		cmocka_unit_test(flows_share_by_bytes),
		cmocka_unit_test(sparse_flows_go_first),
		cmocka_unit_test(pausing_does_not_keep_a_flow_new),
		cmocka_unit_test(full_queue_drops_from_the_head_of_the_fattest),
		cmocka_unit_test(packet_larger_than_the_limit),
		cmocka_unit_test(codel_drops_or_marks),
		cmocka_unit_test(codel_changes_while_running),
		cmocka_unit_test(put_back_goes_first),
		cmocka_unit_test(waiting_packets_expire),
		cmocka_unit_test(anything_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
