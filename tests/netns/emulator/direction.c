/* SPDX-License-Identifier: MIT */
/* A ring is enough for the delay, since order is kept until a frame is held back; those wait in a second
 * ring, in which order is kept too. */
#include "tests/netns/emulator/direction.h"

#include "tests/netns/emulator/frames.h"

#include <stdlib.h>

struct direction {
	struct direction_settings settings;
	struct direction_stats stats;
	uint64_t losses,
		delays; /* two rows of random numbers: one setting does not move what another draws */
	bool bad;
	uint64_t free_at; /* when the bottleneck has sent what is in its queue */
	uint64_t last_arrival, last_late;
	uint64_t queued_bytes; /* of frames [queue, wire.tail) */
	size_t queue;
	struct store store;
	struct ring wire, late;
};

/* Marsaglia's xorshift with a multiplication at the end (Vigna 2016, xorshift64*): enough for losses. */
static double draw(uint64_t *random)
{
	uint64_t x = *random;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*random = x;
	return (double)((x * UINT64_C(0x2545F4914F6CDD1D)) >> 11) / (double)(UINT64_C(1) << 53);
}

/* Zero is the one state that xorshift never leaves; neighbouring seeds must not start alike. */
static uint64_t seed_random(uint64_t seed)
{
	uint64_t random = (seed + 1) * UINT64_C(0x9E3779B97F4A7C15);

	if (!random)
		random = 1;
	for (int i = 0; i < 8; i++)
		draw(&random);
	return random;
}

/* One step of the two-state chain for each frame, then the loss of that state. Always two draws, so that
 * changing the one setting does not move the losses of another. */
static bool is_lost(struct direction *direction)
{
	const struct direction_settings *settings = &direction->settings;
	double change = draw(&direction->losses), loss = draw(&direction->losses);

	if (direction->bad)
		direction->bad = change >= settings->bad_leave;
	else
		direction->bad = change < settings->bad_enter;
	return loss < (direction->bad ? settings->bad_loss : settings->loss);
}

static uint64_t queue_limit(const struct direction_settings *settings)
{
	if (settings->queue_bdp <= 0)
		return settings->queue_bytes;
	return (uint64_t)(settings->queue_bdp * (double)settings->rate_bps / 8 * (double)settings->delay_us *
			  2 / 1e6);
}

static void advance_queue(struct direction *direction, uint64_t now_ns)
{
	while (direction->queue < direction->wire.tail) {
		const struct frame *frame = ring_at(&direction->wire, direction->queue);

		if (frame->leaves > now_ns)
			break;
		direction->queued_bytes -= frame->len;
		direction->queue++;
	}
}

struct direction *direction_new(const struct direction_settings *settings, uint64_t seed, size_t frames)
{
	struct direction *direction = calloc(1, sizeof(*direction));

	if (!direction)
		return NULL;
	if (!store_init(&direction->store) || !ring_init(&direction->wire, frames) ||
		!ring_init(&direction->late, frames)) {
		direction_free(direction);
		return NULL;
	}
	direction->settings = *settings;
	direction->losses = seed_random(seed);
	direction->delays = seed_random(seed ^ UINT64_C(0x5851F42D4C957F2D));
	return direction;
}

static void release_ring(struct direction *direction, struct ring *ring)
{
	for (; ring->head < ring->tail; ring->head++)
		store_release(&direction->store, ring_at(ring, ring->head)->holder);
	free(ring->frames);
}

void direction_free(struct direction *direction)
{
	if (!direction)
		return;
	release_ring(direction, &direction->wire);
	release_ring(direction, &direction->late);
	store_wipe(&direction->store);
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
	return direction->store.room->bytes;
}

/* One frame comes to the bottleneck. */
static void push_frame(
	struct direction *direction, struct holder *holder, uint32_t index, uint64_t limit, uint64_t now_ns)
{
	const struct direction_settings *settings = &direction->settings;
	size_t len = burst_frame_len(&holder->burst, index);
	struct frame *frame;

	direction->stats.packets++;
	direction->stats.bytes += len;
	if (len > direction->stats.largest)
		direction->stats.largest = len;
	/* The frame that the bottleneck is sending counts too, so one always fits into an empty queue. */
	if (ring_full(&direction->wire) ||
		(settings->rate_bps && direction->queued_bytes && direction->queued_bytes + len > limit)) {
		direction->stats.dropped++;
		return;
	}
	frame = ring_at(&direction->wire, direction->wire.tail);
	*frame = (struct frame){ .holder = holder, .index = index, .len = (uint32_t)len };
	frame->leaves = direction->free_at > now_ns ? direction->free_at : now_ns;
	if (settings->rate_bps)
		frame->leaves += (uint64_t)len * 8 * UINT64_C(1000000000) / settings->rate_bps;
	direction->free_at = frame->leaves;
	frame->arrives = frame->leaves + settings->delay_us * 1000;
	if (frame->arrives < direction->last_arrival)
		frame->arrives = direction->last_arrival;
	direction->last_arrival = frame->arrives;
	/* Drawn here, behind the queue's own drops: a frame lost on the wire has used the bottleneck. */
	frame->lost = is_lost(direction);
	frame->late = settings->reorder > 0 && draw(&direction->delays) < settings->reorder;
	direction->queued_bytes += len;
	direction->wire.tail++;
	holder->frames++;
}

