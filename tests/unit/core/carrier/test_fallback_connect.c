/* SPDX-License-Identifier: MIT */
/* From the start until it is up, or fails. Figures: docs/fallback.md. */
#include "tests/unit/core/carrier/story.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static const struct fallback_settings automatic = { .udp = true, .tcp = true, .seed = 7 };
static const struct fallback_settings good = {
	.memory = FALLBACK_MEMORY_GOOD, .udp = true, .tcp = true, .seed = 7
};
static const struct fallback_settings blocked = {
	.memory = FALLBACK_MEMORY_BLOCKED, .udp = true, .tcp = true, .seed = 7
};
static const struct fallback_settings slow = { .last_rtt_ms = 600, .udp = true, .tcp = true, .seed = 7 };
static const struct fallback_settings chosen_udp = {
	.transport = TRANSPORT_UDP, .udp = true, .tcp = true, .seed = 7
};
static const struct fallback_settings chosen_tcp = {
	.transport = TRANSPORT_TCP, .udp = true, .tcp = true, .seed = 7
};
static const struct fallback_settings udp_only = { .udp = true, .seed = 7 };
static const struct fallback_settings tcp_only = { .tcp = true, .seed = 7 };

/* UDP answers within 300 ms, and not one SYN leaves. */
static void udp_open_dials_nothing(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, INITIATE_UDP | REPORT, 0, CONNECTING, NONE },
		{ 50, 0, RESPONSE, UDP, 0, CARRIER | REPORT, 0, VERIFYING, UDP },
		{ 100, 0, ECHO_TARGET, NONE, TRUSTED, ECHO, UDP_BOTH, VERIFYING, UDP },
		{ 150, 0, ECHO_REPLY, UDP, SMALL, REPORT, 0, VERIFYING, UDP },
		{ 151, 0, ECHO_REPLY, UDP, FULL, REPORT | REMEMBER, 0, UP, UDP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "none", "full", "ok");
}

/* TCP is connected beside it, and used when UDP has been silent for 200 ms more; then no further initiation
 * by UDP. */
static void udp_silent(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, INITIATE_UDP | REPORT, 0, CONNECTING, NONE },
		{ 300, 0, TICK, NONE, 0, DIAL, 0, CONNECTING, NONE },
		{ 350, 0, TCP_CONNECTED, NONE, 50, 0, 0, CONNECTING, NONE },
		{ 550, 0, TICK, NONE, 0, INITIATE_TCP, 0, CONNECTING, NONE },
		{ 600, 0, RESPONSE, TCP, 0, CARRIER | REPORT, 0, VERIFYING, TCP },
		{ 650, 0, ECHO_TARGET, NONE, TRUSTED, ECHO, TCP_BOTH, VERIFYING, TCP },
		{ 700, 0, ECHO_REPLY, TCP, SMALL, REPORT, 0, VERIFYING, TCP },
		{ 701, 0, ECHO_REPLY, TCP, FULL, REPORT, 0, UP, TCP },
		{ 3000, 0, TICK, NONE, 0, REPORT | REMEMBER, 0, UP, TCP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "udp-silent", "full", "blocked");
}

/* An ICMP error: TCP at once, and no more waiting for UDP. */
static void udp_rejected(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, INITIATE_UDP | REPORT, 0, CONNECTING, NONE },
		{ 5, 0, UDP_ERROR, NONE, 0, DIAL, 0, CONNECTING, NONE },
		{ 55, 0, TCP_CONNECTED, NONE, 50, INITIATE_TCP, 0, CONNECTING, NONE },
		{ 105, 0, RESPONSE, TCP, 0, CARRIER | REPORT, 0, VERIFYING, TCP },
		{ 2105, 0, TICK, NONE, 0, REPORT, 0, UP, TCP },
		{ 3000, 0, TICK, NONE, 0, REPORT | REMEMBER, 0, UP, TCP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "udp-rejected", "handshake", "blocked");
}

static void udp_rejected_while_tcp_waits(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, INITIATE_UDP | REPORT, 0, CONNECTING, NONE },
		{ 300, 0, TICK, NONE, 0, DIAL, 0, CONNECTING, NONE },
		{ 350, 0, TCP_CONNECTED, NONE, 50, 0, 0, CONNECTING, NONE },
		{ 360, 0, UDP_ERROR, NONE, 0, INITIATE_TCP, 0, CONNECTING, NONE },
		{ 410, 0, RESPONSE, TCP, 0, CARRIER | REPORT, 0, VERIFYING, TCP },
		{ 2410, 0, TICK, NONE, 0, REPORT, 0, UP, TCP },
		{ 3000, 0, TICK, NONE, 0, REPORT | REMEMBER, 0, UP, TCP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "udp-rejected", "handshake", "blocked");
}

