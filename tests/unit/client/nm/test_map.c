/* SPDX-License-Identifier: MIT */
/* A connection's data as a profile: what is taken, and what is refused with which words. */
#include "client/nm/handover.h"
#include "client/nm/map.h"
#include "core/config/write.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define KEY "yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk="
#define PEER "xTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg="
#define PEER2 "TrMvSoP4jYQlY6RIzBgbssQqY3vxI2Pi+y71lOWWXX0="

#define ENTRIES_MAX 12

static const struct {
	const char *name;
	struct nm_entry entries[ENTRIES_MAX];
	const char *written; /* NULL: refused */
	const char *words;
} rows[] = {
	{ "smallest", { { "private-key", KEY, true } }, "[Interface]\nPrivateKey = " KEY "\n", NULL },
	{ "everything but order",
		{ { "peer-2.public-key", PEER2, false }, { "post-up.2", "b; # two", false },
			{ "post-up.1", "a, b", false }, { "address", "10.0.0.2/24, fd00::2/64", false },
			{ "private-key", KEY, true }, { "peer-1.allowed-ips", "10.0.0.0/8", false },
			{ "peer-1.public-key", PEER, false }, { "private-key-flags", "1", false },
			{ "kill-switch", "on", false } },
		"[Interface]\nPrivateKey = " KEY
		"\nAddress = 10.0.0.2/24, fd00::2/64\nPostUp = a, b\nPostUp = b; # two\n"
		"KillSwitch = on\n\n[Peer]\nPublicKey = " PEER
		"\nAllowedIPs = 10.0.0.0/8\n\n[Peer]\nPublicKey = " PEER2 "\n",
		NULL },
	{ "no private key", { { "address", "10.0.0.2/24", false } }, NULL, "there is no PrivateKey" },
	{ "unknown", { { "private-key", KEY, true }, { "gateway", "x", false } }, NULL, "\"gateway\"" },
	{ "other spelling", { { "private-key", KEY, true }, { "AllowedIPs", "x", false } }, NULL,
		"no profile has" },
	{ "in the wrong section", { { "private-key", KEY, true }, { "endpoint", "a:1", false } }, NULL,
		"\"endpoint\"" },
	{ "peer 0", { { "private-key", KEY, true }, { "peer-0.public-key", PEER, false } }, NULL, "peer-0" },
	{ "peer 257", { { "private-key", KEY, true }, { "peer-257.public-key", PEER, false } }, NULL,
		"peer-257" },
	{ "a gap", { { "private-key", KEY, true }, { "peer-2.public-key", PEER, false } }, NULL,
		"peer 1 has no PublicKey" },
	{ "the same peer twice",
		{ { "private-key", KEY, true }, { "peer-1.public-key", PEER, false },
			{ "peer-2.public-key", PEER, false } },
		NULL, "same PublicKey" },
	{ "secret among the data", { { "private-key", KEY, false } }, NULL, "set it as a secret" },
	{ "data among the secrets", { { "private-key", KEY, true }, { "mtu", "1400", true } }, NULL,
		"no secret" },
	{ "flags", { { "private-key", KEY, true }, { "private-key-flags", "x", false } }, NULL, "0 to 7" },
	{ "line break", { { "private-key", KEY, true }, { "backend", "auto\nPostUp = x", false } }, NULL,
		"control character (0x0a)" },
	{ "line break in a command", { { "private-key", KEY, true }, { "post-up.1", "x\ny", false } }, NULL,
		"control character" },
	{ "line break in the name", { { "private-key", KEY, true }, { "name", "x\n[Peer]", false } }, NULL,
		"control character" },
	{ "tab", { { "private-key", KEY, true }, { "dns", "1.1.1.1\t8.8.8.8", false } }, NULL, "0x09" },
	{ "delete", { { "private-key", KEY, true }, { "dns", "1.1.1.1\x7f", false } }, NULL, "0x7f" },
	{ "comment", { { "private-key", KEY, true }, { "trusted-networks", "Cafe #1", false } }, NULL,
		"begins a comment" },
	{ "not UTF-8", { { "private-key", KEY, true }, { "name", "\xff", false } }, NULL, "UTF-8" },
	{ "half a key", { { "private-key", "yAnz", true } }, NULL, "PrivateKey" },
	{ "bad number", { { "private-key", KEY, true }, { "mtu", "12", false } }, NULL, "MTU is \"12\"" },
};

static size_t count_of(const struct nm_entry *entries)
{
	size_t count = 0;

	while (count < ENTRIES_MAX && entries[count].key)
		count++;
	return count;
}

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct profile_error error = { 0 };
		struct profile profile;
		bool ok = nm_map_read(rows[i].entries, count_of(rows[i].entries), true, &profile, &error);
		size_t len;
		char *text;

		if (ok != (rows[i].written != NULL))
			fail_msg("%s: %s", rows[i].name, ok ? "taken" : error.sentence);
		if (!ok) {
			if (!strstr(error.sentence, rows[i].words) || strstr(error.sentence, KEY))
				fail_msg("%s: %s", rows[i].name, error.sentence);
			continue;
		}
		text = profile_write(&profile, false, &len);
		assert_string_equal(text, rows[i].written);
		profile_text_free(text, len);
		profile_free(&profile);
	}
}

static void test_secret_names(void **state)
{
	size_t peer = 7;

	(void)state;
	assert_true(nm_map_is_secret("private-key", &peer));
	assert_true(peer == PROFILE_EDIT_INTERFACE);
	assert_true(nm_map_is_secret("peer-3.preshared-key", &peer));
	assert_int_equal(peer, 2);
	assert_false(nm_map_is_secret("preshared-key", &peer));
	assert_false(nm_map_is_secret("private-key-flags", &peer));
	assert_false(nm_map_is_secret("peer-1.public-key", &peer));
	assert_false(nm_map_is_secret("", &peer));
}

static void test_handover(void **state)
{
	static const struct nm_entry entries[] = { { "private-key", KEY, true },
		{ "dns", "10.0.0.1, corp.example", false }, { "peer-1.public-key", PEER, false },
		{ "peer-1.preshared-key", PEER2, true }, { "peer-1.endpoint", "[2001:db8::1]:51820", false },
		{ "peer-1.tcp-endpoint", "a.example:443, b.example:80", false },
		{ "peer-1.udp-ports", "53, 443", false }, { "peer-1.persistent-keepalive", "25", false },
		{ "table", "77", false }, { "post-up.1", "true", false } };
	struct profile_error error = { 0 };
	struct profile profile;
	struct rpc_given given;

	(void)state;
	assert_true(nm_map_read(entries, sizeof(entries) / sizeof(entries[0]), true, &profile, &error));
	assert_true(handover_write(&profile, &given));
	assert_string_equal(given.private_key, KEY);
	assert_int_equal(given.dns.count, 2);
	assert_string_equal(given.dns.items[1], "corp.example");
	assert_string_equal(given.table, "77");
	assert_int_equal(given.peer_count, 1);
	assert_string_equal(given.peers[0].preshared_key, PEER2);
	assert_string_equal(given.peers[0].endpoint, "[2001:db8::1]:51820");
	assert_string_equal(given.peers[0].tcp_endpoints.items[1], "b.example:80");
	assert_string_equal(given.peers[0].udp_ports.items[0], "53");
	assert_int_equal(given.peers[0].keepalive_s, 25);
	rpc_given_free(&given);
	profile_free(&profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_secret_names),
		cmocka_unit_test(test_handover),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
