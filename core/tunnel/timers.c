/* SPDX-License-Identifier: MIT */
/* The timers of one peer. Called through schedule.c, which keeps all peers in the order of their deadlines.
 *
 * An attempt is a run of initiations, each REKEY_TIMEOUT and some jitter after the last, that ends with a
 * confirmed session or after REKEY_ATTEMPT. Of the two keepalives only data asks for one, so they do not
 * answer each other. Source: WireGuard paper 6. */
#include "core/tunnel/timers.h"

/* xorshift32: jitter only keeps two sides from acting in step. */
static uint32_t jitter_ms(struct timers *timers)
{
	uint32_t x = timers->jitter;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	timers->jitter = x;
	return x % REKEY_JITTER_MS;
}

static void arm(struct timers *timers, enum timer timer, struct mono now, uint64_t ms)
{
	timers->due[timer] = mono_add_ms(now, ms);
}

static void stop(struct timers *timers, enum timer timer)
{
	timers->due[timer] = MONO_NEVER;
}

static bool running(const struct timers *timers, enum timer timer)
{
	return timers->due[timer].ns != MONO_NEVER.ns;
}

static void arm_retry(struct timers *timers, struct mono now)
{
	arm(timers, TIMER_RETRY, now, REKEY_TIMEOUT_MS + jitter_ms(timers));
}

/* When the next initiation may go out by itself. */
static struct mono ready_at(const struct timers *timers)
{
	if (!mono_is_set(timers->initiation_sent))
		return MONO_UNSET;
	return mono_add_ms(
		timers->initiation_sent, timers->restarted ? INITIATION_SPACING_MS : REKEY_TIMEOUT_MS);
}

/* Any packet in either direction keeps a mapping on the way alive. */
static void restart_persistent(struct timers *timers, struct mono now)
{
	if (timers->persistent_s)
		arm(timers, TIMER_PERSISTENT, now, timers->persistent_s * 1000ull);
}

static void sent(struct timers *timers, struct mono now)
{
	stop(timers, TIMER_PASSIVE);
	restart_persistent(timers, now);
}

static void received(struct timers *timers, struct mono now)
{
	stop(timers, TIMER_NO_ANSWER);
	restart_persistent(timers, now);
}

static void end_attempt(struct timers *timers)
{
	timers->attempt_since = MONO_UNSET;
	stop(timers, TIMER_RETRY);
}

/* Somebody asked for a packet to be sent, so the attempt's time starts anew (paper 6.4). */
static uint32_t want(struct timers *timers, struct mono now)
{
	struct mono ready = ready_at(timers);

	timers->attempt_since = now;
	if (mono_reached(now, ready)) {
		/* Should the initiation be held back after all, it is asked for again. */
		if (!running(timers, TIMER_RETRY))
			arm_retry(timers, now);
		return DUE_INITIATION;
	}
	timers->due[TIMER_RETRY] = mono_min(timers->due[TIMER_RETRY], ready);
	return 0;
}

static void rekey(struct timers *timers, struct mono now)
{
	if (mono_is_set(timers->attempt_since))
		return;
	timers->attempt_since = now;
	timers->due[TIMER_RETRY] = mono_max(now, ready_at(timers));
}

static uint32_t tick_retry(struct timers *timers, struct mono now)
{
	if (mono_since_ms(now, timers->attempt_since) >= REKEY_ATTEMPT_MS) {
		end_attempt(timers);
		return DUE_GAVE_UP;
	}
	arm_retry(timers, now);
	return DUE_INITIATION;
}

static uint32_t tick(struct timers *timers, struct mono now)
{
	uint32_t what = 0;

	if (mono_reached(now, timers->due[TIMER_RETRY]))
		what |= tick_retry(timers, now);
	if (mono_reached(now, timers->due[TIMER_NO_ANSWER])) {
		stop(timers, TIMER_NO_ANSWER);
		if (!mono_is_set(timers->attempt_since))
			what |= want(timers, now);
	}
	if (mono_reached(now, timers->due[TIMER_PASSIVE])) {
		stop(timers, TIMER_PASSIVE);
		what |= DUE_PASSIVE;
	}
	if (mono_reached(now, timers->due[TIMER_PERSISTENT])) {
		restart_persistent(timers, now);
		what |= DUE_KEEPALIVE;
	}
	if (mono_reached(now, timers->due[TIMER_ZERO])) {
		stop(timers, TIMER_ZERO);
		what |= DUE_ZEROED;
	}
	return what;
}

void timers_init(struct timers *timers, uint32_t seed)
{
	*timers = (struct timers){ .jitter = seed ? seed : 1 };
	for (int timer = 0; timer < TIMER_COUNT; timer++)
		timers->due[timer] = MONO_NEVER;
}

uint32_t timers_step(struct timers *timers, enum timers_event event, struct mono now)
{
	switch (event) {
	case TIMERS_TICK:
		return tick(timers, now);
	case TIMERS_WANT:
		return want(timers, now);
	case TIMERS_REKEY:
		rekey(timers, now);
		break;
	case TIMERS_INITIATION_SENT:
		if (!mono_is_set(timers->attempt_since))
			timers->attempt_since = now;
		timers->initiation_sent = now;
		timers->restarted = false;
		arm_retry(timers, now);
		sent(timers, now);
		break;
	case TIMERS_SENT:
		sent(timers, now);
		break;
	case TIMERS_DATA_SENT:
		sent(timers, now);
		if (!running(timers, TIMER_NO_ANSWER))
			arm(timers, TIMER_NO_ANSWER, now, NO_ANSWER_MS + jitter_ms(timers));
		break;
	case TIMERS_RECEIVED:
		received(timers, now);
		break;
	case TIMERS_DATA_RECEIVED:
		received(timers, now);
		if (!running(timers, TIMER_PASSIVE))
			arm(timers, TIMER_PASSIVE, now, KEEPALIVE_TIMEOUT_MS);
		break;
	case TIMERS_SESSION_MADE:
		arm(timers, TIMER_ZERO, now, ZERO_KEYS_MS);
		break;
	case TIMERS_CONFIRMED:
		end_attempt(timers);
		break;
	case TIMERS_INTERVAL_SET:
		if (timers->persistent_s)
			timers->due[TIMER_PERSISTENT] = now;
		else
			stop(timers, TIMER_PERSISTENT);
		break;
	case TIMERS_DROPPED:
		stop(timers, TIMER_NO_ANSWER);
		stop(timers, TIMER_PASSIVE);
		stop(timers, TIMER_ZERO);
		end_attempt(timers);
		timers->restarted = true;
		break;
	case TIMERS_RESTART:
		end_attempt(timers);
		timers->restarted = true;
		break;
	}
	return 0;
}

struct mono timers_deadline(const struct timers *timers)
{
	struct mono first = MONO_NEVER;

	for (int timer = 0; timer < TIMER_COUNT; timer++)
		first = mono_min(first, timers->due[timer]);
	return first;
}
