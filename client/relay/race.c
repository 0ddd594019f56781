/* SPDX-License-Identifier: MIT */
/* An initiation goes by UDP; TCP is connected beside it after a while, and when UDP has stayed silent, a copy
 * goes by TCP. The first answer decides. Source: docs/fallback.md. */
#include "client/relay/race.h"

static uint32_t longer(uint32_t ms, uint32_t other_ms)
{
	return ms > other_ms ? ms : other_ms;
}

void race_init(struct race *race, uint64_t seed)
{
	*race = (struct race){ .use = RELAY_USE_UDP, .carrier = CARRIER_UDP, .jitter = { seed } };
}

void race_set_memory(struct race *race, enum fallback_memory memory)
{
	race->memory = memory;
}

bool race_uses_udp(const struct race *race)
{
	switch (race->use) {
	case RELAY_USE_RACE:
		return race->carrier == CARRIER_UDP;
	case RELAY_USE_UDP:
	case RELAY_USE_BOTH:
		return true;
	case RELAY_USE_TCP:
		break;
	}
	return false;
}

bool race_uses_tcp(const struct race *race)
{
	switch (race->use) {
	case RELAY_USE_RACE:
		return race->carrier == CARRIER_TCP;
	case RELAY_USE_TCP:
	case RELAY_USE_BOTH:
		return true;
	case RELAY_USE_UDP:
		break;
	}
	return false;
}

/* How long UDP runs alone. */
static uint32_t head_start_ms(const struct race *race)
{
	if (race->udp_failed)
		return 0;
	switch (race->memory) {
	case FALLBACK_MEMORY_GOOD:
		return RACE_DIAL_GOOD_MS;
	case FALLBACK_MEMORY_BLOCKED:
		return 0;
	case FALLBACK_MEMORY_UNKNOWN:
		break;
	}
	return longer(RACE_DIAL_UNKNOWN_MS, race->rtt_us / 1000 * 3 / 2);
}

static void dial_after(struct race *race, struct mono now, uint64_t ms)
{
	struct mono at = mono_add_ms(now, ms);

	if (race->tcp == RACE_TCP_NONE && (!mono_is_set(race->dial_at) || at.ns < race->dial_at.ns))
		race->dial_at = at;
}

/* Whether a stream is needed at all. */
static bool wants_tcp(const struct race *race)
{
	return race_uses_tcp(race) || (race->use == RELAY_USE_RACE && race->waiting);
}

static void switch_after(struct race *race, struct mono now, uint64_t ms)
{
	if (race->use == RELAY_USE_RACE && race->waiting && race->carrier == CARRIER_UDP &&
		race->tcp == RACE_TCP_STANDS)
		race->switch_at = mono_max(mono_add_ms(now, ms), race->patience);
}

static void on_initiation(struct race *race, struct mono now)
{
	race->waiting = true;
	race->began = now;
	race->patience = race->switch_at = race->fresh_at = MONO_UNSET;
	/* Where UDP is known to fail, not even the first goes there. */
	if (race->use == RELAY_USE_RACE && race->udp_failed && race->tcp == RACE_TCP_STANDS) {
		race->carrier = CARRIER_TCP;
		race->decided = false;
	}
	race->gone_udp = race_uses_udp(race);
	race->gone_tcp = race_uses_tcp(race) && race->tcp == RACE_TCP_STANDS;
	if (race_uses_tcp(race)) {
		dial_after(race, now, 0);
	} else if (race->use == RELAY_USE_RACE) {
		dial_after(race, now, head_start_ms(race));
		switch_after(race, now, head_start_ms(race) + RACE_SILENT_MS);
	}
}

static uint32_t send_held(struct race *race, struct mono now)
{
	if (race->gone_udp)
		race->fresh_at = mono_add_ms(now, longer(RACE_FRESH_MS, race->rtt_us / 1000 * 2));
	race->gone_tcp = true;
	return RACE_SEND_HELD;
}

static uint32_t on_answer(struct race *race, enum carrier carrier, struct mono now)
{
	if (carrier == CARRIER_UDP)
		race->udp_failed = false;
	else
		race->failures = 0;
	/* What comes late by the other carrier, when this one has been chosen, is only what was under way. */
	if (race->use == RELAY_USE_RACE && race->decided && carrier != race->carrier)
		return 0;
	if (race->waiting && !(race->gone_udp && race->gone_tcp) && mono_since_ms(now, race->began) < 10000)
		race->rtt_us = (uint32_t)(mono_since_ns(now, race->began) / 1000);
	race->waiting = false;
	race->switch_at = race->fresh_at = MONO_UNSET;
	if (race->use != RELAY_USE_RACE || race->decided)
		return 0;
	race->decided = true;
	race->carrier = carrier;
	if (carrier == CARRIER_TCP)
		return RACE_TELL_TCP_WINS;
	race->tcp = RACE_TCP_NONE;
	race->dial_at = MONO_UNSET;
	race->failures = 0;
	return RACE_DROP_TCP | RACE_TELL_UDP_WINS;
}

