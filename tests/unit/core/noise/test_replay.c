/* SPDX-License-Identifier: MIT */
/* The replay window of RFC 6479 in both sizes: its edges, the reuse of words, the limit of counters. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/noise/replay.h"
#include "core/noise/session.h"

#include <string.h>

#include <stdlib.h>

/* The linker puts this before calloc (--wrap). */
static bool memory_is_short;
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

void *__wrap_calloc(size_t count, size_t size)
{
	return memory_is_short ? NULL : __real_calloc(count, size);
}

static const uint32_t sizes[] = { REPLAY_BITS_SMALL, REPLAY_BITS_LARGE, 128 };

/* counter = base + windows x (bits - 64) + rings x bits */
struct step {
	uint64_t base;
	int windows, rings;
	bool want;
};

static void run(const struct step *steps, size_t count)
{
	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		struct replay replay;
		uint64_t window = sizes[s] - 64;

		assert_true(replay_init(&replay, sizes[s]));
		for (size_t i = 0; i < count; i++) {
			uint64_t counter = steps[i].base + (uint64_t)steps[i].windows * window +
					   (uint64_t)steps[i].rings * sizes[s];

			if (replay_accept(&replay, counter) != steps[i].want)
				fail_msg("%u bits, step %zu, counter %llu: %d", sizes[s], i,
					(unsigned long long)counter, !steps[i].want);
		}
		replay_free(&replay);
		assert_null(replay.words);
		assert_int_equal(replay.newest, 0);
		assert_int_equal(replay.bits, 0);
	}
}

#define RUN(...)                                                                                             \
	do {                                                                                                 \
		static const struct step steps[] = { __VA_ARGS__ };                                          \
		run(steps, sizeof(steps) / sizeof(steps[0]));                                                \
	} while (0)

static void counters_are_accepted_once(void **state)
{
	(void)state;
	RUN({ 0, 0, 0, true }, { 0, 0, 0, false }, { 1, 0, 0, true }, { 1, 0, 0, false }, { 0, 0, 0, false },
		{ 9, 0, 0, true }, { 8, 0, 0, true }, { 7, 0, 0, true }, { 7, 0, 0, false },
		{ 8, 0, 0, false }, { 9, 0, 0, false }, { 10, 0, 0, true }, { 2, 0, 0, true });
	/* The first may be any. */
	RUN({ 5, 0, 0, true }, { 0, 0, 0, true }, { 0, 0, 0, false });
	RUN({ 63, 0, 0, true }, { 64, 0, 0, true }, { 63, 0, 0, false }, { 64, 0, 0, false },
		{ 0, 0, 0, true });
}

static void window_has_sharp_edges(void **state)
{
	(void)state;
	/* Newest is window + 100: the oldest usable counter is 100. */
	RUN({ 100, 1, 0, true }, { 100, 0, 0, true }, { 100, 0, 0, false }, { 99, 0, 0, false },
		{ 101, 0, 0, true }, { 0, 0, 0, false });
	/* Exactly one window: 0 is the last usable, then no more. */
	RUN({ 0, 1, 0, true }, { 0, 0, 0, true });
	RUN({ 0, 1, 0, true }, { 1, 1, 0, true }, { 0, 0, 0, false }, { 1, 0, 0, true });
	/* The same at each place in a word. */
	RUN({ 63, 1, 0, true }, { 63, 0, 0, true }, { 62, 0, 0, false });
	RUN({ 64, 1, 0, true }, { 64, 0, 0, true }, { 63, 0, 0, false });
}

static void words_are_reused_clean(void **state)
{
	(void)state;
	/* A turn of the ring later the same bits stand for new counters. */
	RUN({ 0, 0, 0, true }, { 1, 0, 0, true }, { 0, 0, 1, true }, { 1, 0, 1, true }, { 0, 0, 1, false },
		{ 1, 0, 0, false });
	/* Not all words between are passed over: each is cleaned. */
	RUN({ 70, 0, 0, true }, { 0, 0, 1, true }, { 70, 0, 1, true }, { 70, 0, 1, false });
	/* A jump over several turns forgets everything. */
	RUN({ 3, 0, 0, true }, { 3, 0, 5, true }, { 4, 0, 5, true }, { 2, 0, 5, true }, { 3, 0, 5, false },
		{ 3, 0, 4, false });
}

