/* SPDX-License-Identifier: MIT */
/* Keys as base64 text (RFC 4648 section 4), strict: 44 characters, one final '=', no spare bits. Without
 * table look-ups or branches that depend on the key, since private keys pass here. */
#ifndef WGTCP_CORE_CONFIG_KEY_TEXT_H
#define WGTCP_CORE_CONFIG_KEY_TEXT_H

#include "core/config/profile.h"

#define PROFILE_KEY_TEXT_LEN 44

/* out is written only on success. */
bool profile_key_parse(const char *text, size_t len, uint8_t out[PROFILE_KEY_LEN]);
void profile_key_write(const uint8_t key[PROFILE_KEY_LEN], char out[PROFILE_KEY_TEXT_LEN + 1]);

#endif
