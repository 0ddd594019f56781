/* SPDX-License-Identifier: MIT */
/* The list of backends. Used by tunnel.c. */
#include "client/daemon/backend.h"

#include <stddef.h>

static const struct {
	enum rpc_backend_choice choice;
	const struct backend *backend;
} backends[] = {
	{ RPC_BACKEND_CHOICE_AUTO, &backend_userspace },
	{ RPC_BACKEND_CHOICE_USERSPACE, &backend_userspace },
};

const struct backend *backend_choose(enum rpc_backend_choice choice)
{
	size_t i;

	for (i = 0; i < sizeof(backends) / sizeof(backends[0]); i++)
		if (backends[i].choice == choice)
			return backends[i].backend;
	return NULL;
}
