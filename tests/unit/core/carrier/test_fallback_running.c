/* SPDX-License-Identifier: MIT */
/* What happens to a tunnel that is up. Figures: docs/fallback.md. */
#include "tests/unit/core/carrier/story.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static const struct fallback_settings automatic = { .udp = true, .tcp = true, .seed = 7 };
static const struct fallback_settings chosen_tcp = {
	.transport = TRANSPORT_TCP, .udp = true, .tcp = true, .seed = 7
};
static const struct fallback_settings udp_only = { .udp = true, .seed = 7 };

/* 5 s, three questions, TCP; connected after the first miss. */
static void udp_falls_silent(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, INITIATE_UDP | REPORT, 0, CONNECTING, NONE },
		{ 50, 0, RESPONSE, UDP, 0, CARRIER | REPORT, 0, VERIFYING, UDP },
		{ 60, 0, ECHO_TARGET, NONE, TRUSTED, ECHO, UDP_BOTH, VERIFYING, UDP },
		{ 100, 0, ECHO_REPLY, UDP, SMALL, REPORT, 0, VERIFYING, UDP },
		{ 101, 0, ECHO_REPLY, UDP, FULL, REPORT | REMEMBER, 0, UP, UDP },
		{ 10000, 0, SENT, UDP, 0, 0, 0, UP, UDP },
		{ 10500, 0, SENT, UDP, 0, 0, 0, UP, UDP },
		{ 15000, 0, TICK, NONE, 0, ECHO, UDP_SMALL, UP, UDP },
		{ 16000, 0, TICK, NONE, 0, INITIATE_UDP | DIAL | ECHO, UDP_SMALL, UP, UDP },
		{ 16050, 0, TCP_CONNECTED, NONE, 50, 0, 0, UP, UDP },
		{ 17000, 0, TICK, NONE, 0, ECHO, UDP_SMALL, UP, UDP },
		{ 18000, 0, TICK, NONE, 0, INITIATE_TCP | NUDGE_TCP | ECHO | CARRIER | REPORT, TCP_SMALL,
			RECONNECTING, TCP },
		{ 18050, 0, ECHO_REPLY, TCP, SMALL, REPORT | REMEMBER, 0, UP, TCP },
		{ 18100, 0, ECHO_REPLY, TCP, FULL, 0, 0, UP, TCP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "udp-silent", "full", "blocked");
}

/* UDP is back before the third miss: the connection is kept for a while, unused. */
static void udp_pauses(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, INITIATE_UDP | REPORT, 0, CONNECTING, NONE },
		{ 50, 0, RESPONSE, UDP, 0, CARRIER | REPORT, 0, VERIFYING, UDP },
		{ 60, 0, ECHO_TARGET, NONE, TRUSTED, ECHO, UDP_BOTH, VERIFYING, UDP },
		{ 100, 0, ECHO_REPLY, UDP, SMALL, REPORT, 0, VERIFYING, UDP },
		{ 101, 0, ECHO_REPLY, UDP, FULL, REPORT | REMEMBER, 0, UP, UDP },
		{ 10000, 0, SENT, UDP, 0, 0, 0, UP, UDP },
		{ 15000, 0, TICK, NONE, 0, ECHO, UDP_SMALL, UP, UDP },
		{ 16000, 0, TICK, NONE, 0, INITIATE_UDP | DIAL | ECHO, UDP_SMALL, UP, UDP },
		{ 16030, 0, TCP_CONNECTED, NONE, 30, 0, 0, UP, UDP },
		{ 16500, 0, RECEIVED, UDP, 0, 0, 0, UP, UDP },
		{ 46500, 0, TICK, NONE, 0, CLOSE, 0, UP, UDP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "none", "full", "ok");
}

static void one_way_traffic(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, INITIATE_UDP | REPORT, 0, CONNECTING, NONE },
		{ 50, 0, RESPONSE, UDP, 0, CARRIER | REPORT, 0, VERIFYING, UDP },
		{ 60, 0, ECHO_TARGET, NONE, TRUSTED, ECHO, UDP_BOTH, VERIFYING, UDP },
		{ 100, 0, ECHO_REPLY, UDP, SMALL, REPORT, 0, VERIFYING, UDP },
		{ 101, 0, ECHO_REPLY, UDP, FULL, REPORT | REMEMBER, 0, UP, UDP },
		{ 10000, 0, SENT, UDP, 0, 0, 0, UP, UDP },
		{ 15000, 0, TICK, NONE, 0, ECHO, UDP_SMALL, UP, UDP },
		{ 15050, 0, ECHO_REPLY, UDP, SMALL, 0, 0, UP, UDP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "none", "full", "ok");
}

