/* SPDX-License-Identifier: MIT */
/* Two tunnels on a network that drops, doubles, reorders and corrupts, with clocks that jump, keys that
 * change and paths that move: 100,000 random steps, seeded; test_tunnel_model RUNS [SEED] makes RUNS times
 * 25,000. Whatever happens: nothing arrives that was not sent, nothing twice, no message is taken twice, no
 * key seals with a counter twice, and a path moves only by an authentic packet that is newer than all before.
 */
#include "tests/unit/core/tunnel/world.h"

#include "core/base/bytes.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 25000
#define SEEDS 4
#define IN_FLIGHT 48
#define USED_SLOTS (1u << 17)
#define SERIALS (4 * STEPS)

/* Where somebody sends from. */
struct origin {
	enum carrier carrier;
	struct endpoint at;
};

struct flight {
	struct message message;
	struct origin origin;
	uint32_t serial; /* of the message, the same for each copy of it */
	bool copied;
	int to;
};

/* The newest counter of one keypair that has come in at a side, by our index of it. */
struct newest {
	uint32_t index;
	uint64_t counter;
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
	bool taken[SERIALS];          /* messages that were accepted */
	uint32_t serials;
	struct origin at[2], path[2]; /* where a side is; where it believes the other to be */
	struct newest newest[2];
	size_t moves, key_changes, switches;
};

/* Keys and indices are drawn from the seed, too, so that a run can be repeated. */
static uint64_t drawn;

void __wrap_random_fill(void *out, size_t len);
uint32_t __wrap_random_u32(void);

void __wrap_random_fill(void *out, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		drawn = drawn * 6364136223846793005ull + 1442695040888963407ull;
		((uint8_t *)out)[i] = (uint8_t)(drawn >> 56);
	}
}

uint32_t __wrap_random_u32(void)
{
	uint32_t out;

	__wrap_random_fill(&out, sizeof(out));
	return out;
}

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
	assert_true(model->serials < SERIALS);
	model->flights[at] = (struct flight){
		.message = *message, .origin = model->at[from], .serial = model->serials++, .to = !from
	};
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

/* Only what is authentic and newer may move the path: of one keypair that is a higher counter. */
static void move_path(struct model *model, const struct flight *flight, const struct received *received)
{
	const struct message *message = &flight->message;
	struct newest *newest = &model->newest[flight->to];

	if (!received->newest)
		return;
	if (message->bytes[0] == MESSAGE_DATA) {
		uint32_t index = get_le32(message->bytes + 4);
		uint64_t counter = get_le64(message->bytes + 8);

		if (index == newest->index)
			assert_true(counter > newest->counter);
		*newest = (struct newest){ index, counter };
	}
	model->moves += !endpoint_equal(&model->path[flight->to].at, &flight->origin.at) ||
			model->path[flight->to].carrier != flight->origin.carrier;
	model->path[flight->to] = flight->origin;
}

static void deliver(struct model *model, const struct flight *flight, bool corrupt)
{
	const struct message *message = &flight->message;
	int to = flight->to;
	struct received received;
	struct message answer, inner;
	enum verdict verdict = take_from(
		&model->world, to, flight->origin.carrier, &flight->origin.at, message, &received, &inner);

	if (corrupt) { /* not one flipped bit goes unnoticed */
		assert_int_not_equal(verdict, VERDICT_OK);
		assert_null(received.peer);
	}
	if (verdict != VERDICT_OK) {
		assert_false(received.newest);
		return;
	}
	assert_ptr_equal(received.peer, model->world.side[to].peer);
	assert_false(model->taken[flight->serial]);
	model->taken[flight->serial] = true;
	move_path(model, flight, &received);
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

	if (!chance(model, 10)) { /* else it comes again */
		model->flights[at] = model->flights[--model->count];
	} else {
		/* A copy comes from wherever who made it is, and by either carrier. */
		model->flights[at].copied = true;
		model->flights[at].origin.at.port = (uint16_t)next_random(model);
		model->flights[at].origin.carrier = chance(model, 50) ? CARRIER_UDP : CARRIER_TCP;
	}
	if (corrupt) {
		/* mac2 is looked at under load only */
		size_t len = flight.message.bytes[0] == MESSAGE_DATA ? flight.message.len
								     : flight.message.len - MAC_LEN;

		flight.message.bytes[next_random(model) % len] ^= (uint8_t)(1u << (next_random(model) % 8));
	}
	deliver(model, &flight, corrupt);
}

/* A new key on one side, of which the other is told; or a preshared key that both take, one before the other.
 */
static void change_key(struct model *model, int side)
{
	struct side *self = &model->world.side[side], *other = &model->world.side[!side];
	struct ip_prefix inside = { { IP_V4, { 10, 0, 0, (uint8_t)(1 + side) } }, 32 };

	model->key_changes++;
	if (chance(model, 50)) {
		uint8_t key[KEY_LEN];

		random_fill(key, sizeof(key));
		peer_set_preshared_key(self->peer, key);
		peer_set_preshared_key(other->peer, key);
		return;
	}
	dh_generate(self->private_key);
	dh_public(self->public_key, self->private_key);
	tunnel_set_private_key(self->tunnel, self->private_key);
	tunnel_peer_remove(other->tunnel, other->peer);
	other->peer = tunnel_peer_add(other->tunnel, self->public_key);
	assert_non_null(other->peer);
	assert_true(tunnel_allow(other->tunnel, other->peer, &inside));
	peer_set_preshared_key(other->peer, peer_preshared_key(self->peer));
	model->newest[0] = model->newest[1] = (struct newest){ 0 };
}

static void move(struct model *model, int side)
{
	model->switches++;
	if (chance(model, 50))
		model->at[side].carrier = model->at[side].carrier == CARRIER_UDP ? CARRIER_TCP : CARRIER_UDP;
	else
		model->at[side].at.address.bytes[3] = (uint8_t)(100 + next_random(model) % 100);
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
	drawn = seed;
	world_init(&model->world);
	model->random = seed;
	for (int side = 0; side < 2; side++)
		model->at[side] = model->path[!side] =
			(struct origin){ CARRIER_UDP, model->world.side[side].at };
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
		else if (what < 99 && step % 16 == 1)
			change_key(model, side);
		else if (what < 99)
			move(model, side);
		else
			model->world.wall_offset_s[side] = (int64_t)(next_random(model) % 7200) - 3600;
		dues(model, 0);
		dues(model, 1);
	}
	/* Not by saying no to everything: */
	assert_true(model->arrived_count > STEPS / 8);
	assert_true(model->sessions > 20);
	assert_true(model->key_changes > 3 && model->switches > 50 && model->moves > 50);
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

static uint64_t first_seed = 1, runs = SEEDS;

static void nothing_false_nothing_twice(void **state)
{
	static struct model model;

	(void)state;
	for (uint64_t seed = first_seed; seed < first_seed + runs; seed++) {
		/* The last one that is printed is the one that failed. */
		printf("seed %" PRIu64 "\n", seed);
		fflush(stdout);
		run(&model, seed * 0x9e3779b97f4a7c15);
	}
	printf("%" PRIu64 " steps\n", runs * STEPS);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_false_nothing_twice),
	};

	if (argc > 1)
		runs = strtoull(argv[1], NULL, 10);
	if (argc > 2)
		first_seed = strtoull(argv[2], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
