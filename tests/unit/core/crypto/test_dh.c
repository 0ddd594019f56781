/* SPDX-License-Identifier: MIT */
/* Curve25519 against RFC 7748, low-order points, and the helpers for secrets and chance. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/crypto/crypto.h"
#include "tests/unit/core/crypto/hex.h"
#include "tests/unit/core/crypto/low_order.h"

static int setup(void **state)
{
	(void)state;
	return crypto_init() ? 0 : -1;
}

static void shared_matches_vectors(void **state)
{
	static const struct {
		const char *scalar, *point, *want;
	} table[] = {
		/* RFC 7748 section 5.2 */
		{ "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
			"e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
			"c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552" },
		{ "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
			"e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
			"95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957" },
		/* section 6.1 */
		{ "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a",
			"de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f",
			"4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742" },
	};
	uint8_t scalar[KEY_LEN], point[KEY_LEN], out[KEY_LEN];

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		from_hex(scalar, KEY_LEN, table[i].scalar);
		from_hex(point, KEY_LEN, table[i].point);
		assert_true(dh_shared(out, scalar, point));
		assert_hex(out, KEY_LEN, table[i].want);
	}
	from_hex(scalar, KEY_LEN, table[2].scalar);
	dh_public(out, scalar);
	assert_hex(out, KEY_LEN, "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a");
}

static void iterated_matches_vectors(void **state)
{
	uint8_t k[KEY_LEN] = { 9 }, u[KEY_LEN] = { 9 }, out[KEY_LEN];

	(void)state;
	for (int i = 1; i <= 1000; i++) { /* RFC 7748 section 5.2 */
		assert_true(dh_shared(out, k, u));
		memcpy(u, k, KEY_LEN);
		memcpy(k, out, KEY_LEN);
		if (i == 1)
			assert_hex(k, KEY_LEN,
				"422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079");
	}
	assert_hex(k, KEY_LEN, "684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51");
}

static void low_order_points_are_refused(void **state)
{
	uint8_t private_key[KEY_LEN], point[KEY_LEN], out[KEY_LEN];

	(void)state;
	for (size_t i = 0; i < LOW_ORDER_COUNT; i++) {
		dh_generate(private_key);
		from_hex(point, KEY_LEN, low_order_points[i]);
		memset(out, 0xff, sizeof(out));
		assert_false(dh_shared(out, private_key, point));
		assert_true(secret_is_zero(out, sizeof(out)));
	}
}

static void generated_keys_are_clamped_and_differ(void **state)
{
	uint8_t a[KEY_LEN], b[KEY_LEN], a_public[KEY_LEN], b_public[KEY_LEN], ab[KEY_LEN], ba[KEY_LEN];

	(void)state;
	for (int i = 0; i < 50; i++) {
		dh_generate(a);
		dh_generate(b);
		assert_int_equal(a[0] & 7, 0);
		assert_int_equal(a[31] & 0xc0, 0x40);
		assert_memory_not_equal(a, b, KEY_LEN);
		dh_public(a_public, a);
		dh_public(b_public, b);
		assert_true(dh_shared(ab, a, b_public) && dh_shared(ba, b, a_public));
		assert_memory_equal(ab, ba, KEY_LEN);
	}
	memset(a, 0xff, sizeof(a));
	dh_clamp(a);
	assert_hex(a, KEY_LEN, "f8ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f");
	memset(a, 0, sizeof(a));
	dh_clamp(a);
	assert_hex(a, KEY_LEN, "0000000000000000000000000000000000000000000000000000000000000040");
}

static void secrets_are_compared_and_wiped(void **state)
{
	uint8_t a[KEY_LEN], b[KEY_LEN];

	(void)state;
	memset(a, 0x11, sizeof(a));
	for (size_t i = 0; i < sizeof(a); i++) {
		memcpy(b, a, sizeof(a));
		assert_true(secret_equal(a, b, sizeof(a)));
		b[i] ^= 0x80;
		assert_false(secret_equal(a, b, sizeof(a)));
		memset(b, 0, sizeof(b));
		assert_true(secret_is_zero(b, sizeof(b)));
		b[i] = 1;
		assert_false(secret_is_zero(b, sizeof(b)));
	}
	secret_wipe(a, sizeof(a));
	assert_true(secret_is_zero(a, sizeof(a)));
}

static void random_fills_all_of_it(void **state)
{
	uint8_t ored[33] = { 0 }, bytes[33];
	uint32_t first = random_u32(), differing = 0;

	(void)state;
	for (int round = 0; round < 64; round++) {
		random_fill(bytes, sizeof(bytes));
		for (size_t i = 0; i < sizeof(bytes); i++)
			ored[i] |= bytes[i];
		differing |= first ^ random_u32();
	}
	for (size_t i = 0; i < sizeof(ored); i++)
		assert_int_equal(ored[i], 0xff); /* wrong once in 2^53 runs */
	assert_true(differing == UINT32_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shared_matches_vectors),
		cmocka_unit_test(iterated_matches_vectors),
		cmocka_unit_test(low_order_points_are_refused),
		cmocka_unit_test(generated_keys_are_clamped_and_differ),
		cmocka_unit_test(secrets_are_compared_and_wiped),
		cmocka_unit_test(random_fills_all_of_it),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
