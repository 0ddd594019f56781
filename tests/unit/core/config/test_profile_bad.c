/* SPDX-License-Identifier: MIT */
/* Every file in bad/ is refused with the line, the cause and the cure that bad/expected.txt names, and no
 * sentence shows a secret. */
#include "core/config/parse.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define FOLDER "tests/unit/core/config/bad/"
/* The private key of the files, less its ends, so that damaged ones are found too. */
#define SECRET_PART "XXJte14tji3zlMNq"

struct bad {
	char file[64];
	unsigned line;
	char cause[128], cure[128];
};

static struct bad expected[256];
static size_t expected_count;

static int read_expected(void **state)
{
	FILE *file = fopen(FOLDER "expected.txt", "r");
	char line[512];

	(void)state;
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		struct bad *bad = &expected[expected_count];

		if (line[0] == '#')
			continue;
		assert_int_equal(sscanf(line, "%63s | %u | %127[^|]| %127[^\n]", bad->file, &bad->line,
					 bad->cause, bad->cure),
			4);
		bad->cause[strlen(bad->cause) - 1] = 0; /* the blank before the bar */
		expected_count++;
	}
	fclose(file);
	return 0;
}

static char *read_file(const char *name, size_t *len)
{
	char path[512], *text = malloc(1u << 16);
	FILE *file;

	snprintf(path, sizeof(path), FOLDER "%.63s", name);
	file = fopen(path, "rb");
	assert_non_null(file);
	assert_non_null(text);
	*len = fread(text, 1, 1u << 16, file);
	fclose(file);
	return text;
}

static void bad_files_are_refused(void **state)
{
	size_t wrong = 0;

	(void)state;
	assert_true(expected_count > 90);
	for (size_t i = 0; i < expected_count; i++) {
		const struct bad *bad = &expected[i];
		struct profile_error error = { 0 };
		struct profile profile;
		size_t len;
		char *text = read_file(bad->file, &len);
		bool parsed = profile_parse(bad->file, text, len, &profile, &error, NULL);

		free(text);
		if (parsed) {
			profile_free(&profile);
			print_error("%s was accepted\n", bad->file);
			wrong++;
			continue;
		}
		if (error.line != bad->line || error.column == 0 || !strstr(error.sentence, bad->cause) ||
			!strstr(error.sentence, bad->cure) || strstr(error.sentence, SECRET_PART) ||
			strchr(error.sentence, '\n') || strlen(error.sentence) > 300 ||
			strcmp(error.file_name, bad->file) != 0) {
			print_error("%s:%u:%u: %s\n  expected line %u, \"%s\", \"%s\"\n", bad->file,
				error.line, error.column, error.sentence, bad->line, bad->cause, bad->cure);
			wrong++;
		}
	}
	assert_int_equal(wrong, 0);
}

static void no_file_is_left_out(void **state)
{
	DIR *folder = opendir(FOLDER);
	size_t count = 0;

	(void)state;
	assert_non_null(folder);
	for (struct dirent *entry; (entry = readdir(folder));)
		count += strstr(entry->d_name, ".conf") != NULL;
	closedir(folder);
	assert_int_equal(count, expected_count);
}

/* A profile with `extra` bytes of one letter in a comment on its last line. */
static bool parse_with_long_line(size_t extra, struct profile_error *error)
{
	static const char start[] =
		"[Interface]\nPrivateKey = yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=\n#";
	size_t len = sizeof(start) - 1 + extra;
	char *text = malloc(len);
	struct profile profile;
	bool ok;

	assert_non_null(text);
	memset(text, 'x', len);
	memcpy(text, start, sizeof(start) - 1);
	ok = profile_parse("long", text, len, &profile, error, NULL);
	if (ok)
		profile_free(&profile);
	free(text);
	return ok;
}

static void long_line_and_large_file(void **state)
{
	struct profile_error error;

	(void)state;
	assert_true(parse_with_long_line(PROFILE_LINE_MAX - 1, &error));
	assert_false(parse_with_long_line(PROFILE_LINE_MAX + 1, &error));
	assert_int_equal(error.line, 3);
	assert_non_null(strstr(error.sentence, "longer than"));
	assert_non_null(strstr(error.sentence, "split it"));
	assert_false(parse_with_long_line(PROFILE_TEXT_MAX, &error));
	assert_int_equal(error.line, 1);
	assert_non_null(strstr(error.sentence, "at most 1048576"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bad_files_are_refused),
		cmocka_unit_test(no_file_is_left_out),
		cmocka_unit_test(long_line_and_large_file),
	};

	return cmocka_run_group_tests(tests, read_expected, NULL);
}
