/* SPDX-License-Identifier: MIT */
/* The fallback machine: every transition between UDP and TCP stands here. Called by the owner of a peer's
 * path (engine or daemon) on its thread. Sources: DESIGN.md, Fallback; WIRE.md section 2 on leaders,
 * followers and WGTCP kernel peers.
 *
 * One machine is four small ones that share a clock:
 *   phase   DOWN -> CONNECT -> VERIFY -> UP, back to CONNECT when nothing answers, OFFLINE without a route
 *   link    the TCP connection: NONE -> DIALING -> CONNECTED. Connected, it costs nothing until something is
 * sent on it asks    while UP, whether the carrier in use still answers: doubt -> ask each second -> lost
 *   trial   while UP on TCP, whether UDP works again
 * What time brings is a timer; a timer that fires is off until set again. */
#include "core/carrier/fallback.h"

#include "core/carrier/fallback_output.h"
#include "core/carrier/fallback_wait.h"

#include <assert.h>
#include <stdlib.h>

enum {
	CONNECT_FAIL_MS = 20 * 1000,
	DIAL_DELAY_MS = 300,       /* on an unknown network; or 1.5 x the last RTT */
	DIAL_DELAY_GOOD_MS = 2000, /* where UDP was good before */
	DIAL_LIMIT_MS = 10 * 1000, /* an unanswered SYN: a new socket */
	UDP_SILENT_MS = 200,       /* with TCP connected, UDP gets this much more */
	FRESH_MIN_MS = 300,        /* a WGTCP peer loses the answer to the first initiation on a connection */
	UDP_RETRY_MIN_MS = 1000,   /* one lost packet shall not decide */
	UDP_RETRY_MAX_MS = 5000,
	REDIAL_UDP_MS = 1000,   /* TCP broke: UDP is tried beside the redial after this */
	ROUND_MS = 5000,        /* unanswered on TCP: start over with UDP */
	SILENT_INITIATIONS = 4, /* on one connection, never an answer: dial a new one */
	SLOW_MIN_MS = 5000,     /* after 20 s */
	SLOW_MAX_MS = 60 * 1000,
	SLOW_MAX_RECONNECT_MS = 30 * 1000,
	QUIET_MS = 2000, /* a renewal or a switch is no news before this */
	BLOCKED_MS = 3000,
	VERIFY_MS = 2000,
	VERIFY_LATE_MS = 1000, /* an echo target that turns up late gets at least this */
	VERIFY_REPEAT_MS = 500,
	COMPARE_MS = 1000,         /* with the connection standing; or 4 RTT */
	RETEST_MIN_MS = 10 * 1000, /* while degraded */
	RETEST_MAX_MS = 60 * 1000,
	DOUBT_MS = 5000,
	ASK_MS = 1000,
	ASKS_UDP = 3,
	ASKS_TCP = 5,           /* dead 10 s after the first unanswered packet */
	SWITCH_LIMIT_MS = 3000, /* a person chose TCP: UDP is kept no longer than this */
	RENEW_MIN_MS = 1000,    /* a connection this young is not replaced on a change of network */
	TRIAL_MIN_MS = 300,
	TRIAL_MAX_MS = 3000,
	TRIAL_AGAIN_MS = 1000,
	RECHECK_MS = 10 * 1000,
	CLOSE_MS = 30 * 1000,
	CLOSE_CHOSEN_MS = 2000, /* a person chose UDP: late packets on TCP are still read */
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
	struct mono attempt_since;

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
	struct mono trial_since;
	uint64_t trial_ms; /* for a UDP slower than TCP; 0: by RTT */
	bool trial_again;  /* the one early repeat has been used */
	struct udp_return schedule;
};

/* ---- timers ---- */

static void set(struct fallback *f, enum timer timer, uint64_t ms)
{
	f->timers[timer] = mono_add_ms(f->now, ms);
}

static void set_at(struct fallback *f, enum timer timer, struct mono at)
{
	f->timers[timer] = mono_max(at, f->now);
}

static void off(struct fallback *f, enum timer timer)
{
	f->timers[timer] = MONO_NEVER;
}

static bool is_on(const struct fallback *f, enum timer timer)
{
	return f->timers[timer].ns != MONO_NEVER.ns;
}

/* ---- what is allowed, known, wanted ---- */

static bool may_udp(const struct fallback *f)
{
	return f->settings.transport != TRANSPORT_TCP && f->settings.udp;
}

static bool may_tcp(const struct fallback *f)
{
	return f->settings.transport != TRANSPORT_UDP;
}

static bool may_dial(const struct fallback *f)
{
	return may_tcp(f) && f->settings.tcp;
}

static bool connected(const struct fallback *f)
{
	return f->link == LINK_CONNECTED && may_tcp(f);
}

static bool usable(const struct fallback *f, enum carrier carrier)
{
	switch (carrier) {
	case CARRIER_NONE:
		return false;
	case CARRIER_UDP:
		return may_udp(f);
	case CARRIER_TCP:
		return connected(f);
	}
	return false;
}

/* Whether a failed dial is worth another. */
static bool wants_link(const struct fallback *f)
{
	if (!may_dial(f))
		return false;
	switch (f->phase) {
	case PHASE_DOWN:
	case PHASE_OFFLINE:
		return false;
	case PHASE_CONNECT:
		return true;
	case PHASE_VERIFY:
	case PHASE_UP:
		return f->carrier == CARRIER_TCP || f->asks > 1 || f->check == CHECK_COMPARE || f->switching;
	}
	return false;
}

/* An answer is certain, or as good as, when the carrier works. */
static bool good_target(const struct fallback *f)
{
	return f->target && (f->target_trusted || f->target_answered);
}