static void udp_falls_silent_without_a_target(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, INITIATE_UDP | REPORT, 0, CONNECTING, NONE },
		{ 50, 0, RESPONSE, UDP, 0, CARRIER | REPORT, 0, VERIFYING, UDP },
		{ 2050, 0, TICK, NONE, 0, REPORT | REMEMBER, 0, UP, UDP },
		{ 10000, 0, SENT, UDP, 0, 0, 0, UP, UDP },
		{ 15000, 0, TICK, NONE, 0, INITIATE_UDP, 0, UP, UDP },
		{ 16000, 0, TICK, NONE, 0, INITIATE_UDP | DIAL, 0, UP, UDP },
		{ 16050, 0, TCP_CONNECTED, NONE, 50, 0, 0, UP, UDP },
		{ 17000, 0, TICK, NONE, 0, INITIATE_UDP, 0, UP, UDP },
		{ 18000, 0, TICK, NONE, 0, INITIATE_TCP | NUDGE_TCP | CARRIER | REPORT, 0, RECONNECTING,
			TCP },
		{ 18050, 0, RESPONSE, TCP, 0, REPORT | REMEMBER, 0, UP, TCP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "udp-silent", "handshake", "blocked");
}

/* It was up: reconnecting, not failed; after 20 s with a cause. */
static void everything_falls_silent(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, INITIATE_UDP | REPORT, 0, CONNECTING, NONE },
		{ 50, 0, RESPONSE, UDP, 0, CARRIER | REPORT, 0, VERIFYING, UDP },
		{ 60, 0, ECHO_TARGET, NONE, TRUSTED, ECHO, UDP_BOTH, VERIFYING, UDP },
		{ 100, 0, ECHO_REPLY, UDP, SMALL, REPORT, 0, VERIFYING, UDP },
		{ 101, 0, ECHO_REPLY, UDP, FULL, REPORT | REMEMBER, 0, UP, UDP },
		{ 10000, 0, SENT, UDP, 0, 0, 0, UP, UDP },
		{ 15000, 0, TICK, NONE, 0, ECHO, UDP_SMALL, UP, UDP },
		{ 16000, 0, TICK, NONE, 0, INITIATE_UDP | ECHO, UDP_SMALL, UP, UDP },
		{ 17000, 0, TICK, NONE, 0, ECHO, UDP_SMALL, UP, UDP },
		{ 18000, 0, TICK, NONE, 0, INITIATE_UDP | REPORT, 0, RECONNECTING, UDP },
		{ 19000, 0, TICK, NONE, 0, INITIATE_UDP, 0, RECONNECTING, UDP },
		{ 21000, 0, TICK, NONE, 0, INITIATE_UDP, 0, RECONNECTING, UDP },
		{ 25000, 0, TICK, NONE, 0, INITIATE_UDP, 0, RECONNECTING, UDP },
		{ 30000, 0, TICK, NONE, 0, INITIATE_UDP, 0, RECONNECTING, UDP },
		{ 35000, 0, TICK, NONE, 0, INITIATE_UDP, 0, RECONNECTING, UDP },
		{ 38000, 0, TICK, NONE, 0, REPORT, 0, RECONNECTING, UDP },
		{ 42296, 43713, TICK, NONE, 0, INITIATE_UDP, 0, RECONNECTING, UDP },
		{ 43291, 44718, TICK, NONE, 0, INITIATE_UDP, 0, RECONNECTING, UDP },
		{ 51000, 0, RESPONSE, UDP, 0, REPORT, 0, UP, UDP },
		{ 51050, 0, ECHO_REPLY, UDP, FULL, 0, 0, UP, UDP },
	};

	(void)unused;
	STORY(udp_only, rows, "none", "udp-works", "full", "ok");
}

/* It knows the session no more, but UDP works: the second question is an initiation too. */
static void other_side_restarted(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, INITIATE_UDP | REPORT, 0, CONNECTING, NONE },
		{ 50, 0, RESPONSE, UDP, 0, CARRIER | REPORT, 0, VERIFYING, UDP },
		{ 60, 0, ECHO_TARGET, NONE, TRUSTED, ECHO, UDP_BOTH, VERIFYING, UDP },
		{ 100, 0, ECHO_REPLY, UDP, SMALL, REPORT, 0, VERIFYING, UDP },
		{ 101, 0, ECHO_REPLY, UDP, FULL, REPORT | REMEMBER, 0, UP, UDP },
		{ 10000, 0, SENT, UDP, 0, 0, 0, UP, UDP },
		{ 15000, 0, TICK, NONE, 0, ECHO, UDP_SMALL, UP, UDP },
		{ 16000, 0, TICK, NONE, 0, INITIATE_UDP | DIAL | ECHO, UDP_SMALL, UP, UDP },
		{ 16040, 0, RESPONSE, UDP, 0, ECHO, UDP_SMALL, UP, UDP },
		{ 16080, 0, ECHO_REPLY, UDP, SMALL, CLOSE, 0, UP, UDP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "none", "full", "ok");
}