void direction_push(struct direction *direction, const struct burst *burst, uint64_t now_ns)
{
	struct holder *holder = store_keep(&direction->store, burst);
	uint64_t limit = queue_limit(&direction->settings);

	advance_queue(direction, now_ns);
	direction->stats.bursts += burst->count > 1;
	if (!holder) {
		direction->stats.packets += burst->count;
		direction->stats.dropped += burst->count;
		return;
	}
	for (uint32_t i = 0; i < burst->count; i++)
		push_frame(direction, holder, i, limit, now_ns);
	if (!holder->frames)
		store_release(&direction->store, holder);
}

/* A frame whose time would have come waits on; a full ring lets it go at once. */
static bool hold_back(struct direction *direction, const struct frame *frame)
{
	struct frame *late = ring_at(&direction->late, direction->late.tail);

	if (ring_full(&direction->late))
		return false;
	*late = *frame;
	late->late = false;
	late->arrives += direction->settings.reorder_us * 1000;
	if (late->arrives < direction->last_late)
		late->arrives = direction->last_late;
	direction->last_late = late->arrives;
	direction->late.tail++;
	direction->stats.late++;
	return true;
}

/* What stands at the head of the wire but does not go on from there: the lost, and those that wait longer. */
static void clear_head(struct direction *direction, uint64_t now_ns)
{
	struct ring *wire = &direction->wire;

	for (; wire->head < wire->tail; wire->head++) {
		struct frame *frame = ring_at(wire, wire->head);

		if (frame->arrives > now_ns || (!frame->lost && !frame->late))
			return;
		if (frame->lost) {
			direction->stats.lost++;
			store_release(&direction->store, frame->holder);
		} else if (!hold_back(direction, frame)) {
			frame->late = false;
			return;
		}
	}
}

static bool is_due(const struct ring *ring, uint64_t now_ns)
{
	return ring->head < ring->tail && ring_at(ring, ring->head)->arrives <= now_ns;
}

static struct ring *oldest(struct direction *direction, uint64_t now_ns)
{
	struct ring *wire = &direction->wire, *late = &direction->late;

	if (!is_due(late, now_ns))
		return is_due(wire, now_ns) ? wire : NULL;
	if (!is_due(wire, now_ns))
		return late;
	return ring_at(late, late->head)->arrives < ring_at(wire, wire->head)->arrives ? late : wire;
}

bool direction_due(struct direction *direction, uint64_t now_ns, struct direction_row *row)
{
	struct ring *ring;
	struct frame *first;
	size_t count = 1;

	advance_queue(direction, now_ns);
	clear_head(direction, now_ns);
	ring = oldest(direction, now_ns);
	if (!ring)
		return false;
	first = ring_at(ring, ring->head);
	for (; ring->head + count < ring->tail; count++) {
		const struct frame *next = ring_at(ring, ring->head + count);

		if (next->holder != first->holder || next->index != first->index + count || next->lost ||
			next->late || next->arrives > now_ns)
			break;
	}
	*row = (struct direction_row){ &first->holder->burst, first->holder->bytes, first->index,
		first->index + count };
	return true;
}

void direction_pop(struct direction *direction, const struct direction_row *row)
{
	struct ring *late = &direction->late, *ring = &direction->wire;
	struct holder *holder;

	/* Which of the two it came from shows in the bytes it points to. */
	if (late->head < late->tail && ring_at(late, late->head)->holder->bytes == row->bytes &&
		ring_at(late, late->head)->index == row->first)
		ring = late;
	for (size_t i = row->first; i < row->end; i++, ring->head++) {
		direction->stats.delivered++;
		direction->stats.delivered_bytes += ring_at(ring, ring->head)->len;
		holder = ring_at(ring, ring->head)->holder;
		store_release(&direction->store, holder);
	}
}

uint64_t direction_deadline(const struct direction *direction)
{
	const struct ring *rings[] = { &direction->wire, &direction->late };
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < 2; i++)
		if (rings[i]->head < rings[i]->tail && ring_at(rings[i], rings[i]->head)->arrives < next)
			next = ring_at(rings[i], rings[i]->head)->arrives;
	return next;
}
