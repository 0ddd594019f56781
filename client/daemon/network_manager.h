/* SPDX-License-Identifier: MIT */
/* What NetworkManager knows of the network, where it runs: whether a portal is in the way, and the name of
 * the wireless network. By its bus interface; main thread. Source: NetworkManager's D-Bus reference,
 * "gdbus-org.freedesktop.NetworkManager". */
#ifndef WGTCP_CLIENT_DAEMON_NETWORK_MANAGER_H
#define WGTCP_CLIENT_DAEMON_NETWORK_MANAGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bus;
struct network_manager;

#define SSID_LEN_MAX 32

/* Its own numbers, NMConnectivityState. */
enum nm_connectivity {
	NM_CONNECTIVITY_UNKNOWN = 0, /* also: it does not run, or does not check */
	NM_CONNECTIVITY_NONE = 1,
	NM_CONNECTIVITY_PORTAL = 2,
	NM_CONNECTIVITY_LIMITED = 3,
	NM_CONNECTIVITY_FULL = 4,
};

/* changed: from the main loop, when any of what follows has. */
struct network_manager *network_manager_new(struct bus *bus, void (*changed)(void *user), void *user);
/* NULL is allowed. */
void network_manager_free(struct network_manager *manager);

enum nm_connectivity network_manager_connectivity(const struct network_manager *manager);
/* Whether it checks at all: then nobody else need. */
bool network_manager_checks(const struct network_manager *manager);
/* Where it asks; a browser that is sent there is led to the portal. "" if unknown. */
const char *network_manager_check_uri(const struct network_manager *manager);
/* The primary connection's network name; the length, 0: it is not wireless, or not known. */
size_t network_manager_ssid(const struct network_manager *manager, uint8_t out[SSID_LEN_MAX]);
/* Makes it check now; changed follows if there is news. */
void network_manager_check(struct network_manager *manager);

#endif
