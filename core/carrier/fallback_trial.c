/* SPDX-License-Identifier: MIT */
/* Back to UDP: when, how, and what if it fails. Source: docs/fallback.md. */
#include "core/carrier/fallback_machine.h"

enum {
	TRIAL_MIN_MS = 300,
	TRIAL_MAX_MS = 3000,
	TRIAL_AGAIN_MS = 1000,
	RECHECK_MS = 10 * 1000,
	TRIAL_ECHOES_MAX = 8,
};

void fallback_trial_schedule(struct fallback *f)
{
	timer_off(f, TIMER_TRIAL);
	if (!may_udp(f) || f->settings.transport != TRANSPORT_AUTO)
		return;
	if (f->schedule.barred) {
		f->reason = FALLBACK_REASON_UDP_FLAPPING;
		return;
	}
	timer_set(f, TIMER_TRIAL, udp_return_wait_ms(&f->schedule, &f->jitter));
}

void fallback_trial_start(struct fallback *f)
{
	uint64_t wait = at_least(f->trial_ms, at_least(TRIAL_MIN_MS, 2 * (uint64_t)f->rtt_ms));

	if (f->phase != PHASE_UP || f->check != CHECK_OFF || f->asking || f->trial) {
		timer_set(f, TIMER_TRIAL, VERIFY_REPEAT_MS);
		return;
	}
	if (good_target(f)) {
		f->trial_echo = fallback_echo_on(f, CARRIER_UDP, true);
		f->trial_echoes = 1;
	} else {
		if (!fallback_initiate(f, CARRIER_UDP, TIMER_TRIAL))
			return;
		f->trial_echo = 0;
	}
	f->trial = true;
	f->trial_since = f->now;
	timer_set(f, TIMER_TRIAL_END, wait < TRIAL_MAX_MS ? wait : TRIAL_MAX_MS);
	if (f->udp != FALLBACK_UDP_BLOCKED)
		timer_set_at(f, TIMER_BLOCKED, mono_add_ms(f->udp_asked, BLOCKED_MS));
}

/* The echo arrived by UDP, and while it was answered a packet by TCP took a follower's path back there (a stock server
 * behind a relay answers whatever came last): once more, before time runs out. */
void fallback_trial_answered_by_tcp(struct fallback *f)
{
	if (f->trial_echoes >= TRIAL_ECHOES_MAX)
		return;
	f->trial_echo = fallback_echo_on(f, CARRIER_UDP, true);
	f->trial_echoes++;
}

static void renew_link(struct fallback *f)
{
	fallback_link_close(f);
	f->redial_at = MONO_UNSET;
	fallback_search_start(f, SEARCH_REDIAL, true);
}

void fallback_trial_failed(struct fallback *f)
{
	f->trial = false;
	timer_off(f, TIMER_TRIAL_END);
	udp_return_trial_failed(&f->schedule);
	output_nudge(&f->out, CARRIER_TCP);
	if (f->link_stale)
		renew_link(f);
	else
		fallback_trial_schedule(f);
}

void fallback_trial_succeeded(struct fallback *f)
{
	f->trial = false;
	f->trial_ms = 0;
	f->trial_again = false;
	timer_off(f, TIMER_TRIAL_END);
	timer_off(f, TIMER_TRIAL);
	timer_off(f, TIMER_BLOCKED);
	fallback_watch_stop_asking(f);
	fallback_move(f, CARRIER_UDP);
	f->reason = FALLBACK_REASON_UDP_WORKS;
	udp_return_succeeded(&f->schedule, f->now);
	timer_set(f, TIMER_CLOSE, CLOSE_MS);
	timer_set(f, TIMER_RECHECK, RECHECK_MS);
	fallback_watch_settle(f, f->trial_echo ? FALLBACK_VERIFIED_FULL : f->verified, false);
}

void fallback_trial_answered_late(struct fallback *f, struct mono asked)
{
	if (f->phase != PHASE_UP && f->phase != PHASE_VERIFY)
		return;
	if (f->carrier != CARRIER_TCP || f->settings.transport != TRANSPORT_AUTO || !may_udp(f))
		return;
	if (f->trial || f->trial_again || f->schedule.barred)
		return;
	f->trial_again = true;
	f->trial_ms = 2 * mono_since_ms(f->now, asked);
	timer_set(f, TIMER_TRIAL, mono_is_set(f->trial_since) ? TRIAL_AGAIN_MS : 0);
}

void fallback_trial_on_renew(struct fallback *f)
{
	if (f->carrier != CARRIER_TCP || f->link != LINK_CONNECTED || !f->link_stale || f->trial)
		return;
	if (f->phase == PHASE_UP && f->check == CHECK_OFF && !f->asking && may_udp(f) &&
		f->settings.transport == TRANSPORT_AUTO)
		fallback_trial_start(f); /* the connection is renewed if UDP does not work */
	else
		renew_link(f);
}

void fallback_trial_on_recheck(struct fallback *f)
{
	if (f->phase != PHASE_UP || f->carrier != CARRIER_UDP || f->check != CHECK_OFF || f->asking)
		return;
	if (good_target(f))
		fallback_watch_check(f);
	else
		fallback_watch_ask(f);
}