/* Both at once. */
static void remembered_blocked(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, INITIATE_UDP | DIAL | REPORT, 0, CONNECTING, NONE },
		{ 50, 0, TCP_CONNECTED, NONE, 50, INITIATE_TCP, 0, CONNECTING, NONE },
		{ 100, 0, RESPONSE, TCP, 0, CARRIER | REPORT, 0, VERIFYING, TCP },
		{ 2100, 0, TICK, NONE, 0, REPORT, 0, UP, TCP },
		{ 3000, 0, TICK, NONE, 0, REPORT | REMEMBER, 0, UP, TCP },
	};

	(void)unused;
	STORY(blocked, rows, "none", "remembered", "handshake", "blocked");
}

/* The answer by UDP was superseded, but it shows that UDP works: a fresh initiation there (20 ms apart). */
static void remembered_blocked_but_works(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, INITIATE_UDP | DIAL | REPORT, 0, CONNECTING, NONE },
		{ 5, 0, TCP_CONNECTED, NONE, 5, 0, 0, CONNECTING, NONE },
		{ 10, 0, SUPERSEDED, UDP, 0, 0, 0, CONNECTING, NONE },
		{ 20, 0, TICK, NONE, 0, INITIATE_UDP, 0, CONNECTING, NONE },
		{ 30, 0, RESPONSE, UDP, 0, CARRIER | REPORT, 0, VERIFYING, UDP },
		{ 2030, 0, TICK, NONE, 0, CLOSE | REPORT | REMEMBER, 0, UP, UDP },
	};

	(void)unused;
	STORY(blocked, rows, "none", "none", "handshake", "ok");
}

/* UDP gets 2 s, and a second packet. */
static void remembered_good(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, INITIATE_UDP | REPORT, 0, CONNECTING, NONE },
		{ 1000, 0, TICK, NONE, 0, INITIATE_UDP, 0, CONNECTING, NONE },
		{ 2000, 0, TICK, NONE, 0, DIAL, 0, CONNECTING, NONE },
		{ 2050, 0, TCP_CONNECTED, NONE, 50, 0, 0, CONNECTING, NONE },
		{ 2250, 0, TICK, NONE, 0, INITIATE_TCP, 0, CONNECTING, NONE },
		{ 2300, 0, RESPONSE, TCP, 0, CARRIER | REPORT, 0, VERIFYING, TCP },
		{ 3000, 0, TICK, NONE, 0, REPORT | REMEMBER, 0, VERIFYING, TCP },
		{ 4300, 0, TICK, NONE, 0, REPORT, 0, UP, TCP },
	};

	(void)unused;
	STORY(good, rows, "none", "udp-silent", "handshake", "blocked");
}

/* 1.5 x the last round trip. */
static void slow_path_waits_longer(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, INITIATE_UDP | REPORT, 0, CONNECTING, NONE },
		{ 600, 0, RESPONSE, UDP, 0, CARRIER | REPORT, 0, VERIFYING, UDP },
		{ 2600, 0, TICK, NONE, 0, REPORT | REMEMBER, 0, UP, UDP },
	};

	(void)unused;
	STORY(slow, rows, "none", "none", "handshake", "ok");
}

static void only_way_back_of_udp_dropped(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, INITIATE_UDP | REPORT, 0, CONNECTING, NONE },
		{ 300, 0, TICK, NONE, 0, DIAL, 0, CONNECTING, NONE },
		{ 350, 0, TCP_CONNECTED, NONE, 50, 0, 0, CONNECTING, NONE },
		{ 550, 0, TICK, NONE, 0, INITIATE_TCP, 0, CONNECTING, NONE },
		{ 600, 0, RESPONSE, TCP, 0, CARRIER | REPORT, 0, VERIFYING, TCP },
		{ 610, 0, ECHO_TARGET, NONE, TRUSTED, ECHO, TCP_BOTH, VERIFYING, TCP },
		{ 660, 0, ECHO_REPLY, TCP, FULL, REPORT, 0, UP, TCP },
		{ 3000, 0, TICK, NONE, 0, REPORT | REMEMBER, 0, UP, TCP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "udp-silent", "full", "blocked");
}

