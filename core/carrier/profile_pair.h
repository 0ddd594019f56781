/* SPDX-License-Identifier: MIT */
/* Which of two profiles carries one tunnel: its own, or the one that it names as FallbackProfile. A pure
 * state machine; the daemon feeds it and carries out the actions. Figures: docs/fallback.md and
 * FallbackProfile: the same as for the choice between two carriers, with one difference: the first profile
 * can be tried beside the second without harm. */
#ifndef WGTCP_CORE_CARRIER_PROFILE_PAIR_H
#define WGTCP_CORE_CARRIER_PROFILE_PAIR_H

#include "core/base/time.h"

#include <stdbool.h>

/* How long the first profile is waited for alone, by what this network did to its UDP before. */
#define PROFILE_PAIR_ALONE_MS 500
#define PROFILE_PAIR_ALONE_GOOD_MS 2000
/* Way back: first after a minute, then after twice as long each time, at most an hour. */
#define PROFILE_PAIR_BACK_MS 60000
#define PROFILE_PAIR_BACK_MAX_MS 3600000
/* An answer that was asked for is believed when it is this old, and no longer waited for after that. */
#define PROFILE_PAIR_SETTLED_MS 1500
#define PROFILE_PAIR_ANSWER_MS 4000
/* The second one is kept for so long after a return; a first one that fails within FLAP_MS after one makes
 * the next wait longer, and three in an hour hold it back until the network changes. */
#define PROFILE_PAIR_KEEP_MS 30000
#define PROFILE_PAIR_FLAP_MS 60000
#define PROFILE_PAIR_FLAPS 3
#define PROFILE_PAIR_FLAPS_MS 3600000

enum profile_pair_state {
	PROFILE_PAIR_DOWN,   /* not there: not begun, or it has ended */
	PROFILE_PAIR_TRYING, /* not decided yet */
	PROFILE_PAIR_UP,
	PROFILE_PAIR_LOST, /* was up, or gave up: nothing answers */
};

/* A person's word. */
enum profile_pair_wish { PROFILE_PAIR_AUTO, PROFILE_PAIR_FIRST, PROFILE_PAIR_SECOND };

struct profile_pair_facts {
	enum profile_pair_state first, second;
	/* The first one does not answer for a reason that the second one would share, or that is being
	 * mended: no network, an engine that is started again. */
	bool busy;
};

enum {
	PROFILE_PAIR_BEGIN = 1,     /* bring the second one up, beside */
	PROFILE_PAIR_END = 2,       /* take it down */
	PROFILE_PAIR_TO_SECOND = 4, /* it carries from now on */
	PROFILE_PAIR_TO_FIRST = 8,
	PROFILE_PAIR_ASK = 16, /* the first one is to connect anew, at once */
};

struct profile_pair {
	enum profile_pair_wish wish;
	bool second;   /* it carries */
	bool was_up;   /* the first one, ever */
	bool began;    /* the second one has been begun, and not been ended */
	bool flapping; /* not back before the network changes */
	uint64_t alone_ms, wait_ms, retry_ms;
	struct mono trouble; /* since when the first one has not been up */
	struct mono due;     /* the way back is tried */
	struct mono asked;   /* unset: not just now */
	struct mono back;    /* when it last came back; unset: never */
	struct mono again;   /* a second one that failed is begun again */
	struct mono flaps[PROFILE_PAIR_FLAPS];
	uint64_t seed;
};

/* alone_ms: how long the first one is waited for at the start. */
void profile_pair_begin(struct profile_pair *pair, uint64_t alone_ms, uint64_t seed, struct mono now);
/* A person's word, or AUTO to take it back. */
void profile_pair_wish(struct profile_pair *pair, enum profile_pair_wish wish, struct mono now);
/* Another network, or a machine that slept: everything may be different. */
void profile_pair_network_changed(struct profile_pair *pair, struct mono now);
/* Bits above, to be carried out in the order of their values, but END last. Call it after every change, and
 * when the deadline is reached. */
unsigned profile_pair_step(
	struct profile_pair *pair, const struct profile_pair_facts *facts, struct mono now);
/* When the next step is due at the latest. */
struct mono profile_pair_deadline(const struct profile_pair *pair, const struct profile_pair_facts *facts);

#endif
