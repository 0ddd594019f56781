/* SPDX-License-Identifier: MIT */
/* Keys as text. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/crypto/crypto.h"
#include "tests/unit/core/crypto/hex.h"

static int setup(void **state)
{
	(void)state;
	return crypto_init() ? 0 : -1;
}

static void keys_are_read_strictly(void **state)
{
	static const struct {
		const char *text;
		const char *want; /* NULL: refused */
	} table[] = {
		{ "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
			"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f" },
		{ "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
			"0000000000000000000000000000000000000000000000000000000000000000" },
		{ "//////////////////////////////////////////8=",
			"ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff" },
		{ "+++++++++++++++++++++++++++++++++++++++++++=", NULL }, /* two bits too many */
		{ "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh9=", NULL }, /* one bit too many */
		{ "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8", NULL },  /* the = lost */
		{ "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8==", NULL },
		{ "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8A", NULL }, /* 33 bytes */
		{ "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHg==", NULL }, /* 31 bytes */
		{ "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdH===", NULL },
		{ "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwd-_8=", NULL }, /* the alphabet of URLs */
		{ "AAECAwQFBgcICQoLDA0ODx REhMUFRYXGBkaGxwdHh8=", NULL },
		{ "=AECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", NULL },
		{ " AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", NULL },
		{ "", NULL },
		{ "=", NULL },
	};
	uint8_t key[KEY_LEN], before[KEY_LEN];
	char text[KEY_TEXT_LEN];

	(void)state;
	memset(before, 0x5a, sizeof(before));
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		memcpy(key, before, sizeof(key));
		if (!table[i].want) {
			if (key_parse(table[i].text, strlen(table[i].text), key))
				fail_msg("accepted: %s", table[i].text);
			assert_memory_equal(key, before, sizeof(key));
			continue;
		}
		if (!key_parse(table[i].text, strlen(table[i].text), key))
			fail_msg("refused: %s", table[i].text);
		assert_hex(key, sizeof(key), table[i].want);
		assert_string_equal(key_write(key, text), table[i].text);
	}
}

static void length_counts_not_the_end_of_text(void **state)
{
	static const char text[] = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=, trailing";
	static const char nul[] = "AAECAwQFBgcICQoLDA0ODx\0REhMUFRYXGBkaGxwdHh8=";
	uint8_t key[KEY_LEN];

	(void)state;
	assert_true(key_parse(text, 44, key));
	assert_false(key_parse(text, 45, key));
	assert_false(key_parse(text, 43, key));
	assert_false(key_parse(nul, 44, key));
}

static void any_key_comes_back(void **state)
{
	uint8_t key[KEY_LEN], back[KEY_LEN];
	char text[KEY_TEXT_LEN];

	(void)state;
	for (int i = 0; i < 200; i++) {
		random_fill(key, sizeof(key));
		assert_ptr_equal(key_write(key, text), text);
		assert_int_equal(strlen(text), 44);
		assert_true(key_parse(text, 44, back));
		assert_memory_equal(back, key, sizeof(key));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_are_read_strictly),
		cmocka_unit_test(length_counts_not_the_end_of_text),
		cmocka_unit_test(any_key_comes_back),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