static void late_udp_answer(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, INITIATE_UDP | REPORT, 0, CONNECTING, NONE },
		{ 300, 0, TICK, NONE, 0, DIAL, 0, CONNECTING, NONE },
		{ 350, 0, TCP_CONNECTED, NONE, 50, 0, 0, CONNECTING, NONE },
		{ 550, 0, TICK, NONE, 0, INITIATE_TCP, 0, CONNECTING, NONE },
		{ 560, 0, SUPERSEDED, UDP, 0, 0, 0, CONNECTING, NONE },
		{ 570, 0, TICK, NONE, 0, INITIATE_UDP, 0, CONNECTING, NONE },
		{ 600, 0, SUPERSEDED, TCP, 0, 0, 0, CONNECTING, NONE },
		{ 1100, 0, RESPONSE, UDP, 0, CARRIER | REPORT, 0, VERIFYING, UDP },
		{ 3100, 0, TICK, NONE, 0, CLOSE | REPORT | REMEMBER, 0, UP, UDP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "none", "handshake", "ok");
}

/* UDP promised and does not hold it: TCP gets another turn. */
static void late_udp_answer_then_silence(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, INITIATE_UDP | REPORT, 0, CONNECTING, NONE },
		{ 300, 0, TICK, NONE, 0, DIAL, 0, CONNECTING, NONE },
		{ 350, 0, TCP_CONNECTED, NONE, 50, 0, 0, CONNECTING, NONE },
		{ 550, 0, TICK, NONE, 0, INITIATE_TCP, 0, CONNECTING, NONE },
		{ 560, 0, SUPERSEDED, UDP, 0, 0, 0, CONNECTING, NONE },
		{ 570, 0, TICK, NONE, 0, INITIATE_UDP, 0, CONNECTING, NONE },
		{ 2800, 0, TICK, NONE, 0, INITIATE_TCP, 0, CONNECTING, NONE },
		{ 2900, 0, RESPONSE, TCP, 0, CARRIER | REPORT, 0, VERIFYING, TCP },
		{ 3570, 0, TICK, NONE, 0, REPORT | REMEMBER, 0, VERIFYING, TCP },
		{ 4900, 0, TICK, NONE, 0, REPORT, 0, UP, TCP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "udp-silent", "handshake", "blocked");
}

static void late_udp_answer_after_tcp_is_up(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, INITIATE_UDP | REPORT, 0, CONNECTING, NONE },
		{ 300, 0, TICK, NONE, 0, DIAL, 0, CONNECTING, NONE },
		{ 350, 0, TCP_CONNECTED, NONE, 50, 0, 0, CONNECTING, NONE },
		{ 550, 0, TICK, NONE, 0, INITIATE_TCP, 0, CONNECTING, NONE },
		{ 600, 0, RESPONSE, TCP, 0, CARRIER | REPORT, 0, VERIFYING, TCP },
		{ 610, 0, ECHO_TARGET, NONE, TRUSTED, ECHO, TCP_BOTH, VERIFYING, TCP },
		{ 660, 0, ECHO_REPLY, TCP, FULL, REPORT, 0, UP, TCP },
		{ 700, 0, SUPERSEDED, UDP, 0, ECHO, UDP_FULL, UP, TCP },
		{ 740, 0, ECHO_REPLY, UDP, FULL, CARRIER | REPORT | REMEMBER, 0, UP, UDP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "udp-works", "full", "ok");
}

/* One lost packet does not decide. */
static void one_udp_packet_lost(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, INITIATE_UDP | REPORT, 0, CONNECTING, NONE },
		{ 1000, 0, TICK, NONE, 0, INITIATE_UDP, 0, CONNECTING, NONE },
		{ 1050, 0, RESPONSE, UDP, 0, CARRIER | REPORT, 0, VERIFYING, UDP },
		{ 3050, 0, TICK, NONE, 0, REPORT | REMEMBER, 0, UP, UDP },
	};

	(void)unused;
	STORY(good, rows, "none", "none", "handshake", "ok");
}

/* 0.25 s doubling, +/- 20 %; after 20 s the slow rounds. */
static void redial_backs_off(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, DIAL | REPORT, 0, CONNECTING, NONE },
		{ 1, 0, TCP_FAILED, NONE, 0, 0, 0, CONNECTING, NONE },
		{ 200, 303, TICK, NONE, 0, DIAL, 0, CONNECTING, NONE },
		{ 310, 0, TCP_FAILED, NONE, 0, 0, 0, CONNECTING, NONE },
		{ 707, 915, TICK, NONE, 0, DIAL, 0, CONNECTING, NONE },
		{ 920, 0, TCP_FAILED, NONE, 0, 0, 0, CONNECTING, NONE },
		{ 1713, 2130, TICK, NONE, 0, DIAL, 0, CONNECTING, NONE },
		{ 2130, 0, TCP_FAILED, NONE, 0, 0, 0, CONNECTING, NONE },
		{ 3714, 4553, TICK, NONE, 0, DIAL, 0, CONNECTING, NONE },
		{ 4540, 0, TCP_FAILED, NONE, 0, 0, 0, CONNECTING, NONE },
		{ 7705, 9387, TICK, NONE, 0, DIAL, 0, CONNECTING, NONE },
		{ 9350, 0, TCP_FAILED, NONE, 0, 0, 0, CONNECTING, NONE },
		{ 15676, 19036, TICK, NONE, 0, DIAL, 0, CONNECTING, NONE },
		{ 18960, 0, TCP_FAILED, NONE, 0, 0, 0, CONNECTING, NONE },
		{ 20000, 0, TICK, NONE, 0, REPORT, 0, FAILED, NONE },
		{ 24380, 25628, TICK, NONE, 0, DIAL, 0, FAILED, NONE },
	};

	(void)unused;
	STORY(chosen_tcp, rows, "peer-unreachable", "none", "none", "unused");
}

