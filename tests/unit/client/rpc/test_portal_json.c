/* SPDX-License-Identifier: MIT */
/* RFC 8908's JSON. */
#include "client/rpc/portal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct {
	const char *text;
	bool ok, captive;
	const char *url;
} texts[] = {
	/* The example of RFC 8908, section 6. */
	{ "{\"captive\": true, \"user-portal-url\": \"https://example.org/portal.html\"}", true, true,
		"https://example.org/portal.html" },
	{ "{\"captive\": false,\"user-portal-url\": \"https://example.org/portal.html\",\"venue-info-url\":"
	  "\"https://flight.example.com/entertainment\",\"seconds-remaining\": 326,\"can-extend-session\": "
	  "true}",
		true, false, "https://example.org/portal.html" },
	{ "{\"captive\":true}", true, true, "" },
	{ "{\"captive\":true,\"user-portal-url\":7}", true, true, "" },
	{ "{\"captive\":true,\"user-portal-url\":\"javascript:alert(1)\"}", true, true, "" },
	{ "{\"captive\":true,\"user-portal-url\":\"https://a.example/\\u0000b\"}", true, true, "" },
	{ "{\"captive\":true,\"user-portal-url\":\"https://a.example/ b\"}", true, true, "" },
	{ "{\"captive\":\"true\"}", false, false, "" },
	{ "{\"captive\":1}", false, false, "" },
	{ "{}", false, false, "" },
	{ "[true]", false, false, "" },
	{ "{\"captive\":true", false, false, "" },
	{ "{\"captive\":true,\"a\":[[[[[[[[[[1]]]]]]]]]]}", false, false, "" },
	{ "<html>", false, false, "" },
	{ "", false, false, "" },
};

static void json_is_read(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct rpc_portal portal = { 0 };

		assert_int_equal(
			rpc_portal_parse(texts[i].text, strlen(texts[i].text), &portal), texts[i].ok);
		assert_int_equal(portal.captive, texts[i].captive);
		assert_string_equal(portal.url, texts[i].url);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(json_is_read) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
