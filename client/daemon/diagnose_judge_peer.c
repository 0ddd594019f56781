/* SPDX-License-Identifier: MIT */
/* The lines about one peer: UDP, TCP, the handshake, large packets. Called by diagnose_judge.c. */
#include "client/daemon/diagnose_judge.h"

#include <stdio.h>
#include <string.h>

bool diagnose_peer_answered(const struct diagnose_peer *peer)
{
	return peer->udp == DIAGNOSE_ANSWERED || peer->tcp == DIAGNOSE_ANSWERED;
}

bool diagnose_peer_refused(const struct diagnose_peer *peer)
{
	return (peer->misfits || (peer->tcp == DIAGNOSE_OPEN && peer->tcp_asked)) &&
	       !diagnose_peer_answered(peer);
}

/* " (23 ms)" */
static void write_rtt(const struct diagnose_peer *peer, char out[32])
{
	out[0] = 0;
	if (peer->rtt_us >= 1000)
		snprintf(out, 32, " (%u ms)", (peer->rtt_us + 500) / 1000);
	else if (peer->rtt_us)
		snprintf(out, 32, " (%.1f ms)", peer->rtt_us / 1000.0);
}

static const char *not_tried(const struct diagnose_facts *facts, const struct diagnose_peer *peer)
{
	if (!peer->known)
		return "not tried: there is no address for it";
	if (!peer->route)
		return "not tried: there is no route to it";
	if (facts->engine_error[0])
		return "not tried: the engine that tries it could not be started";
	return facts->running ? "not known yet: the tunnel has not needed it" : "not tried";
}

static void judge_udp(
	const struct diagnose_facts *facts, const struct diagnose_peer *peer, struct diagnose_lines *lines)
{
	bool other = peer->tcp == DIAGNOSE_ANSWERED;
	enum rpc_verdict verdict = other ? RPC_VERDICT_WARNING : RPC_VERDICT_BAD;
	const char *cure = other ? "nothing need be done: TCP is taken"
			   : peer->may_tcp
				   ? "let UDP to this port through, or see below about TCP"
				   : "let UDP to this port through, or allow TCP (`Transport = auto`)";
	char rtt[32];

	if (!peer->may_udp) {
		diagnose_say(lines, RPC_CHECK_UDP, peer->subject, RPC_VERDICT_OK, "",
			"not used: the profile allows only TCP");
		return;
	}
	switch (peer->udp) {
	case DIAGNOSE_ANSWERED:
		write_rtt(peer, rtt);
		diagnose_say(lines, RPC_CHECK_UDP, peer->subject, RPC_VERDICT_OK, "",
			"the server answers by UDP%s", rtt);
		return;
	case DIAGNOSE_REJECTED:
		diagnose_say(lines, RPC_CHECK_UDP, peer->subject, verdict, cure,
			"UDP is rejected: a firewall on the way says no, or nothing listens on that port");
		return;
	case DIAGNOSE_SILENT:
	case DIAGNOSE_OPEN:
		if (peer->misfits) {
			diagnose_say(lines, RPC_CHECK_UDP, peer->subject, RPC_VERDICT_UNKNOWN, "",
				"not known: no handshake is completed by UDP (see below)");
			return;
		}
		diagnose_say(lines, RPC_CHECK_UDP, peer->subject, verdict,
			diagnose_peer_refused(peer) ? "" : cure,
			diagnose_peer_refused(peer) ? "nothing comes back by UDP: it is dropped on the way, "
						      "or the server does not want us (see below)"
						    : "nothing comes back by UDP: it is dropped on the way, "
						      "or nothing listens there");
		return;
	case DIAGNOSE_UNTRIED:
		diagnose_say(lines, RPC_CHECK_UDP, peer->subject, RPC_VERDICT_UNKNOWN, "", "%s",
			not_tried(facts, peer));
		return;
	}
}

static void judge_tcp(
	const struct diagnose_facts *facts, const struct diagnose_peer *peer, struct diagnose_lines *lines)
{
	static const char listen[] =
		"run wgtcp-engine or `wgtcp-relay` at the server, or name the right port as TcpEndpoint";
	enum rpc_verdict verdict = peer->udp == DIAGNOSE_ANSWERED ? RPC_VERDICT_WARNING : RPC_VERDICT_BAD;
	const char *but =
		peer->udp == DIAGNOSE_ANSWERED ? "; where UDP is blocked there is no other way" : "";
	char rtt[32] = "";

	if (!peer->may_tcp) {
		diagnose_say(lines, RPC_CHECK_TCP, peer->tcp_subject, RPC_VERDICT_OK, "",
			"not used: the profile allows only UDP");
		return;
	}
	switch (peer->tcp) {
	case DIAGNOSE_ANSWERED:
		if (peer->udp != DIAGNOSE_ANSWERED)
			write_rtt(peer, rtt);
		diagnose_say(lines, RPC_CHECK_TCP, peer->tcp_subject, RPC_VERDICT_OK, "",
			"the server answers by TCP%s", rtt);
		return;
	case DIAGNOSE_OPEN:
		if (!peer->tcp_asked)
			diagnose_say(lines, RPC_CHECK_TCP, peer->tcp_subject, RPC_VERDICT_OK, "",
				"the port opens; no handshake was tried there, since the tunnel is in use");
		else if (diagnose_peer_refused(peer))
			diagnose_say(lines, RPC_CHECK_TCP, peer->tcp_subject, verdict, "",
				"the port opens, and no handshake is answered there (see below)");
		else
			diagnose_say(lines, RPC_CHECK_TCP, peer->tcp_subject, verdict, listen,
				"the port opens, and something else than WireGuard over TCP listens there%s",
				but);
		return;
	case DIAGNOSE_REJECTED:
		diagnose_say(lines, RPC_CHECK_TCP, peer->tcp_subject, verdict, listen,
			"the connection is refused: nothing listens on that port, or a firewall says no%s",
			but);
		return;
	case DIAGNOSE_SILENT:
		diagnose_say(lines, RPC_CHECK_TCP, peer->tcp_subject, verdict,
			"let TCP to this port through, or name another one as TcpEndpoint (443 passes most "
			"often)",
			"nothing comes back by TCP: it is dropped on the way%s", but);
		return;
	case DIAGNOSE_UNTRIED:
		diagnose_say(lines, RPC_CHECK_TCP, peer->tcp_subject, RPC_VERDICT_UNKNOWN, "", "%s",
			not_tried(facts, peer));
		return;
	}
}

