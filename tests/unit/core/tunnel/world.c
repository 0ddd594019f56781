/* SPDX-License-Identifier: MIT */
/* The harness of the tunnel's tests: see world.h. */
#include "tests/unit/core/tunnel/world.h"

#include "core/base/bytes.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

static void carry(struct world *world, int from, const struct message *message);

void world_init(struct world *world)
{
	*world = (struct world){ .ms = 1000 };
	assert_true(crypto_init());
	world->pool = packet_pool_new(4, MESSAGE_MAX);
	assert_non_null(world->pool);
	for (int i = 0; i < 2; i++) {
		struct side *side = &world->side[i];

		dh_generate(side->private_key);
		dh_public(side->public_key, side->private_key);
	}
	if (memcmp(world->side[0].public_key, world->side[1].public_key, KEY_LEN) > 0) {
		struct side swap = world->side[0];

		world->side[0] = world->side[1];
		world->side[1] = swap;
	}
	for (int i = 0; i < 2; i++) {
		struct side *side = &world->side[i];
		struct ip_prefix other = { { IP_V4, { 10, 0, 0, (uint8_t)(2 - i) } }, 32 };

		side->at = (struct endpoint){ { IP_V4, { 192, 0, 2, (uint8_t)(1 + i) } }, 51820, 0 };
		side->tunnel = tunnel_new();
		assert_non_null(side->tunnel);
		tunnel_set_private_key(side->tunnel, side->private_key);
		side->peer = tunnel_peer_add(side->tunnel, world->side[!i].public_key);
		assert_non_null(side->peer);
		assert_true(tunnel_allow(side->tunnel, side->peer, &other));
	}
}

void world_free(struct world *world)
{
	tunnel_free(world->side[0].tunnel);
	tunnel_free(world->side[1].tunnel);
	packet_pool_free(world->pool);
}

struct mono world_now(const struct world *world)
{
	return mono_add_ms(MONO_UNSET, world->ms);
}

struct wall world_wall(const struct world *world, int side)
{
	int64_t s = (int64_t)(WALL_START + world->ms / 1000) + world->wall_offset_s[side];

	return (struct wall){ (uint64_t)s, (uint32_t)(world->ms % 1000) * 1000000 };
}

static enum verdict keep(
	struct world *world, struct packet *packet, enum verdict verdict, struct message *out)
{
	if (verdict == VERDICT_OK) {
		assert_true(packet->len <= MESSAGE_MAX);
		memcpy(out->bytes, packet->data, packet->len);
		out->len = packet->len;
	}
	packet_give(world->pool, packet);
	return verdict;
}

enum verdict make_initiation(struct world *world, int side, struct message *out)
{
	struct packet *packet = packet_take(world->pool);

	return keep(world, packet,
		tunnel_create_initiation(world->side[side].tunnel, world->side[side].peer, world_now(world),
			world_wall(world, side), packet),
		out);
}

enum verdict make_response(struct world *world, int side, struct message *out)
{
	struct packet *packet = packet_take(world->pool);

	return keep(world, packet,
		tunnel_create_response(
			world->side[side].tunnel, world->side[side].peer, world_now(world), packet),
		out);
}

enum verdict make_keepalive(struct world *world, int side, struct message *out)
{
	struct packet *packet = packet_take(world->pool);

	return keep(world, packet,
		tunnel_seal_keepalive(
			world->side[side].tunnel, world->side[side].peer, packet, world_now(world)),
		out);
}

size_t inner_write(int side, uint32_t id, size_t len, uint8_t *out)
{
	assert_true(len >= 24);
	memset(out, 0xa5, len);
	memset(out, 0, 24);
	out[0] = 0x45;
	put_be16(out + 2, (uint16_t)len);
	memcpy(out + 12, (uint8_t[]){ 10, 0, 0, (uint8_t)(1 + side), 10, 0, 0, (uint8_t)(2 - side) }, 8);
	put_be32(out + 20, id);
	return len;
}

enum verdict make_plain(struct world *world, int side, const uint8_t *plain, size_t len, struct message *out)
{
	struct packet *packet = packet_take(world->pool);

	memcpy(packet->data, plain, len);
	packet->len = (uint32_t)len;
	return keep(world, packet,
		tunnel_seal(world->side[side].tunnel, world->side[side].peer, packet, world_now(world)), out);
}

enum verdict make_data(struct world *world, int side, uint32_t id, size_t len, struct message *out)
{
	uint8_t plain[MESSAGE_MAX];

	inner_write(side, id, len, plain);
	return make_plain(world, side, plain, len, out);
}

enum verdict take_from(struct world *world, int to, enum carrier carrier, const struct endpoint *source,
	const struct message *message, struct received *out, struct message *inner)
{
	struct packet *plain = packet_take(world->pool);
	struct message copy = *message;
	enum verdict verdict = tunnel_receive(world->side[to].tunnel, carrier, source, copy.bytes, copy.len,
		world_now(world), world_wall(world, to), plain, out);

	if (inner && out->kind == RECEIVED_DATA) {
		memcpy(inner->bytes, plain->data, plain->len);
		inner->len = plain->len;
	}
	packet_give(world->pool, plain);
	return verdict;
}

