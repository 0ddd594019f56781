/* SPDX-License-Identifier: MIT */
/* From what a diagnosis has seen to verdicts, cause and exit code. */
#include "client/daemon/diagnose_judge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define NOW 1796000000u

/* A laptop with a tunnel that is down and a server that answers both ways. */
static struct diagnose_facts well(void)
{
	return (struct diagnose_facts){
		.name = "office",
		.links_up = "eth0",
		.v4 = { .address = true, .route = true, .interface = "eth0" },
		.host_count = 1,
		.hosts = { { .host = "vpn.example.com", .v4 = 1 } },
		.peer_count = 1,
		.peers = { { .subject = "vpn.example.com:51820",
			.tcp_subject = "vpn.example.com:443",
			.may_udp = true,
			.may_tcp = true,
			.known = true,
			.route = true,
			.udp = DIAGNOSE_ANSWERED,
			.tcp = DIAGNOSE_ANSWERED,
			.tcp_asked = true,
			.rtt_us = 23400,
			.verified = RPC_VERIFIED_FULL } },
		.mtu = 1420,
		.now_s = NOW,
		.mark_s = NOW - 60,
		.choice = { .backend = RPC_BACKEND_USERSPACE },
	};
}

static void no_link(struct diagnose_facts *facts)
{
	facts->links_up[0] = 0;
	strcpy(facts->links_down, "eth0");
	facts->v4 = (struct diagnose_family){ 0 };
	facts->hosts[0].v4 = 0;
	facts->peers[0] = (struct diagnose_peer){ .may_udp = true, .may_tcp = true };
}

static void no_route(struct diagnose_facts *facts)
{
	facts->v4.route = false;
	facts->peers[0].route = false;
	facts->peers[0].udp = facts->peers[0].tcp = DIAGNOSE_UNTRIED;
}

static void route_to_peer_only(struct diagnose_facts *facts)
{
	facts->v4.route = false;
	facts->v4.reached = true;
}

static void only_ipv6_server(struct diagnose_facts *facts)
{
	facts->v6.needed = true;
	facts->peers[0].route = false;
	facts->peers[0].udp = facts->peers[0].tcp = DIAGNOSE_UNTRIED;
}

static void dns_dead(struct diagnose_facts *facts)
{
	facts->hosts[0].v4 = 0;
	facts->peers[0].known = facts->peers[0].route = false;
	facts->peers[0].udp = facts->peers[0].tcp = DIAGNOSE_UNTRIED;
}

static void old_address(struct diagnose_facts *facts)
{
	facts->hosts[0].v4 = 0;
}

static void udp_dropped(struct diagnose_facts *facts)
{
	facts->peers[0].udp = DIAGNOSE_SILENT;
}

static void udp_rejected(struct diagnose_facts *facts)
{
	facts->peers[0].udp = DIAGNOSE_REJECTED;
}

static void only_udp_and_rejected(struct diagnose_facts *facts)
{
	facts->peers[0].udp = DIAGNOSE_REJECTED;
	facts->peers[0].tcp = DIAGNOSE_UNTRIED;
	facts->peers[0].may_tcp = false;
	facts->peers[0].verified = RPC_VERIFIED_NONE;
}

static void tcp_refused(struct diagnose_facts *facts)
{
	facts->peers[0].tcp = DIAGNOSE_REJECTED;
}

static void web_server(struct diagnose_facts *facts)
{
	facts->peers[0].tcp = DIAGNOSE_OPEN;
}

static void both_dropped(struct diagnose_facts *facts)
{
	facts->peers[0].udp = facts->peers[0].tcp = DIAGNOSE_SILENT;
	facts->peers[0].verified = RPC_VERIFIED_NONE;
}

static void refused(struct diagnose_facts *facts)
{
	facts->peers[0].udp = DIAGNOSE_SILENT;
	facts->peers[0].tcp = DIAGNOSE_OPEN;
	facts->peers[0].verified = RPC_VERIFIED_NONE;
}

