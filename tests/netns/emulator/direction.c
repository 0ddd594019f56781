/* SPDX-License-Identifier: MIT */
/* Since order is kept, a ring is enough: no packet can overtake another, whatever the settings become meanwhile. */
#include "tests/netns/emulator/direction.h"

#include <stdlib.h>
#include <string.h>

struct slot {
	uint64_t leaves; /* the bottleneck; it counts against the queue until then */
	uint64_t arrives;
	size_t len;
	bool lost;
	uint8_t bytes[DIRECTION_PACKET_MAX];
};

struct direction {
	struct direction_settings settings;
	struct direction_stats stats;
	uint64_t random;
	bool bad;
	uint64_t free_at;      /* when the bottleneck has sent what is in its queue */
	uint64_t last_arrival;
	uint64_t queued_bytes; /* of slots [queue, tail) */
	/* Counted without end, used modulo room: head <= queue <= tail <= head + room. */
	size_t head, queue, tail, room;
	uint8_t spare[DIRECTION_PACKET_MAX]; /* what comes in while the ring is full lands here */
	struct slot slots[];
};

static struct slot *slot_at(struct direction *direction, size_t position)
{
	return &direction->slots[position % direction->room];
}

/* Marsaglia's xorshift with a multiplication at the end (Vigna 2016, xorshift64*): enough for losses. */
static double draw(struct direction *direction)
{
	uint64_t x = direction->random;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	direction->random = x;
	return (double)((x * UINT64_C(0x2545F4914F6CDD1D)) >> 11) / (double)(UINT64_C(1) << 53);
}

/* One step of the two-state chain for each packet, then the loss of that state. Always two draws, so that changing the
 * one setting does not move the losses of another. */
static bool is_lost(struct direction *direction)
{
	const struct direction_settings *settings = &direction->settings;
	double change = draw(direction), loss = draw(direction);

	if (direction->bad)
		direction->bad = change >= settings->bad_leave;
	else
		direction->bad = change < settings->bad_enter;
	return loss < (direction->bad ? settings->bad_loss : settings->loss);
}

static void advance_queue(struct direction *direction, uint64_t now_ns)
{
	while (direction->queue < direction->tail) {
		const struct slot *slot = slot_at(direction, direction->queue);

		if (slot->leaves > now_ns)
			break;
		direction->queued_bytes -= slot->len;
		direction->queue++;
	}
}

struct direction *direction_new(const struct direction_settings *settings, uint64_t seed, size_t slots)
{
	struct direction *direction;

	if (!slots || slots > (SIZE_MAX - sizeof(*direction)) / sizeof(direction->slots[0]))
		return NULL;
	direction = calloc(1, sizeof(*direction) + slots * sizeof(direction->slots[0]));
	if (!direction)
		return NULL;
	direction->settings = *settings;
	direction->room = slots;
	/* Zero is the one state that xorshift never leaves; neighbouring seeds must not start alike. */
	direction->random = (seed + 1) * UINT64_C(0x9E3779B97F4A7C15);
	if (!direction->random)
		direction->random = 1;
	for (int i = 0; i < 8; i++)
		draw(direction);
	return direction;
}

void direction_free(struct direction *direction)
{
	free(direction);
}

void direction_set(struct direction *direction, const struct direction_settings *settings)
{
	direction->settings = *settings;
	if (settings->bad_enter <= 0)
		direction->bad = false;
}

void direction_get(const struct direction *direction, struct direction_settings *settings)
{
	*settings = direction->settings;
}

void direction_stats(const struct direction *direction, struct direction_stats *stats)
{
	*stats = direction->stats;
}

uint8_t *direction_room(struct direction *direction)
{
	if (direction->tail - direction->head == direction->room)
		return direction->spare;
	return slot_at(direction, direction->tail)->bytes;
}

void direction_push(struct direction *direction, size_t len, uint64_t now_ns)
{
	const struct direction_settings *settings = &direction->settings;
	struct slot *slot = slot_at(direction, direction->tail);

	direction->stats.packets++;
	direction->stats.bytes += len;
	if (len > direction->stats.largest)
		direction->stats.largest = len;
	advance_queue(direction, now_ns);
	/* The packet that the bottleneck is sending counts too, so one always fits into an empty queue. */
	if (direction->tail - direction->head == direction->room ||
		(settings->rate_bps && direction->queued_bytes &&
			direction->queued_bytes + len > settings->queue_bytes)) {
		direction->stats.dropped++;
		return;
	}
	slot->len = len;
	slot->leaves = direction->free_at > now_ns ? direction->free_at : now_ns;
	if (settings->rate_bps)
		slot->leaves += (uint64_t)len * 8 * UINT64_C(1000000000) / settings->rate_bps;
	direction->free_at = slot->leaves;
	slot->arrives = slot->leaves + settings->delay_us * 1000;
	if (slot->arrives < direction->last_arrival)
		slot->arrives = direction->last_arrival;
	direction->last_arrival = slot->arrives;
	/* Drawn here, behind the queue's own drops: a packet lost on the wire has used the bottleneck. */
	slot->lost = is_lost(direction);
	direction->queued_bytes += len;
	direction->tail++;
}

const uint8_t *direction_due(struct direction *direction, uint64_t now_ns, size_t *len)
{
	advance_queue(direction, now_ns);
	while (direction->head < direction->tail) {
		const struct slot *slot = slot_at(direction, direction->head);

		if (slot->arrives > now_ns)
			return NULL;
		if (!slot->lost) {
			*len = slot->len;
			return slot->bytes;
		}
		direction->stats.lost++;
		direction->head++;
	}
	return NULL;
}

void direction_pop(struct direction *direction)
{
	direction->stats.delivered++;
	direction->stats.delivered_bytes += slot_at(direction, direction->head)->len;
	direction->head++;
}

uint64_t direction_deadline(const struct direction *direction)
{
	if (direction->head == direction->tail)
		return UINT64_MAX;
	return direction->slots[direction->head % direction->room].arrives;
}
