/* SPDX-License-Identifier: MIT */
/* The lines about this machine, and the sum of all. Called by diagnose.c. */
#include "client/daemon/diagnose_judge.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void diagnose_say(struct diagnose_lines *lines, enum rpc_check_kind check, const char *subject,
	enum rpc_verdict verdict, const char *cure, const char *format, ...)
{
	struct rpc_diagnosis *out = lines->out;
	struct rpc_check *checks = realloc(out->checks, (out->check_count + 1) * sizeof(*checks));
	struct rpc_check *line;
	va_list args;

	if (!checks) {
		lines->failed = true;
		return;
	}
	out->checks = checks;
	line = &checks[out->check_count++];
	*line = (struct rpc_check){ .check = check, .verdict = verdict };
	snprintf(line->subject, sizeof(line->subject), "%s", subject);
	snprintf(line->cure, sizeof(line->cure), "%s", cure);
	va_start(args, format);
	vsnprintf(line->text, sizeof(line->text), format, args);
	va_end(args);
}

/* ---- the way out ---- */

static bool any_route(const struct diagnose_facts *facts)
{
	size_t i;

	if (facts->v4.route || facts->v6.route)
		return true;
	for (i = 0; i < facts->peer_count; i++)
		if (facts->peers[i].route)
			return true;
	return false;
}

static void judge_link(const struct diagnose_facts *facts, struct diagnose_lines *lines)
{
	if (facts->links_up[0])
		diagnose_say(lines, RPC_CHECK_LINK, "", RPC_VERDICT_OK, "", "%s: connected", facts->links_up);
	else
		diagnose_say(lines, RPC_CHECK_LINK, "", RPC_VERDICT_BAD,
			"plug in the cable, or connect to a Wi-Fi network", "no network link is up%s%s%s",
			facts->links_down[0] ? " (down: " : "", facts->links_down,
			facts->links_down[0] ? ")" : ": this machine has no network interface");
}

static void judge_route(const struct diagnose_facts *facts, struct diagnose_lines *lines)
{
	const char *through = facts->v4.route ? facts->v4.interface : facts->v6.interface;
	const char *past = facts->v4.past[0] ? facts->v4.past : facts->v6.past;

	if (past[0])
		diagnose_say(lines, RPC_CHECK_ROUTE, "", RPC_VERDICT_BAD,
			"`ip rule` shows what is asked before the tunnel's table: end the program that made "
			"it, or delete the rule",
			"the tunnel takes all %s, but it goes out by %s", facts->v4.past[0] ? "IPv4" : "IPv6",
			past);
	else if (facts->v4.route || facts->v6.route)
		diagnose_say(lines, RPC_CHECK_ROUTE, "", RPC_VERDICT_OK, "",
			"the default route leads through %s", through);
	else if (!facts->links_up[0])
		diagnose_say(lines, RPC_CHECK_ROUTE, "", RPC_VERDICT_BAD, "",
			"no default route: there is no link");
	else
		diagnose_say(lines, RPC_CHECK_ROUTE, "",
			any_route(facts) ? RPC_VERDICT_WARNING : RPC_VERDICT_BAD,
			"reconnect the network, which should hand out an address and a route (DHCP), or set "
			"them by hand",
			"no default route%s",
			any_route(facts) ? "; the server is reached without one"
					 : ": packets to other networks have nowhere to go");
}

static void judge_family(const struct diagnose_family *family, const struct diagnose_family *other,
	enum rpc_check_kind check, struct diagnose_lines *lines)
{
	const char *name = check == RPC_CHECK_IPV4 ? "IPv4" : "IPv6";
	const char *other_name = check == RPC_CHECK_IPV4 ? "IPv6" : "IPv4";
	bool other_works = other->address && (other->route || other->reached);
	char lack[80];

