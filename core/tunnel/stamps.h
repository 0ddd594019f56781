/* SPDX-License-Identifier: MIT */
/* Timestamps of initiations where clocks may be wrong: ours are not dragged years ahead by one bad reading,
 * and a peer whose clock was far in the future is not locked out for ever (CVE-2021-46873). Pure. Source:
 * WireGuard paper 5.1. */
#ifndef WGTCP_CORE_TUNNEL_STAMPS_H
#define WGTCP_CORE_TUNNEL_STAMPS_H

#include "core/base/time.h"
#include "core/noise/tai64n.h"

/* ---- ours ---- */

/* A clock that jumps further ahead than this is believed only when it has said so for a while. */
#define STAMPS_JUMP_S (30u * 86400u)
#define STAMPS_JUMP_OFF_S (366u * 86400u) /* the same since the last start */
#define STAMPS_BELIEVE_MS 60000
/* No clock is right that is past this (the year 2514). */
#define STAMPS_WALL_MAX (1ull << 34)

/* All zero: nothing read yet. */
struct stamps_clock {
	struct mono at; /* of the last reading that was believed */
	struct wall wall;
	struct mono doubted_since;
	struct mono doubted_at; /* the last reading that was not */
	struct wall doubted;
};

/* What to take for the time; mark: the newest timestamp used so far, 0 if unknown. */
struct wall stamps_now(struct stamps_clock *clock, struct wall reading, struct mono now, struct wall mark);

/* ---- a peer's ---- */

/* Further ahead of our clock than this a timestamp is from a clock that is wrong, theirs or ours. */
#define STAMPS_AHEAD_S 86400u

/* All zero: none seen. Two rising sequences: of timestamps that our clock called plausible when they came,
 * and of all; those between first_ahead and newest have had their use, so that nothing is accepted twice,
 * whatever clocks do. */
struct stamps {
	uint8_t newest[TAI64N_LEN];
	uint8_t plausible[TAI64N_LEN];   /* the newest that was not ahead */
	uint8_t first_ahead[TAI64N_LEN]; /* the lowest that was; meaningful while newest is above plausible */
};

/* Newer than all before; or, while the newest is from a clock that was ahead, than all that were not. */
bool stamps_fresh(const struct stamps *stamps, const uint8_t stamp[TAI64N_LEN], struct wall wall);
/* It was fresh and is authentic. */
void stamps_accept(struct stamps *stamps, const uint8_t stamp[TAI64N_LEN], struct wall wall);

#endif
