/* SPDX-License-Identifier: MIT */
/* The command line of wgtcp-relay. Internal to client/relay. */
#ifndef WGTCP_CLIENT_RELAY_ARGUMENTS_H
#define WGTCP_CLIENT_RELAY_ARGUMENTS_H

#include "client/relay/relay.h"

enum arguments_role { ROLE_HELP, ROLE_VERSION, ROLE_SERVER, ROLE_INHERITED };

struct arguments {
	enum arguments_role role;
	struct endpoint listen[RELAY_LISTENERS_MAX];
	size_t listen_count;
	bool activated; /* the listening sockets come from the service manager */
	struct endpoint forward;
	uint8_t public_key[32];
};

#define ARGUMENTS_ERROR_LEN 256

/* False with one sentence that says what to do. */
bool arguments_parse(int argc, char *const *argv, struct arguments *out, char error[ARGUMENTS_ERROR_LEN]);

#endif
