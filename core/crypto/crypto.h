/* SPDX-License-Identifier: MIT */
/* The primitives of WireGuard, and the only door to libsodium and libcrypto.
 * Names follow section 5.4 of the WireGuard paper. Any thread after crypto_init. */
#ifndef WGTCP_CORE_CRYPTO_CRYPTO_H
#define WGTCP_CORE_CRYPTO_CRYPTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KEY_LEN 32
#define HASH_LEN 32
#define MAC_LEN 16
#define TAG_LEN 16
#define XNONCE_LEN 24

/* Once, before anything else. False when a library is missing a primitive or gives a wrong known answer. */
bool crypto_init(void);
/* Which implementation of the transport AEAD is in use, for --version. */
const char *crypto_aead_name(void);

void secret_wipe(void *secret, size_t len);
/* Zeroes for an object that holds long-lived keys, in memory that the system does not write to swap or into a
 * core dump, as far as the limit on locked memory goes. NULL when memory is short. */
void *secret_new(size_t size);
/* Wipes it and gives it back. NULL is allowed. */
void secret_free(void *secret, size_t size);
/* In constant time. */
bool secret_equal(const void *a, const void *b, size_t len);
bool secret_is_zero(const void *a, size_t len);
void random_fill(void *out, size_t len);
uint32_t random_u32(void);

/* Curve25519 (RFC 7748). */
void dh_generate(uint8_t private_key[KEY_LEN]); /* clamped */
void dh_clamp(uint8_t private_key[KEY_LEN]);
void dh_public(uint8_t public_key[KEY_LEN], const uint8_t private_key[KEY_LEN]);
/* False for a low-order point (all-zero result); out is then zero. */
bool dh_shared(uint8_t out[KEY_LEN], const uint8_t private_key[KEY_LEN], const uint8_t public_key[KEY_LEN]);

/* HASH(a || b), BLAKE2s-256. b may be NULL with b_len 0. */
void hash2(uint8_t out[HASH_LEN], const void *a, size_t a_len, const void *b, size_t b_len);
/* MAC(key, input): keyed BLAKE2s, 16 bytes out. key_len 1..32. input is a || b; b may be NULL with b_len 0.
 */
void mac2parts(uint8_t out[MAC_LEN], const uint8_t *key, size_t key_len, const void *a, size_t a_len,
	const void *b, size_t b_len);
/* KDF_n(key, input): HKDF on HMAC-BLAKE2s. out2 and out3 may be NULL (then KDF_1, KDF_2). Outputs may be key.
 */
void kdf(uint8_t out1[HASH_LEN], uint8_t *out2, uint8_t *out3, const uint8_t key[HASH_LEN], const void *input,
	size_t input_len);

/* ChaCha20-Poly1305 with a 32-bit zero and a 64-bit little-endian counter as nonce (paper 5.4.6, RFC 7539).
 * A prepared key, since setting one up is dear; no allocation after aead_init. */
struct aead {
	void *impl; /* owned; NULL when wiped */
};

/* False when memory is short. Caller wipes. */
bool aead_init(struct aead *aead, const uint8_t key[KEY_LEN]);
void aead_wipe(struct aead *aead);
/* Writes len + TAG_LEN bytes to out, which may be plain itself (in place) but may not overlap it otherwise.
 */
void aead_seal(struct aead *aead, uint8_t *out, const uint8_t *plain, size_t len, uint64_t counter);
/* sealed_len includes the tag; false (and out is not to be used) when shorter than a tag or not authentic. */
bool aead_open(struct aead *aead, uint8_t *out, const uint8_t *sealed, size_t sealed_len, uint64_t counter);

/* The same with a key used once and additional data: the handshake's AEAD. Lengths as above. */
void aead_seal_once(uint8_t *out, const uint8_t key[KEY_LEN], uint64_t counter, const uint8_t *plain,
	size_t len, const uint8_t *ad, size_t ad_len);
bool aead_open_once(uint8_t *out, const uint8_t key[KEY_LEN], uint64_t counter, const uint8_t *sealed,
	size_t sealed_len, const uint8_t *ad, size_t ad_len);
/* XChaCha20-Poly1305, for cookies (paper 5.4.7). */
void xaead_seal(uint8_t *out, const uint8_t key[KEY_LEN], const uint8_t nonce[XNONCE_LEN],
	const uint8_t *plain, size_t len, const uint8_t *ad, size_t ad_len);
bool xaead_open(uint8_t *out, const uint8_t key[KEY_LEN], const uint8_t nonce[XNONCE_LEN],
	const uint8_t *sealed, size_t sealed_len, const uint8_t *ad, size_t ad_len);

/* SipHash-2-4, for hash tables that a stranger may feed. */
uint64_t keyed_hash(const uint8_t key[16], const void *data, size_t len);

/* 44 characters and a NUL; and back: exactly 44 characters that end in '=', and encode 32 bytes canonically.
 */
#define KEY_TEXT_LEN 45
char *key_write(const uint8_t key[KEY_LEN], char out[KEY_TEXT_LEN]);
bool key_parse(const char *text, size_t len, uint8_t out[KEY_LEN]);

#endif
