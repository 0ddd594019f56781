/* SPDX-License-Identifier: MIT */
/* The four messages are told apart by type, reserved bytes and length. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/noise/message.h"

#include <string.h>

static void messages_are_classified(void **state)
{
	static const struct {
		uint8_t head[4];
		size_t len;
		enum message_type want;
	} table[] = {
		{ { 1, 0, 0, 0 }, 148, MESSAGE_INITIATION },
		{ { 1, 0, 0, 0 }, 147, MESSAGE_NONE },
		{ { 1, 0, 0, 0 }, 149, MESSAGE_NONE },
		{ { 2, 0, 0, 0 }, 92, MESSAGE_RESPONSE },
		{ { 2, 0, 0, 0 }, 91, MESSAGE_NONE },
		{ { 2, 0, 0, 0 }, 93, MESSAGE_NONE },
		{ { 2, 0, 0, 0 }, 148, MESSAGE_NONE },
		{ { 3, 0, 0, 0 }, 64, MESSAGE_COOKIE_REPLY },
		{ { 3, 0, 0, 0 }, 63, MESSAGE_NONE },
		{ { 3, 0, 0, 0 }, 65, MESSAGE_NONE },
		{ { 4, 0, 0, 0 }, 31, MESSAGE_NONE },
		{ { 4, 0, 0, 0 }, 32, MESSAGE_DATA },
		{ { 4, 0, 0, 0 }, 33, MESSAGE_DATA },
		{ { 4, 0, 0, 0 }, 1452, MESSAGE_DATA },
		{ { 4, 0, 0, 0 }, 65535, MESSAGE_DATA },
		{ { 0, 0, 0, 0 }, 148, MESSAGE_NONE },
		{ { 5, 0, 0, 0 }, 148, MESSAGE_NONE },
		{ { 1, 1, 0, 0 }, 148, MESSAGE_NONE }, /* reserved bytes */
		{ { 1, 0, 1, 0 }, 148, MESSAGE_NONE },
		{ { 1, 0, 0, 1 }, 148, MESSAGE_NONE },
		{ { 4, 0, 0, 0x80 }, 1452, MESSAGE_NONE },
		{ { 1, 0, 0, 0 }, 0, MESSAGE_NONE },
		{ { 1, 0, 0, 0 }, 3, MESSAGE_NONE },
	};
	static uint8_t message[65535];

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		memcpy(message, table[i].head, sizeof(table[i].head));
		assert_int_equal(message_classify(message, table[i].len), table[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(messages_are_classified) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
