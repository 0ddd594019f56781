/* SPDX-License-Identifier: MIT */
/* Whether the carrier in use passes data, small and full-size, and what happens when it does not.
 * Source: docs/fallback.md. */
#include "core/carrier/fallback_machine.h"

enum {
	VERIFY_MS = 2000,
	COMPARE_MS = 1000, /* with the connection standing; or 4 RTT */
	RETEST_MAX_MS = 60 * 1000,
	ASKS_UDP = 3,
	ASKS_TCP = 5, /* dead 10 s after the first unanswered packet */
};

void fallback_watch_stop(struct fallback *f)
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

void fallback_watch_settle(struct fallback *f, enum fallback_verified verified, bool degraded)
{
	f->phase = PHASE_UP;
	f->was_up = true;
	f->check = CHECK_OFF;
	timer_off(f, TIMER_CHECK_ECHO);
	timer_off(f, TIMER_CHECK_END);
	timer_off(f, TIMER_RETEST);
	f->verified = verified;
	f->degraded = degraded;
	f->state = degraded ? FALLBACK_STATE_DEGRADED : FALLBACK_STATE_UP;
	f->cause = FALLBACK_CAUSE_NONE;
	if (degraded) {
		timer_set(f, TIMER_RETEST, f->retest_ms);
		f->retest_ms = f->retest_ms * 2 < RETEST_MAX_MS ? f->retest_ms * 2 : RETEST_MAX_MS;
	}
	if (f->carrier == CARRIER_TCP) {
		if (!timer_is_on(f, TIMER_TRIAL))
			fallback_trial_schedule(f);
		return;
	}
	if (!degraded) {
		fallback_remember_udp(f, FALLBACK_UDP_OK);
		if (f->reason == FALLBACK_REASON_UDP_NO_DATA || f->reason == FALLBACK_REASON_UDP_NO_LARGE)
			f->reason = FALLBACK_REASON_UDP_WORKS;
	}
	if (f->link != LINK_NONE && !timer_is_on(f, TIMER_CLOSE) && !f->asking && !f->switching)
		fallback_link_close(f);
}

void fallback_watch_check(struct fallback *f)
{
	f->check = CHECK_CARRIER;
	f->check_small = false;
	timer_set(f, TIMER_CHECK_END, VERIFY_MS);
	if (f->target)
		timer_set(f, TIMER_CHECK_ECHO, 0);
}

void fallback_watch_stop_asking(struct fallback *f)
{
	f->asking = false;
	f->asks = 0;
	f->ask_answered = false;
	timer_off(f, TIMER_ASK);
	if (f->phase == PHASE_UP && f->carrier == CARRIER_UDP && !f->switching && f->check != CHECK_COMPARE) {
		timer_off(f, TIMER_DIAL);
		if (f->link == LINK_DIALING)
			fallback_link_close(f);
		else if (f->link == LINK_CONNECTED && !timer_is_on(f, TIMER_CLOSE))
			timer_set(f, TIMER_CLOSE, CLOSE_MS);
	}
}

void fallback_watch_ask(struct fallback *f)
{
	if (!carrier_usable(f, f->carrier))
		return; /* about to be left, by a person's word */
	f->asking = true;
	f->asks = 0;
	f->ask_answered = false;
	timer_set(f, TIMER_ASK, 0);
}

/* UDP, in use until now, no longer answers. */
static void udp_lost(struct fallback *f)
{
	enum fallback_reason reason =
		f->ask_answered ? FALLBACK_REASON_UDP_NO_DATA : FALLBACK_REASON_UDP_SILENT;

	if (f->link_stale)
		fallback_link_close(f);
	if (f->ask_answered && !link_is_up(f)) {
		/* Handshakes pass, data does not, and nothing better is at hand: looking on would only flap.
		 */
		fallback_watch_stop_asking(f);
		f->unanswered[CARRIER_UDP] = MONO_UNSET;
		if (f->settings.transport == TRANSPORT_AUTO)
			f->reason = reason;
		if (!f->degraded)
			fallback_watch_settle(f, FALLBACK_VERIFIED_HANDSHAKE, true);
		return;
	}
	if (f->settings.transport != TRANSPORT_AUTO) {
		fallback_search_start(f, SEARCH_RACE, false);
		return;
	}
	udp_return_lost(&f->schedule, f->now);
	f->reason = f->schedule.barred ? FALLBACK_REASON_UDP_FLAPPING : reason;
	if (link_is_up(f))
		fallback_search_start(f, SEARCH_TAKEOVER, false);
	else
		fallback_search_start(f, may_dial(f) ? SEARCH_REDIAL : SEARCH_RACE, false);
}

