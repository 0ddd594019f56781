/* SPDX-License-Identifier: MIT */
/* What a network says of its captive portal: RFC 8908's JSON, and a lease's text. */
#include "client/daemon/probe_lease.h"
#include "client/rpc/portal.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char url[RPC_PORTAL_URL_LEN], *text = malloc(size + 1);
	struct rpc_portal portal;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = 0;
	if (rpc_portal_parse(text, size, &portal))
		assert(!portal.url[0] || rpc_portal_url_ok(portal.url));
	if (lease_parse(text, url, sizeof(url)))
		assert(rpc_portal_url_ok(url));
	free(text);
	return 0;
}
