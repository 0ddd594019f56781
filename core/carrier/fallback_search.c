/* SPDX-License-Identifier: MIT */
/* The search for a carrier: both are tried in rounds until something authentic answers on one.
 * Sources: docs/fallback.md; docs/wire.md section 2 on the first contact with a WGTCP peer. */
#include "core/carrier/fallback_machine.h"

enum {
	CONNECT_FAIL_MS = 20 * 1000,
	DIAL_DELAY_MS = 300,       /* on an unknown network; or 1.5 x the last RTT */
	DIAL_DELAY_GOOD_MS = 2000, /* where UDP was good before */
	FRESH_MIN_MS = 300,        /* a WGTCP peer loses the answer to the first initiation on a connection */
	UDP_RETRY_MAX_MS = 5000,
	REDIAL_UDP_MS = 1000,   /* TCP broke: UDP is tried beside the redial after this */
	SILENT_INITIATIONS = 4, /* on one connection, never an answer: dial a new one */
	SLOW_MIN_MS = 5000,     /* after 20 s */
	SLOW_MAX_MS = 60 * 1000,
	SLOW_MAX_RECONNECT_MS = 30 * 1000,
	QUIET_MS = 2000, /* a renewal or a switch is no news before this */
};

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

void fallback_search_show_lost(struct fallback *f)
{
	f->state = FALLBACK_STATE_RECONNECTING;
	if (!f->session || !carrier_usable(f, f->carrier))
		f->carrier = CARRIER_NONE;
}

/* Over to the connection with the living session; an answer on it is the proof. If none comes, the session
 * may be gone over there, or our newest word by UDP may have kept the path: an initiation settles both. */
static void take_over(struct fallback *f)
{
	bool contested = mono_is_set(f->udp_initiated) && mono_since_ms(f->now, f->udp_initiated) < ROUND_MS;

	fallback_move(f, CARRIER_TCP);
	f->tcp_initiated = true;
	timer_off(f, TIMER_UDP);
	output_nudge(&f->out, CARRIER_TCP);
	if (f->target)
		fallback_echo_on(f, CARRIER_TCP, false);
	timer_set(f, TIMER_TCP, contested ? 0 : at_least(FRESH_MIN_MS, 2 * (uint64_t)f->rtt_ms));
	if (!f->slow)
		timer_set(f, TIMER_ROUND, ROUND_MS);
}

void fallback_search_round(struct fallback *f, enum search search)
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
	timer_off(f, TIMER_ROUND);
	timer_off(f, TIMER_UDP);
	timer_off(f, TIMER_TCP);
	if (f->slow) {
		uint64_t most = f->was_up ? SLOW_MAX_RECONNECT_MS : SLOW_MAX_MS;

		f->redial_at = MONO_UNSET; /* the rounds are far enough apart */
		timer_set(f, TIMER_ROUND, jitter_ms(&f->jitter, f->slow_ms, 10));
		f->slow_ms = f->slow_ms * 2 < most ? f->slow_ms * 2 : most;
	}
	if (f->link == LINK_CONNECTED && !f->link_authentic && f->link_initiations >= SILENT_INITIATIONS)
		fallback_link_close(f);
	if (may_udp(f) && search == SEARCH_RACE)
		timer_set(f, TIMER_UDP, 0);
	if (may_udp(f) && search == SEARCH_REDIAL)
		timer_set(f, TIMER_UDP, REDIAL_UDP_MS);
	if (!link_is_up(f)) {
		if (may_dial(f))
			timer_set(f, TIMER_DIAL, delay);
	} else {
		timer_set(f, TIMER_TCP, tcp_first ? 0 : delay + UDP_SILENT_MS);
	}
}