/* TCP connects, yet nobody answers: rounds, a new connection, then failed, and it goes on slowly. */
static void tcp_connects_nobody_answers(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, INITIATE_UDP | REPORT, 0, CONNECTING, NONE },
		{ 300, 0, TICK, NONE, 0, DIAL, 0, CONNECTING, NONE },
		{ 350, 0, TCP_CONNECTED, NONE, 50, 0, 0, CONNECTING, NONE },
		{ 550, 0, TICK, NONE, 0, INITIATE_TCP, 0, CONNECTING, NONE },
		{ 850, 0, TICK, NONE, 0, INITIATE_TCP, 0, CONNECTING, NONE },
		{ 5850, 0, TICK, NONE, 0, INITIATE_UDP, 0, CONNECTING, NONE },
		{ 6350, 0, TICK, NONE, 0, INITIATE_TCP, 0, CONNECTING, NONE },
		{ 11350, 0, TICK, NONE, 0, INITIATE_UDP, 0, CONNECTING, NONE },
		{ 11850, 0, TICK, NONE, 0, INITIATE_TCP, 0, CONNECTING, NONE },
		{ 16850, 0, TICK, NONE, 0, INITIATE_UDP | CLOSE, 0, CONNECTING, NONE },
		{ 17150, 0, TICK, NONE, 0, DIAL, 0, CONNECTING, NONE },
		{ 17850, 0, TICK, NONE, 0, INITIATE_UDP, 0, CONNECTING, NONE },
		{ 19850, 0, TICK, NONE, 0, INITIATE_UDP, 0, CONNECTING, NONE },
		{ 20000, 0, TICK, NONE, 0, REPORT, 0, FAILED, NONE },
		{ 24386, 25623, TICK, NONE, 0, INITIATE_UDP, 0, FAILED, NONE },
		{ 25381, 26628, TICK, NONE, 0, INITIATE_UDP, 0, FAILED, NONE },
		{ 27150, 0, TICK, NONE, 0, CLOSE, 0, FAILED, NONE },
		{ 33469, 36590, TICK, NONE, 0, INITIATE_UDP, 0, FAILED, NONE },
		{ 33768, 36891, TICK, NONE, 0, DIAL, 0, FAILED, NONE },
		{ 34464, 37595, TICK, NONE, 0, INITIATE_UDP, 0, FAILED, NONE },
		{ 43718, 46941, TICK, NONE, 0, CLOSE, 0, FAILED, NONE },
	};

	(void)unused;
	STORY(automatic, rows, "handshake-refused", "none", "none", "unknown");
}

static void failed_then_works(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, INITIATE_UDP | REPORT, 0, CONNECTING, NONE },
		{ 1000, 0, TICK, NONE, 0, INITIATE_UDP, 0, CONNECTING, NONE },
		{ 3000, 0, TICK, NONE, 0, INITIATE_UDP, 0, CONNECTING, NONE },
		{ 7000, 0, TICK, NONE, 0, INITIATE_UDP, 0, CONNECTING, NONE },
		{ 12000, 0, TICK, NONE, 0, INITIATE_UDP, 0, CONNECTING, NONE },
		{ 17000, 0, TICK, NONE, 0, INITIATE_UDP, 0, CONNECTING, NONE },
		{ 20000, 0, TICK, NONE, 0, REPORT, 0, FAILED, NONE },
		{ 24386, 25623, TICK, NONE, 0, INITIATE_UDP, 0, FAILED, NONE },
		{ 25381, 26628, TICK, NONE, 0, INITIATE_UDP, 0, FAILED, NONE },
		{ 27000, 0, RESPONSE, UDP, 0, CARRIER | REPORT, 0, VERIFYING, UDP },
		{ 29000, 0, TICK, NONE, 0, REPORT | REMEMBER, 0, UP, UDP },
	};

	(void)unused;
	STORY(chosen_udp, rows, "none", "chosen", "handshake", "ok");
}

