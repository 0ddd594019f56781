/* SPDX-License-Identifier: MIT */
/* Any text as address, prefix and endpoint: what is read is written so that it reads back to the same. */
#include "core/base/address.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	char written[ENDPOINT_TEXT_LEN], prefix_written[PREFIX_TEXT_LEN];
	struct ip_address address, address_again;
	struct ip_prefix prefix, prefix_again, network;
	struct endpoint endpoint, endpoint_again;

	if (ip_address_parse(text, size, &address)) {
		ip_address_write(&address, written);
		if (!ip_address_parse(written, strlen(written), &address_again) ||
			!ip_address_equal(&address, &address_again))
			abort();
	}
	if (ip_prefix_parse(text, size, &prefix)) {
		ip_prefix_write(&prefix, prefix_written);
		if (!ip_prefix_parse(prefix_written, strlen(prefix_written), &prefix_again) ||
			prefix.bits != prefix_again.bits ||
			!ip_address_equal(&prefix.address, &prefix_again.address))
			abort();
		network = ip_prefix_network(&prefix);
		if (!ip_prefix_contains(&network, &prefix.address) ||
			!ip_prefix_contains(&prefix, &network.address))
			abort();
	}
	if (endpoint_parse(text, size, &endpoint)) {
		endpoint_write(&endpoint, written);
		if (!endpoint_parse(written, strlen(written), &endpoint_again) ||
			!endpoint_equal(&endpoint, &endpoint_again))
			abort();
	}
	return 0;
}
