/* SPDX-License-Identifier: MIT */
/* What comes to the fallback machine from outside its path: a person's choice, the network, the end.
 * Source: docs/fallback.md. */
#include "core/carrier/fallback_machine.h"

enum {
	SWITCH_LIMIT_MS = 3000, /* a person chose TCP: UDP is kept no longer than this */
	RENEW_MIN_MS = 1000,    /* a connection this young is not replaced on a change of network */
	CLOSE_CHOSEN_MS = 2000, /* a person chose UDP: late packets on TCP are still read */
};

void fallback_outside_lost(struct fallback *f)
{
	fallback_watch_stop(f);
	fallback_link_close(f);
	fallback_stop_timers(f);
	f->phase = PHASE_OFFLINE;
	f->carrier = CARRIER_NONE;
	f->cause = FALLBACK_CAUSE_NO_NETWORK;
	f->state = f->was_up ? FALLBACK_STATE_RECONNECTING : FALLBACK_STATE_CONNECTING;
}

void fallback_outside_stop(struct fallback *f)
{
	fallback_watch_stop(f);
	fallback_link_close(f);
	fallback_stop_timers(f);
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

void fallback_outside_changed(struct fallback *f)
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
		fallback_search_start(f, SEARCH_RACE, false);
		return;
	case PHASE_CONNECT:
		if (f->link != LINK_NONE && mono_since_ms(f->now, f->link_since) >= RENEW_MIN_MS)
			fallback_link_close(f);
		fallback_search_start(f, f->session && link_is_up(f) ? SEARCH_TAKEOVER : SEARCH_RACE,
			timer_is_on(f, TIMER_QUIET));
		return;
	case PHASE_VERIFY:
	case PHASE_UP:
		if (f->link == LINK_CONNECTED)
			f->link_stale = true;
		if (f->carrier == CARRIER_UDP) {
			if (!f->asking)
				fallback_watch_ask(f);
			return;
		}
		timer_set_at(f, TIMER_RENEW, mono_add_ms(f->link_since, RENEW_MIN_MS));
		return;
	}
}

void fallback_outside_retry_udp(struct fallback *f)
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
		timer_set(f, TIMER_UDP, 0);
		f->tcp_initiated = false;
		return;
	case PHASE_UP:
		if (f->carrier == CARRIER_TCP && !f->trial)
			timer_set(f, TIMER_TRIAL, 0);
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
		timer_off(f, TIMER_TRIAL);
		timer_off(f, TIMER_TRIAL_END);
		timer_off(f, TIMER_BLOCKED);
		if (f->check == CHECK_COMPARE)
			fallback_watch_check(f);
	}
	if (!live) {
		if (!may_tcp(f))
			fallback_link_close(f);
		if (f->phase == PHASE_CONNECT) {
			if (!carrier_usable(f, f->carrier))
				f->carrier = CARRIER_NONE;
			fallback_search_start(f,
				f->session && link_is_up(f) && !may_udp(f) ? SEARCH_TAKEOVER : SEARCH_RACE,
				timer_is_on(f, TIMER_QUIET));
		}
		return;
	}
	if (f->settings.transport != TRANSPORT_AUTO)
		f->reason = FALLBACK_REASON_CHOSEN;
	else if (before != TRANSPORT_AUTO)
		f->reason = FALLBACK_REASON_NONE;
	if (f->carrier == CARRIER_UDP && !may_udp(f)) {
		/* UDP is kept until the connection stands, so that nothing is lost. */
		fallback_watch_stop_asking(f);
		timer_off(f, TIMER_DOUBT);
		timer_off(f, TIMER_RECHECK);
		timer_off(f, TIMER_CLOSE);
		f->link_ends = false;
		if (f->link_stale)
			fallback_link_close(f);
		if (link_is_up(f)) {
			fallback_search_start(f, SEARCH_TAKEOVER, true);
			return;
		}
		f->switching = true;
		timer_set(f, TIMER_SWITCH, SWITCH_LIMIT_MS);
		timer_set(f, TIMER_DIAL, 0);
		return;
	}
	if (f->switching) {
		f->switching = false;
		timer_off(f, TIMER_SWITCH);
		timer_off(f, TIMER_DIAL);
		if (f->link != LINK_NONE && !f->asking)
			fallback_link_close(f);
	}
	if (f->carrier == CARRIER_TCP && !may_tcp(f) && !may_udp(f)) {
		fallback_link_close(f);
		fallback_search_start(f, SEARCH_RACE, false);
		return;
	}
	if (f->carrier == CARRIER_TCP && !may_tcp(f)) {
		fallback_watch_stop_asking(f);
		fallback_move(f, CARRIER_UDP);
		timer_off(f, TIMER_RENEW);
		if (f->check != CHECK_OFF)
			fallback_watch_check(f);
		output_nudge(&f->out, CARRIER_UDP);
		f->link_ends = true;
		timer_set(f, TIMER_CLOSE, CLOSE_CHOSEN_MS);
		f->asking = true;
		timer_set(f, TIMER_ASK, f->target ? 0 : ASK_MS);
		return;
	}
	if (!may_tcp(f) && f->link != LINK_NONE && !f->link_ends) {
		f->link_ends = true;
		timer_set(f, TIMER_CLOSE, f->link == LINK_CONNECTED ? CLOSE_CHOSEN_MS : 0);
	}
	if (choice && f->carrier == CARRIER_TCP && !f->trial && !timer_is_on(f, TIMER_TRIAL))
		timer_set(f, TIMER_TRIAL, 0);
}

void fallback_outside_settings(struct fallback *f, const struct fallback_settings *settings)
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
		fallback_link_dial(f);
}
