/* SPDX-License-Identifier: MIT */
/* What the parts of the fallback machine share: sending, moving, remembering. */
#include "core/carrier/fallback_machine.h"

void fallback_learn_rtt(struct fallback *f, struct mono sent)
{
	uint64_t ms = mono_since_ms(f->now, sent);

	if (mono_is_set(sent) && ms < 10 * 1000)
		f->rtt_ms = (uint32_t)at_least(ms, 1);
}

void fallback_remember_udp(struct fallback *f, enum fallback_udp udp)
{
	f->udp = udp;
	if (f->remembered == udp || !may_udp(f))
		return;
	f->remembered = udp;
	f->out.action.what |= FALLBACK_REMEMBER;
}

bool fallback_initiate(struct fallback *f, enum carrier carrier, enum timer timer)
{
	struct mono again;

	if (!output_initiate(&f->out, carrier, f->now, &again)) {
		timer_set_at(f, timer, again);
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

uint64_t fallback_echo_on(struct fallback *f, enum carrier carrier, bool full)
{
	if (carrier == CARRIER_UDP)
		note_udp_asked(f);
	return output_echo(&f->out, carrier, full, f->now);
}

void fallback_move(struct fallback *f, enum carrier carrier)
{
	f->carrier = carrier;
	f->unanswered[CARRIER_UDP] = MONO_UNSET;
	f->unanswered[CARRIER_TCP] = MONO_UNSET;
	timer_off(f, TIMER_DOUBT);
}

void fallback_stop_timers(struct fallback *f)
{
	struct mono limit = f->timers[TIMER_DIAL_LIMIT];

	for (int i = 0; i < TIMER_COUNT; i++)
		timer_off(f, (enum timer)i);
	if (f->link == LINK_DIALING)
		f->timers[TIMER_DIAL_LIMIT] = limit;
}
