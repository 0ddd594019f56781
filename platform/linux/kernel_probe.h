/* SPDX-License-Identifier: MIT */
/* Why a kernel has no WireGuard, in words. */
#ifndef WGTCP_PLATFORM_LINUX_KERNEL_PROBE_H
#define WGTCP_PLATFORM_LINUX_KERNEL_PROBE_H

#include "core/port/kernel_tunnel.h"

#include <stdbool.h>

/* What this machine says of its kernel and modules. */
struct kernel_facts {
	char release[65];      /* "6.1.0-57-cloud-amd64" */
	bool loading_disabled; /* sysctl kernel.modules_disabled */
	bool module_listed;    /* among the modules installed for this release, or built in */
};

void kernel_facts_read(struct kernel_facts *out);
/* error: what making the interface gave, -EOPNOTSUPP or -EPERM. Pure. */
void kernel_probe_lack(const struct kernel_facts *facts, int error, struct kernel_probe *out);
/* Stock, or WGTCP if a GET returned the transport. Pure. */
void kernel_probe_found(bool transport, struct kernel_probe *out);

#endif
