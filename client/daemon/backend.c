/* SPDX-License-Identifier: MIT */
/* The list of backends. Used by up.c. */
#include "client/daemon/backend.h"

#include <stddef.h>

static const struct backend *const backends[] = { &backend_kernel, &backend_kernel_wgtcp, &backend_userspace };

const struct backend *backend_of(enum rpc_backend name)
{
	size_t i;

	for (i = 0; i < sizeof(backends) / sizeof(backends[0]); i++)
		if (backends[i]->name == name)
			return backends[i];
	return NULL;
}

bool backend_is_kernel(const struct backend *backend)
{
	return backend && backend->name != RPC_BACKEND_USERSPACE;
}
