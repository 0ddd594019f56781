/* SPDX-License-Identifier: MIT */
/* Profiles that name TrustedNetworks: such a tunnel goes down when this machine arrives in one, is not
 * brought up there by AutoConnect, and comes up by AutoConnect when it leaves. A person's `up` holds also
 * there. Main thread. */
#ifndef WGTCP_CLIENT_DAEMON_ON_DEMAND_H
#define WGTCP_CLIENT_DAEMON_ON_DEMAND_H

#include "core/base/address.h"
#include "core/config/profile.h"

#include <stddef.h>
#include <stdint.h>

struct daemon;
struct on_demand;

/* The network that this machine is in. */
struct on_demand_place {
	bool connected; /* to any: there is a way to the outside */
	uint8_t ssid[32];
	size_t ssid_len;
	struct ip_address gateways[2];
	uint8_t hardware[2][16]; /* of the gateways */
	size_t hardware_len[2];
};

struct on_demand *on_demand_new(struct daemon *daemon);
/* NULL is allowed. */
void on_demand_free(struct on_demand *on_demand);
/* Looks at all profiles; call again when the place has changed, or may have. */
void on_demand_look(struct on_demand *on_demand, const struct on_demand_place *place);

/* Whether the list names this place: by the network's name, the gateway's address, or its hardware address.
 * Pure. */
bool on_demand_trusts(const struct profile_texts *list, const struct on_demand_place *place);

#endif
