/* SPDX-License-Identifier: MIT */
/* What this folder shares about OpenSSL's libcrypto. For core/crypto only. */
#ifndef WGTCP_CORE_CRYPTO_LIBCRYPTO_H
#define WGTCP_CORE_CRYPTO_LIBCRYPTO_H

#include <openssl/evp.h>
#include <stdlib.h>

/* Algorithms are looked up by name under a lock, which costs more than a small hash: so once, in crypto_init,
 * before there is a second thread, and read-only from then on. That is why core/ has this one variable. */
struct libcrypto {
	EVP_MD *blake2s;
	EVP_MAC *blake2s_mac;
	EVP_CIPHER *chacha20_poly1305;
};
extern struct libcrypto libcrypto;

/* With arguments that are in range these calls fail only when memory is short. There is no safe value to go
 * on with: a hash that was not computed would be a constant, a packet that was not sealed would be plaintext.
 */
static inline void libcrypto_must(int result)
{
	if (result != 1)
		abort();
}

#endif