/* It loses the answer to the first initiation on a connection: one fresh one, max(300 ms, 2 RTT) later. */
static void first_contact_with_a_wgtcp_peer(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, DIAL | REPORT, 0, CONNECTING, NONE },
		{ 50, 0, TCP_CONNECTED, NONE, 50, INITIATE_TCP, 0, CONNECTING, NONE },
		{ 350, 0, TICK, NONE, 0, INITIATE_TCP, 0, CONNECTING, NONE },
		{ 400, 0, RESPONSE, TCP, 0, CARRIER | REPORT, 0, VERIFYING, TCP },
		{ 2400, 0, TICK, NONE, 0, REPORT, 0, UP, TCP },
	};

	(void)unused;
	STORY(chosen_tcp, rows, "none", "chosen", "handshake", "unused");
}

static void first_contact_over_a_long_way(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, DIAL | REPORT, 0, CONNECTING, NONE },
		{ 400, 0, TCP_CONNECTED, NONE, 400, INITIATE_TCP, 0, CONNECTING, NONE },
		{ 1200, 0, TICK, NONE, 0, INITIATE_TCP, 0, CONNECTING, NONE },
		{ 1600, 0, RESPONSE, TCP, 0, CARRIER | REPORT, 0, VERIFYING, TCP },
		{ 3600, 0, TICK, NONE, 0, REPORT, 0, UP, TCP },
	};

	(void)unused;
	STORY(chosen_tcp, rows, "none", "chosen", "handshake", "unused");
}

/* Accept and close is a failure: no redial at once. */
static void listener_closes(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, INITIATE_UDP | REPORT, 0, CONNECTING, NONE },
		{ 300, 0, TICK, NONE, 0, DIAL, 0, CONNECTING, NONE },
		{ 320, 0, TCP_CONNECTED, NONE, 20, 0, 0, CONNECTING, NONE },
		{ 321, 0, TCP_CLOSED, NONE, 0, 0, 0, CONNECTING, NONE },
		{ 519, 625, TICK, NONE, 0, DIAL, 0, CONNECTING, NONE },
		{ 1000, 0, TICK, NONE, 0, INITIATE_UDP, 0, CONNECTING, NONE },
	};

	(void)unused;
	STORY(automatic, rows, "none", "none", "none", "unknown");
}

/* No dial, ever. */
static void chosen_udp_is_obeyed(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, INITIATE_UDP | REPORT, 0, CONNECTING, NONE },
		{ 5, 0, UDP_ERROR, NONE, 0, 0, 0, CONNECTING, NONE },
		{ 1000, 0, TICK, NONE, 0, INITIATE_UDP, 0, CONNECTING, NONE },
		{ 3000, 0, TICK, NONE, 0, INITIATE_UDP, 0, CONNECTING, NONE },
		{ 7000, 0, TICK, NONE, 0, INITIATE_UDP, 0, CONNECTING, NONE },
		{ 12000, 0, TICK, NONE, 0, INITIATE_UDP, 0, CONNECTING, NONE },
		{ 17000, 0, TICK, NONE, 0, INITIATE_UDP, 0, CONNECTING, NONE },
		{ 20000, 0, TICK, NONE, 0, REPORT, 0, FAILED, NONE },
		{ 24386, 25623, TICK, NONE, 0, INITIATE_UDP, 0, FAILED, NONE },
		{ 25381, 26628, TICK, NONE, 0, INITIATE_UDP, 0, FAILED, NONE },
		{ 33469, 36590, TICK, NONE, 0, INITIATE_UDP, 0, FAILED, NONE },
		{ 34464, 37595, TICK, NONE, 0, INITIATE_UDP, 0, FAILED, NONE },
		{ 51919, 58336, TICK, NONE, 0, INITIATE_UDP, 0, FAILED, NONE },
		{ 52914, 59341, TICK, NONE, 0, INITIATE_UDP, 0, FAILED, NONE },
	};

	(void)unused;
	STORY(chosen_udp, rows, "peer-unreachable", "none", "none", "unknown");
}

static void chosen_tcp_is_obeyed(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, DIAL | REPORT, 0, CONNECTING, NONE },
		{ 1, 0, TCP_FAILED, NONE, 0, 0, 0, CONNECTING, NONE },
		{ 2, 0, RECEIVED, UDP, 0, 0, 0, CONNECTING, NONE },
		{ 200, 303, TICK, NONE, 0, DIAL, 0, CONNECTING, NONE },
		{ 2000, 0, RETRY_UDP, NONE, 0, 0, 0, CONNECTING, NONE },
	};

	(void)unused;
	STORY(chosen_tcp, rows, "none", "none", "none", "unused");
}

