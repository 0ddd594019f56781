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
		assert_false(keep_is_a_fight(&keep, at_ms(i * 10)));
	assert_true(keep_is_a_fight(&keep, at_ms(KEEP_TIMES * 10)));
	/* And it is over when it has been quiet. */
	assert_false(keep_is_a_fight(&keep, at_ms(KEEP_TIMES * 10 + KEEP_WITHIN_MS + 1)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(once_in_a_while_is_no_fight),
		cmocka_unit_test(often_in_a_short_time_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
