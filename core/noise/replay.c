/* SPDX-License-Identifier: MIT */
/* A ring of bits, one for each recent counter, moved a word at a time so that nothing is ever shifted.
 * Called by core/noise/session. Source: RFC 6479. */
#include "core/noise/replay.h"

#include "core/noise/session.h"

#include <assert.h>
#include <stdlib.h>

#define WORD_BITS 64u

bool replay_init(struct replay *replay, uint32_t bits)
{
	assert(bits > WORD_BITS && (bits & (bits - 1)) == 0);
	uint64_t *words = calloc(bits / WORD_BITS, sizeof(*words));

	if (!words)
		return false;
	*replay = (struct replay){ .words = words, .bits = bits };
	return true;
}

void replay_free(struct replay *replay)
{
	free(replay->words);
	*replay = (struct replay){ 0 };
}

bool replay_widen(struct replay *replay, uint32_t bits)
{
	struct replay wide;
	uint64_t newest_index = (replay->newest ? replay->newest - 1 : 0) / WORD_BITS;
	uint64_t old_count = replay->bits / WORD_BITS, count = bits / WORD_BITS;

	if (bits <= replay->bits)
		return true;
	if (!replay_init(&wide, bits))
		return false;
	/* What the old window had left behind counts as seen: it may have been. */
	for (uint64_t back = 0; back < count && back <= newest_index; back++) {
		uint64_t index = newest_index - back;

		wide.words[index & (count - 1)] =
			back < old_count ? replay->words[index & (old_count - 1)] : UINT64_MAX;
	}
	wide.newest = replay->newest;
	replay_free(replay);
	*replay = wide;
	return true;
}

bool replay_accept(struct replay *replay, uint64_t counter)
{
	uint64_t highest = replay->newest ? replay->newest - 1 : 0;
	uint64_t count = replay->bits / WORD_BITS;
	uint64_t index = counter / WORD_BITS;

	if (counter >= REJECT_AFTER_MESSAGES)
		return false;
	/* Not bits but one word less: the word being filled holds counters of one turn of the ring only. */
	if (highest > counter && highest - counter > replay->bits - WORD_BITS)
		return false;

	if (counter >= replay->newest) {
		uint64_t newest_index = highest / WORD_BITS;
		uint64_t stale = index - newest_index;

		if (stale > count)
			stale = count;
		for (uint64_t i = 1; i <= stale; i++)
			replay->words[(newest_index + i) & (count - 1)] = 0;
		replay->newest = counter + 1;
	}

	uint64_t *word = &replay->words[index & (count - 1)];
	uint64_t bit = 1ull << (counter % WORD_BITS);

	if (*word & bit)
		return false;
	*word |= bit;
	return true;
}
