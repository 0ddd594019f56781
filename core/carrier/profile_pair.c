/* SPDX-License-Identifier: MIT */
/* All transitions between the two profiles of one tunnel. Called by client/daemon/second.c. */
#include "core/carrier/profile_pair.h"

#include <stddef.h>

#define RETRY_FIRST_MS 5000
#define RETRY_MAX_MS 60000

void profile_pair_begin(struct profile_pair *pair, uint64_t alone_ms, uint64_t seed, struct mono now)
{
	*pair = (struct profile_pair){ .alone_ms = alone_ms,
		.wait_ms = PROFILE_PAIR_BACK_MS,
		.retry_ms = RETRY_FIRST_MS,
		.trouble = now,
		.seed = seed };
}

/* 90 to 110 % of ms, so that many clients do not come at once. */
static uint64_t with_jitter(struct profile_pair *pair, uint64_t ms)
{
	pair->seed = pair->seed * 6364136223846793005u + 1442695040888963407u;
	return ms * 9 / 10 + (pair->seed >> 33) % (ms / 5 + 1);
}

static void wait_longer(struct profile_pair *pair)
{
	pair->wait_ms *= 2;
	if (pair->wait_ms > PROFILE_PAIR_BACK_MAX_MS)
		pair->wait_ms = PROFILE_PAIR_BACK_MAX_MS;
}

static void schedule(struct profile_pair *pair, struct mono now)
{
	pair->asked = MONO_UNSET;
	pair->due = mono_add_ms(now, with_jitter(pair, pair->wait_ms));
}

void profile_pair_network_changed(struct profile_pair *pair, struct mono now)
{
	pair->flapping = false;
	pair->wait_ms = PROFILE_PAIR_BACK_MS;
	pair->retry_ms = RETRY_FIRST_MS;
	pair->again = now;
	for (size_t i = 0; i < PROFILE_PAIR_FLAPS; i++)
		pair->flaps[i] = MONO_UNSET;
	if (pair->second && !mono_is_set(pair->asked))
		pair->due = now;
}

void profile_pair_wish(struct profile_pair *pair, enum profile_pair_wish wish, struct mono now)
{
	pair->wish = wish;
	if (pair->second && wish != PROFILE_PAIR_SECOND) {
		pair->flapping = false;
		pair->asked = MONO_UNSET;
		pair->due = now;
	}
}

/* The first one failed: soon after a return that counts. */
static void count_flap(struct profile_pair *pair, struct mono now)
{
	if (!mono_is_set(pair->back) || mono_since_ms(now, pair->back) > PROFILE_PAIR_FLAP_MS) {
		pair->wait_ms = PROFILE_PAIR_BACK_MS;
		return;
	}
	wait_longer(pair);
	for (size_t i = PROFILE_PAIR_FLAPS - 1; i > 0; i--)
		pair->flaps[i] = pair->flaps[i - 1];
	pair->flaps[0] = now;
	pair->flapping = mono_is_set(pair->flaps[PROFILE_PAIR_FLAPS - 1]) &&
			 mono_since_ms(now, pair->flaps[PROFILE_PAIR_FLAPS - 1]) < PROFILE_PAIR_FLAPS_MS;
}

static unsigned begin_second(struct profile_pair *pair, struct mono now)
{
	if (pair->began || !mono_reached(now, pair->again))
		return 0;
	pair->began = true;
	return PROFILE_PAIR_BEGIN;
}

/* It has ended by itself, or could not be brought up. */
static void second_ended(struct profile_pair *pair, struct mono now)
{
	pair->began = false;
	pair->again = mono_add_ms(now, pair->retry_ms);
	pair->retry_ms = pair->retry_ms * 2 > RETRY_MAX_MS ? RETRY_MAX_MS : pair->retry_ms * 2;
}

static unsigned end_second(struct profile_pair *pair)
{
	pair->began = false;
	return PROFILE_PAIR_END;
}

static unsigned to_second(struct profile_pair *pair, struct mono now)
{
	count_flap(pair, now);
	pair->second = true;
	pair->retry_ms = RETRY_FIRST_MS;
	schedule(pair, now);
	return PROFILE_PAIR_TO_SECOND;
}

static unsigned to_first(struct profile_pair *pair, struct mono now)
{
	pair->second = false;
	pair->asked = MONO_UNSET;
	pair->back = now;
	pair->trouble = MONO_UNSET;
	return PROFILE_PAIR_TO_FIRST;
}