	if (family->address && family->route) {
		diagnose_say(lines, check, "", RPC_VERDICT_OK, "", "an address and a route by %s",
			family->interface);
		return;
	}
	if (family->address && family->reached) {
		diagnose_say(lines, check, "", RPC_VERDICT_OK, "", "an address, and a route to the server");
		return;
	}
	snprintf(lack, sizeof(lack), "%s",
		!family->address && !family->route ? "no address and no route"
		: family->address                  ? "an address, but no route to other networks"
						   : "no address");
	if (family->needed)
		diagnose_say(lines, check, "", RPC_VERDICT_BAD,
			"use a network that has it, or give the server's endpoint an address of the other "
			"kind",
			"%s, and the server has only an address of this kind", lack);
	else if (other_works)
		diagnose_say(lines, check, "", RPC_VERDICT_OK, "", "%s; not needed, since %s works", lack,
			other_name);
	else
		diagnose_say(lines, check, "", RPC_VERDICT_BAD,
			check == RPC_CHECK_IPV4 ? "reconnect the network" : "", "%s: no %s from here", lack,
			name);
}

static void judge_names(const struct diagnose_facts *facts, struct diagnose_lines *lines)
{
	size_t i;

	if (!facts->name[0]) {
		diagnose_say(lines, RPC_CHECK_DNS, "", RPC_VERDICT_UNKNOWN,
			"`wgtcp-cli doctor NAME` looks up its names", "not tested: no tunnel was named");
		return;
	}
	if (!facts->host_count)
		diagnose_say(lines, RPC_CHECK_DNS, "", RPC_VERDICT_OK, "",
			"not needed: the endpoints are addresses");
	for (i = 0; i < facts->host_count; i++) {
		const struct diagnose_host *host = &facts->hosts[i];

		if (host->v4 + host->v6)
			diagnose_say(lines, RPC_CHECK_DNS, host->host, RPC_VERDICT_OK, "",
				"the name has %zu IPv4 and %zu IPv6 address%s", host->v4, host->v6,
				host->v4 + host->v6 == 1 ? "" : "es");
		else if (!facts->v4.route && !facts->v6.route)
			diagnose_say(lines, RPC_CHECK_DNS, host->host, RPC_VERDICT_UNKNOWN, "",
				"the name cannot be looked up without a network");
		else
			diagnose_say(lines, RPC_CHECK_DNS, host->host, RPC_VERDICT_BAD,
				"check the name in Endpoint, and this machine's DNS servers; an address in "
				"place of the "
				"name works without DNS",
				"the name cannot be looked up: no DNS server answers, or there is no such "
				"name");
	}
}

/* ---- the machine itself ---- */

bool diagnose_clock_is_behind(const struct diagnose_facts *facts)
{
	return facts->now_s + DIAGNOSE_CLOCK_SLACK_S < facts->mark_s;
}

static void judge_clock(const struct diagnose_facts *facts, struct diagnose_lines *lines)
{
	uint64_t behind = diagnose_clock_is_behind(facts) ? facts->mark_s - facts->now_s : 0;

	if (!facts->mark_s)
		diagnose_say(lines, RPC_CHECK_CLOCK, "", RPC_VERDICT_UNKNOWN, "",
			"no handshake yet that it could be compared with");
	else if (!behind)
		diagnose_say(
			lines, RPC_CHECK_CLOCK, "", RPC_VERDICT_OK, "", "not behind the newest handshake");
	else
		diagnose_say(lines, RPC_CHECK_CLOCK, "", RPC_VERDICT_WARNING,
			"set the clock, for example by `timedatectl set-ntp true`",
			"the clock is %llu min behind this machine's newest handshake: it went back, or was "
			"ahead then; a server "
			"takes handshakes that go back for old ones",
			(unsigned long long)(behind / 60));
}

