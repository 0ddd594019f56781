/* SPDX-License-Identifier: MIT */
/* Packets to push, and when to pop, put back and expire, all from the input: no byte of a packet may upset
 * the queue, and none may get lost. */
#include "core/carrier/queue.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define POOL 128
#define ROOM 256

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void lanes(struct queue *queue, size_t what, struct mono now)
{
	uint32_t lane = what % QUEUE_LANES_MAX;

	if (what & 0x40)
		queue_open_lane(queue, lane, now);
	else if (what & 0x20)
		queue_close_lane(queue, lane, now);
	else
		queue_balance(queue, now);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct queue_settings settings = {
		.flows = 8,
		.quantum = 100,
		.limit_bytes = 4000,
		.limit_packets = 60,
		.target_us = 1000,
		.interval_us = 20000,
		.hash_seed = size,
	};
	struct packet_pool *pool = packet_pool_new(POOL, ROOM);
	struct queue *queue = queue_new(&settings);
	struct packet_list dropped = { 0 };
	struct mono now = { 1000000000 };

	if (!pool || !queue)
		abort();
	while (size >= 2) {
		uint8_t what = data[0];
		size_t len = data[1];
		struct packet *packet;

		data += 2;
		size -= 2;
		now = mono_add_ms(now, what >> 3);
		switch (what & 7) {
		case 0:
		case 1:
		case 2:
		case 3:
			packet = packet_take(pool);
			assert(packet);
			if (len > size)
				len = size;
			memcpy(packet->data, data, len);
			packet->len = (uint32_t)len;
			data += len;
			size -= len;
			queue_push(queue, packet, now, &dropped);
			assert(queue_packets(queue) <= settings.limit_packets);
			assert(queue_bytes(queue) <= settings.limit_bytes);
			break;
		case 4:
			queue_expire(queue, now, len, &dropped);
			break;
		case 5:
			if (len & 0x80) {
				lanes(queue, len, now);
				break;
			}
			queue_set_codel(queue, (uint32_t)len * 100, (uint32_t)len * 1000);
			break;
		default:
			packet = queue_pop(queue, now, &dropped);
			assert(packet || !queue_packets(queue));
			if (packet && (what & 7) == 7 && len == 7) {
				queue_push_front(queue, packet);
			} else if (packet) {
				(void)inner_ecn_combine(packet->data, packet->len, (uint8_t)len & 3);
				packet_give(pool, packet);
			}
			break;
		}
		packet_give_list(pool, &dropped);
		assert(queue_packets(queue) == POOL - packet_pool_left(pool));
	}
	queue_free(queue, &dropped);
	packet_give_list(pool, &dropped);
	assert(packet_pool_left(pool) == POOL);
	packet_pool_free(pool);
	return 0;
}
