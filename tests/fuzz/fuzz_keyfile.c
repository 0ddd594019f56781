/* SPDX-License-Identifier: MIT */
/* A connection's file of NetworkManager: whatever it holds, the profile made of it has no control character,
 * and ends where it says. */
#include "client/cli/keyfile.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct keyfile_profile profile;

	if (keyfile_read((const char *)data, size, &profile) == KEYFILE_PROFILE) {
		if (profile.len >= profile.room || strlen(profile.text) != profile.len)
			abort();
		for (size_t i = 0; i < profile.len; i++)
			if (((unsigned char)profile.text[i] < 0x20 && profile.text[i] != '\n') ||
				profile.text[i] == 0x7f)
				abort();
	}
	keyfile_free(&profile);
	return 0;
}