static void clock_behind(struct diagnose_facts *facts)
{
	facts->mark_s = NOW + 7200;
}

static void clock_a_little_behind(struct diagnose_facts *facts)
{
	facts->mark_s = NOW + DIAGNOSE_CLOCK_SLACK_S;
}

static void no_mark(struct diagnose_facts *facts)
{
	facts->mark_s = 0;
}

static void no_large(struct diagnose_facts *facts)
{
	facts->peers[0].verified = RPC_VERIFIED_SMALL;
	facts->peers[0].no_large = true;
}

static void no_echo(struct diagnose_facts *facts)
{
	facts->peers[0].verified = RPC_VERIFIED_HANDSHAKE;
}

static void taken(struct diagnose_facts *facts)
{
	facts->taken = true;
	strcpy(facts->leftovers, "office");
}

static void left_over(struct diagnose_facts *facts)
{
	strcpy(facts->leftovers, "home");
}

static void no_backend(struct diagnose_facts *facts)
{
	facts->choice.backend = RPC_BACKEND_NONE;
	strcpy(facts->choice.reason, "the kernel has no WireGuard");
}

static void shut_in(struct diagnose_facts *facts)
{
	facts->kill_switch = RPC_KILL_SWITCH_ON;
}

static void no_engine(struct diagnose_facts *facts)
{
	strcpy(facts->engine_error, "/dev/net/tun is missing");
	facts->peers[0].udp = DIAGNOSE_SILENT;
	facts->peers[0].tcp = DIAGNOSE_OPEN;
	facts->peers[0].tcp_asked = false;
	facts->peers[0].verified = RPC_VERIFIED_NONE;
}

static void is_running(struct diagnose_facts *facts)
{
	facts->running = facts->any_running = true;
	facts->state = RPC_STATE_UP;
	facts->carrier = CARRIER_UDP;
	facts->peers[0].tcp = DIAGNOSE_OPEN;
	facts->peers[0].tcp_asked = false;
}

static void portal(struct diagnose_facts *facts)
{
	facts->captive = true;
	strcpy(facts->portal, "http://hotel.example/");
	both_dropped(facts);
}

static void machine_only(struct diagnose_facts *facts)
{
	facts->name[0] = 0;
	facts->host_count = facts->peer_count = 0;
}

static void waits_to_be_called(struct diagnose_facts *facts)
{
	facts->host_count = facts->peer_count = 0;
}

static const struct rpc_check *find(const struct rpc_diagnosis *diagnosis, enum rpc_check_kind check)
{
	size_t i;

	for (i = 0; i < diagnosis->check_count; i++)
		if (diagnosis->checks[i].check == check)
			return &diagnosis->checks[i];
	return NULL;
}

static struct rpc_diagnosis judge(void (*change)(struct diagnose_facts *facts))
{
	struct diagnose_facts facts = well();
	struct rpc_diagnosis diagnosis;

	if (change)
		change(&facts);
	assert_true(diagnose_judge(&facts, &diagnosis));
	return diagnosis;
}

static void release(struct rpc_diagnosis *diagnosis)
{
	struct rpc_result result = { .method = RPC_METHOD_DIAGNOSE, .diagnosis = *diagnosis };

	rpc_result_free(&result);
}

#define OK RPC_VERDICT_OK
#define WARNING RPC_VERDICT_WARNING
#define BAD RPC_VERDICT_BAD
#define UNKNOWN RPC_VERDICT_UNKNOWN

