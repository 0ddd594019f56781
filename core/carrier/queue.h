/* SPDX-License-Identifier: MIT */
/* One peer's inner packets before they are sealed: FQ-CoDel with ECN (RFC 8290, RFC 8289), bounded in bytes and time.
 * Pure; packets belong to the queue while inside. */
#ifndef WGTCP_CORE_CARRIER_QUEUE_H
#define WGTCP_CORE_CARRIER_QUEUE_H

#include "core/base/packet.h"

struct queue;

#define QUEUE_LANES_MAX 16

struct queue_settings {
	uint32_t flows;      /* a power of two, for example 64 */
	uint32_t quantum;    /* bytes a flow may send in its turn; the MTU */
	size_t limit_bytes;
	size_t limit_packets; /* these two may change while running, too: queue_set_limits */
	uint32_t target_us, interval_us; /* CoDel; may change while running */
	uint64_t hash_seed;
};

/* NULL when memory is short. */
struct queue *queue_new(const struct queue_settings *settings);
/* Gives what is left inside to `rest`. */
void queue_free(struct queue *queue, struct packet_list *rest);

/* Takes the packet (an IP packet; its flow is hashed from addresses, protocol and ports). What has to go because the
 * queue is full (from the fattest flow) is put on dropped. */
void queue_push(struct queue *queue, struct packet *packet, struct mono now, struct packet_list *dropped);
/* Puts a packet back at the very front, for instance after VERDICT_NO_SESSION. */
void queue_push_front(struct queue *queue, struct packet *packet);
/* The same for several, in their order. */
void queue_prepend(struct queue *queue, struct packet_list *list);
/* The next packet by deficit round robin; CoDel's drops go to dropped, and where the inner packet is ECN-capable it is
 * marked CE (with its IPv4 checksum mended) instead. NULL when empty. */
struct packet *queue_pop(struct queue *queue, struct mono now, struct packet_list *dropped);
/* The same for one lane's flows. Until others are opened there is lane 0 alone. */
struct packet *queue_pop_lane(
	struct queue *queue, uint32_t lane, struct mono now, struct packet_list *dropped);
/* One more lane; bulk flows move to it until none of the others has two more than it. */
void queue_open_lane(struct queue *queue, uint32_t lane, struct mono now);
/* Moves one bulk flow, if one lane has two more of them than another. */
void queue_balance(struct queue *queue, struct mono now);
/* Its flows, with what waits of them, go to those lanes that have least to do. The last lane stays open. */
void queue_close_lane(struct queue *queue, uint32_t lane, struct mono now);
/* While there is no session: drops what has waited longer than max_wait_ms. */
void queue_expire(struct queue *queue, struct mono now, uint64_t max_wait_ms, struct packet_list *dropped);
void queue_set_codel(struct queue *queue, uint32_t target_us, uint32_t interval_us);
void queue_set_limits(struct queue *queue, size_t bytes, size_t packets);
size_t queue_packets(const struct queue *queue);
size_t queue_bytes(const struct queue *queue);
uint64_t queue_marked(const struct queue *queue);

/* RFC 6040: the ECN bits of an inner IP packet, and what the inner header becomes when the outer came in with `outer`.
 * False: drop it (outer CE on an inner not capable). Mends the IPv4 checksum. */
uint8_t inner_ecn(const uint8_t *inner, size_t len);
bool inner_ecn_combine(uint8_t *inner, size_t len, uint8_t outer);

#endif
