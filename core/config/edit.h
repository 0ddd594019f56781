/* SPDX-License-Identifier: MIT */
/* Changes one key in a profile's text and leaves every other byte alone: comments, order, blanks, line ends.
 */
#ifndef WGTCP_CORE_CONFIG_EDIT_H
#define WGTCP_CORE_CONFIG_EDIT_H

#include "core/config/parse.h"

#define PROFILE_EDIT_INTERFACE SIZE_MAX

/* Which sections have a key; 0: no such key. "Name" stands for the "# Name =" line and is in both. */
#define PROFILE_IN_INTERFACE 1u
#define PROFILE_IN_PEER 2u
unsigned profile_key_sections(const char *key);

/* Sets key (any letter case) of [Interface] (peer is PROFILE_EDIT_INTERFACE) or of the peer with that index,
 * from 0. value NULL takes the key away. A key that may be repeated gets one line, with a comma-separated
 * value. PROFILE_HIDDEN as PrivateKey or PresharedKey changes nothing. The result is parsed; false with the
 * parser's error (lines of the result), and nothing is written, when it is not a valid profile. *out has
 * *out_len bytes and a NUL; free it with profile_text_free (write.h). */
bool profile_edit(const char *file_name, const char *text, size_t len, size_t peer, const char *key,
	const char *value, char **out, size_t *out_len, struct profile_error *error);

#endif