static void counters_end_below_the_reject_limit(void **state)
{
	(void)state;
	RUN({ REJECT_AFTER_MESSAGES, 0, 0, false }, { UINT64_MAX, 0, 0, false }, { 0, 0, 0, true },
		{ REJECT_AFTER_MESSAGES - 1, 0, 0, true }, { REJECT_AFTER_MESSAGES - 1, 0, 0, false },
		{ REJECT_AFTER_MESSAGES - 2, 0, 0, true }, { REJECT_AFTER_MESSAGES - 1, -1, 0, true },
		{ REJECT_AFTER_MESSAGES - 2, -1, 0, false }, { REJECT_AFTER_MESSAGES, 0, 0, false },
		{ UINT64_MAX, 0, 0, false });
}

/* Against the plain meaning of the words: in the window, and not seen. */
static void agrees_with_a_plain_list(void **state)
{
	enum { COUNTERS = 1 << 22 };
	static bool seen[COUNTERS];
	uint64_t random = 88172645463325252u; /* xorshift, seeded: the same each time */

	(void)state;
	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		struct replay replay;
		uint64_t newest = 0, window = sizes[s] - 64;
		size_t accepted = 0, refused = 0;

		memset(seen, 0, sizeof(seen));
		assert_true(replay_init(&replay, sizes[s]));
		for (int i = 0; i < 300000; i++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			/* Around the newest, mostly near, now and then a jump, and back past the window. */
			uint64_t reach = random % 1000 == 0 ? sizes[s] * 2u : 40;
			uint64_t back = (random >> 8) % (random % 3 == 0 ? window + 100 : 100);
			uint64_t counter = newest + (random >> 32) % reach;

			counter = counter > back ? counter - back : 0;
			if (counter >= COUNTERS)
				break;
			bool want = !seen[counter] && (counter > newest || newest - counter <= window);

			assert_int_equal(replay_accept(&replay, counter), want);
			if (want) {
				seen[counter] = true;
				newest = counter > newest ? counter : newest;
			}
			want ? accepted++ : refused++;
		}
		assert_true(accepted > 1000 && refused > 1000);
		replay_free(&replay);
	}
}

/* Nothing that was, or may have been, accepted before is accepted again, and what was not still is. */
static void widening_forgets_nothing(void **state)
{
	static const uint64_t newest[] = { 0, 70, 8191, 8192, 20000, 65536, 1000003 };

	(void)state;
	for (size_t n = 0; n < sizeof(newest) / sizeof(newest[0]); n++) {
		struct replay replay;
		uint64_t window = REPLAY_BITS_SMALL - 64;

		assert_true(replay_init(&replay, REPLAY_BITS_SMALL));
		for (uint64_t counter = newest[n] < 70000 ? 0 : newest[n] - 70000; counter <= newest[n];
			counter++)
			if (counter % 3 == newest[n] % 3)
				assert_true(replay_accept(&replay, counter));
		assert_true(replay_widen(&replay, REPLAY_BITS_LARGE));
		assert_int_equal(replay.bits, REPLAY_BITS_LARGE);
		for (uint64_t back = 0; back <= newest[n] && back < 70000; back++) {
			bool is_new = back % 3 != 0 && back <= window;

			/* The word at the old edge may still take one that nobody has seen. */
			if (back > window && back <= window + 64)
				continue;
			assert_int_equal(replay_accept(&replay, newest[n] - back), is_new);
		}
		assert_true(replay_accept(&replay, newest[n] + 60000));
		assert_true(replay_accept(&replay, newest[n] + 1));
		assert_false(replay_accept(&replay, newest[n] + 1));
		assert_false(replay_accept(&replay, newest[n]));
		replay_free(&replay);
	}
}

static void short_memory_is_said(void **state)
{
	struct replay replay = { 0 }, before;

	(void)state;
	memory_is_short = true;
	assert_false(replay_init(&replay, REPLAY_BITS_SMALL));
	memory_is_short = false;
	assert_true(replay_init(&replay, REPLAY_BITS_SMALL));
	assert_true(replay_accept(&replay, 5));
	before = replay;
	memory_is_short = true;
	assert_false(replay_widen(&replay, REPLAY_BITS_LARGE));
	/* Nothing is to be done for these. */
	assert_true(replay_widen(&replay, REPLAY_BITS_SMALL));
	assert_true(replay_widen(&replay, 128));
	memory_is_short = false;
	assert_memory_equal(&before, &replay, sizeof(before));
	assert_false(replay_accept(&replay, 5));
	replay_free(&replay);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counters_are_accepted_once),
		cmocka_unit_test(widening_forgets_nothing),
		cmocka_unit_test(window_has_sharp_edges),
		cmocka_unit_test(words_are_reused_clean),
		cmocka_unit_test(counters_end_below_the_reject_limit),
		cmocka_unit_test(agrees_with_a_plain_list),
		cmocka_unit_test(short_memory_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