enum verdict take(struct world *world, int to, const struct message *message, struct received *out)
{
	return take_from(world, to, CARRIER_UDP, &world->side[!to].at, message, out, NULL);
}

/* ---- as an engine would ---- */

static void initiate(struct world *world, int side)
{
	struct message message;

	if (make_initiation(world, side, &message) == VERDICT_OK)
		carry(world, side, &message);
}

static void keepalive(struct world *world, int side)
{
	struct message message;
	enum verdict verdict = make_keepalive(world, side, &message);

	if (verdict == VERDICT_OK)
		carry(world, side, &message);
	else if (tunnel_want(world->side[side].tunnel, world->side[side].peer, world_now(world)))
		initiate(world, side);
}

void send_data(struct world *world, int side, uint32_t id)
{
	struct side *self = &world->side[side];
	struct message message;
	enum verdict verdict = make_data(world, side, id, 60, &message);

	if (verdict == VERDICT_OK) {
		carry(world, side, &message);
		return;
	}
	assert_int_equal(verdict, VERDICT_NO_SESSION);
	self->waits = true;
	if (tunnel_want(self->tunnel, self->peer, world_now(world)))
		initiate(world, side);
}

static void flush(struct world *world, int side, bool confirm)
{
	if (world->side[side].waits) {
		world->side[side].waits = false;
		send_data(world, side, 0);
	} else if (confirm) {
		keepalive(world, side);
	}
}

static void arrive(struct world *world, int to, const struct message *message)
{
	struct side *self = &world->side[to];
	struct received received;
	struct message answer, inner;

	if (take_from(world, to, CARRIER_UDP, &world->side[!to].at, message, &received, &inner) != VERDICT_OK)
		return;
	switch (received.kind) {
	case RECEIVED_DATA:
		self->got_data++;
		self->got_id = get_be32(inner.bytes + 20);
		break;
	case RECEIVED_INITIATION:
		if (make_response(world, to, &answer) == VERDICT_OK)
			carry(world, to, &answer);
		break;
	case RECEIVED_RESPONSE:
		flush(world, to, true);
		break;
	case RECEIVED_NOTHING:
	case RECEIVED_KEEPALIVE:
	case RECEIVED_SUPERSEDED:
	case RECEIVED_COOKIE:
	case RECEIVED_EXTENSION:
		break;
	}
	if (received.confirmed)
		flush(world, to, false);
}

static void carry(struct world *world, int from, const struct message *message)
{
	bool empty = message->bytes[0] == MESSAGE_DATA && message->len == DATA_MIN_LEN;

	world->side[from].sent[empty ? 0 : message->bytes[0]]++;
	if (!world->cut[from])
		arrive(world, !from, message);
}

void world_connect(struct world *world, int side)
{
	struct message message;
	struct received received;

	assert_int_equal(make_initiation(world, side, &message), VERDICT_OK);
	assert_int_equal(take(world, !side, &message, &received), VERDICT_OK);
	assert_int_equal(received.kind, RECEIVED_INITIATION);
	assert_int_equal(make_response(world, !side, &message), VERDICT_OK);
	assert_int_equal(take(world, side, &message, &received), VERDICT_OK);
	assert_int_equal(received.kind, RECEIVED_RESPONSE);
	assert_int_equal(make_keepalive(world, side, &message), VERDICT_OK);
	assert_int_equal(take(world, !side, &message, &received), VERDICT_OK);
	assert_int_equal(received.kind, RECEIVED_KEEPALIVE);
	assert_true(received.confirmed);
}

static void act(struct world *world, int side)
{
	struct side *self = &world->side[side];
	struct due due;

	while (tunnel_next_due(self->tunnel, world_now(world), &due)) {
		assert_ptr_equal(due.peer, self->peer);
		if (due.what & DUE_GAVE_UP) {
			self->gave_up++;
			self->waits = false;
		}
		if (due.what & DUE_ZEROED)
			self->zeroed++;
		if (due.what & DUE_INITIATION)
			initiate(world, side);
		if (due.what & DUE_KEEPALIVE)
			keepalive(world, side);
	}
	/* Or a loop that sleeps until the deadline would not sleep. */
	assert_true(tunnel_deadline(self->tunnel).ns > world_now(world).ns);
}

void world_run(struct world *world, uint64_t ms)
{
	for (;;) {
		struct mono next = mono_min(
			tunnel_deadline(world->side[0].tunnel), tunnel_deadline(world->side[1].tunnel));

		if (next.ns > ms * 1000000)
			break;
		if (next.ns > world->ms * 1000000)
			world->ms = (next.ns + 999999) / 1000000;
		act(world, 0);
		act(world, 1);
	}
	world->ms = ms;
}

bool world_idle(const struct world *world)
{
	return tunnel_deadline(world->side[0].tunnel).ns == MONO_NEVER.ns &&
	       tunnel_deadline(world->side[1].tunnel).ns == MONO_NEVER.ns;
}
