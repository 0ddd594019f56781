/* SPDX-License-Identifier: MIT */
/* Called by whoever writes to a stream of the TCP carrier, on its thread. Source: docs/wire.md section 2. */
#include "core/carrier/record_queue.h"

#include "core/carrier/record.h"

void record_queue_push(struct record_queue *queue, struct packet *packet)
{
	size_t message_len = packet->len;

	packet->data -= RECORD_HEADER_LEN;
	packet->len += RECORD_HEADER_LEN;
	record_write_header(packet->data, message_len);
	packet_list_push(&queue->packets, packet);
}

void record_queue_sent(struct record_queue *queue, size_t len, struct packet_list *done)
{
	len += queue->sent_of_first;
	while (queue->packets.head && len >= queue->packets.head->len) {
		len -= queue->packets.head->len;
		packet_list_push(done, packet_list_pop(&queue->packets));
	}
	queue->sent_of_first = len;
}

void record_queue_clear(struct record_queue *queue, struct packet_list *done)
{
	for (struct packet *packet; (packet = packet_list_pop(&queue->packets));)
		packet_list_push(done, packet);
	queue->sent_of_first = 0;
}