static uint32_t on_connected(struct race *race, uint32_t rtt_us, struct mono now)
{
	race->tcp = RACE_TCP_STANDS;
	race->dial_at = MONO_UNSET;
	if (rtt_us)
		race->rtt_us = rtt_us;
	if (race_uses_tcp(race) && race->waiting && !race->gone_tcp)
		return send_held(race, now);
	switch_after(race, now, race->udp_failed ? 0 : RACE_SILENT_MS);
	return 0;
}

/* The stream, or the hope for one, is gone. */
static void on_tcp_lost(struct race *race, bool stood, struct mono now)
{
	race->tcp = RACE_TCP_NONE;
	race->switch_at = race->fresh_at = MONO_UNSET;
	/* It has shown nothing: the race is open again. */
	if (race->use == RELAY_USE_RACE && !race->decided)
		race->carrier = CARRIER_UDP;
	if (!wants_tcp(race))
		return;
	/* At once, but only if the last one has brought something. */
	if (stood && !race->failures) {
		race->failures = 1;
		dial_after(race, now, 0);
	} else {
		dial_after(race, now, redial_wait_ms(&race->jitter, ++race->failures));
	}
}

static uint32_t on_tick(struct race *race, struct mono now)
{
	uint32_t what = 0;

	if (mono_is_set(race->dial_at) && mono_reached(now, race->dial_at)) {
		race->dial_at = MONO_UNSET;
		if (race->tcp == RACE_TCP_NONE && wants_tcp(race)) {
			race->tcp = RACE_TCP_DIALLING;
			what |= RACE_DIAL;
		}
	}
	if (mono_is_set(race->switch_at) && mono_reached(now, race->switch_at)) {
		race->switch_at = MONO_UNSET;
		race->carrier = CARRIER_TCP;
		race->decided = false;
		what |= send_held(race, now);
	}
	if (mono_is_set(race->fresh_at) && mono_reached(now, race->fresh_at)) {
		race->fresh_at = MONO_UNSET;
		what |= RACE_WANT_FRESH;
	}
	return what;
}

static void begin_anew(struct race *race, struct mono now)
{
	race->decided = false;
	race->udp_failed = false;
	race->failures = 0;
	race->carrier = CARRIER_UDP;
	race->switch_at = race->fresh_at = MONO_UNSET;
	if (wants_tcp(race))
		dial_after(race, now, race_uses_tcp(race) ? 0 : head_start_ms(race));
}

static uint32_t on_use(struct race *race, enum relay_use use, struct mono now)
{
	if (race->use == use)
		return 0;
	race->use = use;
	race->dial_at = MONO_UNSET;
	begin_anew(race, now);
	if (use == RELAY_USE_UDP && race->tcp == RACE_TCP_DIALLING) {
		race->tcp = RACE_TCP_NONE;
		return RACE_DROP_TCP;
	}
	if (race->tcp != RACE_TCP_STANDS)
		return 0;
	if (race_uses_tcp(race) && race->waiting && !race->gone_tcp)
		return send_held(race, now);
	switch_after(race, now, RACE_SILENT_MS);
	return 0;
}

uint32_t race_step(struct race *race, const struct race_event *event, struct mono now)
{
	uint32_t what = 0;

	switch (event->kind) {
	case RACE_TICK:
		break;
	case RACE_INITIATION:
		on_initiation(race, now);
		break;
	case RACE_UDP_ANSWER:
		what = on_answer(race, CARRIER_UDP, now);
		break;
	case RACE_TCP_ANSWER:
		what = on_answer(race, CARRIER_TCP, now);
		break;
	case RACE_UDP_COOKIE:
		race->patience = mono_add_ms(now, RACE_COOKIE_MS);
		if (mono_is_set(race->switch_at))
			race->switch_at = race->patience;
		break;
	case RACE_UDP_FAILED:
		race->udp_failed = true;
		if (race->use == RELAY_USE_RACE && race->waiting) {
			dial_after(race, now, 0);
			switch_after(race, now, 0);
		}
		break;
	case RACE_TCP_CONNECTED:
		what = on_connected(race, event->rtt_us, now);
		break;
	case RACE_TCP_FAILED:
		on_tcp_lost(race, false, now);
		break;
	case RACE_TCP_CLOSED:
		on_tcp_lost(race, true, now);
		break;
	case RACE_NETWORK:
		begin_anew(race, now);
		race->dial_at = MONO_UNSET;
		if (wants_tcp(race))
			dial_after(race, now, 0);
		break;
	case RACE_USE:
		what = on_use(race, event->use, now);
		break;
	case RACE_CLOSE:
		race->tcp = RACE_TCP_NONE;
		race->dial_at = race->switch_at = race->fresh_at = MONO_UNSET;
		if (race->use == RELAY_USE_RACE) {
			race->carrier = CARRIER_UDP;
			race->decided = false;
		}
		if (race_uses_tcp(race))
			dial_after(race, now, 0);
		break;
	}
	/* What has become due with it is done at once. */
	return what | on_tick(race, now);
}

struct mono race_deadline(const struct race *race)
{
	const struct mono due[] = { race->dial_at, race->switch_at, race->fresh_at };
	struct mono deadline = MONO_NEVER;

	for (size_t i = 0; i < 3; i++)
		if (mono_is_set(due[i]))
			deadline = mono_min(deadline, due[i]);
	return deadline;
}
