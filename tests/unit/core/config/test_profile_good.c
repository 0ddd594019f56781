/* SPDX-License-Identifier: MIT */
/* What people write and must work: each row is a text and the text that profile_write makes of it, which
 * shows every field that was understood; each result parses back to the same profile. */
#include "core/config/parse.h"
#include "core/config/write.h"
#include "tests/unit/core/config/equal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define KEY "yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk="
#define PEER "xTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg="
#define PEER2 "TrMvSoP4jYQlY6RIzBgbssQqY3vxI2Pi+y71lOWWXX0="
#define HEAD "[Interface]\nPrivateKey = " KEY "\n"
#define TAIL "\n[Peer]\nPublicKey = " PEER "\n"

static const struct {
	const char *name, *text, *written;
} rows[] = {
	{ "smallest", HEAD, HEAD },
	{ "byte order mark", "\xef\xbb\xbf" HEAD, HEAD },
	{ "no newline at the end", "[Interface]\nPrivateKey = " KEY, HEAD },
	{ "CRLF", "[Interface]\r\nPrivateKey = " KEY "\r\nMTU = 1400\r\n", HEAD "MTU = 1400\n" },
	{ "no blanks", "[Interface]\nPrivateKey=" KEY "\nAddress=10.0.0.2/24\n",
		HEAD "Address = 10.0.0.2/24\n" },
	{ "many blanks", "  [Interface] \n\tPrivateKey\t = \t" KEY "  \n   MTU=   1400\t\n",
		HEAD "MTU = 1400\n" },
	{ "blanks in the header", "[ Interface ]\nPrivateKey = " KEY "\n", HEAD },
	{ "letter case",
		"[INTERFACE]\nprivatekey = " KEY "\n[peer]\nPublickey = " PEER "\nALLOWEDIPS = 10.0.0.0/8\n",
		HEAD TAIL "AllowedIPs = 10.0.0.0/8\n" },
	{ "peer first", "[Peer]\nPublicKey = " PEER "\n" HEAD, HEAD TAIL },
	{ "comments", "# a\n[Interface] # b\nPrivateKey = " KEY " # c\n#d\nMTU = 1400# e\n",
		HEAD "MTU = 1400\n" },
	{ "name for people", "[Interface]\n# Name = B\xc3\xbcro, 2nd floor # 3\nPrivateKey = " KEY "\n",
		"[Interface]\n# Name = B\xc3\xbcro, 2nd floor # 3\nPrivateKey = " KEY "\n" },
	{ "name before the section", "#name=Home\n" HEAD,
		"[Interface]\n# Name = Home\nPrivateKey = " KEY "\n" },
	{ "first name counts", HEAD "# Name = A\n# Name = B\n",
		"[Interface]\n# Name = A\nPrivateKey = " KEY "\n" },
	{ "name of a peer", HEAD "[Peer]\n# Name = Anna\nPublicKey = " PEER "\n",
		HEAD "\n[Peer]\n# Name = Anna\nPublicKey = " PEER "\n" },
	{ "addresses of both families", HEAD "Address = 10.0.0.2/24, fd00::2/64\n",
		HEAD "Address = 10.0.0.2/24, fd00::2/64\n" },
	{ "addresses in two lines, without prefix", HEAD "Address = 10.0.0.2\nAddress = FD00:0::2\n",
		HEAD "Address = 10.0.0.2/32, fd00::2/128\n" },
	{ "addresses parted by blanks", HEAD "Address = 10.0.0.2/24 fd00::2/64\n",
		HEAD "Address = 10.0.0.2/24, fd00::2/64\n" },
	{ "empty lists", HEAD "Address =\nDNS = # none\nTrustedNetworks =\n" TAIL "AllowedIPs =\n",
		HEAD TAIL },
	{ "several AllowedIPs lines", HEAD TAIL "AllowedIPs = 10.0.0.0/8\nAllowedIPs = 192.168.1.7/24,::/0\n",
		HEAD TAIL "AllowedIPs = 10.0.0.0/8, 192.168.1.0/24, ::/0\n" },
	{ "DNS with domains", HEAD "DNS = 1.1.1.1, corp.example, 2606:4700::1111, ~.\nDNS = lan\n",
		HEAD "DNS = 1.1.1.1, 2606:4700::1111, corp.example, ~., lan\n" },
	{ "mark off", HEAD "FwMark = off\n", HEAD },
	{ "mark 0", HEAD "FwMark = 0\n", HEAD },
	{ "mark decimal", HEAD "FwMark = 51820\n", HEAD "FwMark = 51820\n" },
	{ "mark hexadecimal", HEAD "FwMark = 0xCA6C\n", HEAD "FwMark = 51820\n" },
	{ "mark largest", HEAD "FwMark = 0xffffffff\n", HEAD "FwMark = 4294967295\n" },
	{ "table off", HEAD "Table = OFF\n", HEAD "Table = off\n" },
	{ "table auto", HEAD "Table = auto\n", HEAD },
	{ "table number", HEAD "Table = 1234\n", HEAD "Table = 1234\n" },
	{ "table main", HEAD "Table = main\n", HEAD "Table = 254\n" },
	{ "MTU smallest", HEAD "MTU = 576\n", HEAD "MTU = 576\n" },
	{ "MTU largest", HEAD "MTU = 65535\n", HEAD "MTU = 65535\n" },
	{ "MTU smallest for IPv6", HEAD "Address = fd00::2/64\nMTU = 1280\n",
		HEAD "Address = fd00::2/64\nMTU = 1280\n" },
	{ "port 0", HEAD "ListenPort = 0\n", HEAD "ListenPort = 0\n" },
	{ "hooks with #, = and quotes",
		HEAD "PostUp = iptables -A X -m comment --comment \"a # b\" # c\nPreDown=a=b\nPostUp = 2\n",
		HEAD
		"PostUp = iptables -A X -m comment --comment \"a # b\" # c\nPostUp = 2\nPreDown = a=b\n" },
	{ "hook with a key's name", HEAD "PreUp = echo MTU = 3\n", HEAD "PreUp = echo MTU = 3\n" },
	{ "SaveConfig", HEAD "SaveConfig = true\n", HEAD "SaveConfig = true\n" },
	{ "our keys of the interface",
		HEAD "Transport = TCP\nBackend = userspace\nTcpListenPort = 443\nFallbackProfile = "
		     "office-tcp.conf\nKillSwitch = on\nkillswitchallowlan = true\n"
		     "AutoConnect = yes\nSpeedTestServer = true\nExtensions = off\nTrustedNetworks = Home "
		     "net, Caf\xc3\xa9\nPortalCheck = http://check.example/generate_204?a=b\n",
		HEAD "Backend = userspace\nTcpListenPort = 443\nFallbackProfile = office-tcp\nKillSwitch = "
		     "on\nKillSwitchAllowLan = on\nAutoConnect = on\n"
		     "SpeedTestServer = on\nExtensions = off\nTrustedNetworks = Home net\nTrustedNetworks = "
		     "Caf\xc3\xa9\nPortalCheck = http://check.example/generate_204?a=b\nTransport = tcp\n" },
	{ "our keys at their defaults",
		HEAD "Transport = auto\nBackend = auto\nKillSwitch = off\nKillSwitchAllowLan = off\nAutoConnect = no\nSpeedTestServer "
		     "= false\nExtensions = on\n",
		HEAD },
	{ "our keys of a peer",
		HEAD TAIL "Transport = udp\nTcpEndpoint = a.example:443\nTcpEndpoint = [2001:db8::1]:80, "
			  "192.0.2.1:8443\nUdpPorts = 53,443\nUdpPorts = 123\nProbeAddress = fd00::1\n",
		HEAD "\n[Peer]\nTransport = udp\nPublicKey = " PEER
		     "\nTcpEndpoint = a.example:443\nTcpEndpoint = [2001:db8::1]:80\nTcpEndpoint = "
		     "192.0.2.1:8443\nUdpPorts = 53, 443, 123\nProbeAddress = fd00::1\n" },
	{ "peer's transport auto is not the interface's", HEAD "Transport = tcp\n" TAIL "Transport = auto\n",
		HEAD "Transport = tcp\n\n[Peer]\nTransport = auto\nPublicKey = " PEER "\n" },
	{ "endpoint name", HEAD TAIL "Endpoint = VPN.example.com.:51820\n",
		HEAD TAIL "Endpoint = VPN.example.com.:51820\n" },
	{ "endpoint name with digits", HEAD TAIL "Endpoint = 4g.example:1\n",
		HEAD TAIL "Endpoint = 4g.example:1\n" },
	{ "endpoint IPv6 with scope", HEAD TAIL "Endpoint = [fe80::1%eth0]:65535\n",
		HEAD TAIL "Endpoint = [fe80::1%eth0]:65535\n" },
	{ "keepalive off", HEAD TAIL "PersistentKeepalive = off\n", HEAD TAIL },
	{ "keepalive", HEAD TAIL "PersistentKeepalive = 25\n", HEAD TAIL "PersistentKeepalive = 25\n" },
	{ "preshared key, two peers", HEAD TAIL "PresharedKey = " KEY "\n[Peer]\nPublicKey = " PEER2 "\n",
		HEAD TAIL "PresharedKey = " KEY "\n\n[Peer]\nPublicKey = " PEER2 "\n" },
};

