/* SPDX-License-Identifier: MIT */
/* From a profile and what its names stand for to a backend's configuration: families, routes, turns,
 * overrides. */
#include "client/daemon/device.h"
#include "core/config/parse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* What the names of the tests stand for, and which families have a route. */
struct world {
	bool v4, v6;
};

static size_t addresses(const char *host, struct ip_address *out, size_t max, void *user)
{
	static const struct {
		const char *host, *addresses[9];
	} table[] = {
		{ "both.example", { "2001:db8::1", "192.0.2.1" } },
		{ "four.example", { "192.0.2.4" } },
		{ "many.example", { "192.0.2.11", "192.0.2.12", "192.0.2.13", "192.0.2.14", "192.0.2.15",
					  "192.0.2.16", "192.0.2.17", "192.0.2.18", "192.0.2.19" } },
		{ "192.0.2.9", { "192.0.2.9" } },
		{ "fe80::1", { "fe80::1" } },
	};
	size_t i, n = 0;

	(void)user;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (!strcmp(table[i].host, host))
			for (; n < max && n < 9 && table[i].addresses[n]; n++)
				assert_true(ip_address_parse(
					table[i].addresses[n], strlen(table[i].addresses[n]), &out[n]));
	return n;
}

static bool has_route(const struct ip_address *address, void *user)
{
	const struct world *world = user;

	return address->family == IP_V4 ? world->v4 : world->v6;
}

static uint32_t scope(const char *interface, void *user)
{
	(void)user;
	return !strcmp(interface, "eth7") ? 7 : 0;
}

static struct profile_host host_of(const char *text, uint16_t port)
{
	struct profile_host host = { .port = port };

	strcpy(host.host, text);
	return host;
}

static void where_the_carriers_go(void **state)
{
	static const struct {
		const char *name, *endpoint, *tcp[2];
		bool v4, v6;
		unsigned turn;
		const char *udp, *tcps;
	} cases[] = {
		{ "the order of the names", "both.example", { 0 }, true, true, 0, "[2001:db8::1]:5",
			"[2001:db8::1]:5 192.0.2.1:5 " },
		{ "its next turn", "both.example", { 0 }, true, true, 1, "192.0.2.1:5",
			"[2001:db8::1]:5 192.0.2.1:5 " },
		{ "and around", "both.example", { 0 }, true, true, 2, "[2001:db8::1]:5",
			"[2001:db8::1]:5 192.0.2.1:5 " },
		{ "IPv4 only", "both.example", { 0 }, true, false, 0, "192.0.2.1:5",
			"[2001:db8::1]:5 192.0.2.1:5 " },
		{ "IPv6 only", "both.example", { 0 }, false, true, 1, "[2001:db8::1]:5",
			"[2001:db8::1]:5 192.0.2.1:5 " },
		{ "no route yet: it may come", "four.example", { 0 }, false, false, 0, "192.0.2.4:5",
			"192.0.2.4:5 " },
		{ "not known yet", "none.example", { 0 }, true, true, 0, "(none)", "" },
		{ "a TCP endpoint of its own keeps its own port", "four.example", { "192.0.2.9" }, true, true,
			0, "192.0.2.4:5", "192.0.2.9:443 " },
		{ "two of them, one address twice", "four.example", { "192.0.2.9", "192.0.2.9" }, true, true,
			0, "192.0.2.4:5", "192.0.2.9:443 " },
		{ "only TCP is known", "none.example", { "four.example" }, true, true, 0, "(none)",
			"192.0.2.4:443 " },
		{ "no more than fit", "many.example", { 0 }, true, true, 0, "192.0.2.11:5",
			"192.0.2.11:5 192.0.2.12:5 192.0.2.13:5 192.0.2.14:5 192.0.2.15:5 192.0.2.16:5 "
			"192.0.2.17:5 "
			"192.0.2.18:5 " },
		{ "with an interface", "fe80::1%eth7", { 0 }, true, true, 0, "[fe80::1%7]:5",
			"[fe80::1%7]:5 " },
		{ "no endpoint at all", "", { 0 }, true, true, 0, "(none)", "" },
	};
	size_t i, n;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world known = { cases[i].v4, cases[i].v6 };
		struct device_world world = { addresses, has_route, scope, &known };
		static struct profile_peer peer;
		struct device_way way;
		char text[ENDPOINT_TEXT_LEN], tcps[UAPI_ENDPOINTS_MAX * ENDPOINT_TEXT_LEN] = "";

		memset(&peer, 0, sizeof(peer));
		peer.endpoint = host_of(cases[i].endpoint, 5);
		for (n = 0; n < 2 && cases[i].tcp[n]; n++)
			peer.tcp_endpoints[peer.tcp_endpoint_count++] = host_of(cases[i].tcp[n], 443);
		device_way(&peer, &world, cases[i].turn, &way);
		if (strcmp(endpoint_write(&way.udp, text), cases[i].udp) != 0)
			fail_msg("%s: UDP to %s", cases[i].name, text);
		for (n = 0; n < way.tcp_count; n++) {
			strcat(tcps, endpoint_write(&way.tcp[n], text));
			strcat(tcps, " ");
		}
		if (strcmp(tcps, cases[i].tcps) != 0)
			fail_msg("%s: TCP to %s", cases[i].name, tcps);
		assert_true(device_way_equal(&way, &way));
	}
}

