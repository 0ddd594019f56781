/* SPDX-License-Identifier: MIT */
/* Stories of two profiles: what the daemon tells the machine and when, and what is to come of it. */
#include "core/carrier/profile_pair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define D PROFILE_PAIR_DOWN
#define T PROFILE_PAIR_TRYING
#define U PROFILE_PAIR_UP
#define L PROFILE_PAIR_LOST

#define BEGIN PROFILE_PAIR_BEGIN
#define END PROFILE_PAIR_END
#define TO_SECOND PROFILE_PAIR_TO_SECOND
#define TO_FIRST PROFILE_PAIR_TO_FIRST
#define ASK PROFILE_PAIR_ASK

/* What happens beside. */
enum { NOTHING, NETWORK, WISH_FIRST, WISH_SECOND, WISH_AUTO };

struct turn {
	uint64_t at_ms;
	enum profile_pair_state first, second;
	int event;
	unsigned wanted;
	bool second_carries;
};

static struct mono at(uint64_t ms)
{
	return (struct mono){ (1000 + ms) * 1000000u };
}

static void tell(struct profile_pair *pair, int event, struct mono now)
{
	switch (event) {
	case NETWORK:
		profile_pair_network_changed(pair, now);
		return;
	case WISH_FIRST:
		profile_pair_wish(pair, PROFILE_PAIR_FIRST, now);
		return;
	case WISH_SECOND:
		profile_pair_wish(pair, PROFILE_PAIR_SECOND, now);
		return;
	case WISH_AUTO:
		profile_pair_wish(pair, PROFILE_PAIR_AUTO, now);
		return;
	}
}

static void play(struct profile_pair *pair, const struct turn *turns, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct profile_pair_facts facts = { .first = turns[i].first, .second = turns[i].second };
		unsigned what;

		tell(pair, turns[i].event, at(turns[i].at_ms));
		what = profile_pair_step(pair, &facts, at(turns[i].at_ms));
		if (what != turns[i].wanted || pair->second != turns[i].second_carries)
			fail_msg(
				"turn %zu at %u ms: %u, %d", i, (unsigned)turns[i].at_ms, what, pair->second);
	}
}

#define PLAY(alone, turns)                                                                                   \
	do {                                                                                                 \
		struct profile_pair pair;                                                                    \
                                                                                                             \
		profile_pair_begin(&pair, alone, 1, at(0));                                                  \
		play(&pair, turns, sizeof(turns) / sizeof((turns)[0]));                                      \
	} while (0)

static void first_answers(void **state)
{
	static const struct turn turns[] = {
		{ 0, T, D, NOTHING, 0, false },
		{ 400, U, D, NOTHING, 0, false },
		{ 3600000, U, D, NOTHING, 0, false },
	};

	(void)state;
	PLAY(PROFILE_PAIR_ALONE_MS, turns);
}

static void first_answers_late(void **state)
{
	static const struct turn turns[] = {
		{ 0, T, D, NOTHING, 0, false },
		{ 499, T, D, NOTHING, 0, false },
		{ 500, T, D, NOTHING, BEGIN, false },
		{ 600, T, T, NOTHING, 0, false },
		{ 700, U, T, NOTHING, END, false }, /* in vain */
		{ 800, U, D, NOTHING, 0, false },
	};

	(void)state;
	PLAY(PROFILE_PAIR_ALONE_MS, turns);
}

static void blocked_from_the_start(void **state)
{
	static const struct turn turns[] = {
		{ 0, T, D, NOTHING, BEGIN, false }, /* remembered */
		{ 300, T, U, NOTHING, TO_SECOND, true },
		{ 53000, L, U, NOTHING, 0, true },
		{ 67000, L, U, NOTHING, ASK, true }, /* a minute, +/- 10 % */
		{ 69000, L, U, NOTHING, 0, true },
		{ 71100, L, U, NOTHING, 0, true }, /* no answer: a minute more, then twice as long */
		{ 137200, L, U, NOTHING, ASK, true },
		{ 138000, U, U, NOTHING, 0, true }, /* not believed at once */
		{ 138800, U, U, NOTHING, TO_FIRST, false },
		{ 160000, U, U, NOTHING, 0, false },
		{ 168900, U, U, NOTHING, END, false },
	};

	(void)state;
	PLAY(0, turns);
}

static void fails_while_up(void **state)
{
	static const struct turn turns[] = {
		{ 0, U, D, NOTHING, 0, false },
		{ 90000, L, D, NOTHING, BEGIN, false }, /* no patience: its own machine has had some */
		{ 90100, L, T, NOTHING, 0, false },
		{ 90200, L, U, NOTHING, TO_SECOND, true },
		{ 95000, T, U, NETWORK, ASK, true }, /* another network: at once */
		{ 96600, U, U, NOTHING, TO_FIRST, false },
	};

	(void)state;
	PLAY(PROFILE_PAIR_ALONE_MS, turns);
}