void fallback_search_start(struct fallback *f, enum search search, bool quiet)
{
	fallback_watch_stop(f);
	fallback_stop_timers(f);
	f->phase = PHASE_CONNECT;
	f->slow = false;
	f->slow_ms = SLOW_MIN_MS;
	f->tcp_connected = f->link == LINK_CONNECTED;
	f->cause = FALLBACK_CAUSE_NONE;
	f->degraded = false;
	timer_set(f, TIMER_FAIL, CONNECT_FAIL_MS);
	fallback_search_round(f, search);
	if (!f->was_up) {
		f->state = FALLBACK_STATE_CONNECTING;
		f->verified = FALLBACK_VERIFIED_NONE;
		if (!f->session)
			f->carrier = CARRIER_NONE;
	} else if (quiet && f->state == FALLBACK_STATE_UP) {
		timer_set(f, TIMER_QUIET, QUIET_MS);
		if (!carrier_usable(f, f->carrier))
			f->carrier = CARRIER_NONE;
	} else {
		fallback_search_show_lost(f);
	}
}

void fallback_search_found(struct fallback *f, enum carrier carrier)
{
	bool first = !f->was_up;
	bool moved = f->carrier != carrier;

	timer_off(f, TIMER_FAIL);
	timer_off(f, TIMER_QUIET);
	timer_off(f, TIMER_ROUND);
	timer_off(f, TIMER_UDP);
	timer_off(f, TIMER_TCP);
	timer_off(f, TIMER_DIAL);
	fallback_move(f, carrier);
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
		timer_set_at(f, TIMER_BLOCKED, mono_add_ms(f->udp_asked, BLOCKED_MS));
	f->retest_ms = RETEST_MIN_MS;
	if (first) {
		f->phase = PHASE_VERIFY;
		f->state = FALLBACK_STATE_VERIFYING;
		f->verified = FALLBACK_VERIFIED_HANDSHAKE;
		fallback_watch_check(f);
		return;
	}
	/* It was up before: what was verified stands until a check on this carrier says otherwise. */
	fallback_watch_settle(f, better(f->verified, FALLBACK_VERIFIED_HANDSHAKE), false);
	if (moved || f->verified != FALLBACK_VERIFIED_FULL)
		fallback_watch_check(f);
}

void fallback_search_on_fail(struct fallback *f)
{
	f->slow = true;
	f->cause = f->tcp_connected ? FALLBACK_CAUSE_HANDSHAKE_REFUSED : FALLBACK_CAUSE_PEER_UNREACHABLE;
	if (!f->was_up)
		f->state = FALLBACK_STATE_FAILED;
	timer_off(f, TIMER_UDP);
	timer_off(f, TIMER_TCP);
	timer_off(f, TIMER_DIAL);
	timer_set(f, TIMER_ROUND, jitter_ms(&f->jitter, f->slow_ms, 10));
	f->slow_ms *= 2;
}

void fallback_search_on_udp(struct fallback *f)
{
	uint64_t wait = f->udp_retry_ms;

	if (!may_udp(f) || f->tcp_initiated || !fallback_initiate(f, CARRIER_UDP, TIMER_UDP))
		return;
	for (unsigned i = 0; i < f->udp_initiations && wait < UDP_RETRY_MAX_MS; i++)
		wait *= 2;
	if (wait > UDP_RETRY_MAX_MS)
		wait = at_least(UDP_RETRY_MAX_MS, f->udp_retry_ms);
	f->udp_initiations++;
	if (!f->slow || f->udp_initiations == 1)
		timer_set(f, TIMER_UDP, wait);
}

void fallback_search_on_tcp(struct fallback *f)
{
	bool new_link = !f->link_initiations;

	if (!link_is_up(f))
		return;
	if (f->session && f->carrier != CARRIER_TCP) {
		take_over(f);
		return;
	}
	if (!fallback_initiate(f, CARRIER_TCP, TIMER_TCP))
		return;
	f->tcp_initiated = true;
	timer_off(f, TIMER_UDP);
	/* A WGTCP peer answers the first one over its old connection, or not at all. */
	if (new_link)
		timer_set(f, TIMER_TCP, at_least(FRESH_MIN_MS, 2 * (uint64_t)f->rtt_ms));
	if (!f->slow)
		timer_set(f, TIMER_ROUND, ROUND_MS);
}
