/* SPDX-License-Identifier: MIT */
/* Called by handshaking.c. */
#include "core/tunnel/stamps.h"

#include <string.h>

/* ---- ours ---- */

/* a is more than span later than b. */
static bool ahead_by(struct wall a, struct wall b, uint64_t span_s)
{
	return a.s > b.s && a.s - b.s > span_s;
}

static struct wall gone_on(struct wall wall, struct mono then, struct mono now)
{
	return (struct wall){ wall.s + mono_since_ms(now, then) / 1000, wall.ns };
}

/* Where the clock should be at the most, by what it said before. */
static bool jumps(const struct stamps_clock *clock, struct wall reading, struct mono now, struct wall mark)
{
	if (reading.s >= STAMPS_WALL_MAX)
		return true;
	if (!mono_is_set(clock->at))
		return mark.s && ahead_by(reading, mark, STAMPS_JUMP_OFF_S);
	/* A clock that was behind the mark was wrong itself: that it goes right is no jump. */
	struct wall expected = gone_on(clock->wall, clock->at, now);

	if (expected.s < mark.s)
		expected = mark;
	return ahead_by(reading, expected, STAMPS_JUMP_S);
}

struct wall stamps_now(struct stamps_clock *clock, struct wall reading, struct mono now, struct wall mark)
{
	if (jumps(clock, reading, now, mark)) {
		struct wall expected = gone_on(clock->doubted, clock->doubted_at, now);
		bool same = mono_is_set(clock->doubted_since) &&
			    !ahead_by(reading, expected, STAMPS_AHEAD_S) &&
			    !ahead_by(expected, reading, STAMPS_AHEAD_S);

		if (!same)
			clock->doubted_since = now;
		clock->doubted = reading;
		clock->doubted_at = now;
		if (reading.s >= STAMPS_WALL_MAX ||
			mono_since_ms(now, clock->doubted_since) < STAMPS_BELIEVE_MS)
			return mono_is_set(clock->at) ? gone_on(clock->wall, clock->at, now) : mark;
	}
	clock->doubted_since = MONO_UNSET;
	clock->at = now;
	clock->wall = reading;
	return reading;
}

/* ---- a peer's ---- */

static bool is_ahead(const uint8_t stamp[TAI64N_LEN], struct wall wall)
{
	uint8_t most[TAI64N_LEN];

	tai64n_write((struct wall){ wall.s + STAMPS_AHEAD_S, 0 }, most);
	return tai64n_compare(stamp, most) > 0;
}

bool stamps_fresh(const struct stamps *stamps, const uint8_t stamp[TAI64N_LEN], struct wall wall)
{
	if (tai64n_compare(stamp, stamps->newest) > 0)
		return true;
	/* Only while what stands in the way is from a clock that was wrong. */
	return is_ahead(stamps->newest, wall) && !is_ahead(stamp, wall) &&
	       tai64n_compare(stamp, stamps->plausible) > 0 && tai64n_compare(stamp, stamps->first_ahead) < 0;
}

void stamps_accept(struct stamps *stamps, const uint8_t stamp[TAI64N_LEN], struct wall wall)
{
	if (is_ahead(stamp, wall)) {
		if (tai64n_compare(stamps->newest, stamps->plausible) == 0)
			memcpy(stamps->first_ahead, stamp, TAI64N_LEN);
		memcpy(stamps->newest, stamp, TAI64N_LEN);
		return;
	}
	memcpy(stamps->plausible, stamp, TAI64N_LEN);
	/* Past all that was ahead: there is one sequence again. */
	if (tai64n_compare(stamp, stamps->newest) > 0)
		memcpy(stamps->newest, stamp, TAI64N_LEN);
}
