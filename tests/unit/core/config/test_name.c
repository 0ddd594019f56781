/* SPDX-License-Identifier: MIT */
/* Names of profiles from what people call their files, and keys as text. */
#include "core/config/key_text.h"
#include "core/config/name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static const struct {
	const char *file_name, *name; /* NULL: some name with a hash */
} derived[] = {
	{ "wg0.conf", "wg0" },
	{ "wg0", "wg0" },
	{ "wg0.conf.conf", "wg0" },
	{ "WG0.CONF", "WG0" },
	{ "Downloads/from anna/office.conf", "office" },
	{ "C:\\Users\\Anna\\office.conf", "office" },
	{ "my office (1).conf", "my-office-1" },
	{ "B\xc3\xbcro M\xc3\xbcnchen.conf", "Buro-Munchen" },
	{ "Cafe\xcc\x81.conf", "Cafe" },
	{ "..conf", NULL },
	{ "a..b.conf", "a..b" },
	{ ".hidden.conf", "hidden" },
	{ "abcdefghijklmno.conf", "abcdefghijklmno" },
	{ "se-got-wg-001_udp.conf", NULL },
	{ "\xe5\x8a\x9e\xe5\x85\xac\xe5\xae\xa4.conf", NULL },
	{ "all.conf", NULL },
	{ "default", NULL },
	{ "lo", NULL },
	{ "default2", "default2" },
	{ "", NULL },
	{ "/", NULL },
	{ "\xff\xfe\xc3", NULL },
};

static void names_are_derived(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(derived) / sizeof(derived[0]); i++) {
		char name[PROFILE_NAME_LEN], again[PROFILE_NAME_LEN];

		profile_name_derive(derived[i].file_name, name);
		if (!profile_name_valid(name, strlen(name)))
			fail_msg("%s: %s is no name", derived[i].file_name, name);
		profile_name_derive(derived[i].file_name, again);
		assert_string_equal(name, again);
		if (derived[i].name ? strcmp(name, derived[i].name) != 0 : name[strlen(name) - 5] != '-')
			fail_msg("%s: %s", derived[i].file_name, name);
	}
}

static void long_names_stay_different(void **state)
{
	char a[PROFILE_NAME_LEN], b[PROFILE_NAME_LEN];

	(void)state;
	profile_name_derive("company-vpn-frankfurt-1.conf", a);
	profile_name_derive("company-vpn-frankfurt-2.conf", b);
	assert_memory_equal(a, "company-vp-", 11);
	assert_memory_equal(b, "company-vp-", 11);
	assert_string_not_equal(a, b);
	profile_name_derive("\xe5\x8a\x9e.conf", a);
	profile_name_derive("\xe5\x85\xac.conf", b);
	assert_string_not_equal(a, b);
}

static void names_are_checked(void **state)
{
	static const char *const bad[] = { "", ".", "..", "a b", "a/b", "abcdefghijklmnop", "\xc3\xa4", "a\n",
		"a:b" };
	char name[PROFILE_NAME_LEN] = "kept";

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_false(profile_name_valid(bad[i], strlen(bad[i])));
		assert_false(profile_name_parse(bad[i], strlen(bad[i]), name));
	}
	assert_string_equal(name, "kept");
	assert_true(profile_name_valid("Az09_=+.-", 9));
	assert_true(profile_name_parse("wg0.conf", 8, name));
	assert_string_equal(name, "wg0");
	assert_true(profile_name_parse("wg0", 3, name));
	assert_true(profile_name_parse("abcdefghijklmno.conf", 20, name));
	assert_string_equal(name, "abcdefghijklmno");
	assert_true(profile_name_parse(".conf", 5, name));
	assert_string_equal(name, ".conf");
}

/* RFC 4648 section 10 has no 32-byte vector: these are from wg(8)'s own tools. */
static void keys_as_text(void **state)
{
	static const char text[] = "yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=";
	static const uint8_t key[PROFILE_KEY_LEN] = { 0xc8, 0x09, 0xf3, 0xe5, 0x31, 0x7e, 0x95, 0x75, 0xc9,
		0xb5, 0xed, 0x78, 0xb6, 0x38, 0xb7, 0xce, 0x53, 0x0d, 0xab, 0xe8, 0x5d, 0xda, 0xb6, 0x14,
		0x22, 0x02, 0x41, 0x80, 0x1d, 0xdf, 0x06, 0x69 };
	uint8_t out[PROFILE_KEY_LEN] = { 7 };
	char written[PROFILE_KEY_TEXT_LEN + 1];

	(void)state;
	assert_true(profile_key_parse(text, 44, out));
	assert_memory_equal(out, key, sizeof(key));
	profile_key_write(key, written);
	assert_string_equal(written, text);
	/* Every character at every place: base64 ones give a key that writes back the same, others none. */
	for (size_t i = 0; i < 43; i++) {
		for (int c = 0; c < 256; c++) {
			static const char base64[] =
				"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
			const char *at = c ? strchr(base64, c) : NULL;
			char changed[45];

			memcpy(changed, text, sizeof(text));
			changed[i] = (char)c;
			assert_int_equal(profile_key_parse(changed, 44, out),
				at && (i < 42 || (at - base64) % 4 == 0));
			if (!at || (i == 42 && (at - base64) % 4 != 0))
				continue;
			profile_key_write(out, written);
			assert_string_equal(written, changed);
		}
	}
	assert_false(profile_key_parse(text, 43, out));
	assert_false(profile_key_parse("yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmkA", 44, out));
	assert_false(profile_key_parse("yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBm==", 44, out));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_derived),
		cmocka_unit_test(long_names_stay_different),
		cmocka_unit_test(names_are_checked),
		cmocka_unit_test(keys_as_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
