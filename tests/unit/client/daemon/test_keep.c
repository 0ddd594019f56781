/* SPDX-License-Identifier: MIT */
#include "client/daemon/keep.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct mono at_ms(uint64_t ms)
{
	return (struct mono){ (ms + 1) * 1000000 };
}

static void once_in_a_while_is_no_fight(void **state)
{
	struct keep keep = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 1000; i++)
		assert_false(keep_is_a_fight(&keep, at_ms(i * (KEEP_WITHIN_MS / KEEP_TIMES + 1))));
}

static void often_in_a_short_time_is(void **state)
{
	struct keep keep = { 0 };

	(void)state;
	for (uint64_t i = 0; i < KEEP_TIMES; i++)
		assert_false(keep_is_a_fight(&keep, at_ms(i * KEEP_ONCE_MS)));
	assert_true(keep_is_a_fight(&keep, at_ms(KEEP_TIMES * KEEP_ONCE_MS)));
	/* And it is over when it has been quiet. */
	assert_false(keep_is_a_fight(&keep, at_ms(KEEP_TIMES * KEEP_ONCE_MS + KEEP_WITHIN_MS + 1)));
}

static void one_flush_is_not(void **state)
{
	struct keep keep = { 0 };

	(void)state;
	/* Four commands, each of which takes ten things one after another. */
	for (uint64_t i = 0; i < 4; i++)
		for (uint64_t k = 0; k < 10; k++)
			assert_false(keep_is_a_fight(&keep, at_ms(i * 1000 + k * 20)));
	/* Without a pause it is one. */
	for (uint64_t i = 0, ends = 0; !ends; i++) {
		assert_true(i < 10000);
		ends = keep_is_a_fight(&keep, at_ms(5000 + i * 10));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(once_in_a_while_is_no_fight),
		cmocka_unit_test(often_in_a_short_time_is),
		cmocka_unit_test(one_flush_is_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
