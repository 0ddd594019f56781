/* SPDX-License-Identifier: MIT */
/* A guarded resolv.conf: what was there comes back, whatever happened in between. */
#include "client/daemon/dns_file.h"

#include "tests/unit/client/daemon/folder.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#define ORIGINAL "nameserver 192.0.2.1\n\n# end\n"

struct place {
	struct folder etc, state;
	char path[96];
};

static struct place place_new(const char *text)
{
	struct place place = { .etc = folder_new(), .state = folder_new() };

	snprintf(place.path, sizeof(place.path), "%s/resolv.conf", place.etc.path);
	if (text)
		folder_put(&place.etc, "resolv.conf", text, 0640);
	return place;
}

static void place_remove(struct place *place)
{
	folder_remove(&place->etc);
	folder_remove(&place->state);
}

static void read_it(const struct place *place, char out[512])
{
	int fd = openat(place->etc.at, "resolv.conf", O_RDONLY);
	ssize_t len = fd < 0 ? 0 : read(fd, out, 511);

	out[len > 0 ? len : 0] = 0;
	if (fd >= 0)
		close(fd);
}

static int set(struct place *place, const char *name, uint8_t last)
{
	struct ip_address server = { IP_V4, { 10, 0, 0, last } };
	struct profile_texts none = { 0 };
	struct dns_servers dns = { &server, 1, &none };
	bool was_there;

	return dns_file_set(place->state.at, place->path, name, &dns, &was_there);
}

static enum dns_file_restored restore(struct place *place)
{
	enum dns_file_restored restored = DNS_FILE_NONE_HELD;

	assert_int_equal(dns_file_restore(place->state.at, &restored), 0);
	return restored;
}

static void comes_back_byte_for_byte(void **state)
{
	struct place place = place_new(ORIGINAL);
	struct stat before, after;
	char text[512], *held;

	(void)state;
	assert_int_equal(stat(place.path, &before), 0);
	assert_int_equal(set(&place, "a", 1), 0);
	read_it(&place, text);
	assert_non_null(strstr(text, "nameserver 10.0.0.1\n"));
	assert_null(strstr(text, "192.0.2.1"));
	assert_true(dns_file_is_ours(place.path));
	held = dns_file_before(place.state.at);
	assert_string_equal(held, ORIGINAL);
	free(held);
	assert_int_equal(restore(&place), DNS_FILE_RESTORED);
	read_it(&place, text);
	assert_string_equal(text, ORIGINAL);
	assert_int_equal(stat(place.path, &after), 0);
	assert_int_equal(before.st_mode, after.st_mode);
	assert_int_equal(before.st_mtim.tv_sec, after.st_mtim.tv_sec);
	assert_int_equal(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
	assert_int_equal(folder_count(&place.state), 0);
	assert_int_equal(folder_count(&place.etc), 1);
	assert_int_equal(restore(&place), DNS_FILE_NONE_HELD);
	place_remove(&place);
}

static void second_one_keeps_what_was_there_first(void **state)
{
	struct place place = place_new(ORIGINAL);
	char text[512];

	(void)state;
	assert_int_equal(set(&place, "a", 1), 0);
	assert_int_equal(set(&place, "b", 2), 0);
	read_it(&place, text);
	assert_non_null(strstr(text, "10.0.0.2"));
	assert_int_equal(restore(&place), DNS_FILE_RESTORED);
	read_it(&place, text);
	assert_string_equal(text, ORIGINAL);
	place_remove(&place);
}

static void missing_one_is_missing_again(void **state)
{
	struct place place = place_new(NULL);

	(void)state;
	assert_int_equal(set(&place, "a", 1), 0);
	assert_int_equal(restore(&place), DNS_FILE_RESTORED);
	assert_int_equal(folder_count(&place.etc), 0);
	place_remove(&place);
}

static void what_another_program_wrote_stays(void **state)
{
	struct place place = place_new(ORIGINAL);
	char text[512];

	(void)state;
	assert_int_equal(set(&place, "a", 1), 0);
	folder_put(&place.etc, "resolv.conf", "nameserver 192.0.2.9\n", 0644);
	assert_int_equal(restore(&place), DNS_FILE_CHANGED);
	read_it(&place, text);
	assert_string_equal(text, "nameserver 192.0.2.9\n");
	/* And what it wrote is what comes back, once ours was put in its place again. */
	assert_int_equal(set(&place, "a", 1), 0);
	folder_put(&place.etc, "resolv.conf", "nameserver 192.0.2.10\n", 0644);
	assert_int_equal(set(&place, "a", 1), 0);
	assert_int_equal(restore(&place), DNS_FILE_RESTORED);
	read_it(&place, text);
	assert_string_equal(text, "nameserver 192.0.2.10\n");
	place_remove(&place);
}

static void deleted_one_comes_back(void **state)
{
	struct place place = place_new(ORIGINAL);
	char text[512];

	(void)state;
	assert_int_equal(set(&place, "a", 1), 0);
	assert_int_equal(unlink(place.path), 0);
	assert_int_equal(restore(&place), DNS_FILE_RESTORED);
	read_it(&place, text);
	assert_string_equal(text, ORIGINAL);
	/* Also when ours was put there again meanwhile. */
	assert_int_equal(set(&place, "a", 1), 0);
	assert_int_equal(unlink(place.path), 0);
	assert_int_equal(set(&place, "a", 1), 0);
	assert_int_equal(restore(&place), DNS_FILE_RESTORED);
	read_it(&place, text);
	assert_string_equal(text, ORIGINAL);
	place_remove(&place);
}

/* Backups that are none: nothing is touched by them. */
static const char *const broken[] = { "", "x", "wgtcp-resolv.conf 1\n", "wgtcp-resolv.conf 1\n\n",
	"wgtcp-resolv.conf 1\npath relative\nlike 644 0 0 0 0\noriginal 1\n\nx",
	"wgtcp-resolv.conf 1\npath /nowhere\nlike 644 0 0 0 0\noriginal 2\n\nx",
	"wgtcp-resolv.conf 1\npath /nowhere\nlike 644 0 0 0 0\noriginal 1\n\nxy",
	"wgtcp-resolv.conf 1\npath /nowhere\noriginal 1\n\nx",
	"wgtcp-resolv.conf 1\npath /nowhere\nlike 644 0 0 0 0\noriginal 18446744073709551615\n\nx" };

static void broken_backup_touches_nothing(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		struct place place = place_new(ORIGINAL);
		char text[512];

		folder_put(&place.state, DNS_FILE_BACKUP, broken[i], 0600);
		assert_null(dns_file_before(place.state.at));
		assert_int_equal(restore(&place), DNS_FILE_NONE_HELD);
		read_it(&place, text);
		assert_string_equal(text, ORIGINAL);
		assert_int_equal(folder_count(&place.state), 0);
		place_remove(&place);
	}
}

static void nowhere_to_write_changes_nothing(void **state)
{
	struct place place = place_new(NULL);

	(void)state;
	assert_int_equal(symlink("/nowhere/resolv.conf", place.path), 0);
	assert_int_equal(set(&place, "a", 1), -ENOENT);
	assert_int_equal(folder_count(&place.state), 0);
	place_remove(&place);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_back_byte_for_byte),
		cmocka_unit_test(second_one_keeps_what_was_there_first),
		cmocka_unit_test(missing_one_is_missing_again),
		cmocka_unit_test(what_another_program_wrote_stays),
		cmocka_unit_test(deleted_one_comes_back),
		cmocka_unit_test(broken_backup_touches_nothing),
		cmocka_unit_test(nowhere_to_write_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