static void second_fails(void **state)
{
	static const struct turn turns[] = {
		{ 0, L, D, NOTHING, BEGIN, false },
		{ 100, L, T, NOTHING, 0, false },
		{ 200, L, D, NOTHING, 0, false }, /* refused */
		{ 5000, L, D, NOTHING, 0, false },
		{ 5200, L, D, NOTHING, BEGIN, false },
		{ 5300, L, D, NOTHING, 0, false },
		{ 15200, L, D, NOTHING, 0, false },
		{ 15300, L, D, NOTHING, BEGIN, false },
		{ 15400, L, U, NOTHING, TO_SECOND, true },
		{ 16000, L, L, NOTHING, 0, true },         /* nothing is better */
		{ 17000, U, L, NOTHING, TO_FIRST, false }, /* that is */
		{ 18000, L, U, NOTHING, TO_SECOND, true },
		{ 19000, L, D, NOTHING, TO_FIRST, false }, /* somebody deleted its interface */
		{ 24000, L, D, NOTHING, BEGIN, false },
	};

	(void)state;
	PLAY(0, turns);
}

static void flapping(void **state)
{
	static const struct turn turns[] = {
		{ 0, L, D, NOTHING, BEGIN, false },
		{ 100, L, U, NOTHING, TO_SECOND, true },
		{ 66200, U, U, NOTHING, ASK, true },
		{ 67700, U, U, NOTHING, TO_FIRST, false },
		{ 70000, L, U, NOTHING, TO_SECOND, true }, /* once */
		{ 172000, U, U, NOTHING, 0, true },        /* twice as long */
		{ 204000, U, U, NOTHING, ASK, true },
		{ 206000, U, U, NOTHING, TO_FIRST, false },
		{ 208000, L, U, NOTHING, TO_SECOND, true }, /* twice */
		{ 480000, U, U, NOTHING, ASK, true },
		{ 482000, U, U, NOTHING, TO_FIRST, false },
		{ 484000, L, U, NOTHING, TO_SECOND, true }, /* three times */
		{ 9000000, U, U, NOTHING, 0, true },
		{ 9000100, U, U, NETWORK, ASK, true },
	};

	(void)state;
	PLAY(0, turns);
}

static void a_persons_word(void **state)
{
	static const struct turn turns[] = {
		{ 0, U, D, NOTHING, 0, false },
		{ 1000, U, D, WISH_SECOND, BEGIN, false },
		{ 1100, U, T, NOTHING, 0, false },
		{ 1200, U, U, NOTHING, TO_SECOND, true },
		{ 9000000, U, U, NOTHING, 0, true },
		{ 9000100, U, U, WISH_FIRST, ASK, true },
		{ 9001600, U, U, NOTHING, TO_FIRST, false },
		{ 9002000, L, U, NOTHING, END, false }, /* obeyed */
		{ 9003000, L, D, WISH_AUTO, BEGIN, false },
	};

	(void)state;
	PLAY(PROFILE_PAIR_ALONE_MS, turns);
}

/* Whatever is due is due at the deadline, and not later. */
static void deadlines(void **state)
{
	struct profile_pair pair;
	struct profile_pair_facts facts = { .first = T, .second = D };

	(void)state;
	profile_pair_begin(&pair, 500, 1, at(0));
	assert_int_equal(profile_pair_deadline(&pair, &facts).ns, at(500).ns);
	assert_int_equal(profile_pair_step(&pair, &facts, at(500)), BEGIN);
	assert_int_equal(profile_pair_deadline(&pair, &facts).ns, MONO_NEVER.ns);
	facts.second = U;
	assert_int_equal(profile_pair_step(&pair, &facts, at(600)), TO_SECOND);
	assert_int_equal(profile_pair_step(&pair, &facts, profile_pair_deadline(&pair, &facts)), ASK);
	facts.first = U;
	assert_int_equal(profile_pair_step(&pair, &facts, profile_pair_deadline(&pair, &facts)), TO_FIRST);
	assert_int_equal(profile_pair_step(&pair, &facts, profile_pair_deadline(&pair, &facts)), END);
	facts.second = D;
	assert_int_equal(profile_pair_step(&pair, &facts, at(900000)), 0);
	assert_int_equal(profile_pair_deadline(&pair, &facts).ns, MONO_NEVER.ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_answers),
		cmocka_unit_test(first_answers_late),
		cmocka_unit_test(blocked_from_the_start),
		cmocka_unit_test(fails_while_up),
		cmocka_unit_test(second_fails),
		cmocka_unit_test(flapping),
		cmocka_unit_test(a_persons_word),
		cmocka_unit_test(deadlines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
