/* SPDX-License-Identifier: MIT */
/* Keys as text: base64 in constant time (libsodium's), since private keys pass here. Source: RFC 4648, wg(8).
 */
#include "core/crypto/crypto.h"

#include <sodium.h>
#include <string.h>

char *key_write(const uint8_t key[KEY_LEN], char out[KEY_TEXT_LEN])
{
	return sodium_bin2base64(out, KEY_TEXT_LEN, key, KEY_LEN, sodium_base64_VARIANT_ORIGINAL);
}

bool key_parse(const char *text, size_t len, uint8_t out[KEY_LEN])
{
	uint8_t key[KEY_LEN];
	size_t key_len = 0;
	bool ok = false;

	if (len != KEY_TEXT_LEN - 1)
		return false;
	/* Refuses other characters, a missing '=', and bits set behind the last byte: two texts never mean
	 * one key. */
	if (sodium_base642bin(
		    key, sizeof(key), text, len, NULL, &key_len, NULL, sodium_base64_VARIANT_ORIGINAL) != 0 ||
		key_len != KEY_LEN)
		goto out;
	memcpy(out, key, KEY_LEN);
	ok = true;
out:
	secret_wipe(key, sizeof(key));
	return ok;
}