/* Handshakes pass, data does not: a target that answered before is the judge. */
static void data_alone_dies(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, INITIATE_UDP | REPORT, 0, CONNECTING, NONE },
		{ 50, 0, RESPONSE, UDP, 0, CARRIER | REPORT, 0, VERIFYING, UDP },
		{ 60, 0, ECHO_TARGET, NONE, TRUSTED, ECHO, UDP_BOTH, VERIFYING, UDP },
		{ 100, 0, ECHO_REPLY, UDP, SMALL, REPORT, 0, VERIFYING, UDP },
		{ 101, 0, ECHO_REPLY, UDP, FULL, REPORT | REMEMBER, 0, UP, UDP },
		{ 10000, 0, SENT, UDP, 0, 0, 0, UP, UDP },
		{ 15000, 0, TICK, NONE, 0, ECHO, UDP_SMALL, UP, UDP },
		{ 16000, 0, TICK, NONE, 0, INITIATE_UDP | DIAL | ECHO, UDP_SMALL, UP, UDP },
		{ 16040, 0, RESPONSE, UDP, 0, ECHO, UDP_SMALL, UP, UDP },
		{ 16050, 0, TCP_CONNECTED, NONE, 50, 0, 0, UP, UDP },
		{ 17000, 0, TICK, NONE, 0, ECHO, UDP_SMALL, UP, UDP },
		{ 18000, 0, TICK, NONE, 0, NUDGE_TCP | ECHO | CARRIER | REPORT, TCP_SMALL, RECONNECTING,
			TCP },
		{ 18050, 0, ECHO_REPLY, TCP, SMALL, REPORT, 0, UP, TCP },
		{ 18060, 0, ECHO_REPLY, TCP, FULL, 0, 0, UP, TCP },
		{ 19040, 0, TICK, NONE, 0, REPORT | REMEMBER, 0, UP, TCP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "udp-no-data", "full", "blocked");
}

static void udp_error_while_up(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, INITIATE_UDP | REPORT, 0, CONNECTING, NONE },
		{ 50, 0, RESPONSE, UDP, 0, CARRIER | REPORT, 0, VERIFYING, UDP },
		{ 60, 0, ECHO_TARGET, NONE, TRUSTED, ECHO, UDP_BOTH, VERIFYING, UDP },
		{ 100, 0, ECHO_REPLY, UDP, SMALL, REPORT, 0, VERIFYING, UDP },
		{ 101, 0, ECHO_REPLY, UDP, FULL, REPORT | REMEMBER, 0, UP, UDP },
		{ 10000, 0, UDP_ERROR, NONE, 0, ECHO, UDP_SMALL, UP, UDP },
		{ 10020, 0, RECEIVED, UDP, 0, 0, 0, UP, UDP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "none", "full", "ok");
}

static void tcp_closed(void **unused)
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
		{ 10000, 0, TCP_CLOSED, NONE, 0, DIAL | CARRIER | REPORT, 0, RECONNECTING, NONE },
		{ 10050, 0, TCP_CONNECTED, NONE, 50, NUDGE_TCP | ECHO | CARRIER, TCP_SMALL, RECONNECTING,
			TCP },
		{ 10101, 0, ECHO_REPLY, TCP, SMALL, REPORT, 0, UP, TCP },
		{ 10102, 0, ECHO_REPLY, TCP, FULL, 0, 0, UP, TCP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "udp-silent", "full", "blocked");
}

static void tcp_closed_then_refused(void **unused)
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
		{ 10000, 0, TCP_CLOSED, NONE, 0, DIAL | CARRIER | REPORT, 0, RECONNECTING, NONE },
		{ 10001, 0, TCP_FAILED, NONE, 0, INITIATE_UDP, 0, RECONNECTING, NONE },
		{ 10150, 10353, TICK, NONE, 0, DIAL, 0, RECONNECTING, NONE },
		{ 10400, 0, TCP_CONNECTED, NONE, 50, INITIATE_TCP | NUDGE_TCP | ECHO | CARRIER, TCP_SMALL,
			RECONNECTING, TCP },
		{ 10500, 0, ECHO_REPLY, TCP, SMALL, REPORT, 0, UP, TCP },
		{ 10510, 0, ECHO_REPLY, TCP, FULL, 0, 0, UP, TCP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "udp-silent", "full", "blocked");
}

static void tcp_closed_udp_works(void **unused)
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
		{ 10000, 0, TCP_CLOSED, NONE, 0, DIAL | CARRIER | REPORT, 0, RECONNECTING, NONE },
		{ 10001, 0, TCP_FAILED, NONE, 0, INITIATE_UDP, 0, RECONNECTING, NONE },
		{ 10050, 0, RESPONSE, UDP, 0, ECHO | CARRIER | REPORT | REMEMBER, UDP_BOTH, UP, UDP },
		{ 10100, 0, ECHO_REPLY, UDP, FULL, 0, 0, UP, UDP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "udp-works", "full", "ok");
}

static void tcp_falls_silent(void **unused)
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
		{ 10000, 0, SENT, TCP, 0, 0, 0, UP, TCP },
		{ 15000, 0, TICK, NONE, 0, ECHO, TCP_SMALL, UP, TCP },
		{ 16000, 0, TICK, NONE, 0, INITIATE_TCP | ECHO, TCP_SMALL, UP, TCP },
		{ 17000, 0, TICK, NONE, 0, ECHO, TCP_SMALL, UP, TCP },
		{ 18000, 0, TICK, NONE, 0, INITIATE_TCP | ECHO, TCP_SMALL, UP, TCP },
		{ 19000, 0, TICK, NONE, 0, ECHO, TCP_SMALL, UP, TCP },
		{ 20000, 0, TICK, NONE, 0, CLOSE | CARRIER | REPORT, 0, RECONNECTING, NONE },
		{ 20001, 0, TICK, NONE, 0, DIAL, 0, RECONNECTING, NONE },
		{ 20100, 0, TCP_CONNECTED, NONE, 50, NUDGE_TCP | ECHO | CARRIER, TCP_SMALL, RECONNECTING,
			TCP },
		{ 20200, 0, ECHO_REPLY, TCP, SMALL, REPORT, 0, UP, TCP },
		{ 20201, 0, ECHO_REPLY, TCP, FULL, 0, 0, UP, TCP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "udp-silent", "full", "blocked");
}

