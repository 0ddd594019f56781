/* SPDX-License-Identifier: MIT */
/* What goes into the queue comes out of any sequence of short writes as the same records, and every packet
 * comes back. */
#include "core/carrier/record_queue.h"

#include "core/carrier/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define POOL 8

static struct packet *message(struct packet_pool *pool, size_t len, uint8_t fill)
{
	struct packet *packet = packet_take(pool);

	assert_non_null(packet);
	memset(packet->data, fill, len);
	packet->len = (uint32_t)len;
	return packet;
}

/* Takes up to room bytes, as a socket would. */
static size_t take(const struct record_queue *queue, uint8_t *out, size_t room)
{
	size_t len = 0, skip = queue->sent_of_first;

	for (const struct packet *packet = queue->packets.head; packet && len < room; packet = packet->next) {
		size_t part = packet->len - skip < room - len ? packet->len - skip : room - len;

		memcpy(out + len, packet->data + skip, part);
		len += part;
		skip = 0;
	}
	return len;
}

static void short_writes(void **unused)
{
	static const size_t lens[] = { 32, 148, 1452, 64, 33 };
	const size_t count = sizeof(lens) / sizeof(lens[0]);

	(void)unused;
	for (size_t step = 1; step < 2000; step += step < 70 ? 1 : 61) {
		struct packet_pool *pool = packet_pool_new(POOL, 2048);
		struct record_queue queue = { 0 };
		struct packet_list done = { 0 };
		uint8_t stream[4096], *at = stream;
		size_t len = 0;

		for (size_t i = 0; i < count; i++)
			record_queue_push(&queue, message(pool, lens[i], (uint8_t)i));
		while (queue.packets.count) {
			size_t sent = take(&queue, stream + len, step);

			assert_int_not_equal(sent, 0);
			record_queue_sent(&queue, sent, &done);
			len += sent;
		}
		assert_int_equal(queue.sent_of_first, 0);
		assert_int_equal(done.count, count);
		for (size_t i = 0; i < count; i++) {
			struct record record = record_parse(at, len);

			assert_int_equal(record.state, RECORD_COMPLETE);
			assert_int_equal(record.len, lens[i]);
			for (size_t byte = 0; byte < record.len; byte++)
				assert_int_equal(at[record.message + byte], i);
			at += record.record;
			len -= record.record;
		}
		assert_int_equal(len, 0);
		packet_give_list(pool, &done);
		packet_pool_free(pool); /* asserts that all are there */
	}
}

static void cleared_in_the_middle_of_a_record(void **unused)
{
	struct packet_pool *pool = packet_pool_new(POOL, 2048);
	struct record_queue queue = { 0 };
	struct packet_list done = { 0 };

	(void)unused;
	for (size_t i = 0; i < 3; i++)
		record_queue_push(&queue, message(pool, 100, 1));
	record_queue_sent(&queue, 150, &done);
	assert_int_equal(done.count, 1);
	assert_int_equal(queue.sent_of_first, 150 - 108);
	record_queue_clear(&queue, &done);
	assert_int_equal(done.count, 3);
	assert_int_equal(queue.packets.count, 0);
	assert_int_equal(queue.sent_of_first, 0);
	packet_give_list(pool, &done);
	packet_pool_free(pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_writes),
		cmocka_unit_test(cleared_in_the_middle_of_a_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
