/* SPDX-License-Identifier: MIT */
/* What an implementation of the transport AEAD is, for core/crypto and its tests only: crypto_init takes one
 * of these and everybody else sees crypto.h. */
#ifndef WGTCP_CORE_CRYPTO_AEAD_KIND_H
#define WGTCP_CORE_CRYPTO_AEAD_KIND_H

#include "core/crypto/crypto.h"

struct aead_kind {
	const char *name;
	/* As their namesakes in crypto.h. */
	bool (*init)(struct aead *aead, const uint8_t key[KEY_LEN]);
	void (*wipe)(struct aead *aead);
	void (*seal)(struct aead *aead, uint8_t *out, const uint8_t *plain, size_t len, uint64_t counter);
	bool (*open)(
		struct aead *aead, uint8_t *out, const uint8_t *sealed, size_t sealed_len, uint64_t counter);
};

/* Always there; after crypto_init. */
const struct aead_kind *aead_libcrypto(void);
/* NULL where it was not built in, or where this processor would gain nothing by it. */
const struct aead_kind *aead_ipsec_mb(void);

/* Whether it agrees with libsodium on both sides of the vector code's block sizes, and refuses what is not
 * authentic. */
bool aead_self_test(const struct aead_kind *kind);
/* Takes the fastest that passes its self-test; false: none does. */
bool aead_choose(void);

#endif