static void tcp_pauses(void **unused)
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
		{ 10000, 0, SENT, TCP, 0, 0, 0, UP, TCP },
		{ 15000, 0, TICK, NONE, 0, ECHO, TCP_SMALL, UP, TCP },
		{ 15050, 0, ECHO_REPLY, TCP, SMALL, 0, 0, UP, TCP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "udp-silent", "full", "blocked");
}

/* The connection stands, the session is gone: an initiation follows. */
static void session_lost_over_there(void **unused)
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
		{ 10000, 0, TCP_CLOSED, NONE, 0, DIAL | CARRIER | REPORT, 0, RECONNECTING, NONE },
		{ 10050, 0, TCP_CONNECTED, NONE, 50, NUDGE_TCP | ECHO | CARRIER, TCP_SMALL, RECONNECTING,
			TCP },
		{ 10350, 0, TICK, NONE, 0, INITIATE_TCP, 0, RECONNECTING, TCP },
		{ 10401, 0, RESPONSE, TCP, 0, REPORT, 0, UP, TCP },
		{ 10450, 0, ECHO_REPLY, TCP, SMALL, 0, 0, UP, TCP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "udp-silent", "full", "blocked");
}

static void return_to_udp(void **unused)
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
		{ 54461, 67024, TICK, NONE, 0, ECHO, UDP_FULL, UP, TCP },
		{ 54759, 67325, TICK, NONE, 0, NUDGE_TCP, 0, UP, TCP },
		{ 67000, 0, RETRY_UDP, NONE, 0, ECHO, UDP_FULL, UP, TCP },
		{ 67040, 0, ECHO_REPLY, UDP, FULL, CARRIER | REPORT | REMEMBER, 0, UP, UDP },
		{ 77040, 0, TICK, NONE, 0, ECHO, UDP_BOTH, UP, UDP },
		{ 77090, 0, ECHO_REPLY, UDP, FULL, 0, 0, UP, UDP },
		{ 97040, 0, TICK, NONE, 0, CLOSE, 0, UP, UDP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "udp-works", "full", "ok");
}

static void return_fails_and_the_wait_doubles(void **unused)
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
		{ 54461, 67024, TICK, NONE, 0, ECHO, UDP_FULL, UP, TCP },
		{ 54759, 67325, TICK, NONE, 0, NUDGE_TCP, 0, UP, TCP },
		{ 162776, 198234, TICK, NONE, 0, ECHO, UDP_FULL, UP, TCP },
		{ 163074, 198535, TICK, NONE, 0, NUDGE_TCP, 0, UP, TCP },
		{ 384729, 456304, TICK, NONE, 0, ECHO, UDP_FULL, UP, TCP },
		{ 385028, 456605, TICK, NONE, 0, NUDGE_TCP, 0, UP, TCP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "udp-silent", "full", "blocked");
}

/* The answer must arrive by UDP, however often it is asked for. */
static void return_answered_on_tcp_does_not_count(void **unused)
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
		{ 3200, 0, RETRY_UDP, NONE, 0, ECHO, UDP_FULL, UP, TCP },
		{ 3240, 0, ECHO_REPLY, TCP, FULL_BY_OTHER, ECHO, UDP_FULL, UP, TCP },
		{ 3280, 0, ECHO_REPLY, TCP, FULL_BY_OTHER, ECHO, UDP_FULL, UP, TCP },
		{ 3500, 0, TICK, NONE, 0, NUDGE_TCP, 0, UP, TCP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "udp-silent", "full", "blocked");
}

/* A packet by TCP was quicker to take a follower's path back: the next answer counts. */
static void return_answered_on_tcp_and_then_on_udp(void **unused)
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
		{ 3200, 0, RETRY_UDP, NONE, 0, ECHO, UDP_FULL, UP, TCP },
		{ 3240, 0, ECHO_REPLY, TCP, FULL_BY_OTHER, ECHO, UDP_FULL, UP, TCP },
		{ 3280, 0, ECHO_REPLY, UDP, FULL, CARRIER | REPORT | REMEMBER, 0, UP, UDP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "udp-works", "full", "ok");
}

