/* SPDX-License-Identifier: MIT */
/* The part of core/port/kill_switch.h that looks at this machine's links. The daemon's thread. Source:
 * getifaddrs(3), netdevice(7). */
#include "core/port/kill_switch.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>

static const struct ip_prefix private_networks[] = {
	{ { .family = IP_V4, .bytes = { 10 } }, 8 },
	{ { .family = IP_V4, .bytes = { 172, 16 } }, 12 },
	{ { .family = IP_V4, .bytes = { 192, 168 } }, 16 },
	{ { .family = IP_V4, .bytes = { 169, 254 } }, 16 },
	{ { .family = IP_V6, .bytes = { 0xfe, 0x80 } }, 10 },
	{ { .family = IP_V6, .bytes = { 0xfc } }, 7 },
};

/* As a whole: a mask that is too short would take in what is not. */
static bool is_private(const struct ip_prefix *prefix)
{
	for (size_t i = 0; i < sizeof(private_networks) / sizeof(private_networks[0]); i++)
		if (prefix->bits >= private_networks[i].bits &&
			ip_prefix_contains(&private_networks[i], &prefix->address))
			return true;
	return false;
}

static bool take_address(const struct sockaddr *from, struct ip_address *out)
{
	if (from && from->sa_family == AF_INET) {
		*out = (struct ip_address){ .family = IP_V4 };
		memcpy(out->bytes, &((const struct sockaddr_in *)from)->sin_addr, 4);
		return true;
	}
	if (from && from->sa_family == AF_INET6) {
		*out = (struct ip_address){ .family = IP_V6 };
		memcpy(out->bytes, &((const struct sockaddr_in6 *)from)->sin6_addr, 16);
		return true;
	}
	return false;
}

static uint8_t count_bits(const struct ip_address *mask)
{
	uint8_t bits = 0;

	for (size_t i = 0; i < ip_address_len(mask); i++)
		bits = (uint8_t)(bits + __builtin_popcount(mask->bytes[i]));
	return bits;
}

static bool is_known(
	const struct kill_switch_network *all, size_t count, const struct kill_switch_network *one)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(all[i].interface, one->interface) && all[i].prefix.bits == one->prefix.bits &&
			ip_address_equal(&all[i].prefix.address, &one->prefix.address))
			return true;
	return false;
}

size_t kill_switch_networks(struct kill_switch_network *out, size_t max)
{
	struct ifaddrs *all, *at;
	size_t count = 0;

	if (getifaddrs(&all) < 0)
		return 0;
	for (at = all; at && count < max; at = at->ifa_next) {
		struct kill_switch_network network = { 0 };
		struct ip_address mask;

		if (!(at->ifa_flags & IFF_UP) || (at->ifa_flags & (IFF_LOOPBACK | IFF_POINTOPOINT)) ||
			!take_address(at->ifa_addr, &network.prefix.address) ||
			!take_address(at->ifa_netmask, &mask))
			continue;
		network.prefix.bits = count_bits(&mask);
		network.prefix = ip_prefix_network(&network.prefix);
		strncpy(network.interface, at->ifa_name, sizeof(network.interface) - 1);
		/* An address may have a label of its own, "eth0:1"; the packets leave by eth0. */
		network.interface[strcspn(network.interface, ":")] = 0;
		if (is_private(&network.prefix) && !is_known(out, count, &network))
			out[count++] = network;
	}
	freeifaddrs(all);
	return count;
}
