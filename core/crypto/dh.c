/* SPDX-License-Identifier: MIT */
/* Curve25519 by libsodium. Source: RFC 7748; WireGuard paper 5.4. */
#include "core/crypto/crypto.h"

#include <sodium.h>
#include <stdlib.h>

void dh_clamp(uint8_t private_key[KEY_LEN])
{
	private_key[0] &= 0xf8;
	private_key[31] = (uint8_t)((private_key[31] & 0x7f) | 0x40);
}

void dh_generate(uint8_t private_key[KEY_LEN])
{
	random_fill(private_key, KEY_LEN);
	dh_clamp(private_key);
}

void dh_public(uint8_t public_key[KEY_LEN], const uint8_t private_key[KEY_LEN])
{
	/* Cannot fail for a base point of large order. */
	if (crypto_scalarmult_curve25519_base(public_key, private_key) != 0)
		abort();
}

bool dh_shared(uint8_t out[KEY_LEN], const uint8_t private_key[KEY_LEN], const uint8_t public_key[KEY_LEN])
{
	if (crypto_scalarmult_curve25519(out, private_key, public_key) == 0 && !secret_is_zero(out, KEY_LEN))
		return true;
	secret_wipe(out, KEY_LEN);
	return false;
}
