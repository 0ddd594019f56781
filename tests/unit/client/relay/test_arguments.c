/* SPDX-License-Identifier: MIT */
/* Each mistake on the command line has one sentence that names it. */
#include "client/relay/arguments.h"

#include "tests/contract/cmocka_all.h"

#include <string.h>

#define KEY "xTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg="
#define WORDS_MAX 24

struct row {
	const char *words[WORDS_MAX];
	const char *error; /* part of it; NULL: it is understood */
	enum arguments_role role;
	size_t listen_count;
};

static const struct row rows[] = {
	{ { "--listen", "0.0.0.0:443", "--forward", "127.0.0.1:51820", "--public-key", KEY }, NULL,
		ROLE_SERVER, 1 },
	{ { "--listen=[::]:443", "--listen=0.0.0.0:443", "--forward=[::1]:51820", "--public-key=" KEY }, NULL,
		ROLE_SERVER, 2 },
	{ { "--inherited" }, NULL, ROLE_INHERITED, 0 },
	{ { "--help" }, NULL, ROLE_HELP, 0 },
	{ { "-h", "--nonsense" }, NULL, ROLE_HELP, 0 },
	{ { "--version" }, NULL, ROLE_VERSION, 0 },
	{ { NULL }, "--listen ADDR:PORT is missing", ROLE_SERVER, 0 },
	{ { "--listen", "0.0.0.0:443", "--public-key", KEY }, "--forward ADDR:PORT is missing", ROLE_SERVER,
		0 },
	{ { "--listen", "0.0.0.0:443", "--forward", "127.0.0.1:51820" }, "--public-key KEY is missing",
		ROLE_SERVER, 0 },
	{ { "--listen", "server.example:443" }, "names are not looked up", ROLE_SERVER, 0 },
	{ { "--listen", "0.0.0.0" }, "\"0.0.0.0\" is not an address and port for --listen", ROLE_SERVER, 0 },
	{ { "--forward", "127.0.0.1:0" }, "for --forward", ROLE_SERVER, 0 },
	{ { "--public-key", "xTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg" }, "44 characters", ROLE_SERVER,
		0 },
	{ { "--public-key" }, "--public-key needs a value", ROLE_SERVER, 0 },
	{ { "--inherited=yes" }, "--inherited takes no value", ROLE_SERVER, 0 },
	{ { "--inherited", "--listen", "0.0.0.0:443" }, "leave the other options out", ROLE_SERVER, 0 },
	{ { "--lisen", "0.0.0.0:443" }, "\"--lisen\" is not understood", ROLE_SERVER, 0 },
	{ { "wg0" }, "\"wg0\" is not understood", ROLE_SERVER, 0 },
	{ { "--listen=0.0.0.0:1", "--listen=0.0.0.0:2", "--listen=0.0.0.0:3", "--listen=0.0.0.0:4",
		  "--listen=0.0.0.0:5", "--listen=0.0.0.0:6", "--listen=0.0.0.0:7", "--listen=0.0.0.0:8",
		  "--listen=0.0.0.0:9" },
		"More than 8 times", ROLE_SERVER, 0 },
};

static void all_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *argv[WORDS_MAX + 1] = { (char *)(uintptr_t) "wgtcp-relay" },
				       error[ARGUMENTS_ERROR_LEN] = "";
		struct arguments arguments = { .listen_count = 77 };
		int argc = 1;

		for (; argc <= WORDS_MAX && rows[i].words[argc - 1]; argc++)
			argv[argc] = (char *)(uintptr_t)rows[i].words[argc - 1];
		bool ok = arguments_parse(argc, argv, &arguments, error);

		if (rows[i].error) {
			assert_false(ok);
			if (!strstr(error, rows[i].error))
				fail_msg("row %zu: \"%s\"", i, error);
			assert_int_equal(arguments.listen_count, 77); /* written only on success */
			continue;
		}
		if (!ok)
			fail_msg("row %zu: \"%s\"", i, error);
		assert_int_equal(arguments.role, rows[i].role);
		assert_int_equal(arguments.listen_count, rows[i].listen_count);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(all_rows) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
