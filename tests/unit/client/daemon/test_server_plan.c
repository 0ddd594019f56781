/* SPDX-License-Identifier: MIT */
/* A server's profile, its clients' places, and their own profiles: each parses, and all agree. */
#include "client/daemon/server_plan.h"
#include "core/config/key_text.h"
#include "core/config/parse.h"
#include "core/config/write.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void parse(const char *text, size_t len, struct profile *out)
{
	struct profile_warnings warnings;
	struct profile_error error;

	if (!profile_parse("test", text, len, out, &error, &warnings))
		fail_msg("%u: %s", error.line, error.sentence);
}

static void test_endpoint(void **state)
{
	static const struct {
		const char *host, *out;
	} cases[] = {
		{ "vpn.example.org", "vpn.example.org:443" },
		{ "192.0.2.1", "192.0.2.1:443" },
		{ "2001:db8::1", "[2001:db8::1]:443" },
		{ "[2001:db8::1]", "[2001:db8::1]:443" },
		{ "", NULL },
		{ "vpn.example.org:51820", NULL },
		{ "vpn example", NULL },
		{ "vpn\nPostUp = x", NULL },
		{ "http://vpn.example.org", NULL },
		{ "[vpn", NULL },
		{ "b\xc3\xbcro.example", NULL },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char out[SERVER_PLAN_ENDPOINT_LEN];
		bool good = server_plan_endpoint(cases[i].host, 443, out);

		if (good != (cases[i].out != NULL) || (good && strcmp(out, cases[i].out) != 0))
			fail_msg("%s: %s", cases[i].host, good ? out : "refused");
	}
}

static void test_server_and_clients(void **state)
{
	static const uint8_t chance[SERVER_PLAN_CHANCE_LEN] = { 9, 0, 1, 2, 3, 4, 5 };
	uint8_t server_key[32] = { 8 }, keys[3][32] = { { 16 }, { 24 }, { 32 } }, psk[32] = { 1 };
	char noted[SERVER_PLAN_ENDPOINT_LEN], *text, *longer;
	struct profile server;
	size_t len, longer_len, i;

	(void)state;
	text = server_plan_new("vpn.example.org:443", 443, server_key, chance, &len);
	assert_true(server_plan_noted(text, len, noted));
	assert_string_equal(noted, "vpn.example.org:443");
	for (i = 0; i < 3; i++) {
		struct server_place place;
		struct profile client;
		char *own, address[PREFIX_TEXT_LEN], expected[PREFIX_TEXT_LEN];
		size_t own_len;

		parse(text, len, &server);
		assert_int_equal(server.listen_port, 443);
		assert_int_equal(server.peer_count, i);
		assert_true(server_plan_place(&server, &place));
		assert_int_equal(place.count, 2);
		snprintf(expected, sizeof(expected), "10.9.0.%u/24", (unsigned)i + 2);
		assert_string_equal(ip_prefix_write(&place.addresses[0], address), expected);
		snprintf(expected, sizeof(expected), "fd01:203:405::%u/64", (unsigned)i + 2);
		assert_string_equal(ip_prefix_write(&place.addresses[1], address), expected);
		longer = server_plan_add(text, len, "anna", keys[i], psk, &place, &longer_len);
		own = server_plan_client(noted, keys[i], server_key, psk, &place, &own_len);
		parse(own, own_len, &client);
		assert_int_equal(client.address_count, 2);
		assert_int_equal(client.peer_count, 1);
		assert_string_equal(client.peers[0].endpoint.host, "vpn.example.org");
		assert_memory_equal(client.peers[0].preshared_key, psk, 32);
		assert_true(
			ip_prefix_contains(&client.peers[0].allowed_ips[0], &server.addresses[0].address));
		profile_free(&client);
		profile_free(&server);
		profile_text_free(own, own_len);
		profile_text_free(text, len);
		text = longer;
		len = longer_len;
	}
	parse(text, len, &server);
	assert_int_equal(server.peer_count, 3);
	assert_string_equal(server.peers[2].name, "anna");
	assert_int_equal(server.peers[2].allowed_ips[0].bits, 32);
	assert_int_equal(server.peers[2].allowed_ips[1].bits, 128);
	profile_free(&server);
	profile_text_free(text, len);
}

/* What people have: other networks, holes, sites behind a client, no end of line. */
static void test_places(void **state)
{
	static const struct {
		const char *address, *peers[3], *place; /* place NULL: no room */
	} cases[] = {
		{ "10.0.0.1/24", { "10.0.0.2/32", "10.0.0.4/32" }, "10.0.0.3/24" },
		{ "10.0.0.77/24", { NULL }, "10.0.0.1/24" },
		{ "10.0.0.1/29", { "10.0.0.2/32", "10.0.0.4/30" }, "10.0.0.3/29" },
		{ "10.0.0.1/30", { "10.0.0.2/32" }, NULL },
		{ "10.0.0.1/24", { "10.0.0.0/24" }, NULL },
		{ "10.0.0.1/32", { NULL }, NULL },
		{ "10.0.0.1/24", { "0.0.0.0/0" }, NULL },
		{ "10.0.0.1/16", { "10.0.0.0/24" }, "10.0.1.0/16" },
		{ "fd00::1/64", { "fd00::2/128" }, "fd00::3/64" },
		{ "fd00::1/126", { "fd00::2/128" }, NULL },
	};
	size_t i, n;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct profile server;
		struct ip_prefix prefix;
		struct server_place place = { 0 };
		char text[PREFIX_TEXT_LEN] = "no room";
		bool good;

		profile_init(&server);
		assert_true(ip_prefix_parse(cases[i].address, strlen(cases[i].address), &prefix));
		assert_true(profile_add_address(&server, &prefix));
		for (n = 0; n < 3 && cases[i].peers[n]; n++) {
			assert_true(ip_prefix_parse(cases[i].peers[n], strlen(cases[i].peers[n]), &prefix));
			assert_true(profile_add_allowed_ip(profile_add_peer(&server), &prefix));
		}
		good = server_plan_place(&server, &place);
		if (good)
			ip_prefix_write(&place.addresses[0], text);
		if (good != (cases[i].place != NULL) || (good && strcmp(text, cases[i].place) != 0))
			fail_msg("%zu: %s", i, text);
		profile_free(&server);
	}
}

static void test_noted(void **state)
{
	static const struct {
		const char *text, *out;
	} cases[] = {
		{ "[Interface]\n# Endpoint = a:1\n", "a:1" },
		{ "# Endpoint =   b:2  \r\n", "b:2" },
		{ "# Endpoint = c:3", "c:3" },
		{ "# Endpoint =\n", NULL },
		{ "Endpoint = d:4\n", NULL },
		{ "", NULL },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char out[SERVER_PLAN_ENDPOINT_LEN];
		bool good = server_plan_noted(cases[i].text, strlen(cases[i].text), out);

		if (good != (cases[i].out != NULL) || (good && strcmp(out, cases[i].out) != 0))
			fail_msg("%zu: %s", i, good ? out : "none");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_endpoint),
		cmocka_unit_test(test_server_and_clients),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_noted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