static void return_without_a_target(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, INITIATE_UDP | REPORT, 0, CONNECTING, NONE },
		{ 300, 0, TICK, NONE, 0, DIAL, 0, CONNECTING, NONE },
		{ 350, 0, TCP_CONNECTED, NONE, 50, 0, 0, CONNECTING, NONE },
		{ 550, 0, TICK, NONE, 0, INITIATE_TCP, 0, CONNECTING, NONE },
		{ 600, 0, RESPONSE, TCP, 0, CARRIER | REPORT, 0, VERIFYING, TCP },
		{ 2600, 0, TICK, NONE, 0, REPORT, 0, UP, TCP },
		{ 3000, 0, TICK, NONE, 0, REPORT | REMEMBER, 0, UP, TCP },
		{ 5000, 0, RETRY_UDP, NONE, 0, INITIATE_UDP, 0, UP, TCP },
		{ 5050, 0, RESPONSE, UDP, 0, CARRIER | REPORT | REMEMBER, 0, UP, UDP },
		{ 15050, 0, TICK, NONE, 0, INITIATE_UDP, 0, UP, UDP },
		{ 15100, 0, RESPONSE, UDP, 0, 0, 0, UP, UDP },
		{ 35050, 0, TICK, NONE, 0, CLOSE, 0, UP, UDP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "udp-works", "handshake", "ok");
}

/* A late answer gets one early repeat with more patience. */
static void udp_much_slower_than_tcp(void **unused)
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
		{ 5000, 0, RETRY_UDP, NONE, 0, ECHO, UDP_FULL, UP, TCP },
		{ 5300, 0, TICK, NONE, 0, NUDGE_TCP, 0, UP, TCP },
		{ 5500, 0, ECHO_REPLY, UDP, FULL, 0, 0, UP, TCP },
		{ 6500, 0, TICK, NONE, 0, ECHO, UDP_FULL, UP, TCP },
		{ 6950, 0, ECHO_REPLY, UDP, FULL, CARRIER | REPORT | REMEMBER, 0, UP, UDP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "udp-works", "full", "ok");
}

/* Within 60 s: the wait has doubled. */
static void udp_dies_after_its_return(void **unused)
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
		{ 5000, 0, RETRY_UDP, NONE, 0, ECHO, UDP_FULL, UP, TCP },
		{ 5040, 0, ECHO_REPLY, UDP, FULL, CARRIER | REPORT | REMEMBER, 0, UP, UDP },
		{ 6000, 0, SENT, UDP, 0, 0, 0, UP, UDP },
		{ 11000, 0, TICK, NONE, 0, ECHO, UDP_SMALL, UP, UDP },
		{ 12000, 0, TICK, NONE, 0, INITIATE_UDP | ECHO, UDP_SMALL, UP, UDP },
		{ 13000, 0, TICK, NONE, 0, ECHO, UDP_SMALL, UP, UDP },
		{ 14000, 0, TICK, NONE, 0, INITIATE_TCP | NUDGE_TCP | ECHO | CARRIER | REPORT, TCP_SMALL,
			RECONNECTING, TCP },
		{ 14050, 0, ECHO_REPLY, TCP, SMALL, REPORT | REMEMBER, 0, UP, TCP },
		{ 14051, 0, ECHO_REPLY, TCP, FULL, 0, 0, UP, TCP },
		{ 121536, 146738, TICK, NONE, 0, ECHO, UDP_FULL, UP, TCP },
		{ 121834, 147039, TICK, NONE, 0, NUDGE_TCP, 0, UP, TCP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "udp-silent", "full", "blocked");
}

static void network_changed_on_udp(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, INITIATE_UDP | REPORT, 0, CONNECTING, NONE },
		{ 50, 0, RESPONSE, UDP, 0, CARRIER | REPORT, 0, VERIFYING, UDP },
		{ 60, 0, ECHO_TARGET, NONE, TRUSTED, ECHO, UDP_BOTH, VERIFYING, UDP },
		{ 100, 0, ECHO_REPLY, UDP, SMALL, REPORT, 0, VERIFYING, UDP },
		{ 101, 0, ECHO_REPLY, UDP, FULL, REPORT | REMEMBER, 0, UP, UDP },
		{ 10000, 0, NETWORK_CHANGED, NONE, 0, ECHO, UDP_SMALL, UP, UDP },
		{ 10040, 0, ECHO_REPLY, UDP, SMALL, 0, 0, UP, UDP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "none", "full", "ok");
}

static void network_changed_and_udp_blocked(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, INITIATE_UDP | REPORT, 0, CONNECTING, NONE },
		{ 50, 0, RESPONSE, UDP, 0, CARRIER | REPORT, 0, VERIFYING, UDP },
		{ 60, 0, ECHO_TARGET, NONE, TRUSTED, ECHO, UDP_BOTH, VERIFYING, UDP },
		{ 100, 0, ECHO_REPLY, UDP, SMALL, REPORT, 0, VERIFYING, UDP },
		{ 101, 0, ECHO_REPLY, UDP, FULL, REPORT | REMEMBER, 0, UP, UDP },
		{ 10000, 0, NETWORK_CHANGED, NONE, 0, ECHO, UDP_SMALL, UP, UDP },
		{ 11000, 0, TICK, NONE, 0, INITIATE_UDP | DIAL | ECHO, UDP_SMALL, UP, UDP },
		{ 11050, 0, TCP_CONNECTED, NONE, 50, 0, 0, UP, UDP },
		{ 12000, 0, TICK, NONE, 0, ECHO, UDP_SMALL, UP, UDP },
		{ 13000, 0, TICK, NONE, 0, INITIATE_TCP | NUDGE_TCP | ECHO | CARRIER | REPORT, TCP_SMALL,
			RECONNECTING, TCP },
		{ 13100, 0, ECHO_REPLY, TCP, SMALL, REPORT | REMEMBER, 0, UP, TCP },
		{ 13101, 0, ECHO_REPLY, TCP, FULL, 0, 0, UP, TCP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "udp-silent", "full", "blocked");
}

