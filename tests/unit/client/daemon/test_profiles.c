/* SPDX-License-Identifier: MIT */
/* Profile files with odd owners, modes and kinds; both folders; names; writing and deleting. */
#include "client/daemon/profiles.h"
#include "tests/unit/client/daemon/folder.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const char good[] = "# Name = The Office\n"
			   "[Interface]\n"
			   "PrivateKey = AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHl8=\n"
			   "Address = 10.0.0.2/24\n"
			   "[Peer]\n"
			   "PublicKey = ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=\n"
			   "Endpoint = vpn.example:51820\n"
			   "AllowedIPs = 10.0.0.0/24\n";

static void only_files_that_nobody_else_can_change(void **state)
{
	static const struct {
		const char *name;
		mode_t mode, folder_mode;
		bool foreign; /* belongs to another user */
		int32_t code; /* 0: it loads */
		bool exposed;
	} cases[] = {
		{ "private", 0600, 0700, false, 0, false },
		{ "readable by its group", 0640, 0755, false, 0, false },
		{ "readable by all", 0644, 0755, false, 0, true },
		{ "group may write", 0660, 0755, false, RPC_CODE_CONFIG, false },
		{ "all may write", 0602, 0755, false, RPC_CODE_CONFIG, false },
		{ "all may write the folder", 0600, 0757, false, RPC_CODE_CONFIG, false },
		{ "somebody else's", 0600, 0755, true, RPC_CODE_CONFIG, false },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct folder folder = folder_new();
		struct profiles *profiles = profiles_new(folder.path, NULL);
		struct rpc_error error = { 0 };
		struct loaded loaded;

		folder_put(&folder, "office.conf", good, cases[i].mode);
		assert_int_equal(fchmod(folder.at, cases[i].folder_mode), 0);
		/* Only root can give a file away; for others the case is the same as the first. */
		if (cases[i].foreign && geteuid() == 0)
			assert_int_equal(fchownat(folder.at, "office.conf", 12345, 12345, 0), 0);
		if (profiles_load(profiles, "office", &loaded, &error)) {
			if (cases[i].code && !(cases[i].foreign && geteuid() != 0))
				fail_msg("%s: it was taken", cases[i].name);
			assert_string_equal(loaded.profile.name, "The Office");
			assert_int_equal(loaded.exposed, cases[i].exposed);
			loaded_free(&loaded);
		} else if (error.code != cases[i].code) {
			fail_msg("%s: %d %s", cases[i].name, error.code, error.message);
		}
		rpc_error_free(&error);
		profiles_free(profiles);
		assert_int_equal(fchmod(folder.at, 0700), 0);
		folder_remove(&folder);
	}
}

static void errors_name_the_place(void **state)
{
	struct folder folder = folder_new();
	struct profiles *profiles = profiles_new(folder.path, NULL);
	static char large[PROFILE_TEXT_MAX + 2];
	char path[128];
	struct loaded loaded;
	static const struct {
		const char *name;
		int32_t code;
		const char *part;
	} cases[] = {
		{ "wrong", RPC_CODE_CONFIG, "/wrong.conf:2:" },
		{ "large", RPC_CODE_CONFIG, "1 MiB" },
		{ "fifo", RPC_CODE_CONFIG, "regular file" },
		{ "folder", RPC_CODE_CONFIG, "regular file" },
		{ "none", RPC_CODE_NO_SUCH_TUNNEL, "none" },
	};
	size_t i;

	(void)state;
	folder_put(&folder, "wrong.conf", "[Interface]\nPrivateKey = short\n", 0600);
	memset(large, '#', sizeof(large) - 1);
	folder_put(&folder, "large.conf", large, 0600);
	snprintf(path, sizeof(path), "%s/fifo.conf", folder.path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(mkdirat(folder.at, "folder.conf", 0700), 0);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rpc_error error = { 0 };

		assert_false(profiles_load(profiles, cases[i].name, &loaded, &error));
		if (error.code != cases[i].code || !strstr(error.message, cases[i].part))
			fail_msg("%s: %d %s", cases[i].name, error.code, error.message);
		if (!strcmp(cases[i].name, "wrong")) {
			assert_int_equal(error.notes.count, 1);
			assert_int_equal(error.notes.items[0].line, 2);
			assert_null(strstr(error.message, "short")); /* a key is a secret, however wrong */
		}
		rpc_error_free(&error);
	}
	profiles_free(profiles);
	folder_remove(&folder);
}

static void own_folder_comes_first(void **state)
{
	struct folder own = folder_new(), second = folder_new();
	struct profiles *profiles = profiles_new(own.path, second.path);
	struct profile_file *list, found;
	struct rpc_error error = { 0 };
	char path[RPC_PATH_LEN], name[PROFILE_NAME_LEN];
	struct loaded loaded;

	(void)state;
	folder_put(&own, "both.conf", good, 0600);
	folder_put(&own, ".hidden.conf.new", good, 0600);
	folder_put(&own, "a name.conf", good, 0600);
	folder_put(&second, "both.conf", good, 0600);
	folder_put(&second, "old.conf", good, 0600);
	folder_put(&second, "old.conf.bak", good, 0600);
	assert_int_equal(profiles_list(profiles, &list), 2);
	assert_string_equal(list[0].name, "both");
	assert_false(list[0].read_only);
	assert_string_equal(list[1].name, "old");
	assert_true(list[1].read_only);
	free(list);

	assert_true(profiles_name(profiles, "old.conf", name, &error));
	assert_string_equal(name, "old");
	assert_false(profiles_name(profiles, "../own/both", name, &error));
	assert_int_equal(error.code, RPC_CODE_NO_SUCH_TUNNEL);
	rpc_error_free(&error);

	/* The second folder is never written to. */
	assert_false(profiles_delete(profiles, "old", &error));
	assert_int_equal(error.code, RPC_CODE_NOT_PERMITTED);
	rpc_error_free(&error);
	assert_true(profiles_store(profiles, "old", good, strlen(good), path, &error));
	assert_memory_equal(path, own.path, strlen(own.path));
	assert_true(profiles_find(profiles, "old", &found));
	assert_false(found.read_only);
	assert_true(profiles_load(profiles, "old", &loaded, &error));
	assert_memory_equal(loaded.path, own.path, strlen(own.path));
	loaded_free(&loaded);
	assert_true(profiles_delete(profiles, "old", &error));
	assert_true(profiles_find(profiles, "old", &found));
	assert_true(found.read_only);
	assert_int_equal(folder_count(&second), 3);
	profiles_free(profiles);
	folder_remove(&own);
	folder_remove(&second);
}

static void makes_its_folder_when_it_writes(void **state)
{
	struct folder above = folder_new();
	char inside[128], path[RPC_PATH_LEN];
	struct profiles *profiles;
	struct rpc_error error = { 0 };
	struct profile_file *list;
	struct stat info;

	(void)state;
	snprintf(inside, sizeof(inside), "%s/wgtcp", above.path);
	profiles = profiles_new(inside, "/nonexistent/wireguard");
	assert_int_equal(profiles_list(profiles, &list), 0);
	free(list);
	assert_true(profiles_store(profiles, "office", good, strlen(good), path, &error));
	assert_int_equal(stat(path, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0600);
	assert_true(profiles_delete(profiles, "office", &error));
	profiles_free(profiles);
	folder_remove(&above);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_files_that_nobody_else_can_change),
		cmocka_unit_test(errors_name_the_place),
		cmocka_unit_test(own_folder_comes_first),
		cmocka_unit_test(makes_its_folder_when_it_writes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
