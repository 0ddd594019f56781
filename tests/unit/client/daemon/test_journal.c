/* SPDX-License-Identifier: MIT */
/* The ring of lines: bounded, in order, one line each. */
#include "client/daemon/journal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void keeps_the_last_lines_in_order(void **state)
{
	struct journal *journal = journal_new(false);
	char text[32];
	size_t i;

	(void)state;
	assert_null(journal_at(journal, 0));
	for (i = 0; i < JOURNAL_LINES + 10; i++) {
		snprintf(text, sizeof(text), "line %zu", i);
		journal_add(journal, (struct wall){ i, 0 }, JOURNAL_INFO, NULL, text);
		assert_int_equal(journal_count(journal), i < JOURNAL_LINES ? i + 1 : JOURNAL_LINES);
	}
	assert_string_equal(journal_at(journal, 0)->text, "line 10");
	assert_int_equal(journal_at(journal, 0)->number, 11);
	assert_string_equal(journal_at(journal, JOURNAL_LINES - 1)->text, "line 1009");
	assert_null(journal_at(journal, JOURNAL_LINES));
	journal_free(journal);
}

static void a_line_stays_a_line(void **state)
{
	char longest[JOURNAL_TEXT_LEN + 40];
	struct journal *journal = journal_new(false);

	(void)state;
	journal_add(journal, (struct wall){ 1, 0 }, JOURNAL_ERROR, "office", "a\nb\x1b[1m\tc\r\n");
	assert_string_equal(journal_at(journal, 0)->text, "a b [1m c");
	assert_string_equal(journal_at(journal, 0)->tunnel, "office");
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = 0;
	/* The cut would fall into this character of two bytes. */
	memcpy(longest + JOURNAL_TEXT_LEN - 2, "\xc3\xa9", 2);
	journal_add(journal, (struct wall){ 1, 0 }, JOURNAL_ERROR, NULL, longest);
	assert_int_equal(strlen(journal_at(journal, 1)->text), JOURNAL_TEXT_LEN - 2);
	journal_free(journal);
}

static void count_line(const struct journal_line *line, void *user)
{
	*(uint64_t *)user += line->number;
}

static void tells_who_follows(void **state)
{
	struct journal *journal = journal_new(false);
	uint64_t sum = 0;

	(void)state;
	journal_say(journal, JOURNAL_INFO, NULL, "%d", 1);
	journal_watch(journal, count_line, &sum);
	journal_say(journal, JOURNAL_INFO, NULL, "%d", 2);
	journal_say(journal, JOURNAL_INFO, NULL, "%d", 3);
	journal_watch(journal, NULL, NULL);
	journal_say(journal, JOURNAL_INFO, NULL, "%d", 4);
	assert_int_equal(sum, 2 + 3);
	journal_free(journal);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_the_last_lines_in_order),
		cmocka_unit_test(a_line_stays_a_line),
		cmocka_unit_test(tells_who_follows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
