/* SPDX-License-Identifier: MIT */
/* What is hidden in a report, and what stays readable. */
#include "gui/model/redact.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_words(void **state)
{
	static const struct {
		const char *text, *redacted;
	} rows[] = {
		{ "", "" },
		{ "nothing to hide here, is there?", "nothing to hide here, is there?" },
		{ "at 10.0.0.1:51820.", "at address-1:51820." },
		{ "10.0.0.1 and 10.0.0.2, then 10.0.0.1", "address-1 and address-2, then address-1" },
		{ "10.0.0.0/8, fd00::/8", "address-1/8, address-2/8" },
		{ "[fd00::1]:51820", "address-1:51820" },
		{ "fe80::1%eth0 is near", "address-1 is near" },
		{ "sZc4eAXlHLLgcjnLOYvtcmyvl9BUM0YxK5mHBqQGCzs=", "key-1" },
		{ "PrivateKey=sZc4eAXlHLLgcjnLOYvtcmyvl9BUM0YxK5mHBqQGCzs=", "PrivateKey=key-1" },
		{ "b19738780 5e51cb2", "b19738780 5e51cb2" },
		{ "public_key=b197387805e51cb2e07239cb398bed726cafbd05433463160b9987068a4190b3b0",
			"public_key=b197387805e51cb2e07239cb398bed726cafbd05433463160b9987068a4190b3b0" }, /* 66 digits */
		{ "public_key=b197387805e51cb2e07239cb398bed726cafbd05433463160b9987068a4190b3", "public_key=key-1" },
		{ "vpn.example.com:443 does not answer", "host-1:443 does not answer" },
		{ "office is up; office-2 is down", "tunnel-1 is up; tunnel-2 is down" },
		{ "officer and postoffice", "officer and postoffice" },
		{ "(office)", "(tunnel-1)" },
		{ "path/office/x", "path/tunnel-1/x" },
		{ "22:15:35 1.5 s, 100 %", "22:15:35 1.5 s, 100 %" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct redactor redactor = { 0 };
		struct redact_text out = { 0 };

		redact_tunnel(&redactor, "office");
		redact_tunnel(&redactor, "office-2");
		redact(&redactor, rows[i].text, strlen(rows[i].text), &out);
		assert_string_equal(out.text ? out.text : "", rows[i].redacted);
		redact_text_free(&out);
	}
}

/* More different words than it can tell apart: hidden all the same. */
static void test_too_many(void **state)
{
	struct redactor redactor = { 0 };
	struct redact_text out = { 0 };
	char text[] = "10.0.0.0";

	(void)state;
	for (unsigned i = 0; i < 10 * 30; i++) {
		text[5] = (char)('0' + i / 100);
		text[7] = (char)('0' + i % 10);
		text[3] = (char)('0' + i / 10 % 10);
		redact(&redactor, text, strlen(text), &out);
		redact_text_add(&out, " ", 1);
	}
	assert_int_equal(redactor.seen_count, REDACT_SEEN_MAX);
	assert_null(strstr(out.text, "10."));
	redact_text_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
