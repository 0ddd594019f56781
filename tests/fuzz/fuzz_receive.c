/* SPDX-License-Identifier: MIT */
/* Any message into a tunnel that has a session and an initiation out. The first byte of the input says how
 * the rest is dressed up, since no fuzzer finds an index, a mac or a tag by itself. */
#include "core/base/bytes.h"
#include "core/noise/cookie.h"
#include "core/tunnel/state.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MESSAGE_MAX 4096

enum dress {
	DRESS_NONE,      /* as it is */
	DRESS_SESSION,   /* the index of the session */
	DRESS_AWAITED,   /* the index of the initiation, and a right mac1 */
	DRESS_SIGNED,    /* a right mac1 */
	DRESS_PLAINTEXT, /* what comes out of an authentic data message */
	DRESS_COUNT
};

static struct side {
	struct tunnel *tunnel;
	struct peer *peer;
	uint8_t public_key[KEY_LEN];
} sides[2];
static struct packet_pool *pool;
static const struct endpoint source = { { IP_V4, { 192, 0, 2, 1 } }, 51820, 0 };
static const struct mono now = { 1000000000 };

/* Hands what side `from` has made to the other. */
static void pass(int to, struct packet *packet)
{
	struct packet *plain = packet_take(pool);
	struct received received;
	enum verdict verdict = tunnel_receive(sides[to].tunnel, CARRIER_UDP, &source, packet->data,
		packet->len, now, (struct wall){ 1, 0 }, plain, &received);

	assert(verdict == VERDICT_OK);
	packet_give(pool, packet);
	packet_give(pool, plain);
}

static void set_up(void)
{
	struct packet *packet;

	if (pool)
		return;
	if (!crypto_init())
		abort();
	pool = packet_pool_new(4, MESSAGE_MAX);
	for (int i = 0; i < 2; i++) {
		uint8_t private_key[KEY_LEN] = { (uint8_t)(8 << i) };

		sides[i].tunnel = tunnel_new();
		tunnel_set_private_key(sides[i].tunnel, private_key);
		assert(tunnel_keys(sides[i].tunnel, private_key, sides[i].public_key));
	}
	for (int i = 0; i < 2; i++) {
		struct ip_prefix prefix = { { IP_V4, { 10, (uint8_t)i } }, 16 };

		sides[i].peer = tunnel_peer_add(sides[i].tunnel, sides[!i].public_key);
		assert(sides[i].peer && tunnel_allow(sides[i].tunnel, sides[i].peer, &prefix));
	}
	packet = packet_take(pool);
	tunnel_create_initiation(sides[0].tunnel, sides[0].peer, now, (struct wall){ 1, 0 }, packet);
	pass(1, packet);
	packet = packet_take(pool);
	tunnel_create_response(sides[1].tunnel, sides[1].peer, now, packet);
	pass(0, packet);
	packet = packet_take(pool);
	tunnel_seal_keepalive(sides[0].tunnel, sides[0].peer, packet, now);
	pass(1, packet);
	packet = packet_take(pool);
	tunnel_create_initiation(sides[1].tunnel, sides[1].peer, now, (struct wall){ 1, 0 }, packet);
	packet_give(pool, packet);
}

static void dress(enum dress dress, struct packet *packet)
{
	const struct peer *peer = sides[1].peer;
	struct cookie_maker maker;

	switch (dress) {
	case DRESS_NONE:
	case DRESS_COUNT:
		break;
	case DRESS_SESSION:
		if (packet->len >= 8)
			put_le32(packet->data + 4, peer->current->index);
		break;
	case DRESS_AWAITED:
		if (packet->len >= 12)
			put_le32(packet->data + 8, peer->initiated->index);
		cookie_maker_init(&maker, sides[1].public_key);
		if (packet->len > 2 * MAC_LEN)
			cookie_maker_sign(&maker, packet->data, packet->len, now);
		break;
	case DRESS_SIGNED:
		cookie_maker_init(&maker, sides[1].public_key);
		if (packet->len > 2 * MAC_LEN)
			cookie_maker_sign(&maker, packet->data, packet->len, now);
		break;
	case DRESS_PLAINTEXT:
		tunnel_seal(sides[0].tunnel, sides[0].peer, packet, now);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct packet *packet, *plain;
	struct received received;
	enum verdict verdict;

	if (size < 1 || size - 1 > MESSAGE_MAX)
		return 0;
	set_up();
	enum dress how = (enum dress)((data[0] & 0x7f) % DRESS_COUNT);

	packet = packet_take(pool);
	plain = packet_take(pool);
	memcpy(packet->data, data + 1, size - 1);
	packet->len = (uint32_t)size - 1;
	dress(how, packet);
	verdict = tunnel_receive(sides[1].tunnel, data[0] & 0x80 ? CARRIER_TCP : CARRIER_UDP, &source,
		packet->data, packet->len, now, (struct wall){ 2, 0 }, plain, &received);
	if (how == DRESS_PLAINTEXT) {
		assert(received.peer == sides[1].peer);
		assert(verdict == VERDICT_OK || verdict == VERDICT_BAD_INNER ||
			verdict == VERDICT_SOURCE_NOT_ALLOWED);
		assert(verdict == VERDICT_OK || received.kind == RECEIVED_NOTHING);
	} else {
		assert(verdict != VERDICT_OK && !received.peer);
	}
	if (received.kind == RECEIVED_DATA) {
		size_t sent = size - 1, before = plain->segment ? EXTENSION_BURST_LEN : 0;

		assert(sent > before);
		sent -= before;
		/* The padding belongs to what an IP header may claim. */
		assert(plain->len >= 20 && plain->len <= (sent + 15) / 16 * 16);
		assert(memcmp(plain->data, data + 1 + before, plain->len < sent ? plain->len : sent) == 0);
		assert(plain->data[0] >> 4 == 4 && plain->data[12] == 10 && plain->data[13] == 1);
	}
	packet_give(pool, packet);
	packet_give(pool, plain);
	return 0;
}
