/* SPDX-License-Identifier: MIT */
/* See auth_prompt.h: without a toolkit nobody can be asked here. */
#include "client/nm/auth_prompt.h"

#include <stdio.h>

char *auth_prompt(const char *connection, const char *label)
{
	fprintf(stderr,
		"nm-wgtcp-auth-dialog: %s of %s is not stored, and this one has no window to ask in: store "
		"it with "
		"`nmcli connection modify`\n",
		label, connection);
	return NULL;
}
