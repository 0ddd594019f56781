/* SPDX-License-Identifier: MIT */
/* Inside the fallback machine; for fallback*.c alone. It is made of small machines that share a clock:
 *
 * - fallback_search.c: CONNECT, until something authentic answers on a carrier, then VERIFY or UP.
 * - fallback_link.c: the TCP connection. Once it stands it costs nothing until something is sent on it.
 * - fallback_watch.c: whether the carrier in use passes data: check, comparison, doubt and questions.
 * - fallback_trial.c: while on TCP, whether UDP works again.
 * - fallback_outside.c: what a person and the network say.
 * - fallback.c: from each event and each timer to the transitions above.
 *
 * What time brings is a timer; one that fires is off until set again. */
#ifndef WGTCP_CORE_CARRIER_FALLBACK_MACHINE_H
#define WGTCP_CORE_CARRIER_FALLBACK_MACHINE_H

#include "core/carrier/fallback_output.h"
#include "core/carrier/fallback_wait.h"

/* Figures that more than one of them needs. */
enum {
	UDP_SILENT_MS = 200,     /* with TCP connected, UDP gets this much more */
	UDP_RETRY_MIN_MS = 1000, /* one lost packet shall not decide */
	ROUND_MS = 5000,         /* unanswered on TCP: start over with UDP */
	BLOCKED_MS = 3000,
	VERIFY_REPEAT_MS = 500,
	RETEST_MIN_MS = 10 * 1000, /* while degraded */
	ASK_MS = 1000,
	CLOSE_MS = 30 * 1000,
};

enum phase { PHASE_DOWN, PHASE_OFFLINE, PHASE_CONNECT, PHASE_VERIFY, PHASE_UP };

enum link { LINK_NONE, LINK_DIALING, LINK_CONNECTED };

enum check { CHECK_OFF, CHECK_CARRIER, CHECK_COMPARE };

/* How a search for a carrier begins. */
enum search {
	SEARCH_RACE,     /* UDP at once, TCP beside it after its delay */
	SEARCH_REDIAL,   /* TCP at once, UDP beside it a little later */
	SEARCH_TAKEOVER, /* the connection stands: go over to it with the living session */
};

enum timer {
	TIMER_FAIL,  /* CONNECT: too long */
	TIMER_QUIET, /* CONNECT: now it is news */
	TIMER_ROUND, /* CONNECT: start over */
	TIMER_UDP,   /* CONNECT: initiate on UDP */
	TIMER_TCP,   /* CONNECT: initiate on TCP */
	TIMER_DIAL,
	TIMER_DIAL_LIMIT,
	TIMER_CHECK_END,
	TIMER_CHECK_ECHO,
	TIMER_RETEST,  /* degraded: check again */
	TIMER_BLOCKED, /* on TCP: UDP has been silent for long enough */
	TIMER_DOUBT,
	TIMER_ASK,
	TIMER_SWITCH, /* a person chose TCP, and it does not connect */
	TIMER_RENEW,  /* the network changed under a connection */
	TIMER_TRIAL,
	TIMER_TRIAL_END,
	TIMER_RECHECK, /* some time after a return to UDP */
	TIMER_CLOSE,   /* the connection is no longer needed */
	TIMER_COUNT
};

struct fallback {
	struct fallback_settings settings;
	struct mono now; /* of this step */
	struct mono timers[TIMER_COUNT];
	struct output out;
	struct jitter jitter;

	/* What others see. */
	enum fallback_state state;
	enum fallback_cause cause;
	enum fallback_reason reason;
	enum fallback_verified verified;
	enum fallback_udp udp, remembered;
	enum carrier carrier;

	enum phase phase;
	bool offline; /* no route; also known while DOWN */
	bool was_up;  /* since START */
	bool session;
	uint32_t rtt_ms; /* 0: unknown */
	bool target, target_trusted, target_answered;

