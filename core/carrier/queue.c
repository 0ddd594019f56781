/* SPDX-License-Identifier: MIT */
/* FQ-CoDel over one peer's inner packets: which flow is next, what has to go when the queue is full. CoDel
 * itself, for one flow, stands in codel.c. Called by the engine's loop, on the peer's thread. Source: RFC
 * 8290.
 *
 * With several lanes (the streams of a path) each flow is pinned to one, so that it stays in order and a
 * stall of one stream stops only its own flows; within a lane the flows take turns as RFC 8290 has it. */
#include "core/carrier/queue.h"

#include "core/carrier/codel.h"
#include "core/carrier/inner.h"

#include <assert.h>
#include <stdlib.h>

#define NO_FLOW UINT16_MAX

/* A flow that has sent nothing for this long may change its lane: nothing of it is on its way any more. */
#define FLOW_ACTIVE_MS 1000
/* Weights of active flows: one that has sent much since it became active fills a lane, a sparse one does not.
 */
#define FLOW_BULK_BYTES (64u << 10)
#define WEIGHT_SPARSE 1
#define WEIGHT_BULK 4

enum flow_place { FLOW_IDLE, FLOW_NEW, FLOW_OLD };

struct flow {
	struct packet *head, *tail;
	struct codel codel;
	struct mono seen; /* its last packet came in */
	uint32_t bytes;
	uint32_t active_bytes; /* came in since it became active; saturates at FLOW_BULK_BYTES */
	int32_t deficit;
	uint16_t next; /* in the list of new or of old flows */
	uint8_t place;
	uint8_t lane;
};

struct flow_list {
	uint16_t head, tail;
};

