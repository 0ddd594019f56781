/* SPDX-License-Identifier: MIT */
/* A fallback machine's life as a table: what happens to it, and all that it asks for, with a number for a
 * clock. */
#ifndef WGTCP_TESTS_STORY_H
#define WGTCP_TESTS_STORY_H

#include "core/carrier/fallback.h"

/* One row. A row with FALLBACK_TICK says that the machine itself has asked to be woken then; between rows
 * nothing may come of a tick. */
struct row {
	uint64_t ms, until_ms; /* until_ms: with a tick, for a wait with jitter: some time from ms to
				  until_ms; else 0 */
	enum fallback_event_kind kind;
	enum carrier carrier;
	/* TCP_CONNECTED: round trip in ms. SETTINGS: the transport. ECHO_TARGET: trusted. ECHO_REPLY: enum
	 * row_reply. */
	int argument;
	uint32_t what;
	int echoes; /* the echoes in the action: bits of enum row_echo */
	enum fallback_state state;
	enum carrier goes; /* data, after the row */
};

enum row_echo { UDP_SMALL = 1, UDP_FULL = 2, UDP_BOTH = 3, TCP_SMALL = 4, TCP_FULL = 8, TCP_BOTH = 12 };
enum row_target { GUESSED, TRUSTED };
/* To the newest small or full-size echo sent by the carrier that the reply comes by, or by the other one. */
enum row_reply { SMALL, FULL, FULL_BY_OTHER = 3 };

/* Short words for tables. */
#define TICK FALLBACK_TICK
#define START FALLBACK_START
#define STOP FALLBACK_STOP
#define SETTINGS FALLBACK_SETTINGS
#define RESPONSE FALLBACK_RESPONSE
#define SUPERSEDED FALLBACK_SUPERSEDED
#define RECEIVED FALLBACK_RECEIVED
#define ECHO_REPLY FALLBACK_ECHO_REPLY
#define ECHO_TARGET FALLBACK_ECHO_TARGET
#define SENT FALLBACK_SENT
#define NO_SESSION FALLBACK_NO_SESSION
#define TCP_CONNECTED FALLBACK_TCP_CONNECTED
#define TCP_FAILED FALLBACK_TCP_FAILED
#define TCP_CLOSED FALLBACK_TCP_CLOSED
#define UDP_ERROR FALLBACK_UDP_ERROR
#define NETWORK_CHANGED FALLBACK_NETWORK_CHANGED
#define NETWORK_LOST FALLBACK_NETWORK_LOST
#define RETRY_UDP FALLBACK_RETRY_UDP
#define INITIATE_UDP FALLBACK_INITIATE_UDP
#define INITIATE_TCP FALLBACK_INITIATE_TCP
#define DIAL FALLBACK_DIAL_TCP
#define CLOSE FALLBACK_CLOSE_TCP
#define NUDGE_TCP FALLBACK_NUDGE_TCP
#define NUDGE_UDP FALLBACK_NUDGE_UDP
#define ECHO FALLBACK_ECHO
#define CARRIER FALLBACK_CARRIER
#define REPORT FALLBACK_REPORT
#define REMEMBER FALLBACK_REMEMBER
#define DOWN FALLBACK_STATE_DOWN
#define CONNECTING FALLBACK_STATE_CONNECTING
#define VERIFYING FALLBACK_STATE_VERIFYING
#define UP FALLBACK_STATE_UP
#define DEGRADED FALLBACK_STATE_DEGRADED
#define RECONNECTING FALLBACK_STATE_RECONNECTING
#define FAILED FALLBACK_STATE_FAILED
#define NONE CARRIER_NONE
#define UDP CARRIER_UDP
#define TCP CARRIER_TCP

/* In the words of `status`. */
struct ending {
	const char *cause, *reason, *verified, *udp;
};

void story_run(const struct fallback_settings *settings, const struct row *rows, size_t count,
	const struct ending *ending);

#define STORY(settings, rows, ...)                                                                           \
	story_run(&(settings), rows, sizeof(rows) / sizeof((rows)[0]), &(const struct ending){ __VA_ARGS__ })

#endif