static void test_places(void **state)
{
	static const struct {
		void (*change)(struct diagnose_facts *facts);
		enum rpc_check_kind check;
		enum rpc_verdict verdict, all;
		int code;
		enum rpc_cause cause;
		const char *words; /* in the line or its cure */
	} table[] = {
		{ NULL, RPC_CHECK_UDP, OK, OK, 0, RPC_CAUSE_NONE, "answers by UDP (23 ms)" },
		{ NULL, RPC_CHECK_TCP, OK, OK, 0, RPC_CAUSE_NONE, "answers by TCP" },
		{ NULL, RPC_CHECK_MTU, OK, OK, 0, RPC_CAUSE_NONE, "1420 bytes pass the tunnel both ways" },
		{ NULL, RPC_CHECK_IPV6, OK, OK, 0, RPC_CAUSE_NONE, "not needed, since IPv4 works" },
		{ NULL, RPC_CHECK_CAPTIVE_PORTAL, UNKNOWN, OK, 0, RPC_CAUSE_NONE, "none is known of" },
		{ no_link, RPC_CHECK_LINK, BAD, BAD, 6, RPC_CAUSE_NO_NETWORK, "down: eth0" },
		{ no_link, RPC_CHECK_DNS, UNKNOWN, BAD, 6, RPC_CAUSE_NO_NETWORK, "without a network" },
		{ no_link, RPC_CHECK_UDP, UNKNOWN, BAD, 6, RPC_CAUSE_NO_NETWORK, "no address" },
		{ no_route, RPC_CHECK_ROUTE, BAD, BAD, 6, RPC_CAUSE_NO_NETWORK, "DHCP" },
		{ no_route, RPC_CHECK_TCP, UNKNOWN, BAD, 6, RPC_CAUSE_NO_NETWORK, "no route to it" },
		{ route_to_peer_only, RPC_CHECK_ROUTE, WARNING, WARNING, 0, RPC_CAUSE_NONE,
			"reached without one" },
		{ route_to_peer_only, RPC_CHECK_IPV4, OK, WARNING, 0, RPC_CAUSE_NONE, "a route to the server" },
		{ route_to_peer_only, RPC_CHECK_IPV6, OK, WARNING, 0, RPC_CAUSE_NONE, "not needed, since IPv4 works" },
		{ only_ipv6_server, RPC_CHECK_IPV6, BAD, BAD, 6, RPC_CAUSE_NO_NETWORK,
			"only an address of this kind" },
		{ dns_dead, RPC_CHECK_DNS, BAD, BAD, 6, RPC_CAUSE_DNS_FAILED, "no DNS server answers" },
		{ old_address, RPC_CHECK_DNS, BAD, BAD, 0, RPC_CAUSE_NONE, "no DNS server answers" },
		{ udp_dropped, RPC_CHECK_UDP, WARNING, WARNING, 0, RPC_CAUSE_NONE, "TCP is taken" },
		{ udp_rejected, RPC_CHECK_UDP, WARNING, WARNING, 0, RPC_CAUSE_NONE, "rejected" },
		{ only_udp_and_rejected, RPC_CHECK_UDP, BAD, BAD, 7, RPC_CAUSE_PEER_UNREACHABLE,
			"Transport = auto" },
		{ only_udp_and_rejected, RPC_CHECK_TCP, OK, BAD, 7, RPC_CAUSE_PEER_UNREACHABLE, "only UDP" },
		{ tcp_refused, RPC_CHECK_TCP, WARNING, WARNING, 0, RPC_CAUSE_NONE, "refused" },
		{ web_server, RPC_CHECK_TCP, WARNING, WARNING, 0, RPC_CAUSE_NONE,
			"something else than WireGuard" },
		{ both_dropped, RPC_CHECK_UDP, BAD, BAD, 7, RPC_CAUSE_PEER_UNREACHABLE,
			"nothing comes back" },
		{ both_dropped, RPC_CHECK_HANDSHAKE, UNKNOWN, BAD, 7, RPC_CAUSE_PEER_UNREACHABLE,
			"not known" },
		{ refused, RPC_CHECK_HANDSHAKE, BAD, BAD, 7, RPC_CAUSE_HANDSHAKE_REFUSED,
			"1. compare PublicKey" },
		{ clock_behind, RPC_CHECK_CLOCK, WARNING, WARNING, 0, RPC_CAUSE_NONE, "120 min behind" },
		{ clock_a_little_behind, RPC_CHECK_CLOCK, OK, OK, 0, RPC_CAUSE_NONE, "not behind" },
		{ no_mark, RPC_CHECK_CLOCK, UNKNOWN, OK, 0, RPC_CAUSE_NONE, "no handshake yet" },
		{ no_large, RPC_CHECK_MTU, WARNING, WARNING, 0, RPC_CAUSE_NONE, "MTU = 1280" },
		{ no_echo, RPC_CHECK_MTU, UNKNOWN, OK, 0, RPC_CAUSE_NONE, "ProbeAddress" },
		{ taken, RPC_CHECK_LEFTOVERS, BAD, BAD, 1, RPC_CAUSE_BUSY, "office" },
		{ left_over, RPC_CHECK_LEFTOVERS, WARNING, WARNING, 0, RPC_CAUSE_NONE, "home" },
		{ no_backend, RPC_CHECK_KERNEL, BAD, BAD, 1, RPC_CAUSE_CONFIG, "no WireGuard" },
		{ shut_in, RPC_CHECK_KILL_SWITCH, WARNING, WARNING, 0, RPC_CAUSE_NONE, "unlock" },
		{ no_engine, RPC_CHECK_HANDSHAKE, UNKNOWN, BAD, 1, RPC_CAUSE_CONFIG, "not known" },
		{ is_running, RPC_CHECK_TUNNEL, OK, OK, 0, RPC_CAUSE_NONE, "up over UDP" },
		{ is_running, RPC_CHECK_TCP, OK, OK, 0, RPC_CAUSE_NONE, "in use" },
		{ portal, RPC_CHECK_CAPTIVE_PORTAL, BAD, BAD, 8, RPC_CAUSE_CAPTIVE_PORTAL,
			"open http://hotel.example/" },
		{ machine_only, RPC_CHECK_DNS, UNKNOWN, OK, 0, RPC_CAUSE_NONE, "no tunnel was named" },
		{ waits_to_be_called, RPC_CHECK_DNS, OK, OK, 0, RPC_CAUSE_NONE, "not needed" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct rpc_diagnosis diagnosis = judge(table[i].change);
		const struct rpc_check *check = find(&diagnosis, table[i].check);

		print_message("%zu: %s\n", i, diagnosis.summary);
		assert_non_null(check);
		if (!strstr(check->text, table[i].words) && !strstr(check->cure, table[i].words))
			fail_msg("no '%s' in: %s; %s", table[i].words, check->text, check->cure);
		assert_int_equal(check->verdict, table[i].verdict);
		assert_int_equal(diagnosis.verdict, table[i].all);
		assert_int_equal(diagnosis.code, table[i].code);
		assert_int_equal(diagnosis.cause, table[i].cause);
		assert_true(diagnosis.summary[0]);
		release(&diagnosis);
	}
}

/* Clock, own key and server's key, in the order of the evidence. */
static void test_refusal(void **state)
{
	static const struct {
		bool behind, worked;
		const char *order[3];
	} table[] = {
		{ false, false, { "PublicKey", "pubkey", NULL } },
		{ false, true, { "pubkey", "PublicKey", NULL } },
		{ true, false, { "clock", "PublicKey", "pubkey" } },
		{ true, true, { "clock", "pubkey", "PublicKey" } },
	};
	size_t i, j;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct diagnose_facts facts = well();
		struct rpc_diagnosis diagnosis;
		const char *at, *before = NULL;

		refused(&facts);
		if (table[i].behind)
			clock_behind(&facts);
		facts.peers[0].worked = table[i].worked;
		assert_true(diagnose_judge(&facts, &diagnosis));
		assert_int_equal(diagnosis.cause, RPC_CAUSE_HANDSHAKE_REFUSED);
		for (j = 0; j < 3 && table[i].order[j]; j++) {
			at = strstr(find(&diagnosis, RPC_CHECK_HANDSHAKE)->cure, table[i].order[j]);
			assert_non_null(at);
			assert_true(at > before);
			before = at;
		}
		if (!table[i].behind)
			assert_null(strstr(find(&diagnosis, RPC_CHECK_HANDSHAKE)->cure, "clock"));
		release(&diagnosis);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_refusal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