struct queue {
	struct queue_settings settings;
	struct packet_list front; /* put back; goes before everything else */
	struct lane {
		struct flow_list new_flows, old_flows;
	} lanes[QUEUE_LANES_MAX];
	uint32_t open; /* bits: lanes that flows may belong to; never none */
	uint32_t turn; /* queue_pop: the lane it begins with */
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
	for (size_t i = 0; i < QUEUE_LANES_MAX; i++)
		queue->lanes[i].new_flows.head = queue->lanes[i].old_flows.head = NO_FLOW;
	queue->open = 1;
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

static bool active(const struct flow *flow, struct mono now)
{
	return flow->head || (mono_is_set(flow->seen) && mono_since_ms(now, flow->seen) < FLOW_ACTIVE_MS);
}

static uint32_t weight(const struct flow *flow, struct mono now)
{
	if (!active(flow, now))
		return 0;
	return flow->active_bytes >= FLOW_BULK_BYTES ? WEIGHT_BULK : WEIGHT_SPARSE;
}

static void weigh(const struct queue *queue, struct mono now, uint32_t weights[QUEUE_LANES_MAX])
{
	for (size_t i = 0; i < QUEUE_LANES_MAX; i++)
		weights[i] = 0;
	for (uint32_t i = 0; i < queue->settings.flows; i++)
		weights[queue->flows[i].lane] += weight(&queue->flows[i], now);
}

static uint8_t lightest_lane(const struct queue *queue, const uint32_t weights[QUEUE_LANES_MAX])
{
	uint8_t best = QUEUE_LANES_MAX;

	for (uint8_t i = 0; i < QUEUE_LANES_MAX; i++)
		if ((queue->open >> i & 1) && (best == QUEUE_LANES_MAX || weights[i] < weights[best]))
			best = i;
	return best;
}

/* A flow that was silent goes where there is least to do. */
static void pin(struct queue *queue, struct flow *flow, struct mono now)
{
	uint32_t weights[QUEUE_LANES_MAX];

	flow->active_bytes = 0;
	if (!(queue->open & (queue->open - 1))) {
		flow->lane = (uint8_t)__builtin_ctz(queue->open);
		return;
	}
	weigh(queue, now, weights);
	flow->lane = lightest_lane(queue, weights);
}

static void flow_list_remove(struct queue *queue, struct flow_list *list, uint16_t index)
{
	uint16_t before = NO_FLOW;

	for (uint16_t at = list->head; at != NO_FLOW; before = at, at = queue->flows[at].next) {
		if (at != index)
			continue;
		if (before == NO_FLOW)
			list->head = queue->flows[at].next;
		else
			queue->flows[before].next = queue->flows[at].next;
		if (list->tail == index)
			list->tail = before;
		return;
	}
}

static void move(struct queue *queue, uint16_t index, uint8_t to)
{
	struct flow *flow = &queue->flows[index];
	struct lane *old = &queue->lanes[flow->lane];

	switch ((enum flow_place)flow->place) {
	case FLOW_IDLE:
		break;
	case FLOW_NEW:
		flow_list_remove(queue, &old->new_flows, index);
		flow_list_push(queue, &queue->lanes[to].new_flows, index, FLOW_NEW);
		break;
	case FLOW_OLD:
		flow_list_remove(queue, &old->old_flows, index);
		flow_list_push(queue, &queue->lanes[to].old_flows, index, FLOW_OLD);
		break;
	}
	flow->lane = to;
}

void queue_open_lane(struct queue *queue, uint32_t lane, struct mono now)
{
	uint32_t weights[QUEUE_LANES_MAX];

	assert(lane < QUEUE_LANES_MAX);
	if (queue->open >> lane & 1)
		return;
	queue->open |= 1u << lane;
	weigh(queue, now, weights);
	/* Only bulk, which the others can spare: each move may put packets of the flow out of order once. */
	for (uint16_t i = 0; i < queue->settings.flows; i++) {
		const struct flow *flow = &queue->flows[i];
		uint32_t own = weight(flow, now);

		if (own < WEIGHT_BULK || weights[flow->lane] < weights[lane] + 2 * own)
			continue;
		weights[flow->lane] -= own;
		weights[lane] += own;
		move(queue, i, (uint8_t)lane);
	}
}

void queue_balance(struct queue *queue, struct mono now)
{
	uint32_t weights[QUEUE_LANES_MAX];
	uint8_t lightest, heaviest = 0;

	if (!(queue->open & (queue->open - 1)))
		return;
	weigh(queue, now, weights);
	lightest = lightest_lane(queue, weights);
	for (uint8_t i = 1; i < QUEUE_LANES_MAX; i++)
		if (weights[i] > weights[heaviest])
			heaviest = i;
	if (weights[heaviest] < weights[lightest] + 2 * WEIGHT_BULK)
		return;
	for (uint16_t i = 0; i < queue->settings.flows; i++) {
		struct flow *flow = &queue->flows[i];

		if (flow->lane == heaviest && weight(flow, now) == WEIGHT_BULK) {
			move(queue, i, lightest);
			return;
		}
	}
}

void queue_close_lane(struct queue *queue, uint32_t lane, struct mono now)
{
	uint32_t weights[QUEUE_LANES_MAX];

	assert(lane < QUEUE_LANES_MAX);
	if (!(queue->open & ~(1u << lane)))
		return;
	queue->open &= ~(1u << lane);
	weigh(queue, now, weights);
	for (uint16_t i = 0; i < queue->settings.flows; i++) {
		if (queue->flows[i].lane != lane)
			continue;
		uint8_t to = lightest_lane(queue, weights);

		weights[to] += weight(&queue->flows[i], now);
		move(queue, i, to);
	}
}

void queue_push(struct queue *queue, struct packet *packet, struct mono now, struct packet_list *dropped)
{
	packet->flow = inner_flow_hash(packet->data, packet->len, queue->settings.hash_seed);
	packet->queued = now;

	uint16_t index = (uint16_t)(packet->flow & (queue->settings.flows - 1));
	struct flow *flow = &queue->flows[index];

	if (flow->place == FLOW_IDLE && !active(flow, now))
		pin(queue, flow, now);
	flow->seen = now;
	if (flow->active_bytes < FLOW_BULK_BYTES)
		flow->active_bytes += packet->len;
	flow_push(queue, flow, packet);
	if (flow->place == FLOW_IDLE) {
		flow->deficit = (int32_t)queue->settings.quantum;
		flow_list_push(queue, &queue->lanes[flow->lane].new_flows, index, FLOW_NEW);
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
	struct packet_list list = { 0 };

	packet_list_push(&list, packet);
	queue_prepend(queue, &list);
}

void queue_prepend(struct queue *queue, struct packet_list *list)
{
	queue->packets += list->count;
	queue->bytes += list->len;
	packet_list_prepend(&queue->front, list);
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

struct packet *queue_pop_lane(
	struct queue *queue, uint32_t number, struct mono now, struct packet_list *dropped)
{
	struct packet *packet = front_pop(queue);
	struct lane *lane = &queue->lanes[number];

	if (packet)
		return packet;
	for (;;) {
		bool is_new = lane->new_flows.head != NO_FLOW;
		struct flow_list *list = is_new ? &lane->new_flows : &lane->old_flows;

		if (list->head == NO_FLOW)
			return NULL;

		struct flow *flow = &queue->flows[list->head];

		if (flow->deficit <= 0) {
			flow->deficit += (int32_t)queue->settings.quantum;
			flow_list_push(queue, &lane->old_flows, flow_list_pop(queue, list), FLOW_OLD);
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

		if (is_new && lane->old_flows.head != NO_FLOW)
			flow_list_push(queue, &lane->old_flows, index, FLOW_OLD);
	}
}

struct packet *queue_pop(struct queue *queue, struct mono now, struct packet_list *dropped)
{
	if (!(queue->open & (queue->open - 1)))
		return queue_pop_lane(queue, (uint32_t)__builtin_ctz(queue->open), now, dropped);
	for (uint32_t i = 0; i < QUEUE_LANES_MAX; i++) {
		uint32_t lane = queue->turn++ % QUEUE_LANES_MAX;
		struct packet *packet =
			queue->open >> lane & 1 ? queue_pop_lane(queue, lane, now, dropped) : NULL;

		if (packet)
			return packet;
	}
	return NULL;
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

void queue_set_limits(struct queue *queue, size_t bytes, size_t packets)
{
	queue->settings.limit_bytes = bytes;
	queue->settings.limit_packets = packets;
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
