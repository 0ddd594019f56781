/* SPDX-License-Identifier: MIT */
/* A profile, with the addresses that its names stand for, as what a backend is configured with. Pure: the
 * caller says how names resolve and which addresses have a route. */
#ifndef WGTCP_CLIENT_DAEMON_DEVICE_H
#define WGTCP_CLIENT_DAEMON_DEVICE_H

#include "core/config/profile.h"
#include "core/uapi/uapi.h"

struct device_world {
	/* Addresses of a host, in the order to try; at most max. */
	size_t (*addresses)(const char *host, struct ip_address *out, size_t max, void *user);
	bool (*has_route)(const struct ip_address *address, void *user);
	/* Index of the interface with this name or number; 0: none. */
	uint32_t (*scope)(const char *interface, void *user);
	void *user;
};

/* Where a peer's carriers go. An endpoint that is not set has no address (yet). */
struct device_way {
	struct endpoint udp;
	size_t tcp_count;
	struct endpoint tcp[UAPI_ENDPOINTS_MAX];
};

/* The host that a name is looked up by: without an interface ("fe80::1%eth0"). */
void device_host(const struct profile_host *host, char out[PROFILE_HOST_LEN]);
/* turn: which of several addresses UDP takes, modulo their number, those without a route left out where
 * others have one. TCP gets all of them. */
void device_way(const struct profile_peer *peer, const struct device_world *world, unsigned turn,
	struct device_way *out);
bool device_way_equal(const struct device_way *a, const struct device_way *b);

/* The whole configuration. fwmark: the one to use (the profile's may be 0). ways, transports: one for each
 * peer. transport: the interface's. Empty and false when memory is short; freed by uapi_device_free. */
bool device_build(const struct profile *profile, const struct device_way *ways,
	const enum transport *transports, uint32_t fwmark, enum transport transport, struct uapi_device *out);
/* Adds one peer of the profile, with nothing but its way, as a change. False when memory is short. */
bool device_add_way(
	struct uapi_device *device, const struct profile_peer *peer, const struct device_way *way);

#endif
