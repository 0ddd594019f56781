/* SPDX-License-Identifier: MIT */
/* The fallback machine's entrance: each event and each timer to its transition. Called by the owner of a
 * peer's path (engine or daemon) on its thread. The map of the parts stands in fallback_machine.h. Source:
 * docs/fallback.md. */
#include "core/carrier/fallback_machine.h"

#include <assert.h>
#include <stdlib.h>

enum {
	VERIFY_LATE_MS = 1000, /* an echo target that turns up late gets at least this */
	DOUBT_MS = 5000,
};

/* Something authentic came in. conclusive: it also shows that data passes, not handshakes alone. */
static void heard(struct fallback *f, enum carrier carrier, bool conclusive)
{
	if (carrier == CARRIER_UDP) {
		f->udp_asked = MONO_UNSET;
		f->udp_initiated = MONO_UNSET;
		timer_off(f, TIMER_BLOCKED);
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
		fallback_echo_on(f, carrier, false);
		return;
	}
	f->unanswered[carrier] = MONO_UNSET;
	timer_off(f, TIMER_DOUBT);
	if (f->asking)
		fallback_watch_stop_asking(f);
}

static void on_start(struct fallback *f)
{
	if (f->phase != PHASE_DOWN)
		return;
	if (f->offline)
		fallback_outside_lost(f);
	else
		fallback_search_start(f, SEARCH_RACE, false);
}

static void on_response(struct fallback *f, enum carrier carrier)
{
	struct mono asked = f->udp_initiated;

	f->session = true;
	if (carrier == CARRIER_UDP)
		fallback_learn_rtt(f, asked);
	heard(f, carrier, false);
	if (f->phase == PHASE_CONNECT) {
		if (carrier_usable(f, carrier))
			fallback_search_found(f, carrier);
		return;
	}
	if (carrier != CARRIER_UDP)
		return;
	if (f->trial && !f->trial_echo)
		fallback_trial_succeeded(f);
	else if (!f->trial)
		fallback_trial_answered_late(f, mono_is_set(asked) ? asked : f->trial_since);
}

/* The answer came too late to make a session, but its carrier works. */
static void on_superseded(struct fallback *f, enum carrier carrier)
{
	uint64_t elapsed = mono_since_ms(f->now, f->round_since);

	heard(f, carrier, false);
	if (f->phase != PHASE_CONNECT) {
		if (carrier == CARRIER_UDP && f->trial && !f->trial_echo)
			fallback_trial_succeeded(f);
		else if (carrier == CARRIER_UDP && !f->trial)
			fallback_trial_answered_late(f, f->round_since);
		return;
	}
	if (!carrier_usable(f, carrier))
		return;
	/* Once a round and carrier: answers to still older ones must not supersede what is under way. */
	if (carrier == CARRIER_UDP && !f->udp_works) {
		f->udp_works = true;
		f->tcp_initiated = false;
		f->udp_retry_ms = at_least(UDP_RETRY_MIN_MS, 2 * elapsed);
		timer_set(f, TIMER_UDP, 0);
		/* TCP had its turn; it gets another one if UDP does not hold its promise. */
		timer_set(f, TIMER_TCP, 2 * f->udp_retry_ms);
		timer_set(f, TIMER_ROUND, 2 * f->udp_retry_ms + ROUND_MS);
	} else if (carrier == CARRIER_TCP && !f->tcp_works && !f->udp_works) {
		f->tcp_works = true;
		timer_set(f, TIMER_TCP, 0);
	}
}

static void on_received(struct fallback *f, enum carrier carrier, bool handshake)
{
	heard(f, carrier, !handshake);
	/* DOWN: the peer has called us, and a session stands without our asking. */
	if ((f->phase != PHASE_CONNECT && f->phase != PHASE_DOWN) || !carrier_usable(f, carrier))
		return;
	/* Packets still under way by UDP do not call off a move to TCP. */
	if (carrier == CARRIER_UDP && f->carrier == CARRIER_TCP)
		return;
	f->session = true;
	fallback_search_found(f, carrier);
}

