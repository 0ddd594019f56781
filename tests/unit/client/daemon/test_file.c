/* SPDX-License-Identifier: MIT */
/* Whole files: bounds, what is not a file, and that a failed write leaves the old one. */
#include "client/daemon/file.h"
#include "tests/unit/client/daemon/folder.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static void reads_only_regular_files_within_the_bound(void **state)
{
	struct folder folder = folder_new();
	char path[128];
	static const struct {
		const char *name;
		size_t max;
		int error;
	} cases[] = {
		{ "text", 100, 0 },
		{ "text", 5, 0 },
		{ "text", 4, -EFBIG },
		{ "empty", 0, 0 },
		{ "none", 100, -ENOENT },
		{ "fifo", 100, -EINVAL },
		{ "folder", 100, -EINVAL },
		/* Nothing outside the folder, by whatever way. */
		{ "/dev/zero", 100, -EXDEV },
		{ "../none", 100, -EXDEV },
		{ "link", 100, -ELOOP },
		{ "round/text", 100, -ELOOP },
	};
	size_t i;

	(void)state;
	folder_put(&folder, "text", "hello", 0600);
	folder_put(&folder, "empty", "", 0600);
	snprintf(path, sizeof(path), "%s/fifo", folder.path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(mkdirat(folder.at, "folder", 0700), 0);
	assert_int_equal(symlinkat("text", folder.at, "link"), 0);
	assert_int_equal(symlinkat(".", folder.at, "round"), 0);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = NULL;
		size_t len = 0;
		struct stat info;
		int error = file_read(folder.at, cases[i].name, cases[i].max, &text, &len, &info);

		if (error != cases[i].error)
			fail_msg("%s: %d, not %d", cases[i].name, error, cases[i].error);
		if (!error) {
			assert_int_equal(len, info.st_size);
			assert_string_equal(text, len ? "hello" : "");
		} else {
			assert_null(text);
		}
		file_free(text, len);
	}
	folder_remove(&folder);
}

static void writes_whole_or_not_at_all(void **state)
{
	struct folder folder = folder_new();
	struct stat info;
	char *text;
	size_t len;

	(void)state;
	folder_put(&folder, "a", "old", 0644);
	folder_put(&folder, ".a.new", "of a crash", 0644);
	assert_int_equal(file_write(folder.at, "a", "new", 3, 0600), 0);
	assert_int_equal(file_read(folder.at, "a", 10, &text, &len, &info), 0);
	assert_string_equal(text, "new");
	assert_int_equal(info.st_mode & 07777, 0600);
	file_free(text, len);
	assert_int_equal(folder_count(&folder), 1);
	/* The name is taken by a folder: the rename fails. */
	assert_int_equal(mkdirat(folder.at, "b", 0700), 0);
	assert_int_equal(file_write(folder.at, "b", "new", 3, 0600), -EISDIR);
	assert_int_equal(folder_count(&folder), 2);
	folder_remove(&folder);
}

static void makes_folders_above(void **state)
{
	struct folder folder = folder_new();
	char path[128], above[128];
	struct stat info;

	(void)state;
	snprintf(above, sizeof(above), "%s/x", folder.path);
	snprintf(path, sizeof(path), "%s/x/y", folder.path);
	assert_int_equal(folder_make(path, 0700), 0);
	assert_int_equal(folder_make(path, 0700), 0);
	assert_int_equal(stat(path, &info), 0);
	assert_int_equal(info.st_mode & 0777, 0700);
	folder_put(&folder, "file", "", 0600);
	snprintf(path, sizeof(path), "%s/file", folder.path);
	assert_int_equal(folder_make(path, 0700), -ENOTDIR);
	snprintf(path, sizeof(path), "%s/x/y", folder.path);
	rmdir(path);
	rmdir(above);
	folder_remove(&folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_only_regular_files_within_the_bound),
		cmocka_unit_test(writes_whole_or_not_at_all),
		cmocka_unit_test(makes_folders_above),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
