/* SPDX-License-Identifier: MIT */
/* The choice between UDP and TCP for one peer: a pure state machine. Whoever owns it (the engine for its peers, the
 * daemon for kernel backends) feeds events and carries out the actions. Figures: docs/fallback.md.
 *
 * The machine runs only where we are the leader of the path (docs/wire.md 2). It decides three things: which carrier data
 * goes out on, when to ask whether a carrier works, and what a person is told. */
#ifndef WGTCP_CORE_CARRIER_FALLBACK_H
#define WGTCP_CORE_CARRIER_FALLBACK_H

#include "core/base/carrier.h"
#include "core/base/time.h"

#include <stddef.h>

enum fallback_state {
	FALLBACK_STATE_DOWN,         /* nobody has asked for a session */
	FALLBACK_STATE_CONNECTING,
	FALLBACK_STATE_VERIFYING,    /* handshake done, echo not yet answered */
	FALLBACK_STATE_UP,
	FALLBACK_STATE_DEGRADED,     /* handshakes pass, data or full-size packets do not, and nothing better is known */
	FALLBACK_STATE_RECONNECTING, /* was up; nothing passes just now */
	FALLBACK_STATE_FAILED,       /* 20 s without success; it goes on trying slowly */
};

enum fallback_cause {
	FALLBACK_CAUSE_NONE,
	FALLBACK_CAUSE_NO_NETWORK,
	FALLBACK_CAUSE_PEER_UNREACHABLE,  /* nothing came back on any carrier tried */
	FALLBACK_CAUSE_HANDSHAKE_REFUSED, /* TCP connects, yet no handshake is answered on any carrier */
};

/* Why the machine is on TCP, or left it: for the sentence a person reads. */
enum fallback_reason {
	FALLBACK_REASON_NONE,
	FALLBACK_REASON_CHOSEN,        /* transport is udp or tcp */
	FALLBACK_REASON_UDP_SILENT,    /* nothing comes back by UDP */
	FALLBACK_REASON_UDP_REJECTED,  /* ICMP error or the send failed */
	FALLBACK_REASON_UDP_NO_DATA,   /* handshakes pass by UDP, data does not */
	FALLBACK_REASON_UDP_NO_LARGE,  /* small packets pass by UDP, full-size ones do not */
	FALLBACK_REASON_UDP_FLAPPING,  /* stays on TCP until the network changes */
	FALLBACK_REASON_REMEMBERED,    /* UDP was blocked on this network before */
	FALLBACK_REASON_UDP_WORKS,     /* came back, or stayed */
};

enum fallback_verified { FALLBACK_VERIFIED_NONE, FALLBACK_VERIFIED_HANDSHAKE, FALLBACK_VERIFIED_SMALL, FALLBACK_VERIFIED_FULL };

enum fallback_udp { FALLBACK_UDP_UNKNOWN, FALLBACK_UDP_OK, FALLBACK_UDP_BLOCKED, FALLBACK_UDP_UNUSED };

/* What this network did to UDP before. */
enum fallback_memory { FALLBACK_MEMORY_UNKNOWN, FALLBACK_MEMORY_GOOD, FALLBACK_MEMORY_BLOCKED };

struct fallback_settings {
	enum transport transport;
	bool udp, tcp;               /* an endpoint for this carrier is known */
	enum fallback_memory memory;
	uint32_t last_rtt_ms;        /* 0: unknown */
	uint64_t seed;               /* for jitter */
};

