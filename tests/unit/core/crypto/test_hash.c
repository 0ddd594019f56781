/* SPDX-License-Identifier: MIT */
/* HASH, MAC and KDF against vectors of RFC 7693 and of Python's hashlib and hmac, and SipHash-2-4 against its
 * paper. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/crypto/crypto.h"
#include "tests/unit/core/crypto/hex.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static int setup(void **state)
{
	(void)state;
	return crypto_init() ? 0 : -1;
}

static void hash_matches_vectors(void **state)
{
	static const struct {
		size_t len; /* of 00 01 02 .. */
		const char *want;
	} table[] = {
		{ 0, "69217a3079908094e11121d042354a7c1f55b6482ca1a51e1b250dfd1ed0eef9" },
		{ 1, "e34d74dbaf4ff4c6abd871cc220451d2ea2648846c7757fbaac82fe51ad64bea" },
		{ 63, "e57cb79487dd57902432b250733813bd96a84efce59f650fac26e6696aefafc3" },
		{ 64, "56f34e8b96557e90c1f24b52d0c89d51086acf1b00f634cf1dde9233b8eaaa3e" },
		{ 65, "1b53ee94aaf34e4b159d48de352c7f0661d0a40edff95a0b1639b4090e974472" },
		{ 128, "1fa877de67259d19863a2a34bcc6962a2b25fcbf5cbecd7ede8f1fa36688a796" },
		{ 255, "f03f5789d3336b80d002d59fdf918bdb775b00956ed5528e86aa994acb38fe2d" },
		{ 1000, "b5f9d7799111edafc9326fbf667be98140b5e20ce5e151793c59125bf654ac18" },
	};
	uint8_t input[1000], hash[HASH_LEN];

	(void)state;
	fill_sequence(input, sizeof(input), 0);
	for (size_t i = 0; i < COUNT(table); i++) {
		/* However it is cut in two. */
		for (size_t cut = 0; cut <= table[i].len; cut++) {
			hash2(hash, input, cut, input + cut, table[i].len - cut);
			assert_hex(hash, sizeof(hash), table[i].want);
		}
		hash2(hash, input, table[i].len, NULL, 0);
		assert_hex(hash, sizeof(hash), table[i].want);
	}
	hash2(hash, "abc", 3, NULL, 0); /* RFC 7693 appendix B */
	assert_hex(hash, sizeof(hash), "508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982");
}

static void hash_output_may_be_input(void **state)
{
	uint8_t a[HASH_LEN], b[HASH_LEN];

	(void)state;
	fill_sequence(a, sizeof(a), 0);
	hash2(b, a, sizeof(a), "x", 1);
	hash2(a, a, sizeof(a), "x", 1);
	assert_memory_equal(a, b, sizeof(a));
}

static void mac_matches_vectors(void **state)
{
	static const struct {
		size_t key_len; /* of 100 101 .. */
		size_t len;
		const char *want;
	} table[] = {
		{ 32, 0, "9e9cdeae5d05335e449436eadc5ba0a5" },
		{ 32, 1, "427d9a7f61d0f7e2104d7711495595bc" },
		{ 32, 65, "bf917d7708acbdc2fe67910bb321d153" },
		{ 32, 116, "01809f32c976f6652009d057d07b907a" }, /* mac1 of an initiation */
		{ 32, 132, "419ec1282abea0be6154d6a60872f186" },
		{ 16, 132, "7055837a7ed5e1f33720080d65fd9f6e" }, /* its mac2 */
		{ 16, 64, "892607541437b27cc5286b8d838e25ee" },
		{ 1, 64, "73f35db7cda179eb380f8151855e74e7" },
	};
	uint8_t key[32], input[132], mac[MAC_LEN];

	(void)state;
	fill_sequence(key, sizeof(key), 100);
	fill_sequence(input, sizeof(input), 0);
	for (size_t i = 0; i < COUNT(table); i++) {
		for (size_t cut = 0; cut <= table[i].len; cut++) {
			mac2parts(mac, key, table[i].key_len, input, cut, input + cut, table[i].len - cut);
			assert_hex(mac, sizeof(mac), table[i].want);
		}
		mac2parts(mac, key, table[i].key_len, input, table[i].len, NULL, 0);
		assert_hex(mac, sizeof(mac), table[i].want);
	}
}

