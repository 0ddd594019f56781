/* SPDX-License-Identifier: MIT */
#include "core/base/text.h"
#include "core/base/wipe.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static const struct {
	const char *text;
	uint64_t min, max;
	bool ok;
	uint64_t value;
} numbers[] = {
	{ "0", 0, 10, true, 0 },
	{ "10", 0, 10, true, 10 },
	{ "11", 0, 10, false, 0 },
	{ "0", 1, 10, false, 0 },
	{ "18446744073709551615", 0, UINT64_MAX, true, UINT64_MAX },
	{ "18446744073709551616", 0, UINT64_MAX, false, 0 },
	{ "99999999999999999999", 0, UINT64_MAX, false, 0 },
	{ "", 0, 10, false, 0 },
	{ "00", 0, 10, false, 0 },
	{ "07", 0, 10, false, 0 },
	{ "-1", 0, 10, false, 0 },
	{ "+1", 0, 10, false, 0 },
	{ " 1", 0, 10, false, 0 },
	{ "1x", 0, 10, false, 0 },
};

static void decimal_numbers(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		uint64_t value = 77;

		if (text_parse_decimal(numbers[i].text, strlen(numbers[i].text), numbers[i].min,
			    numbers[i].max, &value) != numbers[i].ok)
			fail_msg("%s", numbers[i].text);
		assert_int_equal(value, numbers[i].ok ? numbers[i].value : 77);
	}
}

static void words(void **state)
{
	(void)state;
	assert_true(text_equal("abcd", 3, "abc"));
	assert_false(text_equal("abcd", 4, "abc"));
	assert_false(text_equal("ABC", 3, "abc"));
	assert_true(text_equal_nocase("AbC", 3, "aBc"));
	assert_false(text_equal_nocase("ab@", 3, "ab`")); /* 0x40 and 0x60: not letters */
	assert_true(text_equal("", 0, ""));
	assert_int_equal(text_hex_digit('f'), 15);
	assert_int_equal(text_hex_digit('G'), -1);
}

static void wiping(void **state)
{
	static const char zeros[8];
	char secret[8] = "secret!";

	(void)state;
	memory_wipe(secret, sizeof(secret));
	assert_memory_equal(secret, zeros, sizeof(secret));
	memory_wipe(NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decimal_numbers),
		cmocka_unit_test(words),
		cmocka_unit_test(wiping),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