static void good_texts(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct profile_error error = { 0 };
		struct profile profile, again;
		size_t len;
		char *written;

		if (!profile_parse("good", rows[i].text, strlen(rows[i].text), &profile, &error, NULL))
			fail_msg("%s: line %u: %s", rows[i].name, error.line, error.sentence);
		written = profile_write(&profile, false, &len);
		assert_non_null(written);
		assert_int_equal(len, strlen(written));
		if (strcmp(written, rows[i].written) != 0)
			fail_msg("%s: wrote\n%s", rows[i].name, written);
		if (!profile_parse("written", written, len, &again, &error, NULL))
			fail_msg("%s: its own text: line %u: %s", rows[i].name, error.line, error.sentence);
		assert_true(same_profiles(&profile, &again));
		profile_free(&again);
		profile_free(&profile);
		profile_text_free(written, len);
	}
}

static void secrets_are_hidden(void **state)
{
	static const char text[] = HEAD TAIL "PresharedKey = " KEY "\n";
	struct profile_error error;
	struct profile profile;
	size_t len;
	char *written;

	(void)state;
	assert_true(profile_parse("a", text, sizeof(text) - 1, &profile, &error, NULL));
	written = profile_write(&profile, true, &len);
	assert_string_equal(written, "[Interface]\nPrivateKey = (hidden)\n\n[Peer]\nPublicKey = " PEER
				     "\nPresharedKey = (hidden)\n");
	profile_text_free(written, len);
	profile_free(&profile);
}

