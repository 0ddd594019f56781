/* SPDX-License-Identifier: MIT */
/* Both sides of the handshake, every field of its messages, and low-order points everywhere one can be put.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/base/bytes.h"
#include "core/noise/cookie.h"
#include "core/noise/handshake.h"
#include "tests/unit/core/crypto/hex.h"
#include "tests/unit/core/crypto/low_order.h"

static const uint8_t timestamp[TAI64N_LEN] = { 0x40, 0, 0, 0, 0x60, 1, 2, 3, 4 };
static const struct endpoint source = { .address = { .family = IP_V4, .bytes = { 192, 0, 2, 1 } },
	.port = 51820 };
static const struct mono now = { 1000 };

/* An initiator (i) and a responder (r) who know each other. */
struct pair {
	struct noise_identity i, r;
	struct noise_remote i_of_r, r_of_i; /* what r knows of i, and i of r */
};

static void pair_make(struct pair *pair, bool psk)
{
	memset(pair, 0, sizeof(*pair));
	random_fill(pair->i.private_key, KEY_LEN); /* not clamped: complete does that */
	random_fill(pair->r.private_key, KEY_LEN);
	noise_identity_complete(&pair->i);
	noise_identity_complete(&pair->r);
	assert_true((pair->i.private_key[0] & 7) == 0 && pair->i.private_key[31] >> 6 == 1);
	memcpy(pair->i_of_r.public_key, pair->i.public_key, KEY_LEN);
	memcpy(pair->r_of_i.public_key, pair->r.public_key, KEY_LEN);
	if (psk) {
		random_fill(pair->i_of_r.preshared_key, KEY_LEN);
		memcpy(pair->r_of_i.preshared_key, pair->i_of_r.preshared_key, KEY_LEN);
	}
	assert_true(noise_remote_complete(&pair->i_of_r, &pair->r));
	assert_true(noise_remote_complete(&pair->r_of_i, &pair->i));
	assert_memory_equal(pair->i_of_r.static_shared, pair->r_of_i.static_shared, KEY_LEN);
}

/* Up to the response, macs and all. */
static void exchange(const struct pair *pair, struct handshake *hs, struct initiation *initiation,
	struct response *response, struct transport_keys *responder_keys)
{
	uint8_t caller[KEY_LEN], told[TAI64N_LEN];
	struct cookie_maker maker;
	struct handshake answer;

	assert_true(
		handshake_create_initiation(hs, &pair->i, &pair->r_of_i, 0x11223344, timestamp, initiation));
	cookie_maker_init(&maker, pair->r.public_key);
	cookie_maker_sign(&maker, (uint8_t *)initiation, sizeof(*initiation), now);
	assert_true(handshake_open_static(&answer, &pair->r, initiation, caller));
	assert_memory_equal(caller, pair->i.public_key, KEY_LEN);
	assert_true(handshake_open_timestamp(&answer, &pair->i_of_r, initiation, told));
	assert_memory_equal(told, timestamp, TAI64N_LEN);
	assert_true(handshake_create_response(&answer, &pair->i_of_r, 0x55667788, response, responder_keys));
	assert_true(secret_is_zero(&answer, sizeof(answer)));
	cookie_maker_init(&maker, pair->i.public_key);
	cookie_maker_sign(&maker, (uint8_t *)response, sizeof(*response), now);
}

static int setup(void **state)
{
	(void)state;
	return crypto_init() ? 0 : -1;
}

static void both_sides_agree(void **state)
{
	(void)state;
	for (int psk = 0; psk <= 1; psk++) {
		struct pair pair;
		struct handshake hs, before;
		struct initiation initiation;
		struct response response;
		struct transport_keys i, r;

		pair_make(&pair, psk);
		exchange(&pair, &hs, &initiation, &response, &r);
		before = hs;
		assert_true(handshake_consume_response(&hs, &pair.i, &pair.r_of_i, &response, &i));
		assert_memory_equal(&hs, &before, sizeof(hs));

		assert_memory_equal(i.send, r.receive, KEY_LEN);
		assert_memory_equal(i.receive, r.send, KEY_LEN);
		assert_memory_not_equal(i.send, i.receive, KEY_LEN);
		assert_int_equal(i.local_index, 0x11223344);
		assert_int_equal(i.remote_index, 0x55667788);
		assert_int_equal(r.local_index, 0x55667788);
		assert_int_equal(r.remote_index, 0x11223344);

		/* The wire, apart from what is sealed. */
		assert_hex((uint8_t *)&initiation, 8, "0100000044332211");
		assert_hex((uint8_t *)&response, 12, "020000008877665544332211");
		handshake_wipe(&hs);
		assert_true(secret_is_zero(&hs, sizeof(hs)));
	}
}