enum fallback_event_kind {
	FALLBACK_TICK,            /* time has passed */
	FALLBACK_START,           /* a session is wanted (interface up, a packet waits, keepalive) */
	FALLBACK_STOP,
	FALLBACK_SETTINGS,        /* event.settings replaces the old; a changed transport is a person's word: act at once */
	FALLBACK_RESPONSE,        /* the response to our newest initiation came in on `carrier`: a session stands */
	FALLBACK_SUPERSEDED,      /* an authentic response to an older initiation came in on `carrier` */
	FALLBACK_RECEIVED,        /* anything else authentic came in on `carrier` (also the peer's own initiation, after which
	                           * a session stands: event.handshake); at most once per carrier and loop turn */
	FALLBACK_ECHO_REPLY,      /* event.echo_id was answered; the answer came in on `carrier` */
	FALLBACK_ECHO_TARGET,     /* echoes can be sent from now on: the peer has shown its hello, or a ProbeAddress is known;
	                           * event.trusted: a hello (an answer is certain if the carrier works) */
	FALLBACK_SENT,            /* inner data went out on `carrier`; at most once per loop turn */
	FALLBACK_NO_SESSION,      /* the session expired or the handshake gave up: a new one is needed */
	FALLBACK_TCP_CONNECTED,   /* nothing sent yet; event.rtt_us. Also for a connection that the peer made, once it is the
	                           * peer's: it takes the place of the one before, and of a dial under way */
	FALLBACK_TCP_FAILED,      /* the dial failed */
	FALLBACK_TCP_CLOSED,      /* the connection in use is gone */
	FALLBACK_UDP_ERROR,       /* ICMP error for our datagram, or the send failed */
	FALLBACK_NETWORK_CHANGED, /* address, route or link; also after sleep */
	FALLBACK_NETWORK_LOST,    /* no route to any endpoint */
	FALLBACK_RETRY_UDP,       /* a person's word: try UDP now */
};

struct fallback_event {
	enum fallback_event_kind kind;
	enum carrier carrier;
	uint64_t echo_id;
	bool trusted;
	bool handshake; /* it shows that handshakes pass, not that data does */
	uint32_t rtt_us;
	const struct fallback_settings *settings;
};

enum {
	FALLBACK_INITIATE_UDP = 1, /* a fresh initiation on this carrier */
	FALLBACK_INITIATE_TCP = 2,
	FALLBACK_DIAL_TCP = 4,     /* connect, send nothing; answered by TCP_CONNECTED or TCP_FAILED */
	FALLBACK_CLOSE_TCP = 8,    /* also ends a dial under way */
	FALLBACK_NUDGE_TCP = 16,   /* one keepalive on it: authenticates a connection, or takes the follower's path back */
	FALLBACK_NUDGE_UDP = 32,
	FALLBACK_ECHO = 64,        /* send the echoes listed in the action */
	FALLBACK_CARRIER = 128,    /* fallback_carrier() has changed: data goes there from now on */
	FALLBACK_REPORT = 256,     /* state, cause, verified, udp or reason has changed */
	FALLBACK_REMEMBER = 512,   /* fallback_udp() is worth remembering for this network (ok or blocked) */
};

struct fallback_echo {
	uint64_t id; /* never 0 */
	enum carrier carrier;
	bool full; /* as large as the tunnel's MTU, both ways; else small */
};

struct fallback_action {
	uint32_t what; /* bits above */
	size_t echo_count;
	struct fallback_echo echoes[4];
};

struct fallback; /* opaque; heap */

/* NULL when memory is short. Starts DOWN. */
struct fallback *fallback_new(const struct fallback_settings *settings);
void fallback_free(struct fallback *fallback);

/* All transitions stand here. Actions are to be carried out in the order of their bits. */
struct fallback_action fallback_step(struct fallback *fallback, const struct fallback_event *event, struct mono now);
/* When the next FALLBACK_TICK is due; MONO_NEVER: not before another event. */
struct mono fallback_deadline(const struct fallback *fallback);

/* Where data goes now; CARRIER_NONE while connecting. */
enum carrier fallback_carrier(const struct fallback *fallback);
/* Where an initiation that WireGuard's own timers ask for goes (retry, rekey); CARRIER_NONE: hold it back, the
 * machine will say when. */
enum carrier fallback_initiation_carrier(const struct fallback *fallback);
enum fallback_state fallback_state(const struct fallback *fallback);
enum fallback_cause fallback_cause(const struct fallback *fallback);
enum fallback_reason fallback_reason(const struct fallback *fallback);
enum fallback_verified fallback_verified(const struct fallback *fallback);
enum fallback_udp fallback_udp(const struct fallback *fallback);

/* "reconnecting", "peer-unreachable", ... the words of `status`. */
const char *fallback_state_name(enum fallback_state state);
const char *fallback_cause_name(enum fallback_cause cause);
const char *fallback_reason_name(enum fallback_reason reason);
const char *fallback_verified_name(enum fallback_verified verified);
const char *fallback_udp_name(enum fallback_udp udp);

#endif
