/* SPDX-License-Identifier: MIT */
/* Used by the daemon's probe process. */
#include "client/rpc/portal.h"

#include <json-c/json.h>
#include <string.h>

#define DEPTH_MAX 8

bool rpc_portal_url_ok(const char *url)
{
	size_t len = strlen(url), i;

	if (len >= RPC_PORTAL_URL_LEN ||
		(strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0))
		return false;
	for (i = 0; i < len; i++)
		if (url[i] <= ' ' || url[i] > '~')
			return false;
	return true;
}

bool rpc_portal_parse(const char *text, size_t len, struct rpc_portal *out)
{
	struct json_object *root = NULL, *captive, *url;
	struct rpc_portal portal = { 0 };
	struct json_tokener *tokener;
	bool ok = false;

	if (len == 0 || len > RPC_PORTAL_TEXT_MAX)
		return false;
	tokener = json_tokener_new_ex(DEPTH_MAX);
	if (!tokener)
		return false;
	root = json_tokener_parse_ex(tokener, text, (int)len);
	if (!root || !json_object_is_type(root, json_type_object) ||
		!json_object_object_get_ex(root, "captive", &captive) ||
		!json_object_is_type(captive, json_type_boolean))
		goto out;
	portal.captive = json_object_get_boolean(captive);
	if (json_object_object_get_ex(root, "user-portal-url", &url) &&
		json_object_is_type(url, json_type_string) &&
		strlen(json_object_get_string(url)) == (size_t)json_object_get_string_len(url) &&
		rpc_portal_url_ok(json_object_get_string(url)))
		strcpy(portal.url, json_object_get_string(url));
	*out = portal;
	ok = true;
out:
	json_object_put(root);
	json_tokener_free(tokener);
	return ok;
}
