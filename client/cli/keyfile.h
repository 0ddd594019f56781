/* SPDX-License-Identifier: MIT */
/* A WireGuard connection as NetworkManager stores it (nm-settings-keyfile(5)), turned into a profile. Pure.
 */
#ifndef WGTCP_CLIENT_CLI_KEYFILE_H
#define WGTCP_CLIENT_CLI_KEYFILE_H

#include <stdbool.h>
#include <stddef.h>

struct keyfile_profile {
	char *text; /* a profile in wg-quick's format, not checked; freed by keyfile_free, which wipes */
	size_t len, room;
	bool cut;     /* there was no room for all of it */
	char id[128]; /* what people call it */
	/* What the profile can not hold, as sentences for people; "" where there is none. */
	char left_out[256];
};

enum keyfile_kind {
	KEYFILE_PROFILE, /* *out holds it */
	KEYFILE_OTHER,   /* of another type of connection, or no key file at all */
	KEYFILE_NO_KEY,  /* NetworkManager keeps its private key elsewhere, or asks for it; out->id is set */
	KEYFILE_BAD,     /* a value holds a control character, or memory is short; out->id is set */
};

enum keyfile_kind keyfile_read(const char *text, size_t len, struct keyfile_profile *out);
void keyfile_free(struct keyfile_profile *profile);

#endif
