/* SPDX-License-Identifier: MIT */
/* Messages on their way into a byte stream: each with its record header before it, the first perhaps partly
 * gone. Pure; packets belong to the queue while inside. */
#ifndef WGTCP_CORE_CARRIER_RECORD_QUEUE_H
#define WGTCP_CORE_CARRIER_RECORD_QUEUE_H

#include "core/base/packet.h"

/* All zero: empty. What is to be written next stands in packets, from sent_of_first bytes into its head on.
 */
struct record_queue {
	struct packet_list packets;
	size_t sent_of_first;
};

/* Takes a message (RECORD_MESSAGE_MIN..MAX bytes) and writes its header into the packet's headroom. */
void record_queue_push(struct record_queue *queue, struct packet *packet);
/* len more bytes have been written; packets that are out whole are put on done. */
void record_queue_sent(struct record_queue *queue, size_t len, struct packet_list *done);
/* Empties it: the stream can not go on. */
void record_queue_clear(struct record_queue *queue, struct packet_list *done);

#endif
