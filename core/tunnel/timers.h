/* SPDX-License-Identifier: MIT */
/* All timers of one peer as a state machine: events and `now` go in, dues come out. It knows nothing of keys;
 * the others tell it what happened. Source: WireGuard paper 6. */
#ifndef WGTCP_CORE_TUNNEL_TIMERS_H
#define WGTCP_CORE_TUNNEL_TIMERS_H

#include "core/noise/session.h"
#include "core/tunnel/tunnel.h"

#define REKEY_JITTER_MS 334
/* Sent data, nothing back: the other side would have sent a keepalive by then. */
#define NO_ANSWER_MS (KEEPALIVE_TIMEOUT_MS + REKEY_TIMEOUT_MS)
#define ZERO_KEYS_MS (3 * REJECT_AFTER_MS)
/* Who initiated a session renews it this late at the latest, when he only receives (paper 6.2). */
#define REKEY_ON_RECEIVE_MS (REJECT_AFTER_MS - KEEPALIVE_TIMEOUT_MS - REKEY_TIMEOUT_MS)

enum timer {
	TIMER_RETRY,      /* the next initiation of the attempt under way */
	TIMER_NO_ANSWER,  /* data went out and nothing has come in since */
	TIMER_PASSIVE,    /* data came in and nothing has gone out since */
	TIMER_PERSISTENT, /* nothing either way for the keepalive interval */
	TIMER_ZERO,       /* no new session for so long that all keys go */
	TIMER_COUNT
};

enum timers_event {
	TIMERS_TICK,  /* time has passed */
	TIMERS_WANT,  /* somebody wants a session now; gives DUE_INITIATION when it may go out at once */
	TIMERS_REKEY, /* the session in use is getting old */
	TIMERS_INITIATION_SENT,
	TIMERS_SENT, /* anything else authentic but data: response, keepalive */
	TIMERS_DATA_SENT,
	TIMERS_RECEIVED, /* anything authentic but data */
	TIMERS_DATA_RECEIVED,
	TIMERS_SESSION_MADE, /* as initiator or as responder */
	TIMERS_CONFIRMED,    /* and both sides are known to have it: the attempt is over */
	TIMERS_INTERVAL_SET, /* timers->persistent_s has changed */
	TIMERS_RESTART,      /* forget the attempt; the next may start at once */
	TIMERS_DROPPED,      /* our key has changed: all sessions and handshakes are gone */
};

/* Internal to this folder, beside DUE_*: this keepalive is a passive one, of no use without a session. */
#define DUE_PASSIVE 256

struct timers {
	struct mono due[TIMER_COUNT]; /* MONO_NEVER: not running */
	struct mono attempt_since;    /* of the handshake under way; unset: none */
	struct mono initiation_sent;  /* the last one */
	bool restarted;               /* initiation_sent only counts for INITIATION_SPACING_MS */
	uint16_t persistent_s;
	uint32_t jitter; /* state of a small generator: neither secret nor shared */
};

void timers_init(struct timers *timers, uint32_t seed);
/* All transitions stand here. Gives bits of DUE_*; only TIMERS_TICK and TIMERS_WANT give any. */
uint32_t timers_step(struct timers *timers, enum timers_event event, struct mono now);
/* The earliest of them. */
struct mono timers_deadline(const struct timers *timers);

#endif