static uint64_t at_least(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static enum fallback_verified better(enum fallback_verified a, enum fallback_verified b)
{
	return a > b ? a : b;
}

static uint64_t dial_delay_ms(const struct fallback *f)
{
	switch (f->settings.memory) {
	case FALLBACK_MEMORY_UNKNOWN:
		return at_least(DIAL_DELAY_MS, (uint64_t)f->rtt_ms * 3 / 2);
	case FALLBACK_MEMORY_GOOD:
		return DIAL_DELAY_GOOD_MS;
	case FALLBACK_MEMORY_BLOCKED:
		return 0;
	}
	return 0;
}

static void learn_rtt(struct fallback *f, struct mono sent)
{
	uint64_t ms = mono_since_ms(f->now, sent);

	if (mono_is_set(sent) && ms < 10 * 1000)
		f->rtt_ms = (uint32_t)at_least(ms, 1);
}

/* The state of UDP that this network shall be remembered by. */
static void remember_udp(struct fallback *f, enum fallback_udp udp)
{
	f->udp = udp;
	if (f->remembered == udp || !may_udp(f))
		return;
	f->remembered = udp;
	f->out.action.what |= FALLBACK_REMEMBER;
}

/* ---- sending ---- */

static void note_udp_asked(struct fallback *f)
{
	if (!mono_is_set(f->udp_asked))
		f->udp_asked = f->now;
}

/* False: too soon after the last one; `timer` fires again when it may go. */
static bool initiate(struct fallback *f, enum carrier carrier, enum timer timer)
{
	struct mono again;

	if (!output_initiate(&f->out, carrier, f->now, &again)) {
		set_at(f, timer, again);
		return false;
	}
	if (carrier == CARRIER_UDP) {
		note_udp_asked(f);
		f->udp_initiated = f->now;
	} else {
		f->link_initiations++;
	}
	return true;
}

static uint64_t echo(struct fallback *f, enum carrier carrier, bool full)
{
	if (carrier == CARRIER_UDP)
		note_udp_asked(f);
	return output_echo(&f->out, carrier, full, f->now);
}

/* ---- the TCP connection ---- */

static void dial(struct fallback *f)
{
	if (f->link != LINK_NONE || !may_dial(f))
		return;
	if (mono_is_set(f->redial_at) && !mono_reached(f->now, f->redial_at)) {
		set_at(f, TIMER_DIAL, f->redial_at);
		return;
	}
	off(f, TIMER_DIAL);
	if (!output_dial(&f->out)) {
		set(f, TIMER_DIAL, 1);
		return;
	}
	f->link = LINK_DIALING;
	f->link_since = f->now;
	f->link_stale = false;
	set(f, TIMER_DIAL_LIMIT, DIAL_LIMIT_MS);
}

static void link_gone(struct fallback *f)
{
	f->link = LINK_NONE;
	f->link_authentic = false;
	f->link_initiations = 0;
	f->link_stale = false;
	f->link_ends = false;
	off(f, TIMER_DIAL_LIMIT);
	off(f, TIMER_CLOSE);
	off(f, TIMER_RENEW);
}

static void close_link(struct fallback *f)
{
	off(f, TIMER_DIAL);
	if (f->link == LINK_NONE)
		return;
	output_close(&f->out);
	link_gone(f);
}

static void link_failed(struct fallback *f)
{
	f->link_failures++;
	f->redial_at = mono_add_ms(f->now, redial_wait_ms(&f->jitter, f->link_failures));
}

/* ---- phases: each function that begins one ends the other ---- */

static void stop_checks(struct fallback *f)
{
	f->check = CHECK_OFF;
	f->trial = false;
	f->asking = false;
	f->asks = 0;
	f->ask_answered = false;
	f->switching = false;
	f->unanswered[CARRIER_UDP] = MONO_UNSET;
	f->unanswered[CARRIER_TCP] = MONO_UNSET;
}

static void stop_timers(struct fallback *f)
{
	struct mono limit = f->timers[TIMER_DIAL_LIMIT];

	for (int i = 0; i < TIMER_COUNT; i++)
		off(f, (enum timer)i);
	if (f->link == LINK_DIALING)
		f->timers[TIMER_DIAL_LIMIT] = limit;
}

/* Data goes there from now on. */
static void move(struct fallback *f, enum carrier carrier)
{
	f->carrier = carrier;
	f->unanswered[CARRIER_UDP] = MONO_UNSET;
	f->unanswered[CARRIER_TCP] = MONO_UNSET;
	off(f, TIMER_DOUBT);
}

/* Nothing passes now, and a person is told. */
static void show_lost(struct fallback *f)
{
	f->state = FALLBACK_STATE_RECONNECTING;
	if (!f->session || !usable(f, f->carrier))
		f->carrier = CARRIER_NONE;
}

/* Over to the connection with the living session; an answer on it is the proof. If none comes, the session
 * may be gone over there, or our newest word by UDP may have kept the path: an initiation settles both. */
static void take_over(struct fallback *f)
{
	bool contested = mono_is_set(f->udp_initiated) && mono_since_ms(f->now, f->udp_initiated) < ROUND_MS;

	move(f, CARRIER_TCP);
	f->tcp_initiated = true;
	off(f, TIMER_UDP);
	output_nudge(&f->out, CARRIER_TCP);
	if (f->target)
		echo(f, CARRIER_TCP, false);
	set(f, TIMER_TCP, contested ? 0 : at_least(FRESH_MIN_MS, 2 * (uint64_t)f->rtt_ms));
	if (!f->slow)
		set(f, TIMER_ROUND, ROUND_MS);
}

/* One try of each carrier. */
static void start_round(struct fallback *f, enum search search)
{
	bool tcp_first = search != SEARCH_RACE || !may_udp(f) || f->carrier == CARRIER_TCP ||
			 f->udp == FALLBACK_UDP_BLOCKED || f->settings.memory == FALLBACK_MEMORY_BLOCKED;
	uint64_t delay = tcp_first ? 0 : dial_delay_ms(f);

	f->round_since = f->now;
	f->udp_failed = false;
	f->udp_works = false;
	f->tcp_works = false;
	f->tcp_initiated = false;
	f->udp_initiations = 0;
	f->udp_retry_ms = UDP_RETRY_MIN_MS;
	off(f, TIMER_ROUND);
	off(f, TIMER_UDP);
	off(f, TIMER_TCP);
	if (f->slow) {
		uint64_t most = f->was_up ? SLOW_MAX_RECONNECT_MS : SLOW_MAX_MS;

		f->redial_at = MONO_UNSET; /* the rounds are far enough apart */
		set(f, TIMER_ROUND, jitter_ms(&f->jitter, f->slow_ms, 10));
		f->slow_ms = f->slow_ms * 2 < most ? f->slow_ms * 2 : most;
	}
	if (f->link == LINK_CONNECTED && !f->link_authentic && f->link_initiations >= SILENT_INITIATIONS)
		close_link(f);
	if (may_udp(f) && search == SEARCH_RACE)
		set(f, TIMER_UDP, 0);
	if (may_udp(f) && search == SEARCH_REDIAL)
		set(f, TIMER_UDP, REDIAL_UDP_MS);
	if (!connected(f)) {
		if (may_dial(f))
			set(f, TIMER_DIAL, delay);
	} else {
		set(f, TIMER_TCP, tcp_first ? 0 : delay + UDP_SILENT_MS);
	}
}

/* quiet: as long as it is short, nobody needs to know. */
static void start_connect(struct fallback *f, enum search search, bool quiet)
{
	stop_checks(f);
	stop_timers(f);
	f->phase = PHASE_CONNECT;
	f->attempt_since = f->now;
	f->slow = false;
	f->slow_ms = SLOW_MIN_MS;
	f->tcp_connected = f->link == LINK_CONNECTED;
	f->cause = FALLBACK_CAUSE_NONE;
	f->degraded = false;
	set(f, TIMER_FAIL, CONNECT_FAIL_MS);
	start_round(f, search);
	if (!f->was_up) {
		f->state = FALLBACK_STATE_CONNECTING;
		f->verified = FALLBACK_VERIFIED_NONE;
		if (!f->session)
			f->carrier = CARRIER_NONE;
	} else if (quiet && f->state == FALLBACK_STATE_UP) {
		set(f, TIMER_QUIET, QUIET_MS);
		if (!usable(f, f->carrier))
			f->carrier = CARRIER_NONE;
	} else {
		show_lost(f);
	}
}

static void go_offline(struct fallback *f)
{
	stop_checks(f);
	close_link(f);
	stop_timers(f);
	f->phase = PHASE_OFFLINE;
	f->carrier = CARRIER_NONE;
	f->cause = FALLBACK_CAUSE_NO_NETWORK;
	f->state = f->was_up ? FALLBACK_STATE_RECONNECTING : FALLBACK_STATE_CONNECTING;
}

static void go_down(struct fallback *f)
{
	stop_checks(f);
	close_link(f);
	stop_timers(f);
	f->phase = PHASE_DOWN;
	f->state = FALLBACK_STATE_DOWN;
	f->cause = FALLBACK_CAUSE_NONE;
	f->reason = FALLBACK_REASON_NONE;
	f->verified = FALLBACK_VERIFIED_NONE;
	f->udp = FALLBACK_UDP_UNKNOWN;
	f->remembered = FALLBACK_UDP_UNKNOWN;
	f->carrier = CARRIER_NONE;
	f->session = false;
	f->was_up = false;
	f->degraded = false;
	f->target = f->target_trusted = f->target_answered = false;
	f->udp_asked = f->udp_initiated = MONO_UNSET;
	f->redial_at = MONO_UNSET;
	f->link_failures = 0;
	f->schedule = (struct udp_return){ 0 };
}

/* A return to UDP is due later, if there can be one. */
static void schedule_trial(struct fallback *f)
{
	off(f, TIMER_TRIAL);
	if (!may_udp(f) || f->settings.transport != TRANSPORT_AUTO)
		return;
	if (f->schedule.barred) {
		f->reason = FALLBACK_REASON_UDP_FLAPPING;
		return;
	}
	set(f, TIMER_TRIAL, udp_return_wait_ms(&f->schedule, &f->jitter));
}

/* Data on the carrier in use is believed to pass, or nothing better is known. */
static void settle(struct fallback *f, enum fallback_verified verified, bool degraded)
{
	f->phase = PHASE_UP;
	f->was_up = true;
	f->check = CHECK_OFF;
	off(f, TIMER_CHECK_ECHO);
	off(f, TIMER_CHECK_END);
	off(f, TIMER_RETEST);
	f->verified = verified;
	f->degraded = degraded;
	f->state = degraded ? FALLBACK_STATE_DEGRADED : FALLBACK_STATE_UP;
	f->cause = FALLBACK_CAUSE_NONE;
	if (degraded) {
		set(f, TIMER_RETEST, f->retest_ms);
		f->retest_ms = f->retest_ms * 2 < RETEST_MAX_MS ? f->retest_ms * 2 : RETEST_MAX_MS;
	}
	if (f->carrier == CARRIER_TCP) {
		if (!is_on(f, TIMER_TRIAL))
			schedule_trial(f);
		return;
	}
	if (!degraded) {
		remember_udp(f, FALLBACK_UDP_OK);
		if (f->reason == FALLBACK_REASON_UDP_NO_DATA || f->reason == FALLBACK_REASON_UDP_NO_LARGE)
			f->reason = FALLBACK_REASON_UDP_WORKS;
	}
	if (f->link != LINK_NONE && !is_on(f, TIMER_CLOSE) && !f->asking && !f->switching)
		close_link(f);
}

static void start_check(struct fallback *f)
{
	f->check = CHECK_CARRIER;
	f->check_small = false;
	set(f, TIMER_CHECK_END, VERIFY_MS);
	if (f->target)
		set(f, TIMER_CHECK_ECHO, 0);
}

/* Something authentic answered on this carrier: data goes there. */
static void establish(struct fallback *f, enum carrier carrier)
{
	bool first = !f->was_up;
	bool moved = f->carrier != carrier;

	off(f, TIMER_FAIL);
	off(f, TIMER_QUIET);
	off(f, TIMER_ROUND);
	off(f, TIMER_UDP);
	off(f, TIMER_TCP);
	off(f, TIMER_DIAL);
	move(f, carrier);
	f->cause = FALLBACK_CAUSE_NONE;
	f->slow = false;
	if (f->settings.transport != TRANSPORT_AUTO) {
		f->reason = FALLBACK_REASON_CHOSEN;
	} else if (carrier == CARRIER_UDP) {
		if (first || f->reason == FALLBACK_REASON_CHOSEN)
			f->reason = FALLBACK_REASON_NONE;
		else if (f->reason != FALLBACK_REASON_NONE)
			f->reason = FALLBACK_REASON_UDP_WORKS;
	} else if (f->reason == FALLBACK_REASON_NONE || f->reason == FALLBACK_REASON_UDP_WORKS ||
		   f->reason == FALLBACK_REASON_CHOSEN) {
		if (!f->settings.udp)
			f->reason = FALLBACK_REASON_NONE;
		else if (f->udp_failed)
			f->reason = FALLBACK_REASON_UDP_REJECTED;
		else if (f->settings.memory == FALLBACK_MEMORY_BLOCKED)
			f->reason = FALLBACK_REASON_REMEMBERED;
		else
			f->reason = FALLBACK_REASON_UDP_SILENT;
	}
	if (carrier == CARRIER_UDP)
		f->udp = FALLBACK_UDP_OK;
	else if (may_udp(f) && mono_is_set(f->udp_asked))
		set_at(f, TIMER_BLOCKED, mono_add_ms(f->udp_asked, BLOCKED_MS));
	f->retest_ms = RETEST_MIN_MS;
	if (first) {
		f->phase = PHASE_VERIFY;
		f->state = FALLBACK_STATE_VERIFYING;
		f->verified = FALLBACK_VERIFIED_HANDSHAKE;
		start_check(f);
		return;
	}
	/* It was up before: what was verified stands until a check on this carrier says otherwise. */
	settle(f, better(f->verified, FALLBACK_VERIFIED_HANDSHAKE), false);
	if (moved || f->verified != FALLBACK_VERIFIED_FULL)
		start_check(f);
}

/* ---- while UP: from one carrier to the other ---- */

static void stop_asking(struct fallback *f)
{
	f->asking = false;
	f->asks = 0;
	f->ask_answered = false;
	off(f, TIMER_ASK);
	if (f->phase == PHASE_UP && f->carrier == CARRIER_UDP && !f->switching && f->check != CHECK_COMPARE) {
		off(f, TIMER_DIAL);
		if (f->link == LINK_DIALING)
			close_link(f);
		else if (f->link == LINK_CONNECTED && !is_on(f, TIMER_CLOSE))
			set(f, TIMER_CLOSE, CLOSE_MS);
	}
}

static void start_asking(struct fallback *f)
{
	if (!usable(f, f->carrier))
		return; /* about to be left, by a person's word */
	f->asking = true;
	f->asks = 0;
	f->ask_answered = false;
	set(f, TIMER_ASK, 0);
}

/* UDP, in use until now, no longer answers. */
static void udp_lost(struct fallback *f)
{
	enum fallback_reason reason =
		f->ask_answered ? FALLBACK_REASON_UDP_NO_DATA : FALLBACK_REASON_UDP_SILENT;

	if (f->link_stale)
		close_link(f);
	if (f->ask_answered && !connected(f)) {
		/* Handshakes pass, data does not, and nothing better is at hand: looking on would only flap. */
		stop_asking(f);
		f->unanswered[CARRIER_UDP] = MONO_UNSET;
		if (f->settings.transport == TRANSPORT_AUTO)
			f->reason = reason;
		if (!f->degraded)
			settle(f, FALLBACK_VERIFIED_HANDSHAKE, true);
		return;
	}
	if (f->settings.transport != TRANSPORT_AUTO) {
		start_connect(f, SEARCH_RACE, false);
		return;
	}
	udp_return_lost(&f->schedule, f->now);
	f->reason = f->schedule.barred ? FALLBACK_REASON_UDP_FLAPPING : reason;
	if (connected(f))
		start_connect(f, SEARCH_TAKEOVER, false);
	else
		start_connect(f, may_dial(f) ? SEARCH_REDIAL : SEARCH_RACE, false);
}

/* The connection is gone or dead. */
static void tcp_lost(struct fallback *f, bool quiet)
{
	start_connect(f, SEARCH_REDIAL, quiet);
}

/* Data goes to TCP, since only there it passes. */
static void prefer_tcp(struct fallback *f, enum fallback_reason reason, enum fallback_verified verified)
{
	move(f, CARRIER_TCP);
	f->reason = reason;
	udp_return_lost(&f->schedule, f->now);
	off(f, TIMER_RECHECK);
	off(f, TIMER_CLOSE);
	stop_asking(f);
	remember_udp(f, FALLBACK_UDP_BLOCKED);
	output_nudge(&f->out, CARRIER_TCP);
	settle(f, verified, false);
}

/* Not a word on one carrier decides nothing by itself: what the target does on the other one decides. */
static void judge(struct fallback *f, bool compared)
{
	bool small = f->check_small;
	bool large_lost = small && (f->carrier == CARRIER_UDP || f->target_trusted) &&
			  !(compared && !f->target_trusted);
	enum fallback_verified verified = small ? FALLBACK_VERIFIED_SMALL : FALLBACK_VERIFIED_HANDSHAKE;

	if (compared) {
		if (f->compare_small && !small) {
			prefer_tcp(f, FALLBACK_REASON_UDP_NO_DATA, FALLBACK_VERIFIED_SMALL);
			return;
		}
		/* The echoes on TCP have led the path there. */
		output_nudge(&f->out, CARRIER_UDP);
	}
	if (!small && f->carrier == CARRIER_TCP && !f->target_trusted)
		f->target_answered = false;
	if (f->carrier == CARRIER_UDP && f->settings.transport == TRANSPORT_AUTO) {
		if (large_lost)
			f->reason = FALLBACK_REASON_UDP_NO_LARGE;
		else if (!small && good_target(f))
			f->reason = FALLBACK_REASON_UDP_NO_DATA;
	}
	settle(f, verified, small ? large_lost : good_target(f));
}

static void start_comparing(struct fallback *f)
{
	set(f, TIMER_CHECK_ECHO, 0);
	set(f, TIMER_CHECK_END, at_least(COMPARE_MS, 4 * (uint64_t)f->rtt_ms));
}

static void check_ended(struct fallback *f)
{
	switch (f->check) {
	case CHECK_OFF:
		return;
	case CHECK_CARRIER:
		if (!f->target) {
			settle(f, better(f->verified, FALLBACK_VERIFIED_HANDSHAKE), false);
			return;
		}
		if (f->carrier != CARRIER_UDP || f->settings.transport != TRANSPORT_AUTO ||
			!(may_dial(f) || connected(f))) {
			judge(f, false);
			return;
		}
		if (f->link_stale)
			close_link(f);
		f->check = CHECK_COMPARE;
		off(f, TIMER_CHECK_ECHO);
		f->compare_small = false;
		set(f, TIMER_CHECK_END, VERIFY_MS);
		if (connected(f))
			start_comparing(f);
		else if (f->link == LINK_NONE)
			set(f, TIMER_DIAL, 0);
		return;
	case CHECK_COMPARE:
		judge(f, connected(f));
		return;
	}
}

/* ---- trial of UDP ---- */

static void start_trial(struct fallback *f)
{
	uint64_t wait = at_least(f->trial_ms, at_least(TRIAL_MIN_MS, 2 * (uint64_t)f->rtt_ms));

	if (f->phase != PHASE_UP || f->check != CHECK_OFF || f->asking || f->trial) {
		set(f, TIMER_TRIAL, VERIFY_REPEAT_MS);
		return;
	}
	if (good_target(f)) {
		f->trial_echo = echo(f, CARRIER_UDP, true);
	} else {
		if (!initiate(f, CARRIER_UDP, TIMER_TRIAL))
			return;
		f->trial_echo = 0;
	}
	f->trial = true;
	f->trial_since = f->now;
	set(f, TIMER_TRIAL_END, wait < TRIAL_MAX_MS ? wait : TRIAL_MAX_MS);
	if (f->udp != FALLBACK_UDP_BLOCKED)
		set_at(f, TIMER_BLOCKED, mono_add_ms(f->udp_asked, BLOCKED_MS));
}

static void renew_link(struct fallback *f)
{
	close_link(f);
	f->redial_at = MONO_UNSET;
	tcp_lost(f, true);
}

static void trial_failed(struct fallback *f)
{
	f->trial = false;
	off(f, TIMER_TRIAL_END);
	udp_return_trial_failed(&f->schedule);
	output_nudge(&f->out, CARRIER_TCP);
	if (f->link_stale)
		renew_link(f);
	else
		schedule_trial(f);
}

static void trial_succeeded(struct fallback *f)
{
	f->trial = false;
	f->trial_ms = 0;
	f->trial_again = false;
	off(f, TIMER_TRIAL_END);
	off(f, TIMER_TRIAL);
	off(f, TIMER_BLOCKED);
	stop_asking(f);
	move(f, CARRIER_UDP);
	f->reason = FALLBACK_REASON_UDP_WORKS;
	udp_return_succeeded(&f->schedule, f->now);
	set(f, TIMER_CLOSE, CLOSE_MS);
	set(f, TIMER_RECHECK, RECHECK_MS);
	settle(f, f->trial_echo ? FALLBACK_VERIFIED_FULL : f->verified, false);
}

/* While on TCP, an answer to something we asked by UDP came in by UDP, though late: UDP works, and is slow.
 * One early repeat with more patience. */
static void udp_answered_late(struct fallback *f, struct mono asked)
{
	if (f->phase != PHASE_UP && f->phase != PHASE_VERIFY)
		return;
	if (f->carrier != CARRIER_TCP || f->trial || !is_on(f, TIMER_TRIAL) || f->trial_again)
		return;
	f->trial_again = true;
	f->trial_ms = 2 * mono_since_ms(f->now, asked);
	set(f, TIMER_TRIAL, mono_is_set(f->trial_since) ? TRIAL_AGAIN_MS : 0);
}

/* ---- events ---- */

/* Something authentic came in. conclusive: it also shows that data passes, not handshakes alone. */
static void heard(struct fallback *f, enum carrier carrier, bool conclusive)
{
	if (carrier == CARRIER_UDP) {
		f->udp_asked = MONO_UNSET;
		f->udp_initiated = MONO_UNSET;
		off(f, TIMER_BLOCKED);
	} else if (f->link == LINK_CONNECTED) {
		f->link_authentic = true;
		f->link_failures = 0;
		f->redial_at = MONO_UNSET;
	}
	if (carrier != f->carrier || (f->phase != PHASE_UP && f->phase != PHASE_VERIFY))
		return;
	if (f->asking && carrier == CARRIER_UDP && !conclusive && good_target(f)) {
		/* The handshake passes; whether data does is for the echo in the new session to say. */
		f->ask_answered = true;
		echo(f, carrier, false);
		return;
	}
	f->unanswered[carrier] = MONO_UNSET;
	off(f, TIMER_DOUBT);
	if (f->asking)
		stop_asking(f);
}

static void on_start(struct fallback *f)
{
	if (f->phase != PHASE_DOWN)
		return;
	if (f->offline)
		go_offline(f);
	else
		start_connect(f, SEARCH_RACE, false);
}

static void on_response(struct fallback *f, enum carrier carrier)
{
	struct mono asked = f->udp_initiated;

	f->session = true;
	if (carrier == CARRIER_UDP)
		learn_rtt(f, asked);
	heard(f, carrier, false);
	if (f->phase == PHASE_CONNECT) {
		if (usable(f, carrier))
			establish(f, carrier);
		return;
	}
	if (carrier != CARRIER_UDP)
		return;
	if (f->trial && !f->trial_echo)
		trial_succeeded(f);
	else if (!f->trial)
		udp_answered_late(f, mono_is_set(asked) ? asked : f->trial_since);
}

/* The answer came too late to make a session, but its carrier works. */
static void on_superseded(struct fallback *f, enum carrier carrier)
{
	uint64_t elapsed = mono_since_ms(f->now, f->round_since);

	heard(f, carrier, false);
	if (f->phase != PHASE_CONNECT) {
		if (carrier == CARRIER_UDP && f->trial && !f->trial_echo)
			trial_succeeded(f);
		else if (carrier == CARRIER_UDP && !f->trial)
			udp_answered_late(f, f->round_since);
		return;
	}
	if (!usable(f, carrier))
		return;
	/* Once a round and carrier: answers to still older ones must not supersede what is under way. */
	if (carrier == CARRIER_UDP && !f->udp_works) {
		f->udp_works = true;
		f->tcp_initiated = false;
		f->udp_retry_ms = at_least(UDP_RETRY_MIN_MS, 2 * elapsed);
		set(f, TIMER_UDP, 0);
		/* TCP had its turn; it gets another one if UDP does not hold its promise. */
		set(f, TIMER_TCP, 2 * f->udp_retry_ms);
		set(f, TIMER_ROUND, 2 * f->udp_retry_ms + ROUND_MS);
	} else if (carrier == CARRIER_TCP && !f->tcp_works && !f->udp_works) {
		f->tcp_works = true;
		set(f, TIMER_TCP, 0);
	}
}

static void on_received(struct fallback *f, enum carrier carrier, bool handshake)
{
	heard(f, carrier, !handshake);
	if (f->phase != PHASE_CONNECT || !usable(f, carrier))
		return;
	/* Packets still under way by UDP do not call off a move to TCP. */
	if (carrier == CARRIER_UDP && f->carrier == CARRIER_TCP)
		return;
	f->session = true;
	establish(f, carrier);
}

static void on_echo_reply(struct fallback *f, enum carrier carrier, uint64_t id)
{
	struct pending_echo pending;

	if (!output_answered(&f->out, id, &pending)) {
		on_received(f, carrier, false);
		return;
	}
	f->target_answered = true;
	learn_rtt(f, pending.sent);
	if (f->trial && id == f->trial_echo) {
		heard(f, carrier, true);
		if (carrier == CARRIER_UDP)
			trial_succeeded(f);
		return; /* by TCP: the other side does not follow; time runs out */
	}
	on_received(f, carrier, false);
	if (carrier != pending.echo.carrier)
		return;
	if (carrier == CARRIER_UDP && f->carrier == CARRIER_TCP)
		udp_answered_late(f, pending.sent);
	if (f->phase != PHASE_VERIFY && f->phase != PHASE_UP)
		return;
	if (carrier == f->carrier) {
		if (pending.echo.full) {
			settle(f, FALLBACK_VERIFIED_FULL, false);
		} else {
			f->check_small = true;
			f->verified = better(f->verified, FALLBACK_VERIFIED_SMALL);
		}
	} else if (f->check == CHECK_COMPARE && carrier == CARRIER_TCP) {
		if (pending.echo.full)
			prefer_tcp(f,
				f->check_small ? FALLBACK_REASON_UDP_NO_LARGE : FALLBACK_REASON_UDP_NO_DATA,
				FALLBACK_VERIFIED_FULL);
		else
			f->compare_small = true;
	}
}

static void on_echo_target(struct fallback *f, bool trusted)
{
	bool news = !f->target || (trusted && !f->target_trusted);

	f->target = true;
	f->target_trusted = f->target_trusted || trusted;
	if (!news || (f->phase != PHASE_VERIFY && f->phase != PHASE_UP))
		return;
	if (f->check == CHECK_OFF) {
		if (f->verified != FALLBACK_VERIFIED_FULL && !f->trial)
			start_check(f);
		return;
	}
	set(f, TIMER_CHECK_ECHO, 0);
	f->timers[TIMER_CHECK_END] =
		mono_max(f->timers[TIMER_CHECK_END], mono_add_ms(f->now, VERIFY_LATE_MS));
}

static void on_sent(struct fallback *f, enum carrier carrier)
{
	if (carrier == CARRIER_UDP)
		note_udp_asked(f);
	if (carrier != f->carrier || carrier == CARRIER_NONE ||
		(f->phase != PHASE_VERIFY && f->phase != PHASE_UP))
		return;
	if (mono_is_set(f->unanswered[carrier]))
		return;
	f->unanswered[carrier] = f->now;
	if (!f->asking)
		set(f, TIMER_DOUBT, DOUBT_MS);
}

static void on_no_session(struct fallback *f)
{
	f->session = false;
	if (f->phase == PHASE_VERIFY || f->phase == PHASE_UP)
		start_connect(f, f->carrier == CARRIER_TCP ? SEARCH_REDIAL : SEARCH_RACE, true);
}

static void on_tcp_connected(struct fallback *f, uint32_t rtt_us)
{
	bool wanted = may_tcp(f) && f->phase != PHASE_OFFLINE;

	off(f, TIMER_DIAL_LIMIT);
	off(f, TIMER_DIAL);
	link_gone(f);
	f->link = LINK_CONNECTED;
	f->link_since = f->now;
	if (!wanted) {
		close_link(f);
		return;
	}
	if (rtt_us)
		f->rtt_ms = (uint32_t)at_least(rtt_us / 1000, 1);
	f->tcp_connected = true;
	if (f->phase == PHASE_CONNECT) {
		bool udp_over = !f->udp_initiations || f->udp_failed || f->udp == FALLBACK_UDP_BLOCKED ||
				f->settings.memory == FALLBACK_MEMORY_BLOCKED;

		if (!f->udp_works) /* else UDP is about to answer, and the timer is set */
			set(f, TIMER_TCP, udp_over ? 0 : UDP_SILENT_MS);
	} else if (f->switching) {
		start_connect(f, SEARCH_TAKEOVER, true);
	} else if (f->check == CHECK_COMPARE) {
		start_comparing(f);
	} else if (f->phase == PHASE_UP && !f->asking && f->carrier == CARRIER_UDP) {
		set(f, TIMER_CLOSE, CLOSE_MS);
	}
}

/* No dial can be under way, and no connection stands. */
static void without_tcp(struct fallback *f)
{
	if (f->phase == PHASE_CONNECT) {
		off(f, TIMER_TCP);
		f->tcp_initiated = false;
		if (!f->slow) {
			off(f, TIMER_ROUND);
			set(f, TIMER_DIAL, 0);
		}
		/* UDP goes on alone; but not in a burst, however often TCP breaks. */
		if (may_udp(f) && (!f->slow || !f->udp_initiations)) {
			struct mono next = mono_add_ms(f->udp_initiated, f->udp_retry_ms);

			if (f->udp_initiations && mono_is_set(f->udp_initiated))
				set_at(f, TIMER_UDP,
					is_on(f, TIMER_UDP) ? mono_max(f->timers[TIMER_UDP], next) : next);
			else
				set(f, TIMER_UDP, 0);
		}
		return;
	}
	if (f->phase != PHASE_VERIFY && f->phase != PHASE_UP)
		return;
	if (f->carrier == CARRIER_TCP)
		tcp_lost(f, false);
	else if (f->switching)
		start_connect(f, SEARCH_REDIAL, false);
	else if (f->check == CHECK_COMPARE)
		judge(f, false);
	else if (wants_link(f))
		set(f, TIMER_DIAL, 0);
}

static void on_tcp_failed(struct fallback *f)
{
	if (f->link != LINK_DIALING)
		return;
	link_gone(f);
	link_failed(f);
	without_tcp(f);
}

static void on_tcp_closed(struct fallback *f)
{
	bool proven = f->link_authentic;

	if (f->link != LINK_CONNECTED)
		return;
	link_gone(f);
	/* The first redial goes at once, unless it was a listener that accepts and closes. */
	if (!proven)
		link_failed(f);
	without_tcp(f);
}

static void on_udp_error(struct fallback *f)
{
	if (f->phase == PHASE_CONNECT) {
		f->udp_failed = true;
		if (f->udp_works || f->tcp_initiated)
			return;
		if (f->link == LINK_NONE && may_dial(f) && !f->slow)
			dial(f);
		else if (connected(f))
			set(f, TIMER_TCP, 0);
		return;
	}
	if (f->trial)
		trial_failed(f);
	else if (f->phase == PHASE_UP && f->carrier == CARRIER_UDP && !f->asking)
		start_asking(f);
}

static void on_network_changed(struct fallback *f)
{
	f->offline = false;
	f->schedule = (struct udp_return){ 0 };
	f->remembered = FALLBACK_UDP_UNKNOWN;
	f->trial_again = false;
	f->trial_ms = 0;
	f->redial_at = MONO_UNSET;
	f->link_failures = 0;
	f->udp_asked = MONO_UNSET;
	if (f->udp == FALLBACK_UDP_BLOCKED)
		f->udp = FALLBACK_UDP_UNKNOWN;
	switch (f->phase) {
	case PHASE_DOWN:
		return;
	case PHASE_OFFLINE:
		start_connect(f, SEARCH_RACE, false);
		return;
	case PHASE_CONNECT:
		if (f->link != LINK_NONE && mono_since_ms(f->now, f->link_since) >= RENEW_MIN_MS)
			close_link(f);
		start_connect(
			f, f->session && connected(f) ? SEARCH_TAKEOVER : SEARCH_RACE, is_on(f, TIMER_QUIET));
		return;
	case PHASE_VERIFY:
	case PHASE_UP:
		if (f->link == LINK_CONNECTED)
			f->link_stale = true;
		if (f->carrier == CARRIER_UDP) {
			if (!f->asking)
				start_asking(f);
			return;
		}
		set_at(f, TIMER_RENEW, mono_add_ms(f->link_since, RENEW_MIN_MS));
		return;
	}
}

static void on_retry_udp(struct fallback *f)
{
	if (!may_udp(f))
		return;
	f->schedule.barred = false;
	f->trial_again = false;
	switch (f->phase) {
	case PHASE_DOWN:
	case PHASE_OFFLINE:
	case PHASE_VERIFY:
		return;
	case PHASE_CONNECT:
		set(f, TIMER_UDP, 0);
		f->tcp_initiated = false;
		return;
	case PHASE_UP:
		if (f->carrier == CARRIER_TCP && !f->trial)
			set(f, TIMER_TRIAL, 0);
		return;
	}
}

/* The carrier in use is no longer to be used, or may be left: a person said so. */
static void obey(struct fallback *f, enum transport before)
{
	bool live = f->phase == PHASE_VERIFY || f->phase == PHASE_UP;
	bool choice = f->settings.transport == TRANSPORT_AUTO && may_udp(f);

	if (!choice) {
		f->trial = false;
		off(f, TIMER_TRIAL);
		off(f, TIMER_TRIAL_END);
		off(f, TIMER_BLOCKED);
		if (f->check == CHECK_COMPARE)
			start_check(f);
	}
	if (!live) {
		if (!may_tcp(f))
			close_link(f);
		if (f->phase == PHASE_CONNECT) {
			if (!usable(f, f->carrier))
				f->carrier = CARRIER_NONE;
			start_connect(f,
				f->session && connected(f) && !may_udp(f) ? SEARCH_TAKEOVER : SEARCH_RACE,
				is_on(f, TIMER_QUIET));
		}
		return;
	}
	if (f->settings.transport != TRANSPORT_AUTO)
		f->reason = FALLBACK_REASON_CHOSEN;
	else if (before != TRANSPORT_AUTO)
		f->reason = FALLBACK_REASON_NONE;
	if (f->carrier == CARRIER_UDP && !may_udp(f)) {
		/* UDP is kept until the connection stands, so that nothing is lost. */
		stop_asking(f);
		off(f, TIMER_DOUBT);
		off(f, TIMER_RECHECK);
		off(f, TIMER_CLOSE);
		f->link_ends = false;
		if (f->link_stale)
			close_link(f);
		if (connected(f)) {
			start_connect(f, SEARCH_TAKEOVER, true);
			return;
		}
		f->switching = true;
		set(f, TIMER_SWITCH, SWITCH_LIMIT_MS);
		set(f, TIMER_DIAL, 0);
		return;
	}
	if (f->switching) {
		f->switching = false;
		off(f, TIMER_SWITCH);
		off(f, TIMER_DIAL);
		if (f->link != LINK_NONE && !f->asking)
			close_link(f);
	}
	if (f->carrier == CARRIER_TCP && !may_tcp(f) && !may_udp(f)) {
		close_link(f);
		start_connect(f, SEARCH_RACE, false);
		return;
	}
	if (f->carrier == CARRIER_TCP && !may_tcp(f)) {
		stop_asking(f);
		move(f, CARRIER_UDP);
		off(f, TIMER_RENEW);
		if (f->check != CHECK_OFF)
			start_check(f);
		output_nudge(&f->out, CARRIER_UDP);
		f->link_ends = true;
		set(f, TIMER_CLOSE, CLOSE_CHOSEN_MS);
		f->asking = true;
		set(f, TIMER_ASK, f->target ? 0 : ASK_MS);
		return;
	}
	if (!may_tcp(f) && f->link != LINK_NONE && !f->link_ends) {
		f->link_ends = true;
		set(f, TIMER_CLOSE, f->link == LINK_CONNECTED ? CLOSE_CHOSEN_MS : 0);
	}
	if (choice && f->carrier == CARRIER_TCP && !f->trial && !is_on(f, TIMER_TRIAL))
		set(f, TIMER_TRIAL, 0);
}

static void on_settings(struct fallback *f, const struct fallback_settings *settings)
{
	struct fallback_settings before = f->settings;
	bool changed = settings->transport != before.transport || settings->udp != before.udp ||
		       settings->tcp != before.tcp;

	f->settings = *settings;
	if (settings->last_rtt_ms && !f->rtt_ms)
		f->rtt_ms = settings->last_rtt_ms;
	if (f->phase == PHASE_DOWN)
		return;
	if (changed)
		obey(f, before.transport);
	else if (settings->memory == FALLBACK_MEMORY_BLOCKED && before.memory != settings->memory &&
		 f->phase == PHASE_CONNECT && f->link == LINK_NONE && !f->slow && !f->link_failures)
		dial(f);
}

/* ---- time ---- */

static void on_fail_timer(struct fallback *f)
{
	f->slow = true;
	f->cause = f->tcp_connected ? FALLBACK_CAUSE_HANDSHAKE_REFUSED : FALLBACK_CAUSE_PEER_UNREACHABLE;
	if (!f->was_up)
		f->state = FALLBACK_STATE_FAILED;
	off(f, TIMER_UDP);
	off(f, TIMER_TCP);
	off(f, TIMER_DIAL);
	set(f, TIMER_ROUND, jitter_ms(&f->jitter, f->slow_ms, 10));
	f->slow_ms *= 2;
}

static void on_udp_timer(struct fallback *f)
{
	uint64_t wait = f->udp_retry_ms;

	if (!may_udp(f) || f->tcp_initiated || !initiate(f, CARRIER_UDP, TIMER_UDP))
		return;
	for (unsigned i = 0; i < f->udp_initiations && wait < UDP_RETRY_MAX_MS; i++)
		wait *= 2;
	if (wait > UDP_RETRY_MAX_MS)
		wait = at_least(UDP_RETRY_MAX_MS, f->udp_retry_ms);
	f->udp_initiations++;
	if (!f->slow || f->udp_initiations == 1)
		set(f, TIMER_UDP, wait);
}

static void on_tcp_timer(struct fallback *f)
{
	bool new_link = !f->link_initiations;

	if (!connected(f))
		return;
	if (f->session && f->carrier != CARRIER_TCP) {
		take_over(f);
		return;
	}
	if (!initiate(f, CARRIER_TCP, TIMER_TCP))
		return;
	f->tcp_initiated = true;
	off(f, TIMER_UDP);
	/* A WGTCP peer answers the first one over its old connection, or not at all. */
	if (new_link)
		set(f, TIMER_TCP, at_least(FRESH_MIN_MS, 2 * (uint64_t)f->rtt_ms));
	if (!f->slow)
		set(f, TIMER_ROUND, ROUND_MS);
}

static void on_dial_limit_timer(struct fallback *f)
{
	if (f->link != LINK_DIALING)
		return;
	close_link(f);
	link_failed(f);
	without_tcp(f);
}

static void on_check_echo_timer(struct fallback *f)
{
	enum carrier carrier = f->check == CHECK_COMPARE ? CARRIER_TCP : f->carrier;

	if (f->check == CHECK_OFF || !f->target || !usable(f, carrier))
		return;
	if (!(f->check == CHECK_COMPARE ? f->compare_small : f->check_small))
		echo(f, carrier, false);
	echo(f, carrier, true);
	set(f, TIMER_CHECK_ECHO, VERIFY_REPEAT_MS);
}

static void on_ask_timer(struct fallback *f)
{
	bool udp = f->carrier == CARRIER_UDP;

	if (!f->asking || !usable(f, f->carrier))
		return;
	if (f->asks >= (udp ? ASKS_UDP : ASKS_TCP)) {
		if (udp) {
			udp_lost(f);
		} else {
			close_link(f);
			tcp_lost(f, false);
		}
		return;
	}
	if (good_target(f) && f->asks % 2 == 0) {
		echo(f, f->carrier, false);
	} else {
		if (!initiate(f, f->carrier, TIMER_ASK))
			return;
		if (good_target(f))
			echo(f, f->carrier, false); /* the session may be gone over there */
	}
	f->asks++;
	set(f, TIMER_ASK, ASK_MS);
	/* One miss: make ready for the move. */
	if (udp && f->asks == 2 && f->settings.transport == TRANSPORT_AUTO) {
		if (f->link_stale)
			close_link(f);
		dial(f);
	}
}

static void on_renew_timer(struct fallback *f)
{
	if (f->carrier != CARRIER_TCP || f->link != LINK_CONNECTED || !f->link_stale || f->trial)
		return;
	if (f->phase == PHASE_UP && f->check == CHECK_OFF && !f->asking && may_udp(f) &&
		f->settings.transport == TRANSPORT_AUTO)
		start_trial(f); /* the connection is renewed if UDP does not work */
	else
		renew_link(f);
}

static void on_recheck_timer(struct fallback *f)
{
	if (f->phase != PHASE_UP || f->carrier != CARRIER_UDP || f->check != CHECK_OFF || f->asking)
		return;
	if (good_target(f))
		start_check(f);
	else
		start_asking(f);
}

static void on_close_timer(struct fallback *f)
{
	if (f->link_ends || (f->carrier == CARRIER_UDP && !wants_link(f)))
		close_link(f);
	else if (f->carrier == CARRIER_UDP)
		set(f, TIMER_CLOSE, CLOSE_MS);
}

static void on_timer(struct fallback *f, enum timer timer)
{
	switch (timer) {
	case TIMER_FAIL:
		on_fail_timer(f);
		break;
	case TIMER_QUIET:
		show_lost(f);
		break;
	case TIMER_ROUND:
		start_round(f, SEARCH_RACE);
		break;
	case TIMER_UDP:
		on_udp_timer(f);
		break;
	case TIMER_TCP:
		on_tcp_timer(f);
		break;
	case TIMER_DIAL:
		dial(f);
		break;
	case TIMER_DIAL_LIMIT:
		on_dial_limit_timer(f);
		break;
	case TIMER_CHECK_ECHO:
		on_check_echo_timer(f);
		break;
	case TIMER_CHECK_END:
		check_ended(f);
		break;
	case TIMER_RETEST:
		if (f->check == CHECK_OFF && f->degraded)
			start_check(f);
		break;
	case TIMER_BLOCKED:
		if (f->carrier == CARRIER_TCP && mono_is_set(f->udp_asked))
			remember_udp(f, FALLBACK_UDP_BLOCKED);
		break;
	case TIMER_DOUBT:
		if (f->check != CHECK_OFF || f->trial)
			set(f, TIMER_DOUBT, VERIFY_REPEAT_MS);
		else if (f->phase == PHASE_UP && !f->asking)
			start_asking(f);
		break;
	case TIMER_ASK:
		on_ask_timer(f);
		break;
	case TIMER_SWITCH:
		if (f->switching)
			start_connect(f, SEARCH_REDIAL, false);
		break;
	case TIMER_RENEW:
		on_renew_timer(f);
		break;
	case TIMER_TRIAL:
		f->trial_since = MONO_UNSET;
		start_trial(f);
		break;
	case TIMER_TRIAL_END:
		if (f->trial)
			trial_failed(f);
		break;
	case TIMER_RECHECK:
		on_recheck_timer(f);
		break;
	case TIMER_CLOSE:
		on_close_timer(f);
		break;
	case TIMER_COUNT:
		break;
	}
}

static void run_timers(struct fallback *f)
{
	/* Timers may set others to now, but never in a circle. */
	for (int turns = 0;; turns++) {
		int due = -1;

		assert(turns < 4 * TIMER_COUNT);
		for (int i = 0; i < TIMER_COUNT; i++)
			if (mono_reached(f->now, f->timers[i]) &&
				(due < 0 || f->timers[i].ns < f->timers[due].ns))
				due = i;
		if (due < 0)
			return;
		off(f, (enum timer)due);
		on_timer(f, (enum timer)due);
	}
}

static void on_event(struct fallback *f, const struct fallback_event *event)
{
	switch (event->kind) {
	case FALLBACK_TICK:
		break;
	case FALLBACK_START:
		on_start(f);
		break;
	case FALLBACK_STOP:
		go_down(f);
		break;
	case FALLBACK_SETTINGS:
		on_settings(f, event->settings);
		break;
	case FALLBACK_RESPONSE:
		on_response(f, event->carrier);
		break;
	case FALLBACK_SUPERSEDED:
		on_superseded(f, event->carrier);
		break;
	case FALLBACK_RECEIVED:
		on_received(f, event->carrier, event->handshake);
		break;
	case FALLBACK_ECHO_REPLY:
		on_echo_reply(f, event->carrier, event->echo_id);
		break;
	case FALLBACK_ECHO_TARGET:
		on_echo_target(f, event->trusted);
		break;
	case FALLBACK_SENT:
		on_sent(f, event->carrier);
		break;
	case FALLBACK_NO_SESSION:
		on_no_session(f);
		break;
	case FALLBACK_TCP_CONNECTED:
		on_tcp_connected(f, event->rtt_us);
		break;
	case FALLBACK_TCP_FAILED:
		on_tcp_failed(f);
		break;
	case FALLBACK_TCP_CLOSED:
		on_tcp_closed(f);
		break;
	case FALLBACK_UDP_ERROR:
		on_udp_error(f);
		break;
	case FALLBACK_NETWORK_CHANGED:
		on_network_changed(f);
		break;
	case FALLBACK_NETWORK_LOST:
		f->offline = true;
		if (f->phase != PHASE_DOWN)
			go_offline(f);
		break;
	case FALLBACK_RETRY_UDP:
		on_retry_udp(f);
		break;
	}
}

/* ---- the interface ---- */

struct fallback *fallback_new(const struct fallback_settings *settings)
{
	struct fallback *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->settings = *settings;
	f->rtt_ms = settings->last_rtt_ms;
	f->jitter.state = settings->seed;
	f->retest_ms = RETEST_MIN_MS;
	output_init(&f->out, settings->seed);
	stop_timers(f);
	return f;
}

void fallback_free(struct fallback *fallback)
{
	free(fallback);
}

struct fallback_action fallback_step(struct fallback *f, const struct fallback_event *event, struct mono now)
{
	const struct fallback before = *f;

	f->now = now;
	output_clear(&f->out);
	on_event(f, event);
	run_timers(f);
	/* Data cannot go over a connection that is gone. */
	if (f->carrier == CARRIER_TCP && f->link != LINK_CONNECTED)
		f->carrier = CARRIER_NONE;
	if (f->carrier != before.carrier)
		f->out.action.what |= FALLBACK_CARRIER;
	if (f->state != before.state || f->cause != before.cause || f->verified != before.verified ||
		f->reason != before.reason || fallback_udp(f) != fallback_udp(&before))
		f->out.action.what |= FALLBACK_REPORT;
	return f->out.action;
}

struct mono fallback_deadline(const struct fallback *f)
{
	struct mono deadline = MONO_NEVER;

	for (int i = 0; i < TIMER_COUNT; i++)
		deadline = mono_min(deadline, f->timers[i]);
	return deadline;
}

enum carrier fallback_carrier(const struct fallback *f)
{
	return f->carrier;
}

enum carrier fallback_initiation_carrier(const struct fallback *f)
{
	switch (f->phase) {
	case PHASE_DOWN:
	case PHASE_OFFLINE:
		return CARRIER_NONE;
	case PHASE_CONNECT:
		if (f->slow)
			return CARRIER_NONE;
		if (f->tcp_initiated)
			return connected(f) ? CARRIER_TCP : CARRIER_NONE;
		return may_udp(f) && f->udp_initiations ? CARRIER_UDP : CARRIER_NONE;
	case PHASE_VERIFY:
	case PHASE_UP:
		return f->carrier;
	}
	return CARRIER_NONE;
}

enum fallback_state fallback_state(const struct fallback *f)
{
	return f->state;
}

enum fallback_cause fallback_cause(const struct fallback *f)
{
	return f->cause;
}

enum fallback_reason fallback_reason(const struct fallback *f)
{
	return f->reason;
}

enum fallback_verified fallback_verified(const struct fallback *f)
{
	return f->verified;
}

enum fallback_udp fallback_udp(const struct fallback *f)
{
	return f->settings.udp && f->settings.transport != TRANSPORT_TCP ? f->udp : FALLBACK_UDP_UNUSED;
}