/* A server says nothing to a stranger, so the evidence is all on our side. */
static void explain_refusal(
	const struct diagnose_facts *facts, const struct diagnose_peer *peer, char out[RPC_SENTENCE_LEN])
{
	static const char clock[] =
		"set this machine's clock: the server may take its handshakes for old ones";
	static const char server[] = "compare PublicKey and PresharedKey in the profile with the server's";
	static const char own[] =
		"see that the server knows this machine's public key (`wgtcp-cli pubkey` shows it)";
	const char *order[3];
	size_t count = 0, i, len = 0;

	if (diagnose_clock_is_behind(facts))
		order[count++] = clock;
	/* The key was right: then it is the server that has changed its mind about us, before it changed its
	 * key. */
	order[count++] = peer->worked ? own : server;
	order[count++] = peer->worked ? server : own;
	out[0] = 0;
	for (i = 0; i < count; i++)
		len += (size_t)snprintf(
			out + len, RPC_SENTENCE_LEN - len, "%s%zu. %s", i ? "; " : "", i + 1, order[i]);
}

static void judge_handshake(
	const struct diagnose_facts *facts, const struct diagnose_peer *peer, struct diagnose_lines *lines)
{
	char cure[RPC_SENTENCE_LEN];

	if (diagnose_peer_answered(peer)) {
		diagnose_say(lines, RPC_CHECK_HANDSHAKE, peer->subject, RPC_VERDICT_OK, "",
			"both sides know each other's keys");
		return;
	}
	if (!diagnose_peer_refused(peer)) {
		diagnose_say(lines, RPC_CHECK_HANDSHAKE, peer->subject, RPC_VERDICT_UNKNOWN, "",
			"not known: nothing has come back from the server");
		return;
	}
	if (peer->misfits) {
		diagnose_say(lines, RPC_CHECK_HANDSHAKE, peer->subject, RPC_VERDICT_BAD,
			"compare PresharedKey in the profile with what the server has for this machine: both "
			"the same, or "
			"neither",
			"the server answers our handshake, so the other keys are right, and the answer does "
			"not fit: the "
			"preshared key is another one there");
		return;
	}
	explain_refusal(facts, peer, cure);
	diagnose_say(lines, RPC_CHECK_HANDSHAKE, peer->subject, RPC_VERDICT_BAD, cure,
		"the server can be reached, and answers no handshake: %s%s",
		diagnose_clock_is_behind(facts) ? "this clock, or " : "",
		peer->worked ? "our key is not known there any more, or it has another key now"
			     : "the profile has the wrong server key, or our key is not known there");
}

static void judge_lost_large(
	const struct diagnose_facts *facts, const struct diagnose_peer *peer, struct diagnose_lines *lines)
{
	static const char here[] = "a smaller MTU in the profile's [Interface], for example `MTU = 1280`";

	switch (peer->large) {
	case RPC_LARGE_UNKNOWN:
		diagnose_say(lines, RPC_CHECK_MTU, peer->subject, RPC_VERDICT_WARNING, here,
			"small packets pass, packets of %u bytes do not, on the way there or back", facts->mtu);
		return;
	case RPC_LARGE_BACK:
		diagnose_say(lines, RPC_CHECK_MTU, peer->subject, RPC_VERDICT_WARNING, here,
			"packets of %u bytes are lost on the way to the server; on the way back they pass", facts->mtu);
		return;
	case RPC_LARGE_THERE:
		diagnose_say(lines, RPC_CHECK_MTU, peer->subject, RPC_VERDICT_WARNING,
			"a smaller MTU at the server's end, for example `MTU = 1280` in its [Interface]; here it helps "
			"TCP connections only",
			"packets of %u bytes pass on the way to the server, and are lost on the way back", facts->mtu);
		return;
	}
}

static void judge_mtu(
	const struct diagnose_facts *facts, const struct diagnose_peer *peer, struct diagnose_lines *lines)
{
	if (peer->verified == RPC_VERIFIED_FULL)
		diagnose_say(lines, RPC_CHECK_MTU, peer->subject, RPC_VERDICT_OK, "",
			"packets of %u bytes pass the tunnel both ways", facts->mtu);
	else if (peer->no_large)
		judge_lost_large(facts, peer, lines);
	else
		diagnose_say(lines, RPC_CHECK_MTU, peer->subject, RPC_VERDICT_UNKNOWN, "",
			diagnose_peer_answered(peer)
				? "not known: nobody inside answers echoes (ProbeAddress names one)"
				: "not known without a session");
}

void diagnose_judge_peer(
	const struct diagnose_facts *facts, const struct diagnose_peer *peer, struct diagnose_lines *lines)
{
	judge_udp(facts, peer, lines);
	judge_tcp(facts, peer, lines);
	judge_handshake(facts, peer, lines);
	judge_mtu(facts, peer, lines);
}
