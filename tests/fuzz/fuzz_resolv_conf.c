/* SPDX-License-Identifier: MIT */
/* resolv.conf as a machine may have it; what we write in its place has our server and no other. */
#include "client/daemon/dns_text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t scope_of(const char *interface)
{
	return (uint32_t)strlen(interface);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ip_address server = { IP_V4, { 10, 0, 0, 1 } };
	struct profile_texts none = { 0 };
	struct dns_servers dns = { &server, 1, &none };
	struct probe_server servers[PROBE_SERVERS_MAX];
	char search[PROBE_SEARCH_LEN], *text = malloc(size + 1), *written;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = 0;
	assert(dns_text_servers(text, servers, PROBE_SERVERS_MAX, scope_of) <= PROBE_SERVERS_MAX);
	dns_text_search(text, search, sizeof(search));
	assert(strlen(search) < sizeof(search) && !strchr(search, '\n'));
	(void)dns_text_is_resolved(text);
	written = dns_text_write("x", &dns, text);
	if (written) {
		assert(dns_text_servers(written, servers, PROBE_SERVERS_MAX, scope_of) == 1);
		assert(ip_address_equal(&servers[0].address, &server));
	}
	free(written);
	free(text);
	return 0;
}