static void peer_with_udp_only(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, INITIATE_UDP | REPORT, 0, CONNECTING, NONE },
		{ 50, 0, RESPONSE, UDP, 0, CARRIER | REPORT, 0, VERIFYING, UDP },
		{ 51, 0, ECHO_TARGET, NONE, TRUSTED, ECHO, UDP_BOTH, VERIFYING, UDP },
		{ 551, 0, TICK, NONE, 0, ECHO, UDP_BOTH, VERIFYING, UDP },
		{ 1051, 0, TICK, NONE, 0, ECHO, UDP_BOTH, VERIFYING, UDP },
		{ 1551, 0, TICK, NONE, 0, ECHO, UDP_BOTH, VERIFYING, UDP },
		{ 2050, 0, TICK, NONE, 0, REPORT, 0, DEGRADED, UDP },
	};

	(void)unused;
	STORY(udp_only, rows, "none", "udp-no-data", "handshake", "ok");
}

static void peer_with_tcp_only(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, DIAL | REPORT, 0, CONNECTING, NONE },
		{ 50, 0, TCP_CONNECTED, NONE, 50, INITIATE_TCP, 0, CONNECTING, NONE },
		{ 100, 0, RESPONSE, TCP, 0, CARRIER | REPORT, 0, VERIFYING, TCP },
		{ 2100, 0, TICK, NONE, 0, REPORT, 0, UP, TCP },
	};

	(void)unused;
	STORY(tcp_only, rows, "none", "none", "handshake", "unused");
}

static void udp_passes_no_data(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, INITIATE_UDP | REPORT, 0, CONNECTING, NONE },
		{ 50, 0, RESPONSE, UDP, 0, CARRIER | REPORT, 0, VERIFYING, UDP },
		{ 100, 0, ECHO_TARGET, NONE, TRUSTED, ECHO, UDP_BOTH, VERIFYING, UDP },
		{ 600, 0, TICK, NONE, 0, ECHO, UDP_BOTH, VERIFYING, UDP },
		{ 1100, 0, TICK, NONE, 0, ECHO, UDP_BOTH, VERIFYING, UDP },
		{ 1600, 0, TICK, NONE, 0, ECHO, UDP_BOTH, VERIFYING, UDP },
		{ 2050, 0, TICK, NONE, 0, DIAL, 0, VERIFYING, UDP },
		{ 2100, 0, TCP_CONNECTED, NONE, 50, ECHO, TCP_BOTH, VERIFYING, UDP },
		{ 2150, 0, ECHO_REPLY, TCP, SMALL, 0, 0, VERIFYING, UDP },
		{ 2151, 0, ECHO_REPLY, TCP, FULL, NUDGE_TCP | CARRIER | REPORT | REMEMBER, 0, UP, TCP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "udp-no-data", "full", "blocked");
}

static void udp_passes_no_large(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, INITIATE_UDP | REPORT, 0, CONNECTING, NONE },
		{ 50, 0, RESPONSE, UDP, 0, CARRIER | REPORT, 0, VERIFYING, UDP },
		{ 100, 0, ECHO_TARGET, NONE, GUESSED, ECHO, UDP_BOTH, VERIFYING, UDP },
		{ 150, 0, ECHO_REPLY, UDP, SMALL, REPORT, 0, VERIFYING, UDP },
		{ 600, 0, TICK, NONE, 0, ECHO, UDP_FULL, VERIFYING, UDP },
		{ 1100, 0, TICK, NONE, 0, ECHO, UDP_FULL, VERIFYING, UDP },
		{ 1600, 0, TICK, NONE, 0, ECHO, UDP_FULL, VERIFYING, UDP },
		{ 2050, 0, TICK, NONE, 0, DIAL, 0, VERIFYING, UDP },
		{ 2100, 0, TCP_CONNECTED, NONE, 50, ECHO, TCP_BOTH, VERIFYING, UDP },
		{ 2150, 0, ECHO_REPLY, TCP, SMALL, 0, 0, VERIFYING, UDP },
		{ 2151, 0, ECHO_REPLY, TCP, FULL, NUDGE_TCP | CARRIER | REPORT | REMEMBER, 0, UP, TCP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "udp-no-large", "full", "blocked");
}

