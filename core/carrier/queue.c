/* SPDX-License-Identifier: MIT */
/* FQ-CoDel over one peer's inner packets: which flow is next, what has to go when the queue is full. CoDel
 * itself, for one flow, stands in codel.c. Called by the engine's loop, on the peer's thread. Source: RFC
 * 8290. */
#include "core/carrier/queue.h"

#include "core/carrier/codel.h"
#include "core/carrier/inner.h"

#include <assert.h>
#include <stdlib.h>

#define NO_FLOW UINT16_MAX

enum flow_place { FLOW_IDLE, FLOW_NEW, FLOW_OLD };

struct flow {
	struct packet *head, *tail;
	struct codel codel;
	uint32_t bytes;
	int32_t deficit;
	uint16_t next; /* in the list of new or of old flows */
	uint8_t place;
};

struct flow_list {
	uint16_t head, tail;
};

struct queue {
	struct queue_settings settings;
	struct packet_list front; /* put back; goes before everything else */
	struct flow_list new_flows, old_flows;
	size_t packets, bytes;
	uint64_t marked;
	struct flow flows[];
};

static void flow_list_push(struct queue *queue, struct flow_list *list, uint16_t index, enum flow_place place)
{
	queue->flows[index].next = NO_FLOW;
	queue->flows[index].place = (uint8_t)place;
	if (list->head == NO_FLOW)
		list->head = index;
	else
		queue->flows[list->tail].next = index;
	list->tail = index;
}

static uint16_t flow_list_pop(struct queue *queue, struct flow_list *list)
{
	uint16_t index = list->head;

	list->head = queue->flows[index].next;
	queue->flows[index].place = FLOW_IDLE;
	return index;
}

static void flow_push(struct queue *queue, struct flow *flow, struct packet *packet)
{
	packet->next = NULL;
	if (flow->head)
		flow->tail->next = packet;
	else
		flow->head = packet;
	flow->tail = packet;
	flow->bytes += packet->len;
	queue->packets++;
	queue->bytes += packet->len;
}

static struct packet *flow_pop(struct queue *queue, struct flow *flow)
{
	struct packet *packet = flow->head;

	if (!packet)
		return NULL;
	flow->head = packet->next;
	packet->next = NULL;
	flow->bytes -= packet->len;
	queue->packets--;
	queue->bytes -= packet->len;
	return packet;
}

/* A flow dominates by its bytes, not by its packets (RFC 8290, 4.1). */
static struct flow *fattest_flow(struct queue *queue)
{
	struct flow *fattest = NULL;

	for (uint32_t i = 0; i < queue->settings.flows; i++) {
		struct flow *flow = &queue->flows[i];

		if (flow->head && (!fattest || flow->bytes > fattest->bytes))
			fattest = flow;
	}
	return fattest;
}

struct queue *queue_new(const struct queue_settings *settings)
{
	assert(settings->flows && settings->flows < NO_FLOW && !(settings->flows & (settings->flows - 1)));
	assert(settings->quantum && settings->quantum <= INT32_MAX / 2 &&
		settings->limit_bytes <= UINT32_MAX);

	struct queue *queue = calloc(1, sizeof(*queue) + settings->flows * sizeof(queue->flows[0]));

	if (!queue)
		return NULL;
	queue->settings = *settings;
	queue->new_flows.head = NO_FLOW;
	queue->old_flows.head = NO_FLOW;
	return queue;
}

void queue_free(struct queue *queue, struct packet_list *rest)
{
	if (!queue)
		return;
	for (struct packet *packet; (packet = packet_list_pop(&queue->front));)
		packet_list_push(rest, packet);
	for (uint32_t i = 0; i < queue->settings.flows; i++)
		for (struct packet *packet; (packet = flow_pop(queue, &queue->flows[i]));)
			packet_list_push(rest, packet);
	free(queue);
}

void queue_push(struct queue *queue, struct packet *packet, struct mono now, struct packet_list *dropped)
{
	packet->flow = inner_flow_hash(packet->data, packet->len, queue->settings.hash_seed);
	packet->queued = now;

	uint16_t index = (uint16_t)(packet->flow & (queue->settings.flows - 1));
	struct flow *flow = &queue->flows[index];

	flow_push(queue, flow, packet);
	if (flow->place == FLOW_IDLE) {
		flow->deficit = (int32_t)queue->settings.quantum;
		flow_list_push(queue, &queue->new_flows, index, FLOW_NEW);
	}
	/* From the head: the sender hears of it a queue's length sooner (RFC 8290, 4.1). */
	while (queue->packets > queue->settings.limit_packets || queue->bytes > queue->settings.limit_bytes) {
		flow = fattest_flow(queue);
		if (!flow)
			break; /* all that is left was put back to the front */
		packet_list_push(dropped, flow_pop(queue, flow));
	}
}

