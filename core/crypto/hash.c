/* SPDX-License-Identifier: MIT */
/* HASH, MAC and KDF_n of the WireGuard paper, section 5.4, on libcrypto's BLAKE2s. Called by the handshake
 * and the cookies, never for a transport packet. Source: RFC 7693 (BLAKE2), RFC 2104 (HMAC), RFC 5869 (HKDF).
 */
#include "core/crypto/crypto.h"

#include "core/crypto/libcrypto.h"

#include <openssl/core_names.h>
#include <openssl/params.h>
#include <string.h>

#define BLOCK_LEN 64 /* of BLAKE2s, for HMAC's pads */

static EVP_MD_CTX *hash_new(void)
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();

	libcrypto_must(ctx != NULL);
	return ctx;
}

/* HASH(first || a || b); any part may be empty. */
static void hash3(EVP_MD_CTX *ctx, uint8_t out[HASH_LEN], const void *first, size_t first_len, const void *a,
	size_t a_len, const void *b, size_t b_len)
{
	libcrypto_must(EVP_DigestInit_ex2(ctx, libcrypto.blake2s, NULL));
	libcrypto_must(EVP_DigestUpdate(ctx, first, first_len));
	libcrypto_must(EVP_DigestUpdate(ctx, a, a_len));
	libcrypto_must(EVP_DigestUpdate(ctx, b, b_len));
	libcrypto_must(EVP_DigestFinal_ex(ctx, out, NULL));
}

/* HMAC(key, a || b) with the pads of its key; out may be a. */
struct hmac_pads {
	uint8_t inner[BLOCK_LEN], outer[BLOCK_LEN];
};

static void hmac_pads_set(struct hmac_pads *pads, const uint8_t key[HASH_LEN])
{
	memset(pads->inner, 0x36, BLOCK_LEN);
	memset(pads->outer, 0x5c, BLOCK_LEN);
	for (size_t i = 0; i < HASH_LEN; i++) {
		pads->inner[i] ^= key[i];
		pads->outer[i] ^= key[i];
	}
}

static void hmac(EVP_MD_CTX *ctx, uint8_t out[HASH_LEN], const struct hmac_pads *pads, const void *a,
	size_t a_len, const void *b, size_t b_len)
{
	uint8_t inner[HASH_LEN];

	hash3(ctx, inner, pads->inner, BLOCK_LEN, a, a_len, b, b_len);
	hash3(ctx, out, pads->outer, BLOCK_LEN, inner, HASH_LEN, NULL, 0);
	secret_wipe(inner, sizeof(inner));
}

void hash2(uint8_t out[HASH_LEN], const void *a, size_t a_len, const void *b, size_t b_len)
{
	EVP_MD_CTX *ctx = hash_new();

	hash3(ctx, out, NULL, 0, a, a_len, b, b_len);
	EVP_MD_CTX_free(ctx);
}

void mac2parts(uint8_t out[MAC_LEN], const uint8_t *key, size_t key_len, const void *a, size_t a_len,
	const void *b, size_t b_len)
{
	EVP_MAC_CTX *ctx = EVP_MAC_CTX_new(libcrypto.blake2s_mac);
	size_t size = MAC_LEN, len = 0;
	const OSSL_PARAM params[] = { OSSL_PARAM_construct_size_t(OSSL_MAC_PARAM_SIZE, &size),
		OSSL_PARAM_construct_end() };

	libcrypto_must(ctx != NULL);
	libcrypto_must(EVP_MAC_init(ctx, key, key_len, params));
	libcrypto_must(EVP_MAC_update(ctx, a, a_len));
	libcrypto_must(EVP_MAC_update(ctx, b, b_len));
	libcrypto_must(EVP_MAC_final(ctx, out, &len, MAC_LEN));
	libcrypto_must(len == MAC_LEN);
	EVP_MAC_CTX_free(ctx);
}

void kdf(uint8_t out1[HASH_LEN], uint8_t *out2, uint8_t *out3, const uint8_t key[HASH_LEN], const void *input,
	size_t input_len)
{
	EVP_MD_CTX *ctx = hash_new();
	struct hmac_pads pads;
	uint8_t t[HASH_LEN];

	hmac_pads_set(&pads, key);
	hmac(ctx, t, &pads, input, input_len, NULL, 0);
	hmac_pads_set(&pads, t); /* tau_0 keys all that follows */
	hmac(ctx, t, &pads, "\x01", 1, NULL, 0);
	memcpy(out1, t, HASH_LEN);
	if (out2) {
		hmac(ctx, t, &pads, t, HASH_LEN, "\x02", 1);
		memcpy(out2, t, HASH_LEN);
	}
	if (out3) {
		hmac(ctx, t, &pads, t, HASH_LEN, "\x03", 1);
		memcpy(out3, t, HASH_LEN);
	}
	EVP_MD_CTX_free(ctx); /* which wipes */
	secret_wipe(&pads, sizeof(pads));
	secret_wipe(t, sizeof(t));
}