static void udp_passes_no_large_and_tcp_is_refused(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, INITIATE_UDP | REPORT, 0, CONNECTING, NONE },
		{ 50, 0, RESPONSE, UDP, 0, CARRIER | REPORT, 0, VERIFYING, UDP },
		{ 100, 0, ECHO_TARGET, NONE, TRUSTED, ECHO, UDP_BOTH, VERIFYING, UDP },
		{ 150, 0, ECHO_REPLY, UDP, SMALL, REPORT, 0, VERIFYING, UDP },
		{ 600, 0, TICK, NONE, 0, ECHO, UDP_FULL, VERIFYING, UDP },
		{ 1100, 0, TICK, NONE, 0, ECHO, UDP_FULL, VERIFYING, UDP },
		{ 1600, 0, TICK, NONE, 0, ECHO, UDP_FULL, VERIFYING, UDP },
		{ 2050, 0, TICK, NONE, 0, DIAL, 0, VERIFYING, UDP },
		{ 2100, 0, TCP_FAILED, NONE, 0, REPORT, 0, DEGRADED, UDP },
		{ 12100, 0, TICK, NONE, 0, ECHO, UDP_BOTH, DEGRADED, UDP },
		{ 12150, 0, ECHO_REPLY, UDP, FULL, REPORT | REMEMBER, 0, UP, UDP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "udp-works", "full", "ok");
}

static void trusted_target_silent_on_both(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, INITIATE_UDP | REPORT, 0, CONNECTING, NONE },
		{ 50, 0, RESPONSE, UDP, 0, CARRIER | REPORT, 0, VERIFYING, UDP },
		{ 51, 0, ECHO_TARGET, NONE, TRUSTED, ECHO, UDP_BOTH, VERIFYING, UDP },
		{ 551, 0, TICK, NONE, 0, ECHO, UDP_BOTH, VERIFYING, UDP },
		{ 1051, 0, TICK, NONE, 0, ECHO, UDP_BOTH, VERIFYING, UDP },
		{ 1551, 0, TICK, NONE, 0, ECHO, UDP_BOTH, VERIFYING, UDP },
		{ 2050, 0, TICK, NONE, 0, DIAL, 0, VERIFYING, UDP },
		{ 2100, 0, TCP_CONNECTED, NONE, 50, ECHO, TCP_BOTH, VERIFYING, UDP },
		{ 2600, 0, TICK, NONE, 0, ECHO, TCP_BOTH, VERIFYING, UDP },
		{ 3100, 0, TICK, NONE, 0, CLOSE | NUDGE_UDP | REPORT, 0, DEGRADED, UDP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "udp-no-data", "handshake", "ok");
}

/* Silent on both: not judged. */
static void guessed_target_silent_on_both(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, INITIATE_UDP | REPORT, 0, CONNECTING, NONE },
		{ 50, 0, RESPONSE, UDP, 0, CARRIER | REPORT, 0, VERIFYING, UDP },
		{ 51, 0, ECHO_TARGET, NONE, GUESSED, ECHO, UDP_BOTH, VERIFYING, UDP },
		{ 551, 0, TICK, NONE, 0, ECHO, UDP_BOTH, VERIFYING, UDP },
		{ 1051, 0, TICK, NONE, 0, ECHO, UDP_BOTH, VERIFYING, UDP },
		{ 1551, 0, TICK, NONE, 0, ECHO, UDP_BOTH, VERIFYING, UDP },
		{ 2050, 0, TICK, NONE, 0, DIAL, 0, VERIFYING, UDP },
		{ 2100, 0, TCP_CONNECTED, NONE, 50, ECHO, TCP_BOTH, VERIFYING, UDP },
		{ 2600, 0, TICK, NONE, 0, ECHO, TCP_BOTH, VERIFYING, UDP },
		{ 3100, 0, TICK, NONE, 0, CLOSE | NUDGE_UDP | REPORT | REMEMBER, 0, UP, UDP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "none", "handshake", "ok");
}

/* Nor by TCP: so it is the target, not the path. */
static void guessed_target_answers_no_large_echo(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, INITIATE_UDP | REPORT, 0, CONNECTING, NONE },
		{ 50, 0, RESPONSE, UDP, 0, CARRIER | REPORT, 0, VERIFYING, UDP },
		{ 51, 0, ECHO_TARGET, NONE, GUESSED, ECHO, UDP_BOTH, VERIFYING, UDP },
		{ 100, 0, ECHO_REPLY, UDP, SMALL, REPORT, 0, VERIFYING, UDP },
		{ 551, 0, TICK, NONE, 0, ECHO, UDP_FULL, VERIFYING, UDP },
		{ 1051, 0, TICK, NONE, 0, ECHO, UDP_FULL, VERIFYING, UDP },
		{ 1551, 0, TICK, NONE, 0, ECHO, UDP_FULL, VERIFYING, UDP },
		{ 2050, 0, TICK, NONE, 0, DIAL, 0, VERIFYING, UDP },
		{ 2100, 0, TCP_CONNECTED, NONE, 50, ECHO, TCP_BOTH, VERIFYING, UDP },
		{ 2150, 0, ECHO_REPLY, TCP, SMALL, 0, 0, VERIFYING, UDP },
		{ 2600, 0, TICK, NONE, 0, ECHO, TCP_FULL, VERIFYING, UDP },
		{ 3100, 0, TICK, NONE, 0, CLOSE | NUDGE_UDP | REPORT | REMEMBER, 0, UP, UDP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "none", "small", "ok");
}