/* A long name is cut between characters; 10,000 prefixes in lines of their own and in one go. */
static void large_values(void **state)
{
	static char text[700000];
	struct profile_error error;
	struct profile profile, again;
	size_t at, len;
	char *written;

	(void)state;
	at = (size_t)sprintf(text, "# Name = ");
	for (int i = 0; i < 70; i++)
		at += (size_t)sprintf(text + at, "\xc3\xa4");
	at += (size_t)sprintf(text + at, "\n" HEAD TAIL "AllowedIPs = 10.0.0.0/32");
	for (unsigned i = 1; i < 10000; i++)
		at += (size_t)sprintf(
			text + at, "%s10.1.%u.%u/32", i < 5000 ? "," : "\nAllowedIPs=", i / 256, i % 256);
	if (!profile_parse("large", text, at, &profile, &error, NULL))
		fail_msg("line %u: %s", error.line, error.sentence);
	assert_int_equal(strlen(profile.name), 126);
	assert_int_equal(profile.peers[0].allowed_ip_count, 10000);
	written = profile_write(&profile, false, &len);
	assert_true(profile_parse("again", written, len, &again, &error, NULL));
	assert_true(same_profiles(&profile, &again));
	profile_free(&again);
	profile_free(&profile);
	profile_text_free(written, len);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_texts),
		cmocka_unit_test(secrets_are_hidden),
		cmocka_unit_test(large_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
