/* SPDX-License-Identifier: MIT */
/* Waits of the fallback machine, called by fallback.c alone. Source: docs/fallback.md. */
#include "core/carrier/fallback_wait.h"

enum {
	REDIAL_MIN_MS = 250,
	REDIAL_MAX_MS = 30 * 1000,
	REDIAL_JITTER_PERCENT = 20,
	RETURN_MIN_MS = 60 * 1000,
	RETURN_MAX_MS = 60 * 60 * 1000,
	RETURN_JITTER_PERCENT = 10,
	RETURN_SOON_MS = 60 * 1000, /* a failure within this of a return is a flap */
	FLAP_WINDOW_MS = 60 * 60 * 1000,
};

uint64_t jitter_ms(struct jitter *jitter, uint64_t ms, unsigned percent)
{
	uint64_t span = ms * percent / 100;

	/* A linear congruential step; its high bits are good enough to spread clients. */
	jitter->state = jitter->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return ms - span + (jitter->state >> 33) % (2 * span + 1);
}

uint64_t redial_wait_ms(struct jitter *jitter, uint32_t failures)
{
	uint64_t wait = REDIAL_MIN_MS;

	for (uint32_t i = 1; i < failures && wait < REDIAL_MAX_MS; i++)
		wait *= 2;
	return jitter_ms(jitter, wait < REDIAL_MAX_MS ? wait : REDIAL_MAX_MS, REDIAL_JITTER_PERCENT);
}

uint64_t udp_return_wait_ms(const struct udp_return *schedule, struct jitter *jitter)
{
	return jitter_ms(
		jitter, schedule->wait_ms ? schedule->wait_ms : RETURN_MIN_MS, RETURN_JITTER_PERCENT);
}

void udp_return_trial_failed(struct udp_return *schedule)
{
	uint64_t wait = 2 * (schedule->wait_ms ? schedule->wait_ms : RETURN_MIN_MS);

	schedule->wait_ms = wait < RETURN_MAX_MS ? wait : RETURN_MAX_MS;
}

void udp_return_succeeded(struct udp_return *schedule, struct mono now)
{
	schedule->returned = now;
}

void udp_return_lost(struct udp_return *schedule, struct mono now)
{
	bool soon =
		mono_is_set(schedule->returned) && mono_since_ms(now, schedule->returned) < RETURN_SOON_MS;

	schedule->returned = MONO_UNSET;
	if (!soon) {
		schedule->wait_ms = 0;
		return;
	}
	udp_return_trial_failed(schedule);

	struct mono *oldest = &schedule->flaps[schedule->flap_count++ % RETURN_FLAPS_MAX];

	*oldest = now;
	oldest = &schedule->flaps[schedule->flap_count % RETURN_FLAPS_MAX];
	if (mono_is_set(*oldest) && mono_since_ms(now, *oldest) < FLAP_WINDOW_MS)
		schedule->barred = true;
}