static void each_attempt_is_fresh(void **state)
{
	struct pair pair;
	struct handshake hs;
	struct initiation a, b;
	struct response c, d;
	struct transport_keys first, second;

	(void)state;
	pair_make(&pair, true);
	exchange(&pair, &hs, &a, &c, &first);
	exchange(&pair, &hs, &b, &d, &second);
	assert_memory_not_equal(a.ephemeral, b.ephemeral, KEY_LEN);
	assert_memory_not_equal(a.sealed_static, b.sealed_static, sizeof(a.sealed_static));
	assert_memory_not_equal(c.ephemeral, d.ephemeral, KEY_LEN);
	assert_memory_not_equal(first.send, second.send, KEY_LEN);
}

/* What a responder does with a datagram before it answers. */
static bool responder_accepts(const struct pair *pair, const struct initiation *in, bool with_mac)
{
	uint8_t caller[KEY_LEN], told[TAI64N_LEN];
	struct cookie_checker checker;
	struct handshake hs;

	cookie_checker_init(&checker, pair->r.public_key);
	return message_classify((const uint8_t *)in, sizeof(*in)) == MESSAGE_INITIATION &&
	       (!with_mac || cookie_checker_check(&checker, (const uint8_t *)in, sizeof(*in), &source, now) !=
				     MAC_INVALID) &&
	       handshake_open_static(&hs, &pair->r, in, caller) &&
	       secret_equal(caller, pair->i.public_key, KEY_LEN) &&
	       handshake_open_timestamp(&hs, &pair->i_of_r, in, told);
}

static bool initiator_accepts(
	const struct pair *pair, const struct handshake *hs, const struct response *in, bool with_mac)
{
	struct cookie_checker checker;
	struct transport_keys keys;

	cookie_checker_init(&checker, pair->i.public_key);
	return message_classify((const uint8_t *)in, sizeof(*in)) == MESSAGE_RESPONSE &&
	       (!with_mac || cookie_checker_check(&checker, (const uint8_t *)in, sizeof(*in), &source, now) !=
				     MAC_INVALID) &&
	       handshake_consume_response(hs, &pair->i, &pair->r_of_i, in, &keys);
}

static void every_flipped_bit_is_refused(void **state)
{
	struct pair pair;
	struct handshake hs;
	struct initiation initiation;
	struct response response;
	struct transport_keys keys;

	(void)state;
	pair_make(&pair, true);
	exchange(&pair, &hs, &initiation, &response, &keys);
	assert_true(responder_accepts(&pair, &initiation, true));
	assert_true(initiator_accepts(&pair, &hs, &response, true));

	for (size_t i = 0; i < sizeof(initiation); i++) {
		uint8_t bit = (uint8_t)(1u << (i % 8));

		((uint8_t *)&initiation)[i] ^= bit;
		/* mac2 says nothing without a cookie. */
		assert_int_equal(
			responder_accepts(&pair, &initiation, true), i >= offsetof(struct initiation, mac2));
		/* Without the macs, all that the handshake itself covers. */
		assert_int_equal(responder_accepts(&pair, &initiation, false),
			(i >= 4 && i < 8) || i >= offsetof(struct initiation, mac1));
		((uint8_t *)&initiation)[i] ^= bit;
	}
	for (size_t i = 0; i < sizeof(response); i++) {
		uint8_t bit = (uint8_t)(1u << (i % 8));

		((uint8_t *)&response)[i] ^= bit;
		assert_int_equal(
			initiator_accepts(&pair, &hs, &response, true), i >= offsetof(struct response, mac2));
		assert_int_equal(initiator_accepts(&pair, &hs, &response, false),
			(i >= 4 && i < 8) || i >= offsetof(struct response, mac1));
		((uint8_t *)&response)[i] ^= bit;
	}
}

static void refusal_leaves_outputs_alone(void **state)
{
	struct pair pair;
	struct handshake hs, untouched, probe;
	struct initiation initiation;
	struct response response;
	struct transport_keys keys, keys_untouched;
	uint8_t caller[KEY_LEN], told[TAI64N_LEN], mark[KEY_LEN];

	(void)state;
	memset(mark, 0xa5, sizeof(mark));
	memset(&untouched, 0xa5, sizeof(untouched));
	memset(&keys_untouched, 0xa5, sizeof(keys_untouched));
	pair_make(&pair, false);
	exchange(&pair, &hs, &initiation, &response, &keys);

	memcpy(caller, mark, sizeof(caller));
	probe = untouched;
	initiation.sealed_static[0] ^= 1;
	assert_false(handshake_open_static(&probe, &pair.r, &initiation, caller));
	assert_memory_equal(&probe, &untouched, sizeof(probe));
	assert_memory_equal(caller, mark, sizeof(caller));
	initiation.sealed_static[0] ^= 1;

	assert_true(handshake_open_static(&probe, &pair.r, &initiation, caller));
	untouched = probe;
	memcpy(told, mark, sizeof(told));
	initiation.sealed_timestamp[3] ^= 1;
	assert_false(handshake_open_timestamp(&probe, &pair.i_of_r, &initiation, told));
	assert_memory_equal(&probe, &untouched, sizeof(probe));
	assert_memory_equal(told, mark, sizeof(told));
	initiation.sealed_timestamp[3] ^= 1;
	/* and it can still be opened */
	assert_true(handshake_open_timestamp(&probe, &pair.i_of_r, &initiation, told));

	keys = keys_untouched;
	response.sealed_nothing[3] ^= 1;
	assert_false(handshake_consume_response(&hs, &pair.i, &pair.r_of_i, &response, &keys));
	assert_memory_equal(&keys, &keys_untouched, sizeof(keys));
	response.sealed_nothing[3] ^= 1;
	/* a forged response harms nothing */
	assert_true(handshake_consume_response(&hs, &pair.i, &pair.r_of_i, &response, &keys));
}

