/* SPDX-License-Identifier: MIT */
/* Start-up of both libraries, their self-test, and small things about secrets and chance. */
#include "core/crypto/crypto.h"

#include "core/base/bytes.h"
#include "core/crypto/aead_kind.h"
#include "core/crypto/libcrypto.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

struct libcrypto libcrypto;

/* RFC 7693 appendix B. */
static bool test_hash(void)
{
	static const uint8_t want[HASH_LEN] = { 0x50, 0x8c, 0x5e, 0x8c, 0x32, 0x7c, 0x14, 0xe2, 0xe1, 0xa7,
		0x2b, 0xa3, 0x4e, 0xeb, 0x45, 0x2f, 0x37, 0x45, 0x8b, 0x20, 0x9e, 0xd6, 0x3a, 0x29, 0x4d,
		0x99, 0x9b, 0x4c, 0x86, 0x67, 0x59, 0x82 };
	uint8_t hash[HASH_LEN];

	hash2(hash, "a", 1, "bc", 2);
	return memcmp(hash, want, sizeof(want)) == 0;
}

/* Keyed with 00 .. 1f, "abc", 16 bytes out: from the reference implementation of BLAKE2. */
static bool test_mac(void)
{
	static const uint8_t want[MAC_LEN] = { 0x61, 0xba, 0x5f, 0x16, 0x5c, 0x19, 0x46, 0x92, 0xe0, 0x9d,
		0x12, 0x52, 0x0c, 0xc4, 0xc7, 0x4a };
	uint8_t key[32], mac[MAC_LEN];

	for (size_t i = 0; i < sizeof(key); i++)
		key[i] = (uint8_t)i;
	mac2parts(mac, key, sizeof(key), "a", 1, "bc", 2);
	return memcmp(mac, want, sizeof(want)) == 0;
}

/* RFC 7748 section 6.1: Alice's and Bob's private keys, their shared secret. */
static bool test_dh(void)
{
	static const uint8_t alice[KEY_LEN] = { 0x77, 0x07, 0x6d, 0x0a, 0x73, 0x18, 0xa5, 0x7d, 0x3c, 0x16,
		0xc1, 0x72, 0x51, 0xb2, 0x66, 0x45, 0xdf, 0x4c, 0x2f, 0x87, 0xeb, 0xc0, 0x99, 0x2a, 0xb1,
		0x77, 0xfb, 0xa5, 0x1d, 0xb9, 0x2c, 0x2a };
	static const uint8_t bob[KEY_LEN] = { 0x5d, 0xab, 0x08, 0x7e, 0x62, 0x4a, 0x8a, 0x4b, 0x79, 0xe1,
		0x7f, 0x8b, 0x83, 0x80, 0x0e, 0xe6, 0x6f, 0x3b, 0xb1, 0x29, 0x26, 0x18, 0xb6, 0xfd, 0x1c,
		0x2f, 0x8b, 0x27, 0xff, 0x88, 0xe0, 0xeb };
	static const uint8_t want[KEY_LEN] = { 0x4a, 0x5d, 0x9d, 0x5b, 0xa4, 0xce, 0x2d, 0xe1, 0x72, 0x8e,
		0x3b, 0xf4, 0x80, 0x35, 0x0f, 0x25, 0xe0, 0x7e, 0x21, 0xc9, 0x47, 0xd1, 0x9e, 0x33, 0x76,
		0xf0, 0x9b, 0x3c, 0x1e, 0x16, 0x17, 0x42 };
	uint8_t bob_public[KEY_LEN], shared[KEY_LEN];

	dh_public(bob_public, bob);
	return dh_shared(shared, alice, bob_public) && memcmp(shared, want, sizeof(want)) == 0;
}

bool crypto_init(void)
{
	if (sodium_init() < 0)
		return false;
	if (!libcrypto.blake2s)
		libcrypto.blake2s = EVP_MD_fetch(NULL, "BLAKE2S-256", NULL);
	if (!libcrypto.blake2s_mac)
		libcrypto.blake2s_mac = EVP_MAC_fetch(NULL, "BLAKE2SMAC", NULL);
	if (!libcrypto.chacha20_poly1305)
		libcrypto.chacha20_poly1305 = EVP_CIPHER_fetch(NULL, "ChaCha20-Poly1305", NULL);
	if (!libcrypto.blake2s || !libcrypto.blake2s_mac || !libcrypto.chacha20_poly1305)
		return false;
	return test_hash() && test_mac() && test_dh() && aead_choose();
}

void secret_wipe(void *secret, size_t len)
{
	sodium_memzero(secret, len);
}

void *secret_new(size_t size)
{
	void *secret = calloc(1, size);

	/* Over the limit it is still a secret that is wiped. */
	if (secret)
		(void)sodium_mlock(secret, size);
	return secret;
}

void secret_free(void *secret, size_t size)
{
	if (!secret)
		return;
	/* Its pages stay locked: another secret may lie in them. */
	secret_wipe(secret, size);
	free(secret);
}

bool secret_equal(const void *a, const void *b, size_t len)
{
	return sodium_memcmp(a, b, len) == 0;
}

bool secret_is_zero(const void *a, size_t len)
{
	return sodium_is_zero(a, len) == 1;
}

void random_fill(void *out, size_t len)
{
	randombytes_buf(out, len);
}

uint32_t random_u32(void)
{
	return randombytes_random();
}

uint64_t keyed_hash(const uint8_t key[16], const void *data, size_t len)
{
	uint8_t hash[crypto_shorthash_siphash24_BYTES];

	crypto_shorthash_siphash24(hash, data, len, key);
	return get_le64(hash);
}
