/* SPDX-License-Identifier: MIT */
/* Which valid profiles are warned about, in which line; and the address that is asked inside the tunnel. */
#include "core/config/parse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define HEAD                                                                                                 \
	"[Interface]\nPrivateKey = yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=\nAddress = 10.0.0.2/24, "    \
	"fd00::2/64\n"
#define PEER "[Peer]\nPublicKey = xTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg=\nEndpoint = a.example:1\n"
#define PEER2 "[Peer]\nPublicKey = TrMvSoP4jYQlY6RIzBgbssQqY3vxI2Pi+y71lOWWXX0=\n"
#define NONE 0xff

static const struct {
	const char *name, *text;
	unsigned kind, line;
	const char *words;
} warnings_rows[] = {
	{ "nothing", HEAD PEER "AllowedIPs = 10.0.0.0/24\n", NONE, 0, NULL },
	{ "IPv6 leaks past 0/0", HEAD PEER "AllowedIPs = 0.0.0.0/0\n", PROFILE_WARN_IPV6_LEAK, 4,
		"add ::/0" },
	{ "IPv6 leaks past two halves", HEAD PEER "AllowedIPs = 0.0.0.0/1, 128.0.0.0/1, fd00::/8\n",
		PROFILE_WARN_IPV6_LEAK, 4, "KillSwitch = on" },
	{ "half is not all", HEAD PEER "AllowedIPs = 0.0.0.0/1, 0.0.0.0/1\n", NONE, 0, NULL },
	{ "no leak with ::/0", HEAD PEER "AllowedIPs = 0.0.0.0/0, ::/0\n", NONE, 0, NULL },
	{ "no leak with halves of IPv6", HEAD PEER "AllowedIPs = 0.0.0.0/0, ::/1, 8000::/1\n", NONE, 0,
		NULL },
	{ "no leak with the kill switch", HEAD "KillSwitch = on\n" PEER "AllowedIPs = 0.0.0.0/0\n", NONE, 0,
		NULL },
	{ "no leak without routes", HEAD "Table = off\n" PEER "AllowedIPs = 0.0.0.0/0\n", NONE, 0, NULL },
	{ "DNS outside", HEAD "DNS = 1.1.1.1\n" PEER "AllowedIPs = 10.0.0.0/8\n", PROFILE_WARN_DNS_OUTSIDE, 4,
		"add 1.1.1.1/32" },
	{ "DNS outside, IPv6", HEAD "DNS = 2001:db8::1\n" PEER "AllowedIPs = 10.0.0.0/8\n",
		PROFILE_WARN_DNS_OUTSIDE, 4, "add 2001:db8::1/128" },
	{ "DNS inside", HEAD "DNS = 10.1.1.1\n" PEER "AllowedIPs = 10.0.0.0/8\n", NONE, 0, NULL },
	{ "same prefix on two peers",
		HEAD PEER "AllowedIPs = 10.0.0.0/24\n" PEER2 "AllowedIPs = 10.9.0.0/24, 10.0.0.1/24\n",
		PROFILE_WARN_SAME_PREFIX, 8,
		"10.0.0.0/24 is in AllowedIPs of two peers, those of line 4 and line 8" },
	{ "same prefix on one peer", HEAD PEER "AllowedIPs = 10.0.0.0/24, 10.0.0.0/24\n" PEER2, NONE, 0,
		NULL },
	{ "another length is another prefix",
		HEAD PEER "AllowedIPs = 10.0.0.0/24\n" PEER2 "AllowedIPs = 10.0.0.0/25\n", NONE, 0, NULL },
	{ "hooks", HEAD "PostUp = true\nPreDown = true\n" PEER, PROFILE_WARN_HOOKS, 4, "never run" },
	{ "SaveConfig", HEAD "SaveConfig = true\n" PEER, PROFILE_WARN_SAVE_CONFIG, 4, "no effect" },
	{ "no peer", HEAD, PROFILE_WARN_NO_PEER, 1, "nobody to talk to" },
	{ "no endpoint", HEAD PEER2, PROFILE_WARN_NO_ENDPOINT, 4, "add Endpoint" },
	{ "a server needs none", HEAD "ListenPort = 51820\n" PEER2, NONE, 0, NULL },
};

