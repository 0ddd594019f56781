/* SPDX-License-Identifier: MIT */
/* How this machine's programs look names up. Main thread. */
#ifndef WGTCP_CLIENT_DAEMON_DNS_MACHINE_H
#define WGTCP_CLIENT_DAEMON_DNS_MACHINE_H

#include <stdbool.h>

/* They ask systemd-resolved: by resolv.conf, or by nsswitch.conf(5). */
bool dns_machine_has_resolved(void);

#endif