void fallback_watch_prefer_tcp(
	struct fallback *f, enum fallback_reason reason, enum fallback_verified verified)
{
	fallback_move(f, CARRIER_TCP);
	f->reason = reason;
	udp_return_lost(&f->schedule, f->now);
	timer_off(f, TIMER_RECHECK);
	timer_off(f, TIMER_CLOSE);
	fallback_watch_stop_asking(f);
	fallback_remember_udp(f, FALLBACK_UDP_BLOCKED);
	output_nudge(&f->out, CARRIER_TCP);
	fallback_watch_settle(f, verified, false);
}

void fallback_watch_judge(struct fallback *f, bool compared)
{
	bool small = f->check_small;
	bool large_lost = small && (f->carrier == CARRIER_UDP || f->target_trusted) &&
			  !(compared && !f->target_trusted);
	enum fallback_verified verified = small ? FALLBACK_VERIFIED_SMALL : FALLBACK_VERIFIED_HANDSHAKE;

	if (compared) {
		if (f->compare_small && !small) {
			fallback_watch_prefer_tcp(f, FALLBACK_REASON_UDP_NO_DATA, FALLBACK_VERIFIED_SMALL);
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
	fallback_watch_settle(f, verified, small ? large_lost : good_target(f));
}

void fallback_watch_compare(struct fallback *f)
{
	timer_set(f, TIMER_CHECK_ECHO, 0);
	timer_set(f, TIMER_CHECK_END, at_least(COMPARE_MS, 4 * (uint64_t)f->rtt_ms));
}

void fallback_watch_on_check_end(struct fallback *f)
{
	switch (f->check) {
	case CHECK_OFF:
		return;
	case CHECK_CARRIER:
		if (!f->target) {
			fallback_watch_settle(f, better(f->verified, FALLBACK_VERIFIED_HANDSHAKE), false);
			return;
		}
		if (f->carrier != CARRIER_UDP || f->settings.transport != TRANSPORT_AUTO ||
			!(may_dial(f) || link_is_up(f))) {
			fallback_watch_judge(f, false);
			return;
		}
		if (f->link_stale)
			fallback_link_close(f);
		f->check = CHECK_COMPARE;
		timer_off(f, TIMER_CHECK_ECHO);
		f->compare_small = false;
		timer_set(f, TIMER_CHECK_END, VERIFY_MS);
		if (link_is_up(f))
			fallback_watch_compare(f);
		else if (f->link == LINK_NONE)
			timer_set(f, TIMER_DIAL, 0);
		return;
	case CHECK_COMPARE:
		fallback_watch_judge(f, link_is_up(f));
		return;
	}
}

void fallback_watch_on_check_echo(struct fallback *f)
{
	enum carrier carrier = f->check == CHECK_COMPARE ? CARRIER_TCP : f->carrier;

	if (f->check == CHECK_OFF || !f->target || !carrier_usable(f, carrier))
		return;
	if (!(f->check == CHECK_COMPARE ? f->compare_small : f->check_small))
		fallback_echo_on(f, carrier, false);
	fallback_echo_on(f, carrier, true);
	timer_set(f, TIMER_CHECK_ECHO, VERIFY_REPEAT_MS);
}

void fallback_watch_on_ask(struct fallback *f)
{
	bool udp = f->carrier == CARRIER_UDP;

	if (!f->asking || !carrier_usable(f, f->carrier))
		return;
	if (f->asks >= (udp ? ASKS_UDP : ASKS_TCP)) {
		if (udp) {
			udp_lost(f);
		} else {
			fallback_link_close(f);
			fallback_search_start(f, SEARCH_REDIAL, false);
		}
		return;
	}
	if (good_target(f) && f->asks % 2 == 0) {
		fallback_echo_on(f, f->carrier, false);
	} else {
		if (!fallback_initiate(f, f->carrier, TIMER_ASK))
			return;
		if (good_target(f))
			fallback_echo_on(f, f->carrier, false); /* the session may be gone over there */
	}
	f->asks++;
	timer_set(f, TIMER_ASK, ASK_MS);
	/* One miss: make ready for the move. */
	if (udp && f->asks == 2 && f->settings.transport == TRANSPORT_AUTO) {
		if (f->link_stale)
			fallback_link_close(f);
		fallback_link_dial(f);
	}
}