static void warnings_stand_where_they_should(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(warnings_rows) / sizeof(warnings_rows[0]); i++) {
		struct profile_error error;
		struct profile_warnings warnings;
		struct profile profile;

		if (!profile_parse("a", warnings_rows[i].text, strlen(warnings_rows[i].text), &profile,
			    &error, &warnings))
			fail_msg("%s: line %u: %s", warnings_rows[i].name, error.line, error.sentence);
		profile_free(&profile);
		if (warnings.count != (warnings_rows[i].kind != NONE))
			fail_msg("%s: %zu warnings: %s", warnings_rows[i].name, warnings.count,
				warnings.items[0].sentence);
		if (!warnings.count)
			continue;
		if ((unsigned)warnings.items[0].kind != warnings_rows[i].kind ||
			warnings.items[0].line != warnings_rows[i].line ||
			!strstr(warnings.items[0].sentence, warnings_rows[i].words))
			fail_msg("%s: line %u: %s", warnings_rows[i].name, warnings.items[0].line,
				warnings.items[0].sentence);
	}
}

static void more_warnings_than_room_are_counted(void **state)
{
	struct profile_error error;
	struct profile_warnings warnings;
	struct profile profile;
	char text[2048] = HEAD "DNS = 1.1.1.1";

	(void)state;
	for (int i = 2; i < 22; i++)
		sprintf(text + strlen(text), ", 1.1.1.%d", i);
	strcat(text, "\n" PEER "AllowedIPs = 10.0.0.0/8\n");
	assert_true(profile_parse("a", text, strlen(text), &profile, &error, &warnings));
	assert_int_equal(warnings.count, PROFILE_WARNINGS_MAX);
	assert_int_equal(warnings.left_off, 21 - PROFILE_WARNINGS_MAX);
	profile_free(&profile);
}

static const struct {
	const char *name, *text, *address; /* NULL: none */
} probe_rows[] = {
	{ "as given", HEAD PEER "AllowedIPs = 10.0.0.0/24, 10.0.0.7/32\nProbeAddress = 10.0.0.9\n",
		"10.0.0.9" },
	{ "host prefix", HEAD "DNS = 10.0.0.53\n" PEER "AllowedIPs = 10.0.0.0/24, 10.0.0.7/32\n",
		"10.0.0.7" },
	{ "host prefix of IPv6", HEAD PEER "AllowedIPs = fd00::7/128, 10.0.0.0/24\n", "fd00::7" },
	{ "not our own address", HEAD PEER "AllowedIPs = 10.0.0.2/32, 10.0.0.0/24\n", "10.0.0.1" },
	{ "DNS inside", HEAD "DNS = 1.1.1.1, 10.0.0.53\n" PEER "AllowedIPs = 10.0.0.0/24\n", "10.0.0.53" },
	{ "first host", HEAD PEER "AllowedIPs = 0.0.0.0/0\n", "10.0.0.1" },
	{ "first host of IPv6", HEAD PEER "AllowedIPs = fd00::/16\n", "fd00::1" },
	{ "first host of a pair",
		"[Interface]\nPrivateKey = yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=\nAddress = "
		"10.0.0.5/31\n" PEER "AllowedIPs = 0.0.0.0/0\n",
		"10.0.0.4" },
	{ "we are the first host",
		"[Interface]\nPrivateKey = yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=\nAddress = "
		"10.0.0.1/24\n" PEER "AllowedIPs = 0.0.0.0/0\n",
		NULL },
	{ "no network",
		"[Interface]\nPrivateKey = yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=\nAddress = "
		"10.0.0.2\n" PEER "AllowedIPs = 0.0.0.0/0\n",
		NULL },
	{ "not routed to the peer", HEAD PEER "AllowedIPs = 192.168.0.0/16\n", NULL },
};

static void probe_address(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(probe_rows) / sizeof(probe_rows[0]); i++) {
		struct profile_error error;
		struct profile profile;
		struct ip_address address = { 0 };
		char text[ENDPOINT_TEXT_LEN];

		assert_true(profile_parse(
			"a", probe_rows[i].text, strlen(probe_rows[i].text), &profile, &error, NULL));
		if (profile_probe_address(&profile, 0, &address) != (probe_rows[i].address != NULL))
			fail_msg("%s: %s", probe_rows[i].name, ip_address_write(&address, text));
		if (probe_rows[i].address &&
			strcmp(ip_address_write(&address, text), probe_rows[i].address) != 0)
			fail_msg("%s: %s", probe_rows[i].name, text);
		profile_free(&profile);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(warnings_stand_where_they_should),
		cmocka_unit_test(more_warnings_than_room_are_counted),
		cmocka_unit_test(probe_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