static const char text[] = "[Interface]\n"
			   "PrivateKey = AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHl8=\n"
			   "ListenPort = 51820\n"
			   "Transport = udp\n"
			   "Extensions = off\n"
			   "[Peer]\n"
			   "PublicKey = ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=\n"
			   "PresharedKey = QEFCQ0RFRkdISUpLTE1OT1BRUlNUVVZXWFlaW1xdXl8=\n"
			   "Endpoint = vpn.example:51820\n"
			   "AllowedIPs = 10.0.0.0/24, fd00::/64\n"
			   "PersistentKeepalive = 25\n"
			   "UdpPorts = 53, 443\n"
			   "Transport = tcp\n"
			   "[Peer]\n"
			   "PublicKey = YGFiY2RlZmdoaWprbG1ub3BxcnN0dXZ3eHl6e3x9fn8=\n"
			   "AllowedIPs = 10.1.0.0/24\n";

static void whole_configuration(void **state)
{
	struct device_way ways[2] = { 0 };
	static const enum transport transports[2] = { TRANSPORT_TCP, TRANSPORT_AUTO };
	struct profile profile;
	struct profile_error error;
	struct uapi_device device;

	(void)state;
	assert_true(profile_parse("office.conf", text, sizeof(text) - 1, &profile, &error, NULL));
	assert_true(endpoint_parse("192.0.2.1:51820", 15, &ways[0].udp));
	assert_true(device_build(&profile, ways, transports, 0x51, TRANSPORT_UDP, &device));
	assert_true(device.has_private_key && device.replace_peers);
	assert_memory_equal(device.private_key, profile.private_key, 32);
	assert_true(device.has_listen_port && device.listen_port == 51820);
	/* Without a word about TCP it listens where UDP does. */
	assert_true(device.has_tcp_listen_port && device.tcp_listen_port == 51820);
	assert_true(device.has_fwmark && device.fwmark == 0x51);
	assert_true(device.has_transport && device.transport == TRANSPORT_UDP);
	assert_true(device.has_extensions && !device.extensions);
	assert_int_equal(device.peer_count, 2);
	assert_true(device.peers[0].has_preshared_key && device.peers[0].has_endpoint);
	assert_true(device.peers[0].has_keepalive && device.peers[0].keepalive_s == 25);
	assert_int_equal(device.peers[0].udp_port_count, 2);
	assert_int_equal(device.peers[0].udp_ports[1], 443);
	assert_true(device.peers[0].has_transport && device.peers[0].transport == TRANSPORT_TCP);
	assert_int_equal(device.peers[0].allowed_ip_count, 2);
	assert_false(device.peers[1].has_endpoint || device.peers[1].has_preshared_key);
	assert_true(device.peers[1].has_transport && device.peers[1].transport == TRANSPORT_AUTO);
	uapi_device_free(&device);
	/* Nothing of what is not wanted. */
	assert_true(device_build(&profile, ways, transports, 0, TRANSPORT_AUTO, &device));
	assert_false(device.has_fwmark);
	uapi_device_free(&device);
	profile_free(&profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(where_the_carriers_go),
		cmocka_unit_test(whole_configuration),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
