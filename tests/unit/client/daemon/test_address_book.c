/* SPDX-License-Identifier: MIT */
/* The address book: order, bounds, its text. */
#include "client/daemon/address_book.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct ip_address address(const char *text)
{
	struct ip_address out;

	assert_true(ip_address_parse(text, strlen(text), &out));
	return out;
}

static bool put(struct address_book *book, const char *host, const char *text)
{
	struct ip_address at = address(text);

	return address_book_put(book, host, &at);
}

/* What was put in turn, whether that was news, and the text then. */
static const struct {
	const char *host, *address;
	bool news;
	const char *text;
} puts_in_turn[] = {
	{ "a.example", "192.0.2.1", true, "a.example 192.0.2.1\n" },
	{ "a.example", "192.0.2.1", false, "a.example 192.0.2.1\n" },
	{ "a.example", "2001:db8::1", true, "a.example 2001:db8::1 192.0.2.1\n" },
	{ "b.example", "192.0.2.9", true, "b.example 192.0.2.9\na.example 2001:db8::1 192.0.2.1\n" },
	{ "a.example", "192.0.2.1", true, "a.example 192.0.2.1 2001:db8::1\nb.example 192.0.2.9\n" },
	{ "a.example", "192.0.2.2", true,
		"a.example 192.0.2.2 192.0.2.1 2001:db8::1\nb.example 192.0.2.9\n" },
	{ "a.example", "192.0.2.3", true,
		"a.example 192.0.2.3 192.0.2.2 192.0.2.1 2001:db8::1\nb.example 192.0.2.9\n" },
	{ "a.example", "192.0.2.4", true,
		"a.example 192.0.2.4 192.0.2.3 192.0.2.2 192.0.2.1\nb.example 192.0.2.9\n" },
	{ "with blank", "192.0.2.4", false,
		"a.example 192.0.2.4 192.0.2.3 192.0.2.2 192.0.2.1\nb.example 192.0.2.9\n" },
};

static void newest_comes_first(void **state)
{
	struct address_book *book = calloc(1, sizeof(*book)), *again = calloc(1, sizeof(*again));
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(puts_in_turn) / sizeof(puts_in_turn[0]); i++) {
		char *text;

		assert_int_equal(
			put(book, puts_in_turn[i].host, puts_in_turn[i].address), puts_in_turn[i].news);
		text = address_book_write(book);
		assert_string_equal(text, puts_in_turn[i].text);
		address_book_parse(again, text);
		assert_memory_equal(again, book, sizeof(*book));
		free(text);
	}
	free(book);
	free(again);
}

static void oldest_makes_room(void **state)
{
	struct address_book *book = calloc(1, sizeof(*book));
	char host[32];
	int i;

	(void)state;
	for (i = 0; i < ADDRESS_BOOK_HOSTS + 5; i++) {
		snprintf(host, sizeof(host), "h%d.example", i);
		assert_true(put(book, host, "192.0.2.1"));
	}
	assert_int_equal(book->count, ADDRESS_BOOK_HOSTS);
	assert_null(address_book_find(book, "h4.example"));
	assert_non_null(address_book_find(book, "h5.example"));
	free(book);
}

static void nonsense_is_passed_over(void **state)
{
	struct address_book *book = calloc(1, sizeof(*book));

	(void)state;
	address_book_parse(
		book, "\n\nno-address\na.example 192.0.2.1 x 300.1.1.1\n 192.0.2.1\nlast.example ::1");
	assert_int_equal(book->count, 2);
	assert_string_equal(book->entries[0].host, "a.example");
	assert_int_equal(book->entries[0].count, 1);
	assert_string_equal(book->entries[1].host, "last.example");
	free(book);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(newest_comes_first),
		cmocka_unit_test(oldest_makes_room),
		cmocka_unit_test(nonsense_is_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
