/* SPDX-License-Identifier: MIT */
/* Inside a guest: what core/port/net_identity.h says of a real wireless interface. One thread.
 *
 *     vm_wireless INTERFACE ADDRESS     the network's name, "none" or "wired"; and by what the network toward
 * ADDRESS is remembered: "hardware", "name NAME" or "nothing"
 */
#include "core/port/net_identity.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	uint8_t ssid[NET_SSID_MAX], identity[NET_IDENTITY_MAX];
	struct ip_address toward;
	size_t len;
	int n;

	if (argc != 3 || !ip_address_parse(argv[2], strlen(argv[2]), &toward)) {
		fprintf(stderr, "vm_wireless: an interface and an address\n");
		return 2;
	}
	n = net_ssid(if_nametoindex(argv[1]), ssid);
	if (n > 0)
		printf("ssid %.*s\n", n, (const char *)ssid);
	else
		printf("ssid %s\n", n == -ENOENT ? "none" : "wired");
	if (net_identity(&toward, 0, identity, &len))
		printf("remembered by nothing\n");
	else if (len == NET_IDENTITY_MAX)
		printf("remembered by name %.*s\n", NET_SSID_MAX, (const char *)identity + sizeof(uint16_t));
	else
		printf("remembered by hardware\n");
	return 0;
}
