/* SPDX-License-Identifier: MIT */
/* The transport AEAD by libcrypto. Four calls a packet, no allocation, no look-up: the key is set once and
 * each packet only sets a new nonce. One struct aead belongs to one thread. Source: WireGuard paper 5.4.6,
 * RFC 8439. */
#include "core/crypto/aead_kind.h"

#include "core/base/bytes.h"
#include "core/crypto/libcrypto.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

#define NONCE_LEN 12

static void nonce_set(uint8_t nonce[NONCE_LEN], uint64_t counter)
{
	put_le32(nonce, 0);
	put_le64(nonce + 4, counter);
}

static bool libcrypto_init(struct aead *aead, const uint8_t key[KEY_LEN])
{
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();

	if (!ctx)
		return false;
	if (EVP_EncryptInit_ex2(ctx, libcrypto.chacha20_poly1305, key, NULL, NULL) != 1) {
		EVP_CIPHER_CTX_free(ctx);
		return false;
	}
	aead->impl = ctx;
	return true;
}

static void libcrypto_wipe(struct aead *aead)
{
	EVP_CIPHER_CTX_free(aead->impl); /* wipes the key; NULL is allowed */
	aead->impl = NULL;
}

static void libcrypto_seal(
	struct aead *aead, uint8_t *out, const uint8_t *plain, size_t len, uint64_t counter)
{
	EVP_CIPHER_CTX *ctx = aead->impl;
	uint8_t nonce[NONCE_LEN];
	int done = 0, rest = 0;

	assert(len <= INT_MAX);
	nonce_set(nonce, counter);
	libcrypto_must(EVP_EncryptInit_ex2(ctx, NULL, NULL, nonce, NULL));
	libcrypto_must(EVP_EncryptUpdate(ctx, out, &done, plain, (int)len));
	libcrypto_must(EVP_EncryptFinal_ex(ctx, out + len, &rest));
	libcrypto_must(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, TAG_LEN, out + len));
	assert((size_t)done == len && rest == 0);
}

static bool libcrypto_open(
	struct aead *aead, uint8_t *out, const uint8_t *sealed, size_t sealed_len, uint64_t counter)
{
	EVP_CIPHER_CTX *ctx = aead->impl;
	uint8_t nonce[NONCE_LEN], tag[TAG_LEN];
	int done = 0, rest = 0;

	if (sealed_len < TAG_LEN || sealed_len > INT_MAX)
		return false;
	size_t len = sealed_len - TAG_LEN;

	memcpy(tag, sealed + len, TAG_LEN); /* the call below takes no const pointer */
	nonce_set(nonce, counter);
	libcrypto_must(EVP_DecryptInit_ex2(ctx, NULL, NULL, nonce, NULL));
	libcrypto_must(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, TAG_LEN, tag));
	libcrypto_must(EVP_DecryptUpdate(ctx, out, &done, sealed, (int)len));
	/* Compares the tag, in constant time. */
	return EVP_DecryptFinal_ex(ctx, out + len, &rest) == 1;
}

const struct aead_kind *aead_libcrypto(void)
{
	static const struct aead_kind kind = { "OpenSSL libcrypto", libcrypto_init, libcrypto_wipe,
		libcrypto_seal, libcrypto_open };

	return &kind;
}
