/* SPDX-License-Identifier: MIT */
/* NetworkManager's key files as profiles. */
#include "client/cli/keyfile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define KEY "qLvqrvNPwJq8PTbxkSx0hpSZFn5dDZN/c0uXnWk1/U0="
#define PEER "1SCEsQpOVgXRsZTM/3OpfCyCmZ6ZUwdSKEtqGSuzYXE="

static void test_usual(void **state)
{
	static const char text[] =
		"# a comment\n[ipv4]\ndns=10.8.0.1;10.8.0.53;\ndns-search=corp.example;\n"
		"address1=10.8.0.2/24,10.8.0.1\naddress2=10.9.0.2/24\nroute1=1.1.1.0/24\n"
		"[wireguard-peer." PEER "]\nendpoint=[2001:db8::1]:51820\nallowed-ips=10.8.0.0/24;fd00::/8;\n"
		"preshared-key-flags=1\npersistent-keepalive=25\n"
		"[wireguard]\nprivate-key = " KEY "\r\nmtu=1380\nlisten-port=0\npeer-routes=false\n"
		"[connection]\nid=Our\\soffice\ntype=wireguard\nautoconnect=true\n";
	struct keyfile_profile profile;

	(void)state;
	assert_int_equal(keyfile_read(text, strlen(text), &profile), KEYFILE_PROFILE);
	assert_string_equal(profile.id, "Our office");
	assert_string_equal(profile.text,
		"[Interface]\n# Name = Our office\nPrivateKey = " KEY "\nMTU = 1380\nTable = off\n"
		"Address = 10.8.0.2/24\nAddress = 10.9.0.2/24\nDNS = 10.8.0.1, 10.8.0.53\n"
		"DNS = corp.example\n\n[Peer]\nPublicKey = " PEER
		"\nAllowedIPs = 10.8.0.0/24, fd00::/8\nEndpoint = [2001:db8::1]:51820\n"
		"PersistentKeepalive = 25\n");
	assert_int_equal(profile.len, strlen(profile.text));
	assert_string_equal(
		profile.left_out, "its own routes, a preshared key that NetworkManager keeps elsewhere");
	keyfile_free(&profile);
}

static void test_others(void **state)
{
	static const struct {
		const char *text;
		enum keyfile_kind kind;
	} cases[] = {
		{ "", KEYFILE_OTHER },
		{ "[connection]\ntype=wifi\n", KEYFILE_OTHER },
		{ "[Interface]\nPrivateKey = " KEY "\n", KEYFILE_OTHER },
		{ "[connection]\ntype=wireguard\n[wireguard]\nprivate-key-flags=1\n", KEYFILE_NO_KEY },
		{ "[connection]\ntype=wireguard\nid=x\\nPostUp = evil\n[wireguard]\nprivate-key=" KEY "\n",
			KEYFILE_BAD },
		{ "[connection]\ntype=wireguard\n[wireguard]\nprivate-key=" KEY "\\r\n", KEYFILE_BAD },
		{ "[connection]\ntype=wireguard\n[wireguard]\nprivate-key=" KEY "\n", KEYFILE_PROFILE },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct keyfile_profile profile;
		enum keyfile_kind kind = keyfile_read(cases[i].text, strlen(cases[i].text), &profile);

		if (kind != cases[i].kind)
			fail_msg("%zu: %d", i, (int)kind);
		keyfile_free(&profile);
	}
}

/* A group that is there again is not another peer; a profile of them all would not have had room. */
static void test_groups_again(void **state)
{
	static char text[64 * 1024];
	struct keyfile_profile profile;
	size_t peers = 0, used;

	(void)state;
	used = (size_t)snprintf(text, sizeof(text),
		"[connection]\ntype=wireguard\n[wireguard]\nprivate-key=" KEY "\n[wireguard-peer." PEER
		"]\nallowed-ips=10.8.0.0/24;\n");
	while (used < 30000)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "[wireguard-peer." PEER "]\nendpoint=a:1\n");
	assert_int_equal(keyfile_read(text, used, &profile), KEYFILE_PROFILE);
	for (const char *at = profile.text; (at = strstr(at, "[Peer]")); at++)
		peers++;
	assert_int_equal(peers, 1);
	assert_int_equal(strlen(profile.text), profile.len);
	keyfile_free(&profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_usual),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_groups_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
