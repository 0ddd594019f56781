/* SPDX-License-Identifier: MIT */
/* The daemon's command line. */
#ifndef WGTCP_CLIENT_DAEMON_OPTIONS_H
#define WGTCP_CLIENT_DAEMON_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#define DEFAULT_SOCKET "/run/wgtcp/wgtcpd.sock"
#define DEFAULT_CONFIG_FOLDER "/etc/wgtcp"
#define DEFAULT_STATE_FOLDER "/var/lib/wgtcp"

enum options_task { OPTIONS_RUN, OPTIONS_RESTORE, OPTIONS_UNLOCK };

struct options {
	enum options_task task;
	uint32_t for_s; /* with OPTIONS_UNLOCK; 0: for good */
	const char *socket, *config_folder, *state_folder;
	bool foreground;
};

/* True: go on. False: end with *code; what there was to say has been said. */
bool options_parse(int argc, char **argv, struct options *out, int *code);

#endif