static void on_echo_reply(struct fallback *f, enum carrier carrier, uint64_t id)
{
	struct pending_echo pending;

	if (!output_answered(&f->out, id, &pending)) {
		on_received(f, carrier, false);
		return;
	}
	f->target_answered = true;
	fallback_learn_rtt(f, pending.sent);
	if (f->trial && id == f->trial_echo) {
		heard(f, carrier, true);
		if (carrier == CARRIER_UDP)
			fallback_trial_succeeded(f);
		else
			fallback_trial_answered_by_tcp(f);
		return;
	}
	on_received(f, carrier, false);
	if (carrier != pending.echo.carrier)
		return;
	if (carrier == CARRIER_UDP && f->carrier == CARRIER_TCP)
		fallback_trial_answered_late(f, pending.sent);
	if (f->phase != PHASE_VERIFY && f->phase != PHASE_UP)
		return;
	if (carrier == f->carrier) {
		if (pending.echo.full) {
			fallback_watch_settle(f, FALLBACK_VERIFIED_FULL, false);
		} else {
			f->check_small = true;
			f->verified = better(f->verified, FALLBACK_VERIFIED_SMALL);
		}
	} else if (f->check == CHECK_COMPARE && link_is_up(f)) {
		if (pending.echo.full)
			fallback_watch_prefer_tcp(f,
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
			fallback_watch_check(f);
		return;
	}
	timer_set(f, TIMER_CHECK_ECHO, 0);
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
		timer_set(f, TIMER_DOUBT, DOUBT_MS);
}

static void on_no_session(struct fallback *f)
{
	f->session = false;
	if (f->phase == PHASE_VERIFY || f->phase == PHASE_UP)
		fallback_search_start(f, f->carrier == CARRIER_TCP ? SEARCH_REDIAL : SEARCH_RACE, true);
}

static void on_udp_error(struct fallback *f)
{
	if (f->phase == PHASE_CONNECT) {
		f->udp_failed = true;
		if (f->udp_works || f->tcp_initiated)
			return;
		if (f->link == LINK_NONE && may_dial(f) && !f->slow)
			fallback_link_dial(f);
		else if (link_is_up(f))
			timer_set(f, TIMER_TCP, 0);
		return;
	}
	if (f->trial)
		fallback_trial_failed(f);
	else if (f->phase == PHASE_UP && f->carrier == CARRIER_UDP && !f->asking)
		fallback_watch_ask(f);
}

static void on_timer(struct fallback *f, enum timer timer)
{
	switch (timer) {
	case TIMER_FAIL:
		fallback_search_on_fail(f);
		break;
	case TIMER_QUIET:
		fallback_search_show_lost(f);
		break;
	case TIMER_ROUND:
		fallback_search_round(f, SEARCH_RACE);
		break;
	case TIMER_UDP:
		fallback_search_on_udp(f);
		break;
	case TIMER_TCP:
		fallback_search_on_tcp(f);
		break;
	case TIMER_DIAL:
		fallback_link_dial(f);
		break;
	case TIMER_DIAL_LIMIT:
		fallback_link_on_dial_limit(f);
		break;
	case TIMER_CHECK_ECHO:
		fallback_watch_on_check_echo(f);
		break;
	case TIMER_CHECK_END:
		fallback_watch_on_check_end(f);
		break;
	case TIMER_RETEST:
		if (f->check == CHECK_OFF && f->degraded)
			fallback_watch_check(f);
		break;
	case TIMER_BLOCKED:
		if (f->carrier == CARRIER_TCP && mono_is_set(f->udp_asked))
			fallback_remember_udp(f, FALLBACK_UDP_BLOCKED);
		break;
	case TIMER_DOUBT:
		if (f->check != CHECK_OFF || f->trial)
			timer_set(f, TIMER_DOUBT, VERIFY_REPEAT_MS);
		else if (f->phase == PHASE_UP && !f->asking)
			fallback_watch_ask(f);
		break;
	case TIMER_ASK:
		fallback_watch_on_ask(f);
		break;
	case TIMER_SWITCH:
		if (f->switching)
			fallback_search_start(f, SEARCH_REDIAL, false);
		break;
	case TIMER_RENEW:
		fallback_trial_on_renew(f);
		break;
	case TIMER_TRIAL:
		f->trial_since = MONO_UNSET;
		fallback_trial_start(f);
		break;
	case TIMER_TRIAL_END:
		if (f->trial)
			fallback_trial_failed(f);
		break;
	case TIMER_RECHECK:
		fallback_trial_on_recheck(f);
		break;
	case TIMER_CLOSE:
		fallback_link_on_close_due(f);
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
		timer_off(f, (enum timer)due);
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
		fallback_outside_stop(f);
		break;
	case FALLBACK_SETTINGS:
		fallback_outside_settings(f, event->settings);
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
		fallback_link_on_connected(f, event->rtt_us);
		break;
	case FALLBACK_TCP_FAILED:
		fallback_link_on_failed(f);
		break;
	case FALLBACK_TCP_CLOSED:
		fallback_link_on_closed(f);
		break;
	case FALLBACK_UDP_ERROR:
		on_udp_error(f);
		break;
	case FALLBACK_NETWORK_CHANGED:
		fallback_outside_changed(f);
		break;
	case FALLBACK_NETWORK_LOST:
		f->offline = true;
		if (f->phase != PHASE_DOWN)
			fallback_outside_lost(f);
		break;
	case FALLBACK_RETRY_UDP:
		fallback_outside_retry_udp(f);
		break;
	}
}

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
	fallback_stop_timers(f);
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
			return link_is_up(f) ? CARRIER_TCP : CARRIER_NONE;
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
