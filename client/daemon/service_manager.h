/* SPDX-License-Identifier: MIT */
/* What a service manager hands to a service and wants to hear of it. Source: sd_listen_fds(3), sd_notify(3).
 */
#ifndef WGTCP_CLIENT_DAEMON_SERVICE_MANAGER_H
#define WGTCP_CLIENT_DAEMON_SERVICE_MANAGER_H

#include <stdbool.h>

/* The listening unix socket that was handed over, or -1: none, and the daemon makes its own. Before anything
 * is forked. */
int service_manager_socket(void);
/* Requests are answered from now on. */
void service_manager_ready(void);

#endif
