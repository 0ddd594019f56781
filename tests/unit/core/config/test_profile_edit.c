/* SPDX-License-Identifier: MIT */
/* One key changes and every other byte stays; what would break the profile is refused. */
#include "core/config/edit.h"
#include "core/config/write.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define KEY "yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk="
#define PEER "xTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg="
#define PEER2 "TrMvSoP4jYQlY6RIzBgbssQqY3vxI2Pi+y71lOWWXX0="
#define HEAD "[Interface]\nPrivateKey = " KEY "\n"
#define A PROFILE_EDIT_INTERFACE

static const struct {
	const char *name, *before;
	size_t peer;
	const char *key, *value, *after;
} rows[] = {
	{ "change, comment stays", "# top\n" HEAD "mtu=1400   # was 1420\n# end", A, "MTU", "1380",
		"# top\n" HEAD "mtu=1380   # was 1420\n# end" },
	{ "add behind the last key", HEAD "MTU = 1400\n\n# about the peer\n[Peer]\nPublicKey = " PEER "\n", A,
		"Table", "off",
		HEAD "MTU = 1400\nTable = off\n\n# about the peer\n[Peer]\nPublicKey = " PEER "\n" },
	{ "add at the end without newline", HEAD "MTU = 1400", A, "table", "off",
		HEAD "MTU = 1400\nTable = off\n" },
	{ "add in CRLF", "[Interface]\r\nPrivateKey = " KEY "\r\n", A, "MTU", "1400",
		"[Interface]\r\nPrivateKey = " KEY "\r\nMTU = 1400\r\n" },
	{ "change in CRLF", "[Interface]\r\nPrivateKey = " KEY "\r\nMTU = 1400\r\n", A, "MTU", "1401",
		"[Interface]\r\nPrivateKey = " KEY "\r\nMTU = 1401\r\n" },
	{ "byte order mark stays", "\xef\xbb\xbf" HEAD "MTU = 1400\n", A, "MTU", "1401",
		"\xef\xbb\xbf" HEAD "MTU = 1401\n" },
	{ "take away", HEAD "MTU = 1400 # x\n# y\n", A, "MTU", NULL, HEAD "# y\n" },
	{ "take away what is not there", HEAD, A, "MTU", NULL, HEAD },
	{ "list in several lines becomes one", HEAD "DNS = 1.1.1.1 # a\n# b\nDNS = 8.8.8.8\nMTU = 1400\n", A,
		"DNS", "9.9.9.9, x.example", HEAD "DNS = 9.9.9.9, x.example # a\n# b\nMTU = 1400\n" },
	{ "value where there was none", HEAD "DNS =\nAddress = # none\n", A, "DNS", "9.9.9.9",
		HEAD "DNS = 9.9.9.9\nAddress = # none\n" },
	{ "value before a comment", HEAD "Address = # none\n", A, "Address", "10.0.0.1/8",
		HEAD "Address = 10.0.0.1/8 # none\n" },
	{ "hook with #", HEAD "PostUp = a # b\n", A, "PostUp", "c # d", HEAD "PostUp = c # d\n" },
	{ "second peer",
		HEAD "[Peer]\nPublicKey = " PEER "\nEndpoint = a:1\n[Peer]\nPublicKey = " PEER2
		     "\nEndpoint = b:2 # two\n",
		1, "Endpoint", "c:3",
		HEAD "[Peer]\nPublicKey = " PEER "\nEndpoint = a:1\n[Peer]\nPublicKey = " PEER2
		     "\nEndpoint = c:3 # two\n" },
	{ "first peer", HEAD "[Peer]\nPublicKey = " PEER "\n[Peer]\nPublicKey = " PEER2 "\n", 0, "Transport",
		"tcp",
		HEAD "[Peer]\nPublicKey = " PEER "\nTransport = tcp\n[Peer]\nPublicKey = " PEER2 "\n" },
	{ "Transport of the interface is another", HEAD "[Peer]\nPublicKey = " PEER "\nTransport = tcp\n", A,
		"Transport", "udp", HEAD "Transport = udp\n[Peer]\nPublicKey = " PEER "\nTransport = tcp\n" },
	{ "name added", HEAD "MTU = 1400\n", A, "name", "My office #2",
		"[Interface]\n# Name = My office #2\nPrivateKey = " KEY "\nMTU = 1400\n" },
	{ "name changed", "[Interface]\n#Name=Old\nPrivateKey = " KEY "\n", A, "Name", "New",
		"[Interface]\n#Name=New\nPrivateKey = " KEY "\n" },
	{ "name ahead of the section", "# from anna\n# Name = Old\n\n[Interface]\nPrivateKey = " KEY "\n", A,
		"Name", "New", "# from anna\n# Name = New\n\n[Interface]\nPrivateKey = " KEY "\n" },
	{ "hidden private key stays", HEAD, A, "PrivateKey", "(hidden)", HEAD },
	{ "private key changes", HEAD, A, "PrivateKey", PEER2, "[Interface]\nPrivateKey = " PEER2 "\n" },
};

