/* SPDX-License-Identifier: MIT */
/* What a network says of its captive portal. Here, since this folder is the only one that knows JSON. Pure.
 * Source: RFC 8908, section 5. */
#ifndef WGTCP_CLIENT_RPC_PORTAL_H
#define WGTCP_CLIENT_RPC_PORTAL_H

#include <stdbool.h>
#include <stddef.h>

#define RPC_PORTAL_URL_LEN 512
#define RPC_PORTAL_TEXT_MAX 16384

struct rpc_portal {
	bool captive;
	char url[RPC_PORTAL_URL_LEN]; /* user-portal-url; "" if there is none that a person may be shown */
};

/* False unless it is a JSON object with a boolean "captive". */
bool rpc_portal_parse(const char *text, size_t len, struct rpc_portal *out);
/* An http or https address in printable ASCII, as a person may be shown it; shorter than RPC_PORTAL_URL_LEN.
 */
bool rpc_portal_url_ok(const char *url);

#endif