static void kdf_matches_vectors(void **state)
{
	static const struct {
		size_t len; /* of 00 01 02 .., the key is 200 201 .. */
		const char *want[3];
	} table[] = {
		{ 0, { "c0c9b24bfca3970cb643ac897a5a0d5abf93ede5b87427749ba38c3a1f60f037",
			     "580673477039fa9977e0fcbc283a1d20040d0e17f631e6b947d86352d3f8efc6",
			     "c87b19caa17287fb8134b7ec201d8ed1994003a7ca5c1282604b84c247f9aad9" } },
		{ 1, { "ecae0ea9fca0edaf95447a497928ac958f1088b377fa17fc52d52b291a57f7f8",
			     "6ab3e5d7a48cc4a615718c7da22b3bdc7a37f4c7eb58568de545f51ca74ce443",
			     "62dc94c347a5a4257e84dec323fd640efd913c79e63251e743f36ae9ffc3d85f" } },
		{ 32, { "30e07710f796535edbb5ec759ec41680e2c9417859153a8bd85a372ba43f807d",
			      "935dd1e0d979f7805ee1675a3160fa2c8ea9ddeec5497e82f8e3e090e1fae64d",
			      "d2891c41a209158f54530e9515198b81cd434f8b541520780407a3c6d25cbc1a" } },
		{ 100, { "baa071e09911865fc3ce48636f99e8f96c302fafe7c42f1d7ee89285b1c633e0",
			       "762acf6d7aa30ea1ae93335dab764ecac2fe4de7cf2bd8651bd461ca39b94281",
			       "5ceda251504dea56d71825d3201c63c7801769495be9b410e35a8ef9825c1531" } },
	};
	uint8_t key[HASH_LEN], input[100], out[3][HASH_LEN];

	(void)state;
	fill_sequence(key, sizeof(key), 200);
	fill_sequence(input, sizeof(input), 0);
	for (size_t i = 0; i < COUNT(table); i++) {
		for (size_t n = 1; n <= 3; n++) {
			memset(out, 0, sizeof(out));
			kdf(out[0], n > 1 ? out[1] : NULL, n > 2 ? out[2] : NULL, key, input, table[i].len);
			for (size_t j = 0; j < n; j++)
				assert_hex(out[j], HASH_LEN, table[i].want[j]);
		}
		/* The chaining key is replaced in place, by any of the outputs. */
		memcpy(out[0], key, HASH_LEN);
		kdf(out[0], out[1], NULL, out[0], input, table[i].len);
		assert_hex(out[0], HASH_LEN, table[i].want[0]);
		assert_hex(out[1], HASH_LEN, table[i].want[1]);
		memcpy(out[1], key, HASH_LEN);
		kdf(out[0], out[1], out[2], out[1], input, table[i].len);
		assert_hex(out[1], HASH_LEN, table[i].want[1]);
		assert_hex(out[2], HASH_LEN, table[i].want[2]);
	}
}

static void keyed_hash_matches_vectors(void **state)
{
	uint8_t key[16], input[15];

	(void)state;
	fill_sequence(key, sizeof(key), 0);
	fill_sequence(input, sizeof(input), 0);
	assert_true(keyed_hash(key, input, 0) == 0x726fdb47dd0e0e31u);
	assert_true(
		keyed_hash(key, input, sizeof(input)) == 0xa129ca6149be45e5u); /* appendix A of its paper */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hash_matches_vectors),
		cmocka_unit_test(hash_output_may_be_input),
		cmocka_unit_test(mac_matches_vectors),
		cmocka_unit_test(kdf_matches_vectors),
		cmocka_unit_test(keyed_hash_matches_vectors),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
