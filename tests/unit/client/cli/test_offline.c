/* SPDX-License-Identifier: MIT */
/* What needs no daemon: keys, wrong words, help. */
#include "tests/unit/client/cli/run.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void test_keys(void **state)
{
	char private_key[64];
	static const char *const bad[] = {
		"", "\n", "hello\n", "yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk",
		"yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=x",
		" yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=",
		"yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=\nyAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=\n"
	};

	(void)state;
	start(NULL);
	assert_int_equal(RUN("genkey"), 0);
	assert_int_equal(fake.out_len, 45);
	memcpy(private_key, fake.out, 46);
	start(NULL);
	fake.file_path = "-";
	fake.file_text = private_key;
	assert_int_equal(RUN("pubkey"), 0);
	assert_int_equal(fake.out_len, 45);
	assert_string_not_equal(fake.out, private_key);
	/* wg(8) of another implementation says the same of this key. */
	start(NULL);
	fake.file_path = "-";
	fake.file_text = "yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=\r\n";
	assert_int_equal(RUN("pubkey", "--json"), 0);
	assert_out("{\"version\":1,\"public_key\":\"HIgo9xNzJMWLKASShiTqIybxZ0U3wGLiUeJ1PKf8ykw=\"}\n");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		start(NULL);
		fake.file_path = "-";
		fake.file_text = bad[i];
		assert_int_equal(RUN("pubkey"), 1);
		assert_out("");
	}
	start(NULL);
	assert_int_equal(RUN("genpsk"), 0);
	assert_int_equal(fake.out_len, 45);
}

static void test_usage(void **state)
{
	static const struct {
		const char *words[6];
		const char *err;
	} table[] = {
		{ { "stauts" }, "wgtcp-cli: 'stauts' is not a command; did you mean 'status'? `wgtcp-cli "
				"help` shows all commands\n" },
		{ { "frobnicate" },
			"wgtcp-cli: 'frobnicate' is not a command; `wgtcp-cli help` shows all commands\n" },
		{ { "up" }, "wgtcp-cli: up: it needs NAME; `wgtcp-cli help up` shows how\n" },
		{ { "up", "a", "b" },
			"wgtcp-cli: up: 'b' is one word too many; `wgtcp-cli help up` shows how\n" },
		{ { "list", "--qr" },
			"wgtcp-cli: list: it takes no --qr; `wgtcp-cli help list` shows how\n" },
		{ { "up", "/" },
			"wgtcp-cli: up: '/' is not the name of a tunnel; `wgtcp-cli help up` shows how\n" },
		{ { "up", "a", "--timeout", "0" }, "wgtcp-cli: up: --timeout must be a whole number from 1 "
						   "to 3600, not '0'; `wgtcp-cli help up` shows how\n" },
		{ { "import", "-" }, "wgtcp-cli: import: standard input has no name; give the tunnel one "
				     "with --name; `wgtcp-cli help import` "
				     "shows how\n" },
		{ { "unlock", "--for", "5x" },
			"wgtcp-cli: unlock: --for takes a time such as 90s, 5m or 2h, 1d at "
			"most, not '5x'; `wgtcp-cli help unlock` shows how\n" },
		{ { "help", "nothing-such" }, "wgtcp-cli: help: 'nothing-such' is not a command; `wgtcp-cli "
					      "help help` shows how\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		start(NULL);
		assert_int_equal(fake_run(table[i].words), 2);
		assert_err(table[i].err);
		assert_out("");
		assert_int_equal(fake.request_count, 0);
	}
	/* A program that asked for JSON gets it, also when the line is wrong. */
	start(NULL);
	assert_int_equal(RUN("up", "--json", "--zz"), 2);
	assert_memory_equal(fake.out, "{\"version\":1,\"error\":{\"code\":2,", 31);
	/* Nothing at all: help, but not as a result. */
	start(NULL);
	assert_int_equal(fake_run((const char *const[]){ NULL }), 2);
	assert_out("");
	assert_memory_equal(fake.err, "Usage: wgtcp-cli COMMAND", 24);
}

static void test_help(void **state)
{
	(void)state;
	start(NULL);
	assert_int_equal(RUN("--help"), 0);
	assert_non_null(
		strstr(fake.out, "  switch NAME udp|tcp|auto  moves a living tunnel to another carrier\n"));
	assert_non_null(strstr(fake.out, "`wgtcp-cli help COMMAND` has its options and exit codes"));
	start(NULL);
	assert_int_equal(RUN("up", "--help"), 0);
	assert_non_null(strstr(fake.out, "8 a captive portal"));
	assert_non_null(strstr(fake.out, "  -t, --transport T     auto, udp or tcp;"));
	assert_null(strstr(fake.out, "--follow"));
	start(NULL);
	assert_int_equal(RUN("help", "logs"), 0);
	assert_non_null(strstr(fake.out, "--follow"));
	start(NULL);
	assert_int_equal(RUN("version"), 0);
	assert_memory_equal(fake.out, "wgtcp-cli ", 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_usage),
		cmocka_unit_test(test_help),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
