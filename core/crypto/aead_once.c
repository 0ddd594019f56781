/* SPDX-License-Identifier: MIT */
/* AEADs with a key that is used once or seldom, by libsodium: one call, nothing allocated, nothing that can
 * fail. Called by the handshake and the cookies. Source: RFC 8439, draft-irtf-cfrg-xchacha; WireGuard
 * paper 5.4. */
#include "core/crypto/crypto.h"

#include "core/base/bytes.h"

#include <sodium.h>

static void nonce_set(uint8_t nonce[crypto_aead_chacha20poly1305_IETF_NPUBBYTES], uint64_t counter)
{
	put_le32(nonce, 0);
	put_le64(nonce + 4, counter);
}

void aead_seal_once(uint8_t *out, const uint8_t key[KEY_LEN], uint64_t counter, const uint8_t *plain,
	size_t len, const uint8_t *ad, size_t ad_len)
{
	uint8_t nonce[crypto_aead_chacha20poly1305_IETF_NPUBBYTES];

	nonce_set(nonce, counter);
	crypto_aead_chacha20poly1305_ietf_encrypt(out, NULL, plain, len, ad, ad_len, NULL, nonce, key);
}

bool aead_open_once(uint8_t *out, const uint8_t key[KEY_LEN], uint64_t counter, const uint8_t *sealed,
	size_t sealed_len, const uint8_t *ad, size_t ad_len)
{
	uint8_t nonce[crypto_aead_chacha20poly1305_IETF_NPUBBYTES];

	nonce_set(nonce, counter);
	return crypto_aead_chacha20poly1305_ietf_decrypt(
		       out, NULL, NULL, sealed, sealed_len, ad, ad_len, nonce, key) == 0;
}

void xaead_seal(uint8_t *out, const uint8_t key[KEY_LEN], const uint8_t nonce[XNONCE_LEN],
	const uint8_t *plain, size_t len, const uint8_t *ad, size_t ad_len)
{
	crypto_aead_xchacha20poly1305_ietf_encrypt(out, NULL, plain, len, ad, ad_len, NULL, nonce, key);
}

bool xaead_open(uint8_t *out, const uint8_t key[KEY_LEN], const uint8_t nonce[XNONCE_LEN],
	const uint8_t *sealed, size_t sealed_len, const uint8_t *ad, size_t ad_len)
{
	return crypto_aead_xchacha20poly1305_ietf_decrypt(
		       out, NULL, NULL, sealed, sealed_len, ad, ad_len, nonce, key) == 0;
}
