/* SPDX-License-Identifier: MIT */
/* See given.h. Whoever sends this is root or of the group, and yet may be a program that took the values from
 * a person's settings: each passes the profile's own checks, which know of no line that could be broken.
 * Source: client/rpc/protocol.md, tunnel.up. */
#include "client/daemon/given.h"

#include "core/config/pairs.h"

#include <stdio.h>
#include <string.h>

struct reading {
	struct profile profile;
	size_t peer;
	struct profile_error error;
};

static bool text(struct reading *reading, const char *key, const char *value)
{
	return !value[0] ||
	       profile_pair_set(&reading->profile, reading->peer, key, value, strlen(value), &reading->error);
}

static bool texts(struct reading *reading, const char *key, const struct rpc_texts *values)
{
	for (size_t i = 0; i < values->count; i++)
		if (!text(reading, key, values->items[i]))
			return false;
	return true;
}

static bool number(struct reading *reading, const char *key, uint32_t value)
{
	char digits[16];

	snprintf(digits, sizeof(digits), "%u", (unsigned)value);
	return text(reading, key, digits);
}

static bool on(struct reading *reading, const char *key, bool value)
{
	return text(reading, key, value ? "on" : "off");
}

static bool read_peer(struct reading *reading, const struct rpc_given_peer *given)
{
	return text(reading, "Name", given->name) && text(reading, "PublicKey", given->public_key) &&
	       text(reading, "PresharedKey", given->preshared_key) &&
	       texts(reading, "AllowedIPs", &given->allowed_ips) &&
	       text(reading, "Endpoint", given->endpoint) &&
	       texts(reading, "TcpEndpoint", &given->tcp_endpoints) &&
	       texts(reading, "UdpPorts", &given->udp_ports) &&
	       number(reading, "PersistentKeepalive", given->keepalive_s) &&
	       (!given->has_transport || text(reading, "Transport", rpc_transport_words[given->transport])) &&
	       text(reading, "ProbeAddress", given->probe_address);
}

static bool read_interface(struct reading *reading, const struct rpc_given *given)
{
	return text(reading, "Name", given->name) && text(reading, "PrivateKey", given->private_key) &&
	       texts(reading, "Address", &given->addresses) && texts(reading, "DNS", &given->dns) &&
	       (!given->has_listen_port || number(reading, "ListenPort", given->listen_port)) &&
	       (!given->has_tcp_listen_port || number(reading, "TcpListenPort", given->tcp_listen_port)) &&
	       (!given->mtu || number(reading, "MTU", given->mtu)) &&
	       number(reading, "FwMark", given->fwmark) && text(reading, "Table", given->table) &&
	       (!given->has_transport || text(reading, "Transport", rpc_transport_words[given->transport])) &&
	       (!given->has_backend || text(reading, "Backend", rpc_backend_choice_words[given->backend])) &&
	       on(reading, "KillSwitch", given->kill_switch) &&
	       on(reading, "KillSwitchAllowLan", given->kill_switch_lan) &&
	       (!given->has_extensions || on(reading, "Extensions", given->extensions)) &&
	       text(reading, "PortalCheck", given->portal_check);
}

static bool read_peers(struct reading *reading, const struct rpc_given *given)
{
	for (size_t i = 0; i < given->peer_count; i++) {
		if (!profile_add_peer(&reading->profile)) {
			snprintf(reading->error.sentence, sizeof(reading->error.sentence), "memory is short");
			return false;
		}
		reading->peer = i;
		if (!read_peer(reading, &given->peers[i]))
			return false;
	}
	return true;
}

bool given_profile(const struct rpc_given *given, struct profile *out, struct rpc_error *error)
{
	struct reading reading = { .peer = PROFILE_EDIT_INTERFACE };

	profile_init(&reading.profile);
	if (read_interface(&reading, given) && read_peers(&reading, given) &&
		profile_pairs_check(&reading.profile, &reading.error)) {
		*out = reading.profile;
		explicit_bzero(&reading.profile, sizeof(reading.profile));
		return true;
	}
	rpc_error_set(error, RPC_CODE_CONFIG, "%s", reading.error.sentence);
	error->cause = RPC_CAUSE_CONFIG;
	profile_free(&reading.profile);
	explicit_bzero(&reading.profile, sizeof(reading.profile));
	return false;
}
