/* SPDX-License-Identifier: MIT */
/* ChaCha20-Poly1305 against RFC 8439 and between the two libraries, XChaCha20-Poly1305 against its draft. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/crypto/aead_kind.h"
#include "core/crypto/crypto.h"
#include "tests/unit/core/crypto/hex.h"

static int setup(void **state)
{
	(void)state;
	return crypto_init() ? 0 : -1;
}

/* RFC 8439 appendix A.5, whose nonce is of the form that WireGuard uses. */
static void once_matches_rfc8439(void **state)
{
	static const char plain[] =
		"Internet-Drafts are draft documents valid for a maximum of six months and may be updated, "
		"replaced, or obsoleted by other documents at any time. It is inappropriate to use "
		"Internet-Drafts as reference material or to cite them other than as /\xe2\x80\x9cwork in "
		"progress./\xe2\x80\x9d";
	static const char want[] = "64a0861575861af460f062c79be643bd5e805cfd345cf389f108670ac76c8cb2"
				   "4c6cfc18755d43eea09ee94e382d26b0bdb7b73c321b0100d4f03b7f355894cf"
				   "332f830e710b97ce98c8a84abd0b948114ad176e008d33bd60f982b1ff37c855"
				   "9797a06ef4f0ef61c186324e2b3506383606907b6a7c02b0f9f6157b53c867e4"
				   "b9166c767b804d46a59b5216cde7a4e99040c5a40433225ee282a1b0a06c523e"
				   "af4534d7f83fa1155b0047718cbc546a0d072b04b3564eea1b422273f548271a"
				   "0bb2316053fa76991955ebd63159434ecebb4e466dae5a1073a6727627097a10"
				   "49e617d91d361094fa68f0ff77987130305beaba2eda04df997b714d6c6f2c29"
				   "a6ad5cb4022b02709beead9d67890cbb22392336fea1851f38";
	uint8_t key[KEY_LEN], ad[12], out[265 + TAG_LEN];
	uint64_t counter = 0x0807060504030201u; /* nonce 00 00 00 00 01 02 .. 08 */

	(void)state;
	from_hex(key, sizeof(key), "1c9240a5eb55d38af333888604f6b5f0473917c1402b80099dca5cbc207075c0");
	from_hex(ad, sizeof(ad), "f33388860000000000004e91");
	assert_int_equal(sizeof(plain) - 1, 265);
	aead_seal_once(out, key, counter, (const uint8_t *)plain, 265, ad, sizeof(ad));
	assert_hex(out, sizeof(out), want);
	ad[0] ^= 1;
	assert_false(aead_open_once(out, key, counter, out, sizeof(out), ad, sizeof(ad)));
	ad[0] ^= 1;
	from_hex(out, sizeof(out), want);
	assert_true(aead_open_once(out, key, counter, out, sizeof(out), ad, sizeof(ad)));
	assert_memory_equal(out, plain, 265);
}

/* draft-irtf-cfrg-xchacha-03 appendix A.3.1. */
static void xaead_matches_draft(void **state)
{
	static const char plain[] =
		"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for "
		"the future, sunscreen would be it.";
	static const char want[] = "bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb"
				   "731c7f1b0b4aa6440bf3a82f4eda7e39ae64c6708c54c216cb96b72e1213b452"
				   "2f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3fff9"
				   "21f9664c97637da9768812f615c68b13b52ec0875924c1c7987947deafd8780acf49";
	uint8_t key[KEY_LEN], nonce[XNONCE_LEN], ad[12], out[114 + TAG_LEN];

	(void)state;
	fill_sequence(key, sizeof(key), 0x80);
	fill_sequence(nonce, sizeof(nonce), 0x40);
	from_hex(ad, sizeof(ad), "50515253c0c1c2c3c4c5c6c7");
	assert_int_equal(sizeof(plain) - 1, 114);
	xaead_seal(out, key, nonce, (const uint8_t *)plain, 114, ad, sizeof(ad));
	assert_hex(out, sizeof(out), want);
	for (size_t i = 0; i < sizeof(out); i += 16) {
		uint8_t copy[114 + TAG_LEN];

		from_hex(copy, sizeof(copy), want);
		copy[i] ^= 4;
		assert_false(xaead_open(copy, key, nonce, copy, sizeof(copy), ad, sizeof(ad)));
	}
	assert_false(xaead_open(out, key, nonce, out, TAG_LEN - 1, ad, sizeof(ad)));
	assert_true(xaead_open(out, key, nonce, out, sizeof(out), ad, sizeof(ad)));
	assert_memory_equal(out, plain, 114);
}

