/* SPDX-License-Identifier: MIT */
/* What tells a captive portal: an answer to a check, a lease; and what tells a trusted network. */
#include "client/daemon/on_demand.h"
#include "client/daemon/probe_fetch.h"
#include "client/daemon/probe_lease.h"
#include "client/daemon/probe_portal.h"
#include "client/daemon/resolvconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CHECK "http://check.example:8080/generate_204?x"

static const struct {
	long status;
	bool online;
	const char *redirect;
	enum probe_portal portal;
	const char *url;
} answers[] = {
	{ 0, false, "", PROBE_PORTAL_UNKNOWN, "" },
	{ 204, false, "", PROBE_PORTAL_OPEN, "" },
	{ 200, true, "", PROBE_PORTAL_OPEN, "" },
	{ 200, false, "", PROBE_PORTAL_CAPTIVE, "http://check.example:8080" },
	{ 511, false, "", PROBE_PORTAL_CAPTIVE, "http://check.example:8080" },
	{ 302, false, "https://login.example/a?b", PROBE_PORTAL_CAPTIVE, "https://login.example/a?b" },
	{ 307, false, "http://10.0.0.1/", PROBE_PORTAL_CAPTIVE, "http://10.0.0.1/" },
	{ 302, false, "ftp://login.example/", PROBE_PORTAL_CAPTIVE, "" },
	{ 302, false, "", PROBE_PORTAL_UNKNOWN, "" },
	{ 301, false, "https://check.example/generate_204", PROBE_PORTAL_UNKNOWN, "" },
	{ 301, false, "https://check.example.login.example/", PROBE_PORTAL_CAPTIVE,
		"https://check.example.login.example/" },
	{ 404, false, "", PROBE_PORTAL_UNKNOWN, "" },
	{ 503, false, "", PROBE_PORTAL_UNKNOWN, "" },
};

static void answers_are_judged(void **state)
{
	struct fetch_result *result = calloc(1, sizeof(*result));
	char url[PROBE_TEXT_LEN];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		result->status = answers[i].status;
		result->says_online = answers[i].online;
		strcpy(result->redirect, answers[i].redirect);
		assert_int_equal(portal_judge(CHECK, result, url), answers[i].portal);
		assert_string_equal(url, answers[i].url);
	}
	free(result);
}

static const struct {
	const char *text, *url;
} leases[] = {
	{ "", "" },
	{ "ADDRESS=192.0.2.2\nCAPTIVE_PORTAL=https://a.example/api\n", "https://a.example/api" },
	{ "CAPTIVE_PORTAL=javascript:alert(1)\n", "" },
	{ "CAPTIVE_PORTAL=https://a.example/\x01\n", "" },
	{ "CAPTIVE_PORTAL=\n", "" },
	{ "lease {\n  option default-url \"https://a.example/api\";\n}\n", "https://a.example/api" },
	{ "lease {\n  option v4-captive-portal \"https://a.example/1\";\n}\nlease {\n  option "
	  "v4-captive-portal "
	  "\"https://a.example/2\";\n}\n",
		"https://a.example/2" },
	/* The newest lease says nothing of it any more. */
	{ "lease {\n  option default-url \"https://a.example/1\";\n}\nlease {\n  option routers "
	  "192.0.2.1;\n}\n",
		"" },
	{ "lease {\n  option default-url \"https://a.example/1;\n}\n", "" },
	{ "lease {\n  option other-url \"https://a.example/1\";\n}\n", "" },
};

static void leases_are_read(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(leases) / sizeof(leases[0]); i++) {
		char url[PROBE_TEXT_LEN] = "";

		assert_int_equal(lease_parse(leases[i].text, url, sizeof(url)), leases[i].url[0] != 0);
		assert_string_equal(url, leases[i].url);
	}
}

static void short_room_is_respected(void **state)
{
	char url[8];

	(void)state;
	assert_false(lease_parse("CAPTIVE_PORTAL=https://a.example/api\n", url, sizeof(url)));
}

/* One entry, and whether it names the place: Wi-Fi "Home", gateways 192.0.2.1 (02:00:00:00:ab:01) and
 * fe80::1. */
static const struct {
	const char *entry;
	bool trusted;
} places[] = {
	{ "Home", true },
	{ "home", false },
	{ "Hom", false },
	{ "Home ", false },
	{ "192.0.2.1", true },
	{ "192.0.2.2", false },
	{ "fe80::1", true },
	{ "FE80:0::1", true },
	{ "02:00:00:00:ab:01", true },
	{ "02:00:00:00:AB:01", true },
	{ "02:00:00:00:ab", false },
	{ "", false },
};

static void places_are_trusted(void **state)
{
	struct on_demand_place place = { .connected = true,
		.ssid = "Home",
		.ssid_len = 4,
		.gateways = { { IP_V4, { 192, 0, 2, 1 } }, { IP_V6, { 0xfe, 0x80, [15] = 1 } } },
		.hardware = { { 2, 0, 0, 0, 0xab, 1 } },
		.hardware_len = { 6 } };
	struct on_demand_place nowhere = { 0 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		char *entry = (char *)places[i].entry;
		struct profile_texts list = { &entry, 1 };

		assert_int_equal(on_demand_trusts(&list, &place), places[i].trusted);
		assert_false(on_demand_trusts(&list, &nowhere));
	}
}

static const struct {
	enum resolvconf_kind kind;
	const char *interface;
	bool set, ok;
	const char *arguments;
} commands[] = {
	{ RESOLVCONF_OPENRESOLV, "office", true, true, "resolvconf -a office -m 0 -x" },
	{ RESOLVCONF_OPENRESOLV, "office", false, true, "resolvconf -d office -f" },
	{ RESOLVCONF_DEBIAN, "office", true, true, "resolvconf -a tun.office -m 0 -x" },
	{ RESOLVCONF_DEBIAN, "office", false, true, "resolvconf -d tun.office -f" },
	{ RESOLVCONF_SYSTEMD, "office", true, true, "resolvconf -a office -m 0 -x" },
	{ RESOLVCONF_NONE, "office", true, false, "" },
	{ RESOLVCONF_OPENRESOLV, "-f", true, false, "" },
	{ RESOLVCONF_OPENRESOLV, "../x", true, false, "" },
	{ RESOLVCONF_OPENRESOLV, "", true, false, "" },
	{ RESOLVCONF_OPENRESOLV, "sixteen-letters-", true, false, "" },
};

static void resolvconf_is_called_as_it_wants_to_be(void **state)
{
	size_t i, j;

	(void)state;
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		struct resolvconf_command command;
		char text[128] = "";

		assert_int_equal(resolvconf_command_of(
					 commands[i].kind, commands[i].interface, commands[i].set, &command),
			commands[i].ok);
		for (j = 0; commands[i].ok && command.arguments[j]; j++) {
			strcat(text, j ? " " : "");
			strcat(text, command.arguments[j]);
		}
		assert_string_equal(text, commands[i].arguments);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_are_judged),
		cmocka_unit_test(leases_are_read),
		cmocka_unit_test(short_room_is_respected),
		cmocka_unit_test(places_are_trusted),
		cmocka_unit_test(resolvconf_is_called_as_it_wants_to_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
