/* SPDX-License-Identifier: MIT */
/* What is UTF-8 and what is not. Pure. */
#ifndef WGTCP_CLIENT_RPC_UTF8_H
#define WGTCP_CLIENT_RPC_UTF8_H

#include <stddef.h>

/* Bytes of the character at text (RFC 3629), 0 if there is none. A NUL-terminated text is never read past its
 * NUL. */
size_t utf8_character_len(const char *text);

#endif
