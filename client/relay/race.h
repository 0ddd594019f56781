/* SPDX-License-Identifier: MIT */
/* The choice between UDP and TCP for one peer of a kernel client, by what a relay without keys can see: a
 * pure state machine. The daemon's machine (core/carrier/fallback) stands above it and takes over once there
 * is a session. Internal to client/relay. Figures: docs/fallback.md. */
#ifndef WGTCP_CLIENT_RELAY_RACE_H
#define WGTCP_CLIENT_RELAY_RACE_H

#include "core/carrier/fallback.h"
#include "core/carrier/fallback_wait.h"
#include "core/port/relay_seam.h"

#define RACE_DIAL_UNKNOWN_MS 300 /* or 1.5 round trips, if that is longer */
#define RACE_DIAL_GOOD_MS 2000
#define RACE_SILENT_MS 200  /* TCP stands, and UDP stays silent for so long more */
#define RACE_COOKIE_MS 5500 /* the kernel comes again, with the cookie, after 5 s and a little */
#define RACE_FRESH_MS 300   /* or 2 round trips, if that is longer */

enum race_event_kind {
	RACE_TICK,
	RACE_INITIATION, /* the kernel has sent one, which goes by what race_uses_* say after this step */
	RACE_UDP_ANSWER, /* a response, or data of a session, came by this carrier */
	RACE_TCP_ANSWER,
	RACE_UDP_COOKIE, /* a cookie reply came by UDP: it passes both ways, though there is no session yet */
	RACE_UDP_FAILED, /* ICMP error, or the send failed */
	RACE_TCP_CONNECTED, /* event.rtt_us */
	RACE_TCP_FAILED,    /* the dial */
	RACE_TCP_CLOSED,
	RACE_NETWORK, /* it has changed */
	RACE_USE,     /* event.use: the daemon's word */
	RACE_CLOSE,   /* the daemon's word: the stream, or the dial, is given up by it */
};

struct race_event {
	enum race_event_kind kind;
	enum relay_use use;
	uint32_t rtt_us;
};

enum {
	RACE_DIAL = 1,
	RACE_DROP_TCP = 2,  /* close the stream, give up the dial */
	RACE_SEND_HELD = 4, /* the kernel's newest initiation, on TCP */
	RACE_TELL_UDP_WINS = 8,
	RACE_TELL_TCP_WINS = 16,
	RACE_WANT_FRESH = 32,
};

enum race_tcp { RACE_TCP_NONE, RACE_TCP_DIALLING, RACE_TCP_STANDS };

/* All zero but use, seed: as race_init leaves it. */
struct race {
	enum relay_use use;
	enum fallback_memory memory;
	struct jitter jitter;
	enum carrier carrier; /* with RELAY_USE_RACE: where datagrams go now */
	bool waiting;         /* an initiation is unanswered */
	bool decided;         /* an answer has come on `carrier` since the race began */
	bool udp_failed;
	bool gone_udp, gone_tcp; /* the newest initiation has been sent by it */
	enum race_tcp tcp;
	uint32_t failures;    /* dials in a row */
	uint32_t rtt_us;      /* 0: unknown */
	struct mono began;    /* the newest initiation */
	struct mono patience; /* a cookie reply came: UDP is not called silent before this; unset: none did */
	/* unset: not due */
	struct mono dial_at, switch_at, fresh_at;
};

void race_init(struct race *race, uint64_t seed);
void race_set_memory(struct race *race, enum fallback_memory memory);
/* All transitions stand here. Bits of what is to be done, in their order. */
uint32_t race_step(struct race *race, const struct race_event *event, struct mono now);
struct mono race_deadline(const struct race *race);
/* Where the kernel's datagrams go. */
bool race_uses_udp(const struct race *race);
bool race_uses_tcp(const struct race *race);

#endif
