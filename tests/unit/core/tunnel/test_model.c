/* SPDX-License-Identifier: MIT */
/* Two tunnels on a network that drops, doubles, reorders and corrupts, with a clock that jumps: 100,000
 * random steps, seeded. Whatever happens: nothing arrives that was not sent, nothing twice, and no key seals
 * with a counter twice. */
#include "tests/unit/core/tunnel/world.h"

#include "core/base/bytes.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#define STEPS 25000
#define SEEDS 4
#define IN_FLIGHT 48
#define USED_SLOTS (1u << 17)

struct flight {
	struct message message;
	int to;
};

struct model {
	struct world world;
	uint64_t random;
	struct flight flights[IN_FLIGHT];
	size_t count;
	uint8_t arrived[2][STEPS]; /* by id */
	bool sent[2][STEPS];
	size_t arrived_count, sessions;
	uint64_t used[2][USED_SLOTS]; /* (receiver index, counter) + 1, by sender */
};

static uint64_t next_random(struct model *model)
{
	model->random ^= model->random >> 12;
	model->random ^= model->random << 25;
	model->random ^= model->random >> 27;
	return (model->random * 2685821657736338717ull) >> 16;
}

static bool chance(struct model *model, unsigned percent)
{
	return next_random(model) % 100 < percent;
}

/* Fails when this pair was used before. */
static void note_nonce(struct model *model, int from, const struct message *message)
{
	uint64_t counter = get_le64(message->bytes + 8);
	uint64_t pair = ((uint64_t)get_le32(message->bytes + 4) << 32 | counter) + 1;
	size_t at = (size_t)((pair * 0x9e3779b97f4a7c15) >> 40) % USED_SLOTS;

	assert_true(counter < UINT32_MAX);
	while (model->used[from][at] != 0) {
		assert_true(model->used[from][at] != pair);
		at = (at + 1) % USED_SLOTS;
	}
	model->used[from][at] = pair;
}

static void post(struct model *model, int from, const struct message *message)
{
	size_t at = model->count;

	if (message->bytes[0] == MESSAGE_DATA)
		note_nonce(model, from, message);
	if (chance(model, 10))
		return;
	if (at < IN_FLIGHT)
		model->count++;
	else
		at = next_random(model) % IN_FLIGHT; /* and another is lost */
	model->flights[at].message = *message;
	model->flights[at].to = !from;
}

static void initiate(struct model *model, int side)
{
	struct message message;

	if (make_initiation(&model->world, side, &message) == VERDICT_OK)
		post(model, side, &message);
}

static void keepalive(struct model *model, int side)
{
	struct message message;

	if (make_keepalive(&model->world, side, &message) == VERDICT_OK)
		post(model, side, &message);
}

static void data(struct model *model, int side, uint32_t id)
{
	struct side *self = &model->world.side[side];
	struct message message;

	if (make_data(&model->world, side, id, 24 + id % 1000, &message) == VERDICT_OK) {
		model->sent[side][id] = true;
		post(model, side, &message);
	} else if (tunnel_want(self->tunnel, self->peer, world_now(&model->world))) {
		initiate(model, side);
	}
}

static void arrived(struct model *model, int to, const struct message *inner)
{
	uint8_t expected[MESSAGE_MAX];
	uint32_t id = get_be32(inner->bytes + 20);

	assert_true(id < STEPS);
	assert_int_equal(inner->len, inner_write(!to, id, 24 + id % 1000, expected));
	assert_memory_equal(inner->bytes, expected, inner->len);
	assert_true(model->sent[!to][id]);
	assert_int_equal(model->arrived[to][id], 0);
	model->arrived[to][id] = 1;
	model->arrived_count++;
}

static void deliver(struct model *model, int to, const struct message *message, bool corrupt)
{
	struct received received;
	struct message answer, inner;
	enum verdict verdict = take_from(&model->world, to, chance(model, 50) ? CARRIER_UDP : CARRIER_TCP,
		&model->world.side[!to].at, message, &received, &inner);

	if (corrupt) { /* not one flipped bit goes unnoticed */
		assert_int_not_equal(verdict, VERDICT_OK);
		assert_null(received.peer);
	}
	if (verdict != VERDICT_OK)
		return;
	assert_ptr_equal(received.peer, model->world.side[to].peer);
	switch (received.kind) {
	case RECEIVED_NOTHING:
	case RECEIVED_COOKIE:
	case RECEIVED_EXTENSION:
		fail_msg("kind %d", received.kind);
		break;
	case RECEIVED_DATA:
		arrived(model, to, &inner);
		break;
	case RECEIVED_KEEPALIVE:
		break;
	case RECEIVED_INITIATION:
		if (make_response(&model->world, to, &answer) == VERDICT_OK)
			post(model, to, &answer);
		break;
	case RECEIVED_RESPONSE:
		model->sessions++;
		keepalive(model, to);
		break;
	case RECEIVED_SUPERSEDED:
		initiate(model, to);
		break;
	}
}

static void deliver_one(struct model *model)
{
	size_t at = next_random(model) % model->count;
	struct flight flight = model->flights[at];
	bool corrupt = chance(model, 5);

	if (!chance(model, 10)) /* else it comes again */
		model->flights[at] = model->flights[--model->count];
	if (corrupt) {
		/* mac2 is looked at under load only */
		size_t len = flight.message.bytes[0] == MESSAGE_DATA ? flight.message.len
								     : flight.message.len - MAC_LEN;

		flight.message.bytes[next_random(model) % len] ^= (uint8_t)(1u << (next_random(model) % 8));
	}
	deliver(model, flight.to, &flight.message, corrupt);
}

static void dues(struct model *model, int side)
{
	struct due due;

	while (tunnel_next_due(model->world.side[side].tunnel, world_now(&model->world), &due)) {
		if (due.what & DUE_INITIATION)
			initiate(model, side);
		if (due.what & DUE_KEEPALIVE)
			keepalive(model, side);
	}
	assert_true(tunnel_deadline(model->world.side[side].tunnel).ns > world_now(&model->world).ns);
}

static void run(struct model *model, uint64_t seed)
{
	memset(model, 0, sizeof(*model));
	world_init(&model->world);
	model->random = seed;
	for (uint32_t step = 0; step < STEPS; step++) {
		uint64_t what = next_random(model) % 100;
		int side = (int)(next_random(model) & 1);

		if (what < 40)
			data(model, side, step);
		else if (what < 80 && model->count > 0)
			deliver_one(model);
		else if (what < 97)
			model->world.ms += next_random(model) % 400;
		else if (what < 98)
			initiate(model, side); /* as the fallback machine may at any time */
		else if (what < 99 && step % 16 == 0)
			model->world.ms += 10000 * (next_random(model) % 30);
		else
			model->world.wall_offset_s[side] = (int64_t)(next_random(model) % 7200) - 3600;
		dues(model, 0);
		dues(model, 1);
	}
	/* Not by saying no to everything: */
	assert_true(model->arrived_count > STEPS / 5);
	assert_true(model->sessions > 20);
	/* When the network heals, so do they. */
	model->world.ms += 600000;
	world_run(&model->world, model->world.ms);
	for (int side = 0; side < 2; side++) {
		unsigned before = model->world.side[!side].got_data;

		send_data(&model->world, side, 0);
		assert_int_equal(model->world.side[!side].got_data, before + 1);
	}
	world_free(&model->world);
}

static void nothing_false_nothing_twice(void **state)
{
	static struct model model;

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		run(&model, seed * 0x9e3779b97f4a7c15);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_false_nothing_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