static void strangers_are_refused(void **state)
{
	struct pair pair, other;
	struct handshake hs, second;
	struct initiation initiation;
	struct response response;
	struct transport_keys keys;
	uint8_t caller[KEY_LEN], told[TAI64N_LEN];

	(void)state;
	pair_make(&pair, true);
	pair_make(&other, true);
	exchange(&pair, &hs, &initiation, &response, &keys);

	/* Not for this responder. */
	assert_false(handshake_open_static(&second, &other.r, &initiation, caller));
	/* The static key in the message was replayed by somebody who does not have it. */
	assert_true(handshake_open_static(&second, &pair.r, &initiation, caller));
	assert_false(handshake_open_timestamp(&second, &other.i_of_r, &initiation, told));
	/* Another preshared key. */
	struct noise_remote wrong = pair.r_of_i;

	wrong.preshared_key[31] ^= 1;
	assert_false(handshake_consume_response(&hs, &pair.i, &wrong, &response, &keys));
	memset(wrong.preshared_key, 0, KEY_LEN);
	assert_false(handshake_consume_response(&hs, &pair.i, &wrong, &response, &keys));
	/* Another identity. */
	assert_false(handshake_consume_response(&hs, &other.i, &pair.r_of_i, &response, &keys));
	/* The response to another initiation of ours. */
	assert_true(handshake_create_initiation(
		&second, &pair.i, &pair.r_of_i, 0x11223344, timestamp, &initiation));
	assert_false(handshake_consume_response(&second, &pair.i, &pair.r_of_i, &response, &keys));
	assert_true(handshake_consume_response(&hs, &pair.i, &pair.r_of_i, &response, &keys));
}

/* An initiation made by hand, with DH results that may be anything. */
static void initiation_forge(struct initiation *out, const struct pair *pair,
	const uint8_t ephemeral[KEY_LEN], const uint8_t es[KEY_LEN], const uint8_t ss[KEY_LEN])
{
	uint8_t chain[HASH_LEN], hash[HASH_LEN], key[KEY_LEN];

	memset(out, 0, sizeof(*out));
	put_le32(out->type, MESSAGE_INITIATION);
	memcpy(out->ephemeral, ephemeral, KEY_LEN);
	hash2(chain, "Noise_IKpsk2_25519_ChaChaPoly_BLAKE2s", 37, NULL, 0);
	hash2(hash, chain, HASH_LEN, "WireGuard v1 zx2c4 Jason@zx2c4.com", 34);
	hash2(hash, hash, HASH_LEN, pair->r.public_key, KEY_LEN);
	kdf(chain, NULL, NULL, chain, ephemeral, KEY_LEN);
	hash2(hash, hash, HASH_LEN, ephemeral, KEY_LEN);
	kdf(chain, key, NULL, chain, es, KEY_LEN);
	aead_seal_once(out->sealed_static, key, 0, pair->i.public_key, KEY_LEN, hash, HASH_LEN);
	hash2(hash, hash, HASH_LEN, out->sealed_static, sizeof(out->sealed_static));
	kdf(chain, key, NULL, chain, ss, KEY_LEN);
	aead_seal_once(out->sealed_timestamp, key, 0, timestamp, TAI64N_LEN, hash, HASH_LEN);
}

