/* SPDX-License-Identifier: MIT */
/* What a person is told of a tunnel, made from the profile and from what the backend answers. Pure. */
#ifndef WGTCP_CLIENT_DAEMON_VIEW_H
#define WGTCP_CLIENT_DAEMON_VIEW_H

#include "client/rpc/types.h"
#include "core/config/profile.h"
#include "core/uapi/uapi.h"

/* Peers in the order of the profile, nothing known of them yet. False when memory is short. */
bool view_init(struct rpc_tunnel *view, const char *name, const struct profile *profile);
/* Takes over what the backend said. waiting[i]: peer i has a host name that stands for no address so far.
 * Sets the peers and the tunnel's own state, cause, verified, reason, carrier and udp from them. Rates stay
 * as they are. */
void view_update(struct rpc_tunnel *view, const struct profile *profile, const struct uapi_device *device,
	const bool *waiting);
/* Everything that a person would call a change: states, not counters. */
bool view_differs(const struct rpc_tunnel *a, const struct rpc_tunnel *b);

/* Whether a first connect is decided: RPC_STATE_UP (every peer that we call is up, or has failed, and one is
 * up), RPC_STATE_FAILED (all have failed), RPC_STATE_CONNECTING (not yet). Without a peer to call it is up.
 */
enum rpc_state view_decided(const struct rpc_tunnel *view, const struct profile *profile);
/* Some peer that we call is up. */
bool view_any_up(const struct rpc_tunnel *view, const struct profile *profile);

/* For a tunnel that runs: when some peers that we call are up and others are not, it is degraded (not failed,
 * since traffic passes), and the message names the first that is missing. Each peer keeps its own state.
 * Whether it is so. */
bool view_call_partly(struct rpc_tunnel *view, const struct profile *profile);

/* A copy of its own, without peers and warnings, for view_differs. */
struct rpc_tunnel view_shell(const struct rpc_tunnel *view);

#endif