/* UDP is tried at once; the connection belongs to the old network and is made anew. No news: it is short. */
static void network_changed_on_tcp(void **unused)
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
		{ 10000, 0, NETWORK_CHANGED, NONE, 0, ECHO | REPORT, UDP_FULL, UP, TCP },
		{ 10300, 0, TICK, NONE, 0, CLOSE | CARRIER, 0, UP, NONE },
		{ 10301, 0, TICK, NONE, 0, DIAL, 0, UP, NONE },
		{ 10400, 0, TCP_CONNECTED, NONE, 50, NUDGE_TCP | ECHO | CARRIER, TCP_SMALL, UP, TCP },
		{ 10450, 0, ECHO_REPLY, TCP, SMALL, 0, 0, UP, TCP },
		{ 13000, 0, TICK, NONE, 0, REPORT | REMEMBER, 0, UP, TCP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "udp-silent", "full", "blocked");
}

static void network_changed_on_tcp_udp_works(void **unused)
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
		{ 10000, 0, NETWORK_CHANGED, NONE, 0, ECHO | REPORT, UDP_FULL, UP, TCP },
		{ 10050, 0, ECHO_REPLY, UDP, FULL, CARRIER | REPORT | REMEMBER, 0, UP, UDP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "udp-works", "full", "ok");
}

static void network_comes_back_without_udp(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, INITIATE_UDP | REPORT, 0, CONNECTING, NONE },
		{ 50, 0, RESPONSE, UDP, 0, CARRIER | REPORT, 0, VERIFYING, UDP },
		{ 60, 0, ECHO_TARGET, NONE, TRUSTED, ECHO, UDP_BOTH, VERIFYING, UDP },
		{ 100, 0, ECHO_REPLY, UDP, SMALL, REPORT, 0, VERIFYING, UDP },
		{ 101, 0, ECHO_REPLY, UDP, FULL, REPORT | REMEMBER, 0, UP, UDP },
		{ 10000, 0, NETWORK_LOST, NONE, 0, CARRIER | REPORT, 0, RECONNECTING, NONE },
		{ 20000, 0, NETWORK_CHANGED, NONE, 0, INITIATE_UDP | REPORT, 0, RECONNECTING, NONE },
		{ 20300, 0, TICK, NONE, 0, DIAL, 0, RECONNECTING, NONE },
		{ 20350, 0, TCP_CONNECTED, NONE, 50, 0, 0, RECONNECTING, NONE },
		{ 20550, 0, TICK, NONE, 0, INITIATE_TCP | NUDGE_TCP | ECHO | CARRIER, TCP_SMALL, RECONNECTING,
			TCP },
		{ 20600, 0, ECHO_REPLY, TCP, SMALL, REPORT, 0, UP, TCP },
		{ 20601, 0, ECHO_REPLY, TCP, FULL, 0, 0, UP, TCP },
		{ 23000, 0, TICK, NONE, 0, REPORT | REMEMBER, 0, UP, TCP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "udp-silent", "full", "blocked");
}

static void network_lost(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, INITIATE_UDP | REPORT, 0, CONNECTING, NONE },
		{ 50, 0, RESPONSE, UDP, 0, CARRIER | REPORT, 0, VERIFYING, UDP },
		{ 60, 0, ECHO_TARGET, NONE, TRUSTED, ECHO, UDP_BOTH, VERIFYING, UDP },
		{ 100, 0, ECHO_REPLY, UDP, SMALL, REPORT, 0, VERIFYING, UDP },
		{ 101, 0, ECHO_REPLY, UDP, FULL, REPORT | REMEMBER, 0, UP, UDP },
		{ 10000, 0, NETWORK_LOST, NONE, 0, CARRIER | REPORT, 0, RECONNECTING, NONE },
		{ 20000, 0, NETWORK_CHANGED, NONE, 0, INITIATE_UDP | REPORT, 0, RECONNECTING, NONE },
		{ 20050, 0, RESPONSE, UDP, 0, ECHO | CARRIER | REPORT | REMEMBER, UDP_BOTH, UP, UDP },
		{ 20100, 0, ECHO_REPLY, UDP, FULL, 0, 0, UP, UDP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "none", "full", "ok");
}

