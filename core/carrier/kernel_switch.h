/* SPDX-License-Identifier: MIT */
/* The order in which a kernel that can do TCP (WGTCP) is moved to the other carrier, and the way back when it does not go.
 * Says which step is next; the caller does it and says how it went. Pure. Source: docs/wire.md section 3. */
#ifndef WGTCP_CORE_CARRIER_KERNEL_SWITCH_H
#define WGTCP_CORE_CARRIER_KERNEL_SWITCH_H

#include "core/base/carrier.h"
#include "core/base/time.h"

/* A change of routes closes the connections that the kernel has dialled: on TCP peers come back after it has settled. */
#define KERNEL_SWITCH_REST_MS 150
/* When somebody else sets the link up again between two steps: how often to start over, and after what time. */
#define KERNEL_SWITCH_BUSY_TRIES 5
#define KERNEL_SWITCH_BUSY_MS 50

enum kernel_switch_step {
	KERNEL_SWITCH_LINK_DOWN,     /* net_link_set */
	KERNEL_SWITCH_SET_TRANSPORT, /* kernel_tunnel_set: target, replace_peers, no peers */
	KERNEL_SWITCH_LINK_UP,
	KERNEL_SWITCH_NETWORK,       /* all IPv6 addresses and all routes of the interface: they went with the link */
	KERNEL_SWITCH_REST,          /* nothing, until due; not on the way to UDP */
	KERNEL_SWITCH_SET_PEERS,     /* kernel_tunnel_set: all peers */
	KERNEL_SWITCH_DONE,          /* target is in use */
	KERNEL_SWITCH_UNDONE,        /* the way back worked: all is as before, error says why */
	KERNEL_SWITCH_BROKEN,        /* neither way: the interface is not usable, or gone */
};

struct kernel_switch {
	enum kernel_switch_step step;
	enum kernel_switch_step after_rest;
	enum transport from, target; /* target becomes from on the way back */
	bool back;
	int error; /* of the step that made it turn back or give up; 0: none */
	unsigned tries;
	struct mono due;
};

/* from, to: UDP and TCP in either order. The first step stands in step. */
void kernel_switch_begin(struct kernel_switch *machine, enum transport from, enum transport to);
/* The step was done with this result (0 or -errno; 0 for a rest that was waited out); the next one, which also stands in
 * machine. A rest that was not waited out stays. -ENODEV: the interface is gone, so nothing can be taken back. */
enum kernel_switch_step kernel_switch_next(struct kernel_switch *machine, int result, struct mono now);

#endif
