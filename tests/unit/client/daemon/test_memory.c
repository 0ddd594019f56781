/* SPDX-License-Identifier: MIT */
/* What is remembered of networks: for how long, for which peer, how much, and that the file tells no network.
 */
#include "client/daemon/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const uint8_t home[6] = { 2, 0, 0, 0, 0, 1 }, cafe[6] = { 2, 0, 0, 0, 0, 2 };
static const uint8_t office[KEY_LEN] = { 1 }, other[KEY_LEN] = { 2 };

#define NOW 1700000000u

static void for_how_long_and_for_whom(void **state)
{
	static const struct {
		const uint8_t *network, *peer;
		uint64_t at;
		enum fallback_memory what;
	} cases[] = {
		{ home, office, NOW, FALLBACK_MEMORY_GOOD },
		{ home, office, NOW + MEMORY_GOOD_S, FALLBACK_MEMORY_GOOD },
		{ home, office, NOW + MEMORY_GOOD_S + 1, FALLBACK_MEMORY_UNKNOWN },
		{ home, office, NOW - 1000, FALLBACK_MEMORY_GOOD }, /* the clock went back */
		{ cafe, office, NOW, FALLBACK_MEMORY_BLOCKED },
		{ cafe, office, NOW + MEMORY_BLOCKED_S, FALLBACK_MEMORY_BLOCKED },
		{ cafe, office, NOW + MEMORY_BLOCKED_S + 1, FALLBACK_MEMORY_UNKNOWN },
		{ cafe, other, NOW, FALLBACK_MEMORY_UNKNOWN },
	};
	static struct memory memory, back;
	char *text;
	size_t i;

	(void)state;
	memory_init(&memory);
	assert_true(memory_put(&memory, home, 6, office, FALLBACK_MEMORY_GOOD, NOW));
	assert_true(memory_put(&memory, cafe, 6, office, FALLBACK_MEMORY_GOOD, NOW));
	assert_true(memory_put(&memory, cafe, 6, office, FALLBACK_MEMORY_BLOCKED, NOW));
	assert_false(memory_put(
		&memory, cafe, 6, office, FALLBACK_MEMORY_BLOCKED, NOW + 60)); /* not worth a write */
	assert_int_equal(memory.count, 2);
	text = memory_write(&memory);
	assert_null(strstr(text, "020000000001"));
	memory_parse(&back, text);
	memory_text_free(text);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (memory_get(&memory, cases[i].network, 6, cases[i].peer, cases[i].at) != cases[i].what)
			fail_msg("case %zu", i);
		if (memory_get(&back, cases[i].network, 6, cases[i].peer, cases[i].at) != cases[i].what)
			fail_msg("case %zu from the file", i);
	}
}

static void the_oldest_makes_room(void **state)
{
	static struct memory memory;
	uint8_t network[2];
	size_t i;
	char *text;

	(void)state;
	memory_init(&memory);
	for (i = 0; i <= MEMORY_ENTRIES; i++) {
		network[0] = (uint8_t)(i >> 8);
		network[1] = (uint8_t)i;
		assert_true(memory_put(&memory, network, 2, office, FALLBACK_MEMORY_GOOD, NOW + i));
	}
	assert_int_equal(memory.count, MEMORY_ENTRIES);
	assert_int_equal(memory_get(&memory, network, 2, office, NOW), FALLBACK_MEMORY_GOOD);
	memset(network, 0, sizeof(network));
	assert_int_equal(memory_get(&memory, network, 2, office, NOW), FALLBACK_MEMORY_UNKNOWN);
	network[1] = 1;
	assert_int_equal(memory_get(&memory, network, 2, office, NOW), FALLBACK_MEMORY_GOOD);
	text = memory_write(&memory);
	assert_true(strlen(text) <= MEMORY_TEXT_MAX);
	memory_text_free(text);
}

static void nonsense_is_passed_over(void **state)
{
#define KEY "key 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n"
#define ID "000102030405060708090a0b0c0d0e0f"
	static const struct {
		const char *text;
		size_t count;
	} cases[] = {
		{ KEY ID " good 5\n" ID " blocked 6\n", 2 },
		{ KEY ID " good 5", 1 },
		{ ID " good 5\n", 0 }, /* without its key it means nothing */
		{ KEY ID " good\n", 0 },
		{ KEY ID " bad 5\n", 0 },
		{ KEY ID "0 good 5\n", 0 },
		{ KEY "xyz good 5\n\n\nkey 00\n", 0 },
		{ "", 0 },
	};
	static struct memory memory;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memory_parse(&memory, cases[i].text);
		if (memory.count != cases[i].count)
			fail_msg("%s: %zu", cases[i].text, memory.count);
		assert_false(secret_is_zero(memory.key, KEY_LEN));
	}
}

static int start(void **state)
{
	(void)state;
	return crypto_init() ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(for_how_long_and_for_whom),
		cmocka_unit_test(the_oldest_makes_room),
		cmocka_unit_test(nonsense_is_passed_over),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
