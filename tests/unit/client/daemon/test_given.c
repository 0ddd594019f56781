/* SPDX-License-Identifier: MIT */
/* A profile that comes in fields: what it becomes, and that no value can bring more than itself. */
#include "client/daemon/given.h"
#include "core/config/write.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define KEY "yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk="
#define PEER "xTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg="
#define PSK "gN65BkIKy1eCE9pP1wdc8ROUtkHLF2PfAqYdyYBz6EA="

static char address[64], dns[64], allowed[64], tcp[64], port[64];
static char *addresses[] = { address }, *servers[] = { dns }, *prefixes[] = { allowed }, *hosts[] = { tcp },
	    *ports[] = { port };

/* Everything there is, in order. */
static void fill(struct rpc_given *given, struct rpc_given_peer *peer)
{
	strcpy(address, "10.0.0.2/24");
	strcpy(dns, "10.0.0.1");
	strcpy(allowed, "10.0.0.0/24");
	strcpy(tcp, "tcp.example.com:443");
	strcpy(port, "53");
	*peer = (struct rpc_given_peer){ .name = "Hub",
		.public_key = PEER,
		.preshared_key = PSK,
		.allowed_ips = { prefixes, 1 },
		.endpoint = "vpn.example.com:51820",
		.tcp_endpoints = { hosts, 1 },
		.udp_ports = { ports, 1 },
		.keepalive_s = 25,
		.has_transport = true,
		.transport = TRANSPORT_UDP,
		.probe_address = "10.0.0.1" };
	*given = (struct rpc_given){ .name = "Office",
		.private_key = KEY,
		.addresses = { addresses, 1 },
		.dns = { servers, 1 },
		.has_listen_port = true,
		.listen_port = 51820,
		.mtu = 1400,
		.fwmark = 7,
		.table = "off",
		.has_transport = true,
		.transport = TRANSPORT_TCP,
		.has_backend = true,
		.backend = RPC_BACKEND_CHOICE_KERNEL,
		.kill_switch = true,
		.kill_switch_lan = true,
		.has_extensions = true,
		.portal_check = "http://a.example/x",
		.peers = peer,
		.peer_count = 1 };
}

static void test_all_fields(void **state)
{
	struct rpc_given_peer peer;
	struct rpc_given given;
	struct rpc_error error = { 0 };
	struct profile profile;
	size_t len;
	char *text;

	(void)state;
	fill(&given, &peer);
	assert_true(given_profile(&given, &profile, &error));
	text = profile_write(&profile, false, &len);
	assert_string_equal(text, "[Interface]\n# Name = Office\nPrivateKey = " KEY
				  "\nAddress = 10.0.0.2/24\nDNS = 10.0.0.1\nListenPort = 51820\n"
				  "MTU = 1400\nFwMark = 7\nTable = off\nBackend = kernel\nKillSwitch = "
				  "on\nKillSwitchAllowLan = on\n"
				  "Extensions = off\nPortalCheck = http://a.example/x\nTransport = "
				  "tcp\n\n[Peer]\n# Name = Hub\nTransport = udp\n"
				  "PublicKey = " PEER "\nPresharedKey = " PSK
				  "\nAllowedIPs = 10.0.0.0/24\nEndpoint = vpn.example.com:51820\n"
				  "TcpEndpoint = tcp.example.com:443\nUdpPorts = 53\nPersistentKeepalive = "
				  "25\nProbeAddress = 10.0.0.1\n");
	profile_text_free(text, len);
	profile_free(&profile);
}

static void refused(struct rpc_given *given, const char *words)
{
	struct rpc_error error = { 0 };
	struct profile profile;

	assert_false(given_profile(given, &profile, &error));
	assert_int_equal(error.code, RPC_CODE_CONFIG);
	if (!strstr(error.message, words) || strstr(error.message, KEY))
		fail_msg("%s", error.message);
	rpc_error_free(&error);
}

/* Puts text behind what stands in each value in turn. */
static void test_no_value_brings_more(void **state)
{
	static const char *const tails[] = { "\nPostUp = x", "\r", "\t", "\x7f", "\x01" };
	struct rpc_given_peer peer;
	struct rpc_given given;
	char *const values[] = { given.name, given.private_key, address, dns, given.table, given.portal_check,
		peer.name, peer.public_key, peer.preshared_key, allowed, peer.endpoint, tcp, port,
		peer.probe_address };

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		for (size_t j = 0; j < sizeof(tails) / sizeof(tails[0]); j++) {
			fill(&given, &peer);
			/* Keys have no room behind them. */
			if (strlen(values[i]) == RPC_KEY_LEN - 1)
				memcpy(values[i] + RPC_KEY_LEN - 1 - strlen(tails[j]), tails[j],
					strlen(tails[j]));
			else if (values[i] == given.table)
				snprintf(given.table, sizeof(given.table), "7%.13s", tails[j]);
			else
				strcat(values[i], tails[j]);
			refused(&given, "control character");
		}
}

static void test_what_is_missing(void **state)
{
	struct rpc_given_peer peer, two[2];
	struct rpc_given given;

	(void)state;
	fill(&given, &peer);
	given.private_key[0] = 0;
	refused(&given, "PrivateKey");
	fill(&given, &peer);
	peer.public_key[0] = 0;
	refused(&given, "PublicKey");
	fill(&given, &peer);
	two[0] = two[1] = peer;
	given.peers = two;
	given.peer_count = 2;
	refused(&given, "same PublicKey");
	fill(&given, &peer);
	given.mtu = 12;
	refused(&given, "MTU");
	fill(&given, &peer);
	given.listen_port = 70000;
	refused(&given, "ListenPort");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_fields),
		cmocka_unit_test(test_no_value_brings_more),
		cmocka_unit_test(test_what_is_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