	enum link link;
	struct mono link_since;
	struct mono redial_at;     /* not before; unset: at once */
	uint32_t link_failures;    /* in a row, without an authentic answer between */
	unsigned link_initiations; /* on this connection */
	bool link_authentic;       /* something authentic came in on this connection */
	bool link_stale;           /* the network has changed since it was made */
	bool link_ends;            /* a person chose UDP: closes for good soon */

	/* CONNECT */
	bool slow; /* tried in vain for 20 s */
	uint64_t slow_ms;
	bool tcp_connected;        /* at some time in this attempt */
	bool udp_failed;           /* in this round: an error came back */
	bool udp_works, tcp_works; /* in this round: an answer that came too late to count */
	bool tcp_initiated;        /* in this round: no further initiation on UDP */
	unsigned udp_initiations;  /* in this round */
	uint64_t udp_retry_ms;     /* slower than usual on a slow path */
	struct mono round_since;

	/* VERIFY and UP */
	enum check check;
	bool check_small;   /* passed on the carrier in use */
	bool compare_small; /* passed on TCP */
	uint64_t retest_ms;
	bool degraded;
	struct mono unanswered[3]; /* by carrier: the first inner packet sent since something came in */
	struct mono udp_asked;     /* the first thing sent by UDP since something came in by UDP */
	struct mono udp_initiated; /* an initiation by UDP that is not yet answered */
	unsigned asks;
	bool asking;
	bool ask_answered; /* an initiation was answered while echoes were not */
	bool switching;    /* a person chose TCP: UDP is kept until the connection stands */

	bool trial;
	uint64_t trial_echo; /* 0: an initiation was sent instead */
	unsigned trial_echoes;
	struct mono trial_since;
	uint64_t trial_ms; /* for a UDP slower than TCP; 0: by RTT */
	bool trial_again;  /* the one early repeat has been used */
	struct udp_return schedule;
};

static inline void timer_set(struct fallback *f, enum timer timer, uint64_t ms)
{
	f->timers[timer] = mono_add_ms(f->now, ms);
}

static inline void timer_set_at(struct fallback *f, enum timer timer, struct mono at)
{
	f->timers[timer] = mono_max(at, f->now);
}

static inline void timer_off(struct fallback *f, enum timer timer)
{
	f->timers[timer] = MONO_NEVER;
}

static inline bool timer_is_on(const struct fallback *f, enum timer timer)
{
	return f->timers[timer].ns != MONO_NEVER.ns;
}