/* Each length up to a few blocks of the vector code, then the ones that count; in place and not. */
static void matches_other_library(const struct aead_kind *kind)
{
	static const size_t longer[] = { 1279, 1280, 1408, 1420, 1421, 1424, 9000, 65503 };
	static uint8_t plain[65503], want[65503 + TAG_LEN], got[65503 + TAG_LEN];
	static const uint64_t counters[] = { 0, 1, 0xffffffffu, 0x100000000u, UINT64_MAX - 8193 };
	uint8_t key[KEY_LEN];
	struct aead aead;

	random_fill(key, sizeof(key));
	random_fill(plain, sizeof(plain));
	assert_true(kind->init(&aead, key));
	for (size_t i = 0; i < 600 + sizeof(longer) / sizeof(longer[0]); i++) {
		size_t len = i < 600 ? i : longer[i - 600];
		uint64_t counter = counters[i % (sizeof(counters) / sizeof(counters[0]))];

		aead_seal_once(want, key, counter, plain, len, NULL, 0);
		kind->seal(&aead, got, plain, len, counter);
		assert_memory_equal(got, want, len + TAG_LEN);
		memcpy(got, plain, len);
		kind->seal(&aead, got, got, len, counter);
		assert_memory_equal(got, want, len + TAG_LEN);

		assert_true(kind->open(&aead, got, want, len + TAG_LEN, counter));
		assert_memory_equal(got, plain, len);
		assert_true(kind->open(&aead, want, want, len + TAG_LEN, counter));
		assert_memory_equal(want, plain, len);
	}
	kind->wipe(&aead);
	assert_null(aead.impl);
	kind->wipe(&aead);
}

static void refuses_what_is_not_authentic(const struct aead_kind *kind)
{
	uint8_t key[KEY_LEN] = { 7 }, plain[100] = { 1, 2, 3 }, sealed[100 + TAG_LEN], out[100 + TAG_LEN];
	struct aead aead, other;

	assert_true(kind->init(&aead, key));
	key[31] ^= 1;
	assert_true(kind->init(&other, key));
	kind->seal(&aead, sealed, plain, sizeof(plain), 5);

	for (size_t i = 0; i < sizeof(sealed); i++) {
		sealed[i] ^= 0x10;
		assert_false(kind->open(&aead, out, sealed, sizeof(sealed), 5));
		sealed[i] ^= 0x10;
		/* A refused packet leaves no trace in the next one. */
		assert_true(kind->open(&aead, out, sealed, sizeof(sealed), 5));
	}
	for (size_t len = 0; len < sizeof(sealed); len++)
		assert_false(kind->open(&aead, out, sealed, len, 5));
	assert_false(kind->open(&aead, out, sealed, sizeof(sealed), 4));
	assert_false(kind->open(&aead, out, sealed, sizeof(sealed), 5ull << 32));
	assert_false(kind->open(&other, out, sealed, sizeof(sealed), 5));
	kind->wipe(&aead);
	kind->wipe(&other);
}

static void libcrypto_matches_other_library(void **state)
{
	(void)state;
	matches_other_library(aead_libcrypto());
}

static void libcrypto_refuses_what_is_not_authentic(void **state)
{
	(void)state;
	refuses_what_is_not_authentic(aead_libcrypto());
}

/* Where there is one: built without it, or on an older processor, there is nothing to compare. */
static void ipsec_mb_matches_other_library(void **state)
{
	(void)state;
	if (!aead_ipsec_mb())
		skip();
	matches_other_library(aead_ipsec_mb());
}

static void ipsec_mb_refuses_what_is_not_authentic(void **state)
{
	(void)state;
	if (!aead_ipsec_mb())
		skip();
	refuses_what_is_not_authentic(aead_ipsec_mb());
}

static void seal_nothing(struct aead *aead, uint8_t *out, const uint8_t *plain, size_t len, uint64_t counter)
{
	(void)aead;
	(void)counter;
	memmove(out, plain, len);
}

static bool open_anything(
	struct aead *aead, uint8_t *out, const uint8_t *sealed, size_t sealed_len, uint64_t counter)
{
	aead_libcrypto()->open(aead, out, sealed, sealed_len, counter);
	return true;
}

/* An implementation that does not encrypt, or that takes what is forged, is never chosen. */
static void self_test_finds_a_broken_one(void **state)
{
	struct aead_kind broken = *aead_libcrypto();

	(void)state;
	assert_true(aead_self_test(&broken));
	broken.seal = seal_nothing;
	assert_false(aead_self_test(&broken));
	broken = *aead_libcrypto();
	broken.open = open_anything;
	assert_false(aead_self_test(&broken));
}

/* The choice, through the functions that everybody calls. */
static void chosen_one_works(void **state)
{
	uint8_t key[KEY_LEN] = { 9 }, want[20 + TAG_LEN], got[20 + TAG_LEN] = "twenty bytes of text";
	struct aead aead;

	(void)state;
	aead_seal_once(want, key, 77, got, 20, NULL, 0);
	assert_true(aead_init(&aead, key));
	aead_seal(&aead, got, got, 20, 77);
	assert_memory_equal(got, want, sizeof(want));
	assert_true(aead_open(&aead, got, got, sizeof(got), 77));
	assert_memory_equal(got, "twenty bytes of text", 20);
	aead_wipe(&aead);
	assert_null(aead.impl);
	aead_wipe(&aead);
}

static void start_is_repeatable_and_named(void **state)
{
	(void)state;
	assert_true(crypto_init());
	assert_true(strlen(crypto_aead_name()) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(once_matches_rfc8439),
		cmocka_unit_test(xaead_matches_draft),
		cmocka_unit_test(libcrypto_matches_other_library),
		cmocka_unit_test(libcrypto_refuses_what_is_not_authentic),
		cmocka_unit_test(ipsec_mb_matches_other_library),
		cmocka_unit_test(ipsec_mb_refuses_what_is_not_authentic),
		cmocka_unit_test(self_test_finds_a_broken_one),
		cmocka_unit_test(chosen_one_works),
		cmocka_unit_test(start_is_repeatable_and_named),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