/* A renewal is no news. */
static void session_expired(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, INITIATE_UDP | REPORT, 0, CONNECTING, NONE },
		{ 50, 0, RESPONSE, UDP, 0, CARRIER | REPORT, 0, VERIFYING, UDP },
		{ 60, 0, ECHO_TARGET, NONE, TRUSTED, ECHO, UDP_BOTH, VERIFYING, UDP },
		{ 100, 0, ECHO_REPLY, UDP, SMALL, REPORT, 0, VERIFYING, UDP },
		{ 101, 0, ECHO_REPLY, UDP, FULL, REPORT | REMEMBER, 0, UP, UDP },
		{ 10000, 0, NO_SESSION, NONE, 0, INITIATE_UDP, 0, UP, UDP },
		{ 10050, 0, RESPONSE, UDP, 0, 0, 0, UP, UDP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "none", "full", "ok");
}

static void session_expired_and_udp_silent(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, INITIATE_UDP | REPORT, 0, CONNECTING, NONE },
		{ 50, 0, RESPONSE, UDP, 0, CARRIER | REPORT, 0, VERIFYING, UDP },
		{ 60, 0, ECHO_TARGET, NONE, TRUSTED, ECHO, UDP_BOTH, VERIFYING, UDP },
		{ 100, 0, ECHO_REPLY, UDP, SMALL, REPORT, 0, VERIFYING, UDP },
		{ 101, 0, ECHO_REPLY, UDP, FULL, REPORT | REMEMBER, 0, UP, UDP },
		{ 10000, 0, NO_SESSION, NONE, 0, INITIATE_UDP, 0, UP, UDP },
		{ 10300, 0, TICK, NONE, 0, DIAL, 0, UP, UDP },
		{ 10340, 0, TCP_CONNECTED, NONE, 40, 0, 0, UP, UDP },
		{ 10540, 0, TICK, NONE, 0, INITIATE_TCP, 0, UP, UDP },
		{ 10600, 0, RESPONSE, TCP, 0, ECHO | CARRIER | REPORT, TCP_BOTH, UP, TCP },
		{ 10640, 0, ECHO_REPLY, TCP, FULL, 0, 0, UP, TCP },
		{ 13000, 0, TICK, NONE, 0, REPORT | REMEMBER, 0, UP, TCP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "udp-silent", "full", "blocked");
}

/* UDP is kept until the connection stands; on the way back TCP is read for 2 s more. */
static void switch_to_tcp_and_back(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, INITIATE_UDP | REPORT, 0, CONNECTING, NONE },
		{ 50, 0, RESPONSE, UDP, 0, CARRIER | REPORT, 0, VERIFYING, UDP },
		{ 60, 0, ECHO_TARGET, NONE, TRUSTED, ECHO, UDP_BOTH, VERIFYING, UDP },
		{ 100, 0, ECHO_REPLY, UDP, SMALL, REPORT, 0, VERIFYING, UDP },
		{ 101, 0, ECHO_REPLY, UDP, FULL, REPORT | REMEMBER, 0, UP, UDP },
		{ 10000, 0, SETTINGS, NONE, TRANSPORT_TCP, DIAL | REPORT, 0, UP, UDP },
		{ 10010, 0, SENT, UDP, 0, 0, 0, UP, UDP },
		{ 10050, 0, TCP_CONNECTED, NONE, 50, NUDGE_TCP | ECHO | CARRIER, TCP_SMALL, UP, TCP },
		{ 10070, 0, RECEIVED, UDP, 0, 0, 0, UP, TCP },
		{ 10100, 0, ECHO_REPLY, TCP, SMALL, 0, 0, UP, TCP },
		{ 10110, 0, ECHO_REPLY, TCP, FULL, 0, 0, UP, TCP },
		{ 12000, 0, SETTINGS, NONE, TRANSPORT_UDP, NUDGE_UDP | ECHO | CARRIER | REPORT, UDP_SMALL, UP,
			UDP },
		{ 12050, 0, ECHO_REPLY, UDP, SMALL, 0, 0, UP, UDP },
		{ 14000, 0, TICK, NONE, 0, CLOSE, 0, UP, UDP },
		{ 15000, 0, SETTINGS, NONE, TRANSPORT_AUTO, REPORT, 0, UP, UDP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "none", "full", "ok");
}

static void switch_to_tcp_that_is_refused(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, INITIATE_UDP | REPORT, 0, CONNECTING, NONE },
		{ 50, 0, RESPONSE, UDP, 0, CARRIER | REPORT, 0, VERIFYING, UDP },
		{ 60, 0, ECHO_TARGET, NONE, TRUSTED, ECHO, UDP_BOTH, VERIFYING, UDP },
		{ 100, 0, ECHO_REPLY, UDP, SMALL, REPORT, 0, VERIFYING, UDP },
		{ 101, 0, ECHO_REPLY, UDP, FULL, REPORT | REMEMBER, 0, UP, UDP },
		{ 10000, 0, SETTINGS, NONE, TRANSPORT_TCP, DIAL | REPORT, 0, UP, UDP },
		{ 10001, 0, TCP_FAILED, NONE, 0, CARRIER | REPORT, 0, RECONNECTING, NONE },
		{ 10150, 10353, TICK, NONE, 0, DIAL, 0, RECONNECTING, NONE },
	};

	(void)unused;
	STORY(automatic, rows, "none", "chosen", "full", "unused");
}

