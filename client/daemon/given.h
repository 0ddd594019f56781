/* SPDX-License-Identifier: MIT */
/* A profile that came with the request instead of from disk (tunnel.up with `given`). Pure. */
#ifndef WGTCP_CLIENT_DAEMON_GIVEN_H
#define WGTCP_CLIENT_DAEMON_GIVEN_H

#include "client/rpc/types.h"
#include "core/config/profile.h"

/* On success *out is the caller's to free with profile_free; else error (RPC_CODE_CONFIG) is. */
bool given_profile(const struct rpc_given *given, struct profile *out, struct rpc_error *error);

#endif