static inline uint64_t at_least(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static inline enum fallback_verified better(enum fallback_verified a, enum fallback_verified b)
{
	return a > b ? a : b;
}

static inline bool may_udp(const struct fallback *f)
{
	return f->settings.transport != TRANSPORT_TCP && f->settings.udp;
}

static inline bool may_tcp(const struct fallback *f)
{
	return f->settings.transport != TRANSPORT_UDP;
}

static inline bool may_dial(const struct fallback *f)
{
	return may_tcp(f) && f->settings.tcp;
}

static inline bool link_is_up(const struct fallback *f)
{
	return f->link == LINK_CONNECTED && may_tcp(f);
}

static inline bool carrier_usable(const struct fallback *f, enum carrier carrier)
{
	switch (carrier) {
	case CARRIER_NONE:
		return false;
	case CARRIER_UDP:
		return may_udp(f);
	case CARRIER_TCP:
		return link_is_up(f);
	}
	return false;
}

/* An answer is certain, or as good as, when the carrier works. */
static inline bool good_target(const struct fallback *f)
{
	return f->target && (f->target_trusted || f->target_answered);
}

static inline void note_udp_asked(struct fallback *f)
{
	if (!mono_is_set(f->udp_asked))
		f->udp_asked = f->now;
}

/* ---- fallback_machine.c: what all share ---- */

/* An answer to something sent then. */
void fallback_learn_rtt(struct fallback *f, struct mono sent);
/* The state of UDP that this network shall be remembered by. */
void fallback_remember_udp(struct fallback *f, enum fallback_udp udp);
/* False: too soon after the last one; `timer` fires again when it may go. */
bool fallback_initiate(struct fallback *f, enum carrier carrier, enum timer timer);
/* The id, or 0. */
uint64_t fallback_echo_on(struct fallback *f, enum carrier carrier, bool full);
/* All but the limit of a dial under way. */
void fallback_stop_timers(struct fallback *f);
/* Data goes there from now on. */
void fallback_move(struct fallback *f, enum carrier carrier);

/* ---- fallback_link.c ---- */

/* Unless one is under way, stands, or failed too short a time ago; then later. */
void fallback_link_dial(struct fallback *f);
/* Ends a dial, too. */
void fallback_link_close(struct fallback *f);
void fallback_link_on_connected(struct fallback *f, uint32_t rtt_us);
void fallback_link_on_failed(struct fallback *f);
void fallback_link_on_closed(struct fallback *f);
void fallback_link_on_dial_limit(struct fallback *f);
void fallback_link_on_close_due(struct fallback *f);

/* ---- fallback_search.c ---- */

/* Nothing passes now, and a person is told. */
void fallback_search_show_lost(struct fallback *f);
/* One try of each carrier. */
void fallback_search_round(struct fallback *f, enum search search);
/* quiet: as long as it is short, nobody needs to know. */
void fallback_search_start(struct fallback *f, enum search search, bool quiet);
/* Something authentic answered on this carrier: data goes there. */
void fallback_search_found(struct fallback *f, enum carrier carrier);
void fallback_search_on_fail(struct fallback *f);
void fallback_search_on_udp(struct fallback *f);
void fallback_search_on_tcp(struct fallback *f);

/* ---- fallback_watch.c ---- */

/* No check, questions or trial any more. */
void fallback_watch_stop(struct fallback *f);
/* Data on the carrier in use is believed to pass, or nothing better is known. */
void fallback_watch_settle(struct fallback *f, enum fallback_verified verified, bool degraded);
/* Asks by echo, small and full-size, on the carrier in use. */
void fallback_watch_check(struct fallback *f);
/* The carrier in use has answered. */
void fallback_watch_stop_asking(struct fallback *f);
/* A doubt: asks each second whether the carrier in use still answers. */
void fallback_watch_ask(struct fallback *f);
/* Data goes to TCP, since only there it passes. */
void fallback_watch_prefer_tcp(
	struct fallback *f, enum fallback_reason reason, enum fallback_verified verified);
/* The check is over without a full-size answer. compared: TCP had its chance too. */
void fallback_watch_judge(struct fallback *f, bool compared);
/* The connection stands: the same echoes by TCP. */
void fallback_watch_compare(struct fallback *f);
void fallback_watch_on_check_end(struct fallback *f);
void fallback_watch_on_check_echo(struct fallback *f);
void fallback_watch_on_ask(struct fallback *f);

/* ---- fallback_trial.c ---- */

/* A return to UDP is due later, if there can be one. */
void fallback_trial_schedule(struct fallback *f);
/* One question by UDP, with TCP kept: a trial switch in the living session. */
void fallback_trial_start(struct fallback *f);
void fallback_trial_answered_by_tcp(struct fallback *f);
void fallback_trial_failed(struct fallback *f);
void fallback_trial_succeeded(struct fallback *f);
/* While on TCP, an answer to something we asked by UDP came in by UDP, though late: UDP works, and is slow.
 * One early repeat with more patience. */
void fallback_trial_answered_late(struct fallback *f, struct mono asked);
void fallback_trial_on_renew(struct fallback *f);
void fallback_trial_on_recheck(struct fallback *f);

/* ---- fallback_outside.c ---- */

/* No route. */
void fallback_outside_lost(struct fallback *f);
void fallback_outside_stop(struct fallback *f);
void fallback_outside_changed(struct fallback *f);
void fallback_outside_retry_udp(struct fallback *f);
void fallback_outside_settings(struct fallback *f, const struct fallback_settings *settings);

#endif
