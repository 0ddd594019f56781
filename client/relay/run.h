/* SPDX-License-Identifier: MIT */
/* The processes around the loops: the platform's ports, and what is said to a person. Internal to
 * client/relay. */
#ifndef WGTCP_CLIENT_RELAY_RUN_H
#define WGTCP_CLIENT_RELAY_RUN_H

#include "client/relay/arguments.h"

#define RELAY_PROGRAM "wgtcp-relay"

/* Returns only on failure, after one sentence on stderr: the exit code. */
int relay_run_server(const struct arguments *arguments);
/* With the seam on descriptor 3, until the daemon says stop or is gone. The exit code. */
int relay_run_inherited(void);

#endif
