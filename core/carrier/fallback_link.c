/* SPDX-License-Identifier: MIT */
/* The TCP connection of the fallback machine: dialled, stands, gone. Sources: docs/fallback.md; docs/wire.md
 * section 2. */
#include "core/carrier/fallback_machine.h"

enum {
	DIAL_LIMIT_MS = 10 * 1000, /* an unanswered SYN: a new socket */
};

/* Whether a failed dial is worth another. */
static bool fallback_link_wanted(const struct fallback *f)
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

void fallback_link_dial(struct fallback *f)
{
	if (f->link != LINK_NONE || !may_dial(f))
		return;
	if (mono_is_set(f->redial_at) && !mono_reached(f->now, f->redial_at)) {
		timer_set_at(f, TIMER_DIAL, f->redial_at);
		return;
	}
	timer_off(f, TIMER_DIAL);
	if (!output_dial(&f->out)) {
		timer_set(f, TIMER_DIAL, 1);
		return;
	}
	f->link = LINK_DIALING;
	f->link_since = f->now;
	f->link_stale = false;
	timer_set(f, TIMER_DIAL_LIMIT, DIAL_LIMIT_MS);
}

static void link_gone(struct fallback *f)
{
	f->link = LINK_NONE;
	f->link_authentic = false;
	f->link_initiations = 0;
	f->link_stale = false;
	f->link_ends = false;
	timer_off(f, TIMER_DIAL_LIMIT);
	timer_off(f, TIMER_CLOSE);
	timer_off(f, TIMER_RENEW);
}

void fallback_link_close(struct fallback *f)
{
	timer_off(f, TIMER_DIAL);
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

void fallback_link_on_connected(struct fallback *f, uint32_t rtt_us)
{
	bool wanted = may_tcp(f) && f->phase != PHASE_OFFLINE;

	timer_off(f, TIMER_DIAL_LIMIT);
	timer_off(f, TIMER_DIAL);
	link_gone(f);
	f->link = LINK_CONNECTED;
	f->link_since = f->now;
	if (!wanted) {
		fallback_link_close(f);
		return;
	}
	if (rtt_us)
		f->rtt_ms = (uint32_t)at_least(rtt_us / 1000, 1);
	f->tcp_connected = true;
	if (f->phase == PHASE_CONNECT) {
		bool udp_over = !f->udp_initiations || f->udp_failed || f->udp == FALLBACK_UDP_BLOCKED ||
				f->settings.memory == FALLBACK_MEMORY_BLOCKED;

		if (!f->udp_works) /* else UDP is about to answer, and the timer is set */
			timer_set(f, TIMER_TCP, udp_over ? 0 : UDP_SILENT_MS);
	} else if (f->switching) {
		fallback_search_start(f, SEARCH_TAKEOVER, true);
	} else if (f->check == CHECK_COMPARE) {
		fallback_watch_compare(f);
	} else if (f->phase == PHASE_UP && !f->asking && f->carrier == CARRIER_UDP) {
		timer_set(f, TIMER_CLOSE, CLOSE_MS);
	}
}

/* No dial can be under way, and no connection stands. */
static void without_tcp(struct fallback *f)
{
	if (f->phase == PHASE_CONNECT) {
		timer_off(f, TIMER_TCP);
		f->tcp_initiated = false;
		if (!f->slow) {
			timer_off(f, TIMER_ROUND);
			timer_set(f, TIMER_DIAL, 0);
		}
		/* UDP goes on alone; but not in a burst, however often TCP breaks. */
		if (may_udp(f) && (!f->slow || !f->udp_initiations)) {
			struct mono next = mono_add_ms(f->udp_initiated, f->udp_retry_ms);

			if (f->udp_initiations && mono_is_set(f->udp_initiated))
				timer_set_at(f, TIMER_UDP,
					timer_is_on(f, TIMER_UDP) ? mono_max(f->timers[TIMER_UDP], next)
								  : next);
			else
				timer_set(f, TIMER_UDP, 0);
		}
		return;
	}
	if (f->phase != PHASE_VERIFY && f->phase != PHASE_UP)
		return;
	if (f->carrier == CARRIER_TCP)
		fallback_search_start(f, SEARCH_REDIAL, false);
	else if (f->switching)
		fallback_search_start(f, SEARCH_REDIAL, false);
	else if (f->check == CHECK_COMPARE)
		fallback_watch_judge(f, false);
	else if (fallback_link_wanted(f))
		timer_set(f, TIMER_DIAL, 0);
}

void fallback_link_on_failed(struct fallback *f)
{
	if (f->link != LINK_DIALING)
		return;
	link_gone(f);
	link_failed(f);
	without_tcp(f);
}

void fallback_link_on_closed(struct fallback *f)
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

void fallback_link_on_dial_limit(struct fallback *f)
{
	if (f->link != LINK_DIALING)
		return;
	fallback_link_close(f);
	link_failed(f);
	without_tcp(f);
}

void fallback_link_on_close_due(struct fallback *f)
{
	if (f->link_ends || (f->carrier == CARRIER_UDP && !fallback_link_wanted(f)))
		fallback_link_close(f);
	else if (f->carrier == CARRIER_UDP)
		timer_set(f, TIMER_CLOSE, CLOSE_MS);
}