static void switch_to_tcp_that_hangs(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, INITIATE_UDP | REPORT, 0, CONNECTING, NONE },
		{ 50, 0, RESPONSE, UDP, 0, CARRIER | REPORT, 0, VERIFYING, UDP },
		{ 60, 0, ECHO_TARGET, NONE, TRUSTED, ECHO, UDP_BOTH, VERIFYING, UDP },
		{ 100, 0, ECHO_REPLY, UDP, SMALL, REPORT, 0, VERIFYING, UDP },
		{ 101, 0, ECHO_REPLY, UDP, FULL, REPORT | REMEMBER, 0, UP, UDP },
		{ 10000, 0, SETTINGS, NONE, TRANSPORT_TCP, DIAL | REPORT, 0, UP, UDP },
		{ 13000, 0, TICK, NONE, 0, CARRIER | REPORT, 0, RECONNECTING, NONE },
	};

	(void)unused;
	STORY(automatic, rows, "none", "chosen", "full", "unused");
}

/* Obeyed, though nothing passes. */
static void switch_to_blocked_udp(void **unused)
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
		{ 10000, 0, SETTINGS, NONE, TRANSPORT_UDP, NUDGE_UDP | ECHO | CARRIER | REPORT, UDP_SMALL, UP,
			UDP },
		{ 11000, 0, TICK, NONE, 0, INITIATE_UDP | ECHO, UDP_SMALL, UP, UDP },
		{ 12000, 0, TICK, NONE, 0, CLOSE | ECHO, UDP_SMALL, UP, UDP },
		{ 13000, 0, TICK, NONE, 0, INITIATE_UDP | REPORT, 0, RECONNECTING, UDP },
		{ 14000, 0, TICK, NONE, 0, INITIATE_UDP, 0, RECONNECTING, UDP },
		{ 16000, 0, TICK, NONE, 0, INITIATE_UDP, 0, RECONNECTING, UDP },
	};

	(void)unused;
	STORY(automatic, rows, "none", "chosen", "full", "blocked");
}

static void switch_from_tcp_to_auto(void **unused)
{
	static const struct row rows[] = {
		{ 0, 0, START, NONE, 0, DIAL | REPORT, 0, CONNECTING, NONE },
		{ 50, 0, TCP_CONNECTED, NONE, 50, INITIATE_TCP, 0, CONNECTING, NONE },
		{ 100, 0, RESPONSE, TCP, 0, CARRIER | REPORT, 0, VERIFYING, TCP },
		{ 110, 0, ECHO_TARGET, NONE, TRUSTED, ECHO, TCP_BOTH, VERIFYING, TCP },
		{ 150, 0, ECHO_REPLY, TCP, FULL, REPORT, 0, UP, TCP },
		{ 5000, 0, SETTINGS, NONE, TRANSPORT_AUTO, ECHO | REPORT, UDP_FULL, UP, TCP },
		{ 5050, 0, ECHO_REPLY, UDP, FULL, CARRIER | REPORT | REMEMBER, 0, UP, UDP },
		{ 15050, 0, TICK, NONE, 0, ECHO, UDP_BOTH, UP, UDP },
		{ 15100, 0, ECHO_REPLY, UDP, FULL, 0, 0, UP, UDP },
	};

	(void)unused;
	STORY(chosen_tcp, rows, "none", "udp-works", "full", "ok");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(udp_falls_silent),
		cmocka_unit_test(udp_pauses),
		cmocka_unit_test(one_way_traffic),
		cmocka_unit_test(udp_falls_silent_without_a_target),
		cmocka_unit_test(everything_falls_silent),
		cmocka_unit_test(other_side_restarted),
		cmocka_unit_test(data_alone_dies),
		cmocka_unit_test(udp_error_while_up),
		cmocka_unit_test(tcp_closed),
		cmocka_unit_test(tcp_closed_then_refused),
		cmocka_unit_test(tcp_closed_udp_works),
		cmocka_unit_test(tcp_falls_silent),
		cmocka_unit_test(tcp_pauses),
		cmocka_unit_test(session_lost_over_there),
		cmocka_unit_test(return_to_udp),
		cmocka_unit_test(return_fails_and_the_wait_doubles),
		cmocka_unit_test(return_answered_on_tcp_does_not_count),
		cmocka_unit_test(return_answered_on_tcp_and_then_on_udp),
		cmocka_unit_test(return_without_a_target),
		cmocka_unit_test(udp_much_slower_than_tcp),
		cmocka_unit_test(udp_dies_after_its_return),
		cmocka_unit_test(network_changed_on_udp),
		cmocka_unit_test(network_changed_and_udp_blocked),
		cmocka_unit_test(network_changed_on_tcp),
		cmocka_unit_test(network_changed_on_tcp_udp_works),
		cmocka_unit_test(network_comes_back_without_udp),
		cmocka_unit_test(network_lost),
		cmocka_unit_test(session_expired),
		cmocka_unit_test(session_expired_and_udp_silent),
		cmocka_unit_test(switch_to_tcp_and_back),
		cmocka_unit_test(switch_to_tcp_that_is_refused),
		cmocka_unit_test(switch_to_tcp_that_hangs),
		cmocka_unit_test(switch_to_blocked_udp),
		cmocka_unit_test(switch_from_tcp_to_auto),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
