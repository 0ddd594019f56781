/* SPDX-License-Identifier: MIT */
/* Which backend carries what: docs/fallback.md, Which backend, as a table. */
#include "client/daemon/choose.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define AUTO RPC_BACKEND_CHOICE_AUTO
#define KERNEL RPC_BACKEND_CHOICE_KERNEL
#define USERSPACE RPC_BACKEND_CHOICE_USERSPACE

static void the_choice(void **state)
{
	static const struct {
		const char *name;
		enum rpc_backend_choice wish;
		enum kernel_support support;
		enum transport transport;
		bool listens_tcp, more_ports;
		enum rpc_backend backend;
		bool deaf, few_ports;
		const char *reason; /* part of it */
	} cases[] = {
		{ "no WireGuard", AUTO, KERNEL_NONE, TRANSPORT_AUTO, false, false, RPC_BACKEND_USERSPACE,
			false, false, "the module is missing" },
		{ "stock", AUTO, KERNEL_STOCK, TRANSPORT_AUTO, false, false, RPC_BACKEND_KERNEL, false, false,
			"wgtcp-relay" },
		{ "stock, UDP only", AUTO, KERNEL_STOCK, TRANSPORT_UDP, false, false, RPC_BACKEND_KERNEL,
			false, false, "has WireGuard" },
		{ "stock, TCP only", AUTO, KERNEL_STOCK, TRANSPORT_TCP, false, false, RPC_BACKEND_KERNEL,
			false, false, "over TCP" },
		{ "WGTCP, the stock way is better", AUTO, KERNEL_WGTCP, TRANSPORT_AUTO, false, false,
			RPC_BACKEND_KERNEL, false, false, "wgtcp-relay" },
		{ "WGTCP, UDP only", AUTO, KERNEL_WGTCP, TRANSPORT_UDP, false, false, RPC_BACKEND_KERNEL,
			false, false, "has WireGuard" },
		{ "WGTCP, TCP only", AUTO, KERNEL_WGTCP, TRANSPORT_TCP, false, false,
			RPC_BACKEND_KERNEL_WGTCP, false, false, "speaks TCP itself" },
		{ "a server for both", AUTO, KERNEL_STOCK, TRANSPORT_AUTO, true, false, RPC_BACKEND_USERSPACE,
			false, false, "call by TCP" },
		{ "a server by TCP alone, WGTCP", AUTO, KERNEL_WGTCP, TRANSPORT_TCP, true, false,
			RPC_BACKEND_KERNEL_WGTCP, false, false, "speaks TCP itself" },
		{ "a server for both, WGTCP", AUTO, KERNEL_WGTCP, TRANSPORT_AUTO, true, false,
			RPC_BACKEND_USERSPACE, false, false, "call by TCP" },
		{ "further ports", AUTO, KERNEL_STOCK, TRANSPORT_AUTO, false, true, RPC_BACKEND_USERSPACE,
			false, false, "UdpPorts" },
		{ "userspace forced", USERSPACE, KERNEL_NONE, TRANSPORT_AUTO, false, false,
			RPC_BACKEND_USERSPACE, false, false, "chosen" },
		{ "kernel forced", KERNEL, KERNEL_STOCK, TRANSPORT_AUTO, false, false, RPC_BACKEND_KERNEL,
			false, false, "has WireGuard" },
		{ "kernel forced, a server for both", KERNEL, KERNEL_STOCK, TRANSPORT_AUTO, true, true,
			RPC_BACKEND_KERNEL, true, true, "has WireGuard" },
		{ "kernel forced, impossible", KERNEL, KERNEL_NONE, TRANSPORT_AUTO, false, false,
			RPC_BACKEND_NONE, false, false, "the module is missing" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct choose_facts facts = { .wish = cases[i].wish,
			.kernel = { .support = cases[i].support, .why = "the module is missing; install it" },
			.transport = cases[i].transport,
			.called = true,
			.listens_tcp = cases[i].listens_tcp,
			.more_ports = cases[i].more_ports };
		struct choice choice = choose_backend(&facts);

		if (choice.backend != cases[i].backend || choice.deaf != cases[i].deaf ||
			choice.few_ports != cases[i].few_ports || !strstr(choice.reason, cases[i].reason))
			fail_msg("%s: %s, \"%s\"", cases[i].name, rpc_backend_words[choice.backend],
				choice.reason);
	}
}

static void the_impossible_has_a_cure(void **state)
{
	struct choose_facts facts = { .wish = KERNEL, .kernel.why = "the module is missing; install it" };

	(void)state;
	assert_non_null(strstr(choose_backend(&facts).reason, "--backend userspace"));
}

/* Peers as letters: c we call it, s it calls us; what the whole needs. */
static void what_a_profile_needs(void **state)
{
	static const struct {
		const char *peers;
		enum transport transports[3];
		uint16_t port, tcp_port;
		bool has_tcp_port;
		struct choose_facts facts;
	} cases[] = {
		{ "c", { TRANSPORT_AUTO }, 0, 0, false, { .transport = TRANSPORT_AUTO, .called = true } },
		{ "c", { TRANSPORT_AUTO }, 51820, 0, false, { .transport = TRANSPORT_AUTO, .called = true } },
		{ "c", { TRANSPORT_TCP }, 0, 0, false, { .transport = TRANSPORT_TCP, .called = true } },
		{ "cc", { TRANSPORT_TCP, TRANSPORT_TCP }, 0, 0, false,
			{ .transport = TRANSPORT_TCP, .called = true } },
		{ "cc", { TRANSPORT_TCP, TRANSPORT_UDP }, 0, 0, false,
			{ .transport = TRANSPORT_AUTO, .called = true } },
		{ "cs", { TRANSPORT_UDP, TRANSPORT_AUTO }, 51820, 0, false,
			{ .transport = TRANSPORT_UDP, .called = true, .listens_tcp = true } },
		{ "cs", { TRANSPORT_UDP, TRANSPORT_UDP }, 51820, 0, false,
			{ .transport = TRANSPORT_UDP, .called = true } },
		{ "ss", { TRANSPORT_AUTO, TRANSPORT_AUTO }, 51820, 0, false,
			{ .transport = TRANSPORT_AUTO, .listens_tcp = true } },
		{ "ss", { TRANSPORT_AUTO, TRANSPORT_AUTO }, 51820, 0, true, { .transport = TRANSPORT_AUTO } },
		{ "c", { TRANSPORT_AUTO }, 0, 443, true,
			{ .transport = TRANSPORT_AUTO, .called = true, .listens_tcp = true } },
		{ "s", { TRANSPORT_UDP }, 51820, 0, false, { .transport = TRANSPORT_UDP } },
	};
	size_t i, n;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct choose_facts facts;
		struct profile profile;

		profile_init(&profile);
		profile.has_listen_port = cases[i].port != 0;
		profile.listen_port = cases[i].port;
		profile.has_tcp_listen_port = cases[i].has_tcp_port;
		profile.tcp_listen_port = cases[i].tcp_port;
		for (n = 0; cases[i].peers[n]; n++)
			if (cases[i].peers[n] == 'c')
				strcpy(profile_add_peer(&profile)->endpoint.host, "vpn.example");
			else
				profile_add_peer(&profile);
		facts = choose_look(&profile, cases[i].transports);
		if (facts.transport != cases[i].facts.transport || facts.called != cases[i].facts.called ||
			facts.listens_tcp != cases[i].facts.listens_tcp)
			fail_msg("%zu: transport %d, called %d, listens %d", i, facts.transport, facts.called,
				facts.listens_tcp);
		profile_free(&profile);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_choice),
		cmocka_unit_test(the_impossible_has_a_cure),
		cmocka_unit_test(what_a_profile_needs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
