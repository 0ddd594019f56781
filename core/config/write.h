/* SPDX-License-Identifier: MIT */
/* Struct profile to text that parses back to the same. Comments other than "# Name =" are not in the struct:
 * to keep a person's file as it is, use edit.h on its text. */
#ifndef WGTCP_CORE_CONFIG_WRITE_H
#define WGTCP_CORE_CONFIG_WRITE_H

#include "core/config/profile.h"

/* The text with its terminating NUL, *len bytes without it; NULL when memory is short. hidden writes
 * PROFILE_HIDDEN in place of PrivateKey and PresharedKey. Free with profile_text_free, which wipes. */
char *profile_write(const struct profile *profile, bool hidden, size_t *len);
/* NULL is allowed. */
void profile_text_free(char *text, size_t len);

#endif