static void judge_kernel(const struct diagnose_facts *facts, struct diagnose_lines *lines)
{
	const char *can = "";

	if (facts->name[0] && facts->choice.backend == RPC_BACKEND_NONE) {
		diagnose_say(lines, RPC_CHECK_KERNEL, "", RPC_VERDICT_BAD,
			"take `Backend = auto` in the profile, or see to what is missing", "%s",
			facts->choice.reason);
		return;
	}
	switch (facts->kernel.support) {
	case KERNEL_NONE:
		can = "no WireGuard in the kernel; wgtcp's own engine does not need it";
		break;
	case KERNEL_STOCK:
		can = "WireGuard in the kernel, over UDP; TCP goes through wgtcp-relay or wgtcp's own engine";
		break;
	case KERNEL_WGTCP:
		can = "WireGuard in the kernel, over UDP and over TCP";
		break;
	}
	diagnose_say(lines, RPC_CHECK_KERNEL, "", RPC_VERDICT_OK, "", "%s%s%s%s", can,
		facts->kernel.support == KERNEL_NONE && facts->kernel.why[0] ? " (" : "",
		facts->kernel.support == KERNEL_NONE ? facts->kernel.why : "",
		facts->kernel.support == KERNEL_NONE && facts->kernel.why[0] ? ")" : "");
}

static void judge_leftovers(const struct diagnose_facts *facts, struct diagnose_lines *lines)
{
	if (!facts->leftovers[0])
		diagnose_say(lines, RPC_CHECK_LEFTOVERS, "", RPC_VERDICT_OK, "", "none");
	else
		diagnose_say(lines, RPC_CHECK_LEFTOVERS, "",
			facts->taken ? RPC_VERDICT_BAD : RPC_VERDICT_WARNING,
			"end what made it (`wg-quick down NAME`?), or `ip link delete NAME`",
			"there is an interface that bears a tunnel's name and is not wgtcp's: %s",
			facts->leftovers);
}

static void judge_kill_switch(const struct diagnose_facts *facts, struct diagnose_lines *lines)
{
	switch (facts->kill_switch) {
	case RPC_KILL_SWITCH_OFF:
		diagnose_say(lines, RPC_CHECK_KILL_SWITCH, "", RPC_VERDICT_OK, "", "off");
		return;
	case RPC_KILL_SWITCH_ON:
		diagnose_say(lines, RPC_CHECK_KILL_SWITCH, "",
			facts->any_running ? RPC_VERDICT_OK : RPC_VERDICT_WARNING,
			facts->any_running ? "" : "`wgtcp-cli unlock` ends it",
			"on: nothing leaves this machine past a tunnel%s",
			facts->any_running ? "" : ", and none is up");
		return;
	case RPC_KILL_SWITCH_OPEN:
		diagnose_say(lines, RPC_CHECK_KILL_SWITCH, "", RPC_VERDICT_WARNING, "",
			"open for a while: traffic may go past the tunnel");
		return;
	}
}

static bool is_up(const struct diagnose_facts *facts)
{
	return facts->running && (facts->state == RPC_STATE_UP || facts->state == RPC_STATE_DEGRADED);
}

static void judge_tunnel(const struct diagnose_facts *facts, struct diagnose_lines *lines)
{
	const char *over = facts->carrier == CARRIER_TCP   ? " over TCP"
			   : facts->carrier == CARRIER_UDP ? " over UDP"
							   : "";

	if (!facts->name[0])
		return;
	if (!facts->running)
		diagnose_say(lines, RPC_CHECK_TUNNEL, facts->name, RPC_VERDICT_OK, "",
			"down; what follows was tried without it");
	else
		diagnose_say(lines, RPC_CHECK_TUNNEL, facts->name,
			facts->state == RPC_STATE_UP         ? RPC_VERDICT_OK
			: facts->state == RPC_STATE_DEGRADED ? RPC_VERDICT_WARNING
							     : RPC_VERDICT_BAD,
			"", "%s%s%s%s", rpc_state_words[facts->state], over, facts->message[0] ? ": " : "",
			facts->message);
}

static void judge_portal(const struct diagnose_facts *facts, struct diagnose_lines *lines)
{
	char cure[RPC_SENTENCE_LEN];

	if (facts->captive) {
		snprintf(cure, sizeof(cure), "open %s in a browser and log in%s",
			facts->portal[0] ? facts->portal : "any page",
			facts->kill_switch == RPC_KILL_SWITCH_ON
				? "; `wgtcp-cli unlock --for 5m` lets it through"
				: "");
		diagnose_say(lines, RPC_CHECK_CAPTIVE_PORTAL, "", RPC_VERDICT_BAD, cure,
			"this network wants you to log in first");
	} else {
		diagnose_say(lines, RPC_CHECK_CAPTIVE_PORTAL, "", RPC_VERDICT_UNKNOWN,
			facts->portal_asked || !facts->name[0]
				? ""
				: "`PortalCheck` in the profile names an address to ask",
			"none is known of%s", facts->portal_asked ? "" : "; no address was asked");
	}
}

