/* SPDX-License-Identifier: MIT */
/* A profile as the fields in which the daemon takes it. Pure. */
#ifndef WGTCP_CLIENT_NM_HANDOVER_H
#define WGTCP_CLIENT_NM_HANDOVER_H

#include "client/rpc/types.h"
#include "core/config/profile.h"

/* On success *out is the caller's to free with rpc_given_free. False when memory is short. */
bool handover_write(const struct profile *profile, struct rpc_given *out);

#endif
