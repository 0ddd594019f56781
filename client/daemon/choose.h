/* SPDX-License-Identifier: MIT */
/* What carries a tunnel, and why: from what a person wants, what the profile needs and what the kernel can
 * do. Pure. Source: docs/fallback.md, Which backend. */
#ifndef WGTCP_CLIENT_DAEMON_CHOOSE_H
#define WGTCP_CLIENT_DAEMON_CHOOSE_H

#include "client/rpc/types.h"
#include "core/config/profile.h"
#include "core/port/kernel_tunnel.h"

struct choose_facts {
	enum rpc_backend_choice wish;
	struct kernel_probe kernel;
	/* Of all peers that we call; AUTO where they differ. UDP where there is none to call. */
	enum transport transport;
	bool called;      /* there is a peer that we call */
	bool listens_tcp; /* and others may call us by TCP */
	bool more_ports;  /* of a peer that we call, by UDP */
};

struct choice {
	enum rpc_backend backend; /* RPC_BACKEND_NONE: not possible, and reason says why and what to do */
	char reason[RPC_SENTENCE_LEN];
	bool deaf;      /* the profile wants to be called by TCP, and this does not listen for it */
	bool few_ports; /* it has further ports to try, and this does not */
};

/* What the profile needs; transports: of each peer. wish and kernel stay zero. */
struct choose_facts choose_look(const struct profile *profile, const enum transport *transports);
/* Whether the kernel has to be asked at all. */
bool choose_needs_kernel(enum rpc_backend_choice wish);
struct choice choose_backend(const struct choose_facts *facts);

#endif
