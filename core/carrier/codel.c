/* SPDX-License-Identifier: MIT */
/* The control law of RFC 8289 in integers. Called by queue.c for each packet that leaves. */
#include "core/carrier/codel.h"

/* Largest r with r * r <= n. */
static uint32_t square_root(uint64_t n)
{
	uint64_t root = 0;

	for (uint64_t bit = UINT64_C(1) << 31; bit; bit >>= 1)
		if ((root | bit) * (root | bit) <= n)
			root |= bit;
	return (uint32_t)root;
}

/* t + interval / sqrt(count). interval_us squared fits 64 bits. */
static struct mono control_law(struct mono t, uint32_t interval_us, uint32_t count)
{
	uint64_t square = (uint64_t)interval_us * interval_us;

	return mono_add_ns(t, (uint64_t)square_root(square / count) * 1000);
}

/* Whether the queue has stood above target for a whole interval. */
static bool standing(struct codel *codel, const struct codel_settings *settings, struct mono now,
	struct mono queued, uint32_t backlog)
{
	if (mono_since_ns(now, queued) < (uint64_t)settings->target_us * 1000 ||
		backlog <= settings->small_bytes) {
		codel->first_above = MONO_UNSET;
		return false;
	}
	if (!mono_is_set(codel->first_above)) {
		codel->first_above = mono_add_ns(now, (uint64_t)settings->interval_us * 1000);
		return false;
	}
	return mono_reached(now, codel->first_above);
}

bool codel_strikes(struct codel *codel, const struct codel_settings *settings, struct mono now,
	struct mono queued, uint32_t backlog)
{
	if (!standing(codel, settings, now, queued, backlog)) {
		codel->striking = false;
		return false;
	}
	if (codel->striking) {
		if (!mono_reached(now, codel->strike_next))
			return false;
		codel->count++;
		codel->strike_next = control_law(codel->strike_next, settings->interval_us, codel->count);
		return true;
	}
	/* Begin. If the last time was not long ago, go on near the rate that held the queue then. */
	uint32_t delta = codel->count - codel->last_count;
	bool recent = mono_since_ns(now, codel->strike_next) < 16 * (uint64_t)settings->interval_us * 1000;

	codel->striking = true;
	codel->count = delta > 1 && recent ? delta : 1;
	codel->last_count = codel->count;
	codel->strike_next = control_law(now, settings->interval_us, codel->count);
	return true;
}

void codel_empty(struct codel *codel)
{
	codel->first_above = MONO_UNSET;
	codel->striking = false;
}
