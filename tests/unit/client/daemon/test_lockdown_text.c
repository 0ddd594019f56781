/* SPDX-License-Identifier: MIT */
/* The kill switch's file: both ways, and what a damaged one still says. */
#include "client/daemon/lockdown_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void text_comes_back(void **state)
{
	struct lockdown_file file = { 0 }, back;
	char name[16], *text;
	size_t i;

	(void)state;
	for (i = 0; i < LOCKDOWN_MAX; i++) {
		snprintf(name, sizeof(name), "_=+.-0123456%zu", i + 10);
		assert_true(lockdown_file_add(&file, name, i % 2));
		assert_true(lockdown_file_add(&file, name, i % 2)); /* no second time */
	}
	assert_false(lockdown_file_add(&file, "one-too-many", false));
	file.open_until = UINT64_MAX;
	text = lockdown_write(&file);
	assert_true(strlen(text) < LOCKDOWN_TEXT_MAX);
	lockdown_parse(text, &back);
	assert_memory_equal(&back, &file, sizeof(file));
	free(text);
}

static void holds_are_taken_away_one_by_one(void **state)
{
	struct lockdown_file file = { 0 };

	(void)state;
	lockdown_file_add(&file, "a", false);
	lockdown_file_add(&file, "b", false);
	lockdown_file_add(&file, "b", true);
	assert_false(lockdown_file_remove(&file, "c"));
	assert_true(lockdown_file_remove(&file, "a"));
	assert_false(lockdown_file_remove(&file, "a"));
	assert_int_equal(file.count, 1);
	assert_string_equal(file.holds[0].name, "b");
	assert_true(file.holds[0].lan);
}

/* What makes no sense is passed over, and the rest holds. */
static void damage_does_not_open(void **state)
{
	static const struct {
		const char *text, *holds;
		uint64_t open_until;
	} cases[] = {
		{ "", "", 0 },
		{ "hold office\n", "office", 0 },
		{ "hold office", "office", 0 },
		{ "hold office lan\nhold home\nopen 5\n", "office+ home", 5 },
		{ "hold office wan\n", "office", 0 },
		{ "junk\n\nhold office\n\x01\xff\n", "office", 0 },
		{ "hold ../x\nhold a/b\nhold ..\nhold officeofficeoffice\n", "", 0 },
		{ "hold\nhold \nholdoffice\n", "", 0 },
		{ "open x\nopen 5 6\nopen\n", "", 0 },
		{ "hold \"office\"\nhold office;\n", "", 0 },
		{ "hold aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\nhold "
		  "b\n",
			"b", 0 },
	};
	size_t i, j;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lockdown_file file;
		char holds[200] = "";

		lockdown_parse(cases[i].text, &file);
		for (j = 0; j < file.count; j++) {
			if (j)
				strcat(holds, " ");
			strcat(holds, file.holds[j].name);
			if (file.holds[j].lan)
				strcat(holds, "+");
		}
		if (strcmp(holds, cases[i].holds) || file.open_until != cases[i].open_until)
			fail_msg("\"%s\": \"%s\"", cases[i].text, holds);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_comes_back),
		cmocka_unit_test(holds_are_taken_away_one_by_one),
		cmocka_unit_test(damage_does_not_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