/* ---- the sum ---- */

static bool any_peer(const struct diagnose_facts *facts, bool (*fits)(const struct diagnose_peer *peer))
{
	size_t i;

	for (i = 0; i < facts->peer_count; i++)
		if (fits(&facts->peers[i]))
			return true;
	return false;
}

static bool is_known(const struct diagnose_peer *peer)
{
	return peer->known;
}

static bool has_route(const struct diagnose_peer *peer)
{
	return peer->route;
}

static bool answers_udp(const struct diagnose_peer *peer)
{
	return peer->udp == DIAGNOSE_ANSWERED;
}

static void conclude(struct rpc_diagnosis *out, int32_t code, enum rpc_cause cause, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static void conclude(struct rpc_diagnosis *out, int32_t code, enum rpc_cause cause, const char *format, ...)
{
	va_list args;

	out->code = code;
	out->cause = cause;
	va_start(args, format);
	vsnprintf(out->summary, sizeof(out->summary), format, args);
	va_end(args);
}

static int32_t code_of(enum rpc_cause cause)
{
	switch (cause) {
	case RPC_CAUSE_PEER_UNREACHABLE:
	case RPC_CAUSE_HANDSHAKE_REFUSED:
		return RPC_CODE_PEER_UNREACHABLE;
	case RPC_CAUSE_CAPTIVE_PORTAL:
		return RPC_CODE_CAPTIVE_PORTAL;
	case RPC_CAUSE_PERMISSION:
		return RPC_CODE_NOT_PERMITTED;
	case RPC_CAUSE_BUSY:
	case RPC_CAUSE_CONFIG:
		return RPC_CODE_OTHER;
	case RPC_CAUSE_NONE:
	case RPC_CAUSE_NO_NETWORK:
	case RPC_CAUSE_DNS_FAILED:
	case RPC_CAUSE_CLOCK:
		break;
	}
	return RPC_CODE_TIMED_OUT;
}

/* The one kind of address that the server has, while only the other works here; NULL: that is not it. */
static const char *lacks_family(const struct diagnose_facts *facts)
{
	if (facts->v6.needed && !facts->v6.route && facts->v4.route)
		return "IPv6";
	if (facts->v4.needed && !facts->v4.route && facts->v6.route)
		return "IPv4";
	return NULL;
}

/* In the order in which `up` would meet them. */
static void sum_up(const struct diagnose_facts *facts, struct rpc_diagnosis *out)
{
	const char *name = facts->name[0] ? facts->name : "a tunnel";

	if (is_up(facts)) {
		conclude(out, 0, RPC_CAUSE_NONE, "%s is up", name);
	} else if (facts->taken) {
		conclude(out, RPC_CODE_OTHER, RPC_CAUSE_BUSY,
			"%s cannot come up: somebody else has an interface of that name", name);
	} else if (facts->name[0] && !facts->running && facts->choice.backend == RPC_BACKEND_NONE) {
		conclude(out, RPC_CODE_OTHER, RPC_CAUSE_CONFIG,
			"%s cannot come up: nothing here can carry it", name);
	} else if (facts->running && facts->cause == RPC_CAUSE_CAPTIVE_PORTAL) {
		conclude(
			out, RPC_CODE_CAPTIVE_PORTAL, facts->cause, "this network wants you to log in first");
	} else if (!facts->links_up[0] || !any_route(facts)) {
		conclude(out, RPC_CODE_TIMED_OUT, RPC_CAUSE_NO_NETWORK,
			"%s cannot come up: this machine is not connected to a network", name);
	} else if (!facts->name[0]) {
		conclude(out, 0, RPC_CAUSE_NONE, "this machine is connected to a network");
	} else if (!facts->peer_count) {
		conclude(out, 0, RPC_CAUSE_NONE, "%s can come up, and waits to be called", name);
	} else if (!any_peer(facts, is_known)) {
		conclude(out, RPC_CODE_TIMED_OUT, RPC_CAUSE_DNS_FAILED,
			"%s cannot come up: the name of its server cannot be looked up", name);
	} else if (!any_peer(facts, has_route) && lacks_family(facts)) {
		conclude(out, RPC_CODE_TIMED_OUT, RPC_CAUSE_NO_NETWORK,
			"%s cannot come up: its server has only an %s address, and this network has no %s",
			name, lacks_family(facts), lacks_family(facts));
	} else if (!any_peer(facts, has_route)) {
		conclude(out, RPC_CODE_TIMED_OUT, RPC_CAUSE_NO_NETWORK,
			"%s cannot come up: there is no route to its server", name);
	} else if (any_peer(facts, diagnose_peer_answered)) {
		conclude(out, 0, RPC_CAUSE_NONE, "%s can come up, over %s", name,
			any_peer(facts, answers_udp) ? "UDP" : "TCP");
	} else if (facts->captive) {
		conclude(out, RPC_CODE_CAPTIVE_PORTAL, RPC_CAUSE_CAPTIVE_PORTAL,
			"%s cannot come up: this network wants you to log in first", name);
	} else if (facts->engine_error[0]) {
		conclude(out, RPC_CODE_OTHER, RPC_CAUSE_CONFIG, "no handshake could be tried: %s",
			facts->engine_error);
	} else if (facts->running && facts->cause != RPC_CAUSE_NONE) {
		conclude(out, code_of(facts->cause), facts->cause, "%s is not up", name);
	} else if (any_peer(facts, diagnose_peer_refused)) {
		conclude(out, RPC_CODE_PEER_UNREACHABLE, RPC_CAUSE_HANDSHAKE_REFUSED,
			"%s cannot come up: its server can be reached, and answers no handshake", name);
	} else {
		conclude(out, RPC_CODE_PEER_UNREACHABLE, RPC_CAUSE_PEER_UNREACHABLE,
			"%s cannot come up: its server does not answer", name);
	}
}

static void weigh(struct rpc_diagnosis *out)
{
	size_t i;

	out->verdict = RPC_VERDICT_OK;
	for (i = 0; i < out->check_count; i++)
		if (out->checks[i].verdict == RPC_VERDICT_BAD)
			out->verdict = RPC_VERDICT_BAD;
		else if (out->checks[i].verdict == RPC_VERDICT_WARNING && out->verdict == RPC_VERDICT_OK)
			out->verdict = RPC_VERDICT_WARNING;
	if (out->code)
		out->verdict = RPC_VERDICT_BAD;
}

bool diagnose_judge(const struct diagnose_facts *facts, struct rpc_diagnosis *out)
{
	struct rpc_diagnosis diagnosis = { 0 };
	struct diagnose_lines lines = { .out = &diagnosis };
	size_t i;

	snprintf(diagnosis.name, sizeof(diagnosis.name), "%s", facts->name);
	judge_tunnel(facts, &lines);
	judge_link(facts, &lines);
	judge_route(facts, &lines);
	judge_family(&facts->v4, &facts->v6, RPC_CHECK_IPV4, &lines);
	judge_family(&facts->v6, &facts->v4, RPC_CHECK_IPV6, &lines);
	judge_names(facts, &lines);
	judge_portal(facts, &lines);
	for (i = 0; i < facts->peer_count; i++)
		diagnose_judge_peer(facts, &facts->peers[i], &lines);
	if (facts->peers_left_out)
		diagnose_say(&lines, RPC_CHECK_HANDSHAKE, "", RPC_VERDICT_UNKNOWN, "",
			"%zu more peers were not tried", facts->peers_left_out);
	judge_clock(facts, &lines);
	judge_kernel(facts, &lines);
	judge_leftovers(facts, &lines);
	judge_kill_switch(facts, &lines);
	if (lines.failed) {
		free(diagnosis.checks);
		return false;
	}
	sum_up(facts, &diagnosis);
	weigh(&diagnosis);
	*out = diagnosis;
	return true;
}