static void low_order_static_keys_are_refused(void **state)
{
	struct pair pair;
	struct handshake hs;
	struct initiation initiation;
	struct response response;
	struct transport_keys keys;
	uint8_t caller[KEY_LEN], told[TAI64N_LEN];

	(void)state;
	for (size_t i = 0; i < LOW_ORDER_COUNT; i++) {
		pair_make(&pair, false);
		from_hex(pair.r_of_i.public_key, KEY_LEN, low_order_points[i]);
		/* es, though ss has been worked out with another key */
		assert_false(
			handshake_create_initiation(&hs, &pair.i, &pair.r_of_i, 1, timestamp, &initiation));
		assert_false(noise_remote_complete(&pair.r_of_i, &pair.i));

		/* se of the responder */
		pair_make(&pair, false);
		assert_true(
			handshake_create_initiation(&hs, &pair.i, &pair.r_of_i, 1, timestamp, &initiation));
		assert_true(handshake_open_static(&hs, &pair.r, &initiation, caller));
		assert_true(handshake_open_timestamp(&hs, &pair.i_of_r, &initiation, told));
		from_hex(pair.i_of_r.public_key, KEY_LEN, low_order_points[i]);
		assert_false(handshake_create_response(&hs, &pair.i_of_r, 2, &response, &keys));
	}

	/* ss that was never worked out, on either side: it would be a key that everybody knows */
	static const uint8_t zero[KEY_LEN];
	uint8_t ephemeral_private[KEY_LEN], ephemeral[KEY_LEN], es[KEY_LEN];

	pair_make(&pair, false);
	dh_generate(ephemeral_private);
	dh_public(ephemeral, ephemeral_private);
	assert_true(dh_shared(es, ephemeral_private, pair.r.public_key));
	initiation_forge(&initiation, &pair, ephemeral, es, pair.r_of_i.static_shared);
	assert_true(handshake_open_static(&hs, &pair.r, &initiation, caller));
	assert_true(handshake_open_timestamp(
		&hs, &pair.i_of_r, &initiation, told)); /* the forger knows its work */
	initiation_forge(&initiation, &pair, ephemeral, es, zero);
	assert_true(handshake_open_static(&hs, &pair.r, &initiation, caller));
	memset(pair.i_of_r.static_shared, 0, KEY_LEN);
	assert_false(handshake_open_timestamp(&hs, &pair.i_of_r, &initiation, told));
	memset(pair.r_of_i.static_shared, 0, KEY_LEN);
	assert_false(handshake_create_initiation(&hs, &pair.i, &pair.r_of_i, 1, timestamp, &initiation));
}

/* Everything that a DH with a low-order point gives is known to everybody, so these forgeries are exact: only
 * the check of the point refuses them. */
static void low_order_ephemerals_are_refused(void **state)
{
	static const uint8_t zero[KEY_LEN];
	struct pair pair;

	(void)state;
	pair_make(&pair, false);
	for (size_t i = 0; i < LOW_ORDER_COUNT; i++) {
		uint8_t chain[HASH_LEN], hash[HASH_LEN], key[KEY_LEN], tau[HASH_LEN], caller[KEY_LEN];
		uint8_t ephemeral[KEY_LEN];
		struct initiation initiation;
		struct response response = { .type = { 2 } };
		struct transport_keys keys;
		struct handshake hs;

		/* Of an initiation, by somebody who knows nothing but r's public key. */
		from_hex(ephemeral, KEY_LEN, low_order_points[i]);
		initiation_forge(&initiation, &pair, ephemeral, zero, pair.i_of_r.static_shared);
		assert_false(handshake_open_static(&hs, &pair.r, &initiation, caller));

		/* Of a response. */
		assert_true(
			handshake_create_initiation(&hs, &pair.i, &pair.r_of_i, 1, timestamp, &initiation));
		put_le32(response.receiver_index, 1);
		from_hex(response.ephemeral, KEY_LEN, low_order_points[i]);
		kdf(chain, NULL, NULL, hs.chaining_key, response.ephemeral, KEY_LEN);
		hash2(hash, hs.hash, HASH_LEN, response.ephemeral, KEY_LEN);
		kdf(chain, NULL, NULL, chain, zero, KEY_LEN);
		kdf(chain, NULL, NULL, chain, zero, KEY_LEN);
		kdf(chain, tau, key, chain, zero, KEY_LEN);
		hash2(hash, hash, HASH_LEN, tau, HASH_LEN);
		aead_seal_once(response.sealed_nothing, key, 0, NULL, 0, hash, HASH_LEN);
		assert_false(handshake_consume_response(&hs, &pair.i, &pair.r_of_i, &response, &keys));

		/* Of a handshake state, should one ever get that far. */
		from_hex(hs.remote_ephemeral, KEY_LEN, low_order_points[i]);
		assert_false(handshake_create_response(&hs, &pair.i_of_r, 2, &response, &keys));
		assert_true(secret_is_zero(&hs, sizeof(hs)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_sides_agree),
		cmocka_unit_test(each_attempt_is_fresh),
		cmocka_unit_test(every_flipped_bit_is_refused),
		cmocka_unit_test(refusal_leaves_outputs_alone),
		cmocka_unit_test(strangers_are_refused),
		cmocka_unit_test(low_order_static_keys_are_refused),
		cmocka_unit_test(low_order_ephemerals_are_refused),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