static void no_target(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, INITIATE_UDP | REPORT, 0, CONNECTING, NONE },
		{ 50, 0, RESPONSE, UDP, 0, CARRIER | REPORT, 0, VERIFYING, UDP },
		{ 2050, 0, TICK, NONE, 0, REPORT | REMEMBER, 0, UP, UDP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "none", "handshake", "ok");
}

static void target_turns_up_late(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, INITIATE_UDP | REPORT, 0, CONNECTING, NONE },
		{ 50, 0, RESPONSE, UDP, 0, CARRIER | REPORT, 0, VERIFYING, UDP },
		{ 2050, 0, TICK, NONE, 0, REPORT | REMEMBER, 0, UP, UDP },
		{ 5000, 0, ECHO_TARGET, NONE, TRUSTED, ECHO, UDP_BOTH, UP, UDP },
		{ 5050, 0, ECHO_REPLY, UDP, FULL, REPORT, 0, UP, UDP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "none", "full", "ok");
}

static void peer_initiates(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, INITIATE_UDP | REPORT, 0, CONNECTING, NONE },
		{ 100, 0, RECEIVED, UDP, 0, CARRIER | REPORT, 0, VERIFYING, UDP },
		{ 2100, 0, TICK, NONE, 0, REPORT | REMEMBER, 0, UP, UDP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "none", "handshake", "ok");
}

static void stopped(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, INITIATE_UDP | REPORT, 0, CONNECTING, NONE },
		{ 300, 0, TICK, NONE, 0, DIAL, 0, CONNECTING, NONE },
		{ 310, 0, STOP, NONE, 0, CLOSE | REPORT, 0, DOWN, NONE },
		{ 320, 0, RESPONSE, UDP, 0, 0, 0, DOWN, NONE },
	};

	(void)unused;
	STORY(automatic, rows, "none", "none", "none", "unknown");
}

static void starts_without_a_network(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, NETWORK_LOST, NONE, 0, 0, 0, DOWN, NONE },
		{ 10, 0, START, NONE, 0, REPORT, 0, CONNECTING, NONE },
		{ 3000, 0, NETWORK_CHANGED, NONE, 0, INITIATE_UDP | REPORT, 0, CONNECTING, NONE },
		{ 3050, 0, RESPONSE, UDP, 0, CARRIER | REPORT, 0, VERIFYING, UDP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "none", "handshake", "ok");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(udp_open_dials_nothing),
		cmocka_unit_test(udp_silent),
		cmocka_unit_test(udp_rejected),
		cmocka_unit_test(udp_rejected_while_tcp_waits),
		cmocka_unit_test(remembered_blocked),
		cmocka_unit_test(remembered_blocked_but_works),
		cmocka_unit_test(remembered_good),
		cmocka_unit_test(slow_path_waits_longer),
		cmocka_unit_test(only_way_back_of_udp_dropped),
		cmocka_unit_test(late_udp_answer),
		cmocka_unit_test(late_udp_answer_then_silence),
		cmocka_unit_test(late_udp_answer_after_tcp_is_up),
		cmocka_unit_test(one_udp_packet_lost),
		cmocka_unit_test(redial_backs_off),
		cmocka_unit_test(tcp_connects_nobody_answers),
		cmocka_unit_test(failed_then_works),
		cmocka_unit_test(first_contact_with_a_wgtcp_peer),
		cmocka_unit_test(first_contact_over_a_long_way),
		cmocka_unit_test(listener_closes),
		cmocka_unit_test(chosen_udp_is_obeyed),
		cmocka_unit_test(chosen_tcp_is_obeyed),
		cmocka_unit_test(peer_with_udp_only),
		cmocka_unit_test(peer_with_tcp_only),
		cmocka_unit_test(udp_passes_no_data),
		cmocka_unit_test(udp_passes_no_large),
		cmocka_unit_test(udp_passes_no_large_and_tcp_is_refused),
		cmocka_unit_test(trusted_target_silent_on_both),
		cmocka_unit_test(guessed_target_silent_on_both),
		cmocka_unit_test(guessed_target_answers_no_large_echo),
		cmocka_unit_test(no_target),
		cmocka_unit_test(target_turns_up_late),
		cmocka_unit_test(peer_initiates),
		cmocka_unit_test(stopped),
		cmocka_unit_test(starts_without_a_network),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