void queue_push_front(struct queue *queue, struct packet *packet)
{
	packet->next = queue->front.head;
	queue->front.head = packet;
	if (!queue->front.tail)
		queue->front.tail = packet;
	queue->front.count++;
	queue->front.len += packet->len;
	queue->packets++;
	queue->bytes += packet->len;
}

/* Takes from the front list. */
static struct packet *front_pop(struct queue *queue)
{
	struct packet *packet = packet_list_pop(&queue->front);

	if (packet) {
		queue->packets--;
		queue->bytes -= packet->len;
	}
	return packet;
}

static bool mark(struct queue *queue, struct packet *packet)
{
	if (!inner_mark_ce(packet->data, packet->len))
		return false;
	packet->ecn = INNER_CE;
	queue->marked++;
	return true;
}

/* The flow's next packet that CoDel lets through; NULL when the flow is empty. */
static struct packet *flow_next(
	struct queue *queue, struct flow *flow, struct mono now, struct packet_list *dropped)
{
	const struct codel_settings settings = {
		.target_us = queue->settings.target_us,
		.interval_us = queue->settings.interval_us,
		.small_bytes = queue->settings.quantum,
	};
	struct packet *packet;

	while ((packet = flow_pop(queue, flow))) {
		if (!codel_strikes(&flow->codel, &settings, now, packet->queued, flow->bytes) ||
			mark(queue, packet))
			return packet;
		packet_list_push(dropped, packet);
	}
	codel_empty(&flow->codel);
	return NULL;
}

struct packet *queue_pop(struct queue *queue, struct mono now, struct packet_list *dropped)
{
	struct packet *packet = front_pop(queue);

	if (packet)
		return packet;
	for (;;) {
		bool is_new = queue->new_flows.head != NO_FLOW;
		struct flow_list *list = is_new ? &queue->new_flows : &queue->old_flows;

		if (list->head == NO_FLOW)
			return NULL;

		struct flow *flow = &queue->flows[list->head];

		if (flow->deficit <= 0) {
			flow->deficit += (int32_t)queue->settings.quantum;
			flow_list_push(queue, &queue->old_flows, flow_list_pop(queue, list), FLOW_OLD);
			continue;
		}
		packet = flow_next(queue, flow, now, dropped);
		if (packet) {
			flow->deficit -= (int32_t)packet->len;
			return packet;
		}
		/* An empty new flow passes once through the old ones, so that it cannot stay new by pausing
		 * (4.2). */
		uint16_t index = flow_list_pop(queue, list);

		if (is_new && queue->old_flows.head != NO_FLOW)
			flow_list_push(queue, &queue->old_flows, index, FLOW_OLD);
	}
}

void queue_expire(struct queue *queue, struct mono now, uint64_t max_wait_ms, struct packet_list *dropped)
{
	struct packet_list kept = { 0 };

	for (struct packet *packet; (packet = packet_list_pop(&queue->front));) {
		if (mono_since_ns(now, packet->queued) <= max_wait_ms * 1000000) {
			packet_list_push(&kept, packet);
			continue;
		}
		queue->packets--;
		queue->bytes -= packet->len;
		packet_list_push(dropped, packet);
	}
	queue->front = kept;
	/* Within a flow the oldest comes first. Emptied flows leave their list when their turn comes. */
	for (uint32_t i = 0; i < queue->settings.flows && queue->packets > kept.count; i++) {
		struct flow *flow = &queue->flows[i];

		while (flow->head && mono_since_ns(now, flow->head->queued) > max_wait_ms * 1000000)
			packet_list_push(dropped, flow_pop(queue, flow));
	}
}

void queue_set_codel(struct queue *queue, uint32_t target_us, uint32_t interval_us)
{
	queue->settings.target_us = target_us;
	queue->settings.interval_us = interval_us;
}

size_t queue_packets(const struct queue *queue)
{
	return queue->packets;
}

size_t queue_bytes(const struct queue *queue)
{
	return queue->bytes;
}

uint64_t queue_marked(const struct queue *queue)
{
	return queue->marked;
}
