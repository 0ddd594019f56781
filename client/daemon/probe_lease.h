/* SPDX-License-Identifier: MIT */
/* What DHCP clients wrote down of the network's captive-portal API (RFC 8910: option 114). The text of a
 * lease is the network's, so only the probe process reads it. */
#ifndef WGTCP_CLIENT_DAEMON_PROBE_LEASE_H
#define WGTCP_CLIENT_DAEMON_PROBE_LEASE_H

#include <stdbool.h>
#include <stddef.h>

/* The address in a lease of systemd-networkd (CAPTIVE_PORTAL=) or the newest one in a file of dhclient
 * (option default-url, v4-captive-portal, captive-portal-uri). False when it has none that is of use. Pure.
 */
bool lease_parse(const char *text, char *url, size_t size);
/* Looks through the leases below root ("" for the machine itself). */
bool lease_find(const char *root, char *url, size_t size);

#endif