static uint64_t patience_ms(const struct profile_pair *pair)
{
	return pair->was_up || pair->wish == PROFILE_PAIR_SECOND ? 0 : pair->alone_ms;
}

static unsigned step_first(struct profile_pair *pair, const struct profile_pair_facts *facts, struct mono now)
{
	if (facts->busy && pair->wish != PROFILE_PAIR_SECOND) {
		pair->trouble = MONO_UNSET;
		return 0;
	}
	if (facts->first == PROFILE_PAIR_UP && pair->wish != PROFILE_PAIR_SECOND) {
		pair->trouble = MONO_UNSET;
		pair->was_up = true;
		/* Begun in vain, or a while after a return. */
		if (pair->began &&
			(!mono_is_set(pair->back) || mono_since_ms(now, pair->back) >= PROFILE_PAIR_KEEP_MS))
			return end_second(pair);
		return 0;
	}
	if (pair->wish == PROFILE_PAIR_FIRST)
		return pair->began ? end_second(pair) : 0;
	if (!mono_is_set(pair->trouble))
		pair->trouble = now;
	if (facts->second == PROFILE_PAIR_UP && pair->began)
		return to_second(pair, now);
	if (facts->first != PROFILE_PAIR_LOST && mono_since_ms(now, pair->trouble) < patience_ms(pair))
		return 0;
	return begin_second(pair, now);
}

/* The way back. */
static unsigned step_back(struct profile_pair *pair, const struct profile_pair_facts *facts, struct mono now)
{
	if (!mono_is_set(pair->asked)) {
		if (pair->flapping || !mono_reached(now, pair->due))
			return 0;
		pair->asked = now;
		return PROFILE_PAIR_ASK;
	}
	if (mono_since_ms(now, pair->asked) < PROFILE_PAIR_SETTLED_MS)
		return 0;
	if (facts->first == PROFILE_PAIR_UP)
		return to_first(pair, now);
	if (mono_since_ms(now, pair->asked) >= PROFILE_PAIR_ANSWER_MS) {
		schedule(pair, now);
		wait_longer(pair);
	}
	return 0;
}

static unsigned step_second(
	struct profile_pair *pair, const struct profile_pair_facts *facts, struct mono now)
{
	if (facts->first == PROFILE_PAIR_UP && facts->second != PROFILE_PAIR_UP)
		return to_first(pair, now);
	/* Nothing carries: it is begun again, and the first one, which goes on trying, is the one that is
	 * shown. */
	if (!pair->began) {
		pair->second = false;
		pair->trouble = now;
		return PROFILE_PAIR_TO_FIRST;
	}
	if (pair->wish == PROFILE_PAIR_SECOND)
		return 0;
	return step_back(pair, facts, now);
}

unsigned profile_pair_step(struct profile_pair *pair, const struct profile_pair_facts *facts, struct mono now)
{
	if (pair->began && facts->second == PROFILE_PAIR_DOWN)
		second_ended(pair, now);
	return pair->second ? step_second(pair, facts, now) : step_first(pair, facts, now);
}

struct mono profile_pair_deadline(const struct profile_pair *pair, const struct profile_pair_facts *facts)
{
	if (pair->second) {
		if (pair->wish == PROFILE_PAIR_SECOND)
			return MONO_NEVER;
		if (!mono_is_set(pair->asked))
			return pair->flapping ? MONO_NEVER : pair->due;
		return mono_add_ms(pair->asked,
			facts->first == PROFILE_PAIR_UP ? PROFILE_PAIR_SETTLED_MS : PROFILE_PAIR_ANSWER_MS);
	}
	if (facts->busy && pair->wish != PROFILE_PAIR_SECOND)
		return MONO_NEVER;
	if (facts->first == PROFILE_PAIR_UP && pair->wish != PROFILE_PAIR_SECOND)
		return pair->began && mono_is_set(pair->back) ? mono_add_ms(pair->back, PROFILE_PAIR_KEEP_MS)
							      : MONO_NEVER;
	if (pair->began || pair->wish == PROFILE_PAIR_FIRST)
		return MONO_NEVER;
	/* Whichever is later: both must be over. */
	struct mono alone = mono_is_set(pair->trouble) && facts->first != PROFILE_PAIR_LOST
				    ? mono_add_ms(pair->trouble, patience_ms(pair))
				    : MONO_UNSET;
	return alone.ns > pair->again.ns ? alone : pair->again;
}
