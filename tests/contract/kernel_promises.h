/* SPDX-License-Identifier: MIT */
/* What core/port/kernel_tunnel.h promises, as tests that run on any kernel: on doubles by contract_kernel_tunnel, on the
 * real one by vm_kernel_tunnel inside a virtual machine. That both pass the same tests is what the doubles are worth. */
#ifndef WGTCP_TESTS_CONTRACT_KERNEL_PROMISES_H
#define WGTCP_TESTS_CONTRACT_KERNEL_PROMISES_H

#include "core/port/kernel_tunnel.h"
#include "platform/linux/netlink.h"

/* The kernel at hand. No interface named wgp0 to wgp9 or wgtcp-probe may be there. */
struct kernel_rig {
	struct kernel_tunnel *kernel;
	struct netlink generic, route; /* for questions that the port does not ask */
	enum kernel_support support;
	bool ignores_unknown; /* attributes, as kernels before 5.2 do */
};

/* 0 when all passed. */
int kernel_promises_run(const char *name, struct kernel_rig *rig);

#endif