static void only_the_key_changes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct profile_error error = { 0 };
		char *after;
		size_t len;

		if (!profile_edit("a", rows[i].before, strlen(rows[i].before), rows[i].peer, rows[i].key,
			    rows[i].value, &after, &len, &error))
			fail_msg("%s: line %u: %s", rows[i].name, error.line, error.sentence);
		assert_int_equal(len, strlen(after));
		if (strcmp(after, rows[i].after) != 0)
			fail_msg("%s:\n%s", rows[i].name, after);
		profile_text_free(after, len);
	}
}

static const struct {
	const char *name;
	size_t peer;
	const char *key, *value, *words;
} refused[] = {
	{ "unknown key", A, "Transprot", "tcp", "did you mean Transport?" },
	{ "wrong section", A, "Endpoint", "a:1", "Endpoint belongs into [Peer]: name the peer" },
	{ "wrong section of a peer", 0, "MTU", "1400", "MTU belongs into [Interface]: name no peer" },
	{ "no such peer", 1, "Endpoint", "a:1", "no peer number 2" },
	{ "bad value", A, "MTU", "12", "576 to 65535" },
	{ "two lines", A, "MTU", "1400\nPostUp = evil", "line break" },
	{ "comment in a value", 0, "Endpoint", "a:1 # x", "starts a comment" },
	{ "two values for one", 0, "Endpoint", "a:1, b:2", "HOST:PORT" },
	{ "no private key", A, "PrivateKey", NULL, "no PrivateKey" },
	{ "short key", A, "PrivateKey", "abc", "has 3 characters" },
	{ "empty value", A, "MTU", "", "no value" },
	{ "control character", A, "PostUp", "a\033b", "control character" },
};

static void what_breaks_the_profile_is_refused(void **state)
{
	static const char text[] = HEAD "[Peer]\nPublicKey = " PEER "\n";

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct profile_error error = { 0 };
		char *after = NULL;
		size_t len = 7;

		if (profile_edit("a", text, sizeof(text) - 1, refused[i].peer, refused[i].key,
			    refused[i].value, &after, &len, &error))
			fail_msg("%s: accepted", refused[i].name);
		if (!strstr(error.sentence, refused[i].words))
			fail_msg("%s: %s", refused[i].name, error.sentence);
		assert_null(after);
		assert_int_equal(len, 7);
	}
}

static void keys_know_their_sections(void **state)
{
	(void)state;
	assert_int_equal(profile_key_sections("mtu"), PROFILE_IN_INTERFACE);
	assert_int_equal(profile_key_sections("Endpoint"), PROFILE_IN_PEER);
	assert_int_equal(profile_key_sections("Transport"), PROFILE_IN_INTERFACE | PROFILE_IN_PEER);
	assert_int_equal(profile_key_sections("Name"), PROFILE_IN_INTERFACE | PROFILE_IN_PEER);
	assert_int_equal(profile_key_sections("Endpoints"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_key_changes),
		cmocka_unit_test(what_breaks_the_profile_is_refused),
		cmocka_unit_test(keys_know_their_sections),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
