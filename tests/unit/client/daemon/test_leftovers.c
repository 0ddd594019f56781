/* SPDX-License-Identifier: MIT */
/* What a killed daemon leaves: the file's text both ways, another boot, numbers that belong to others by now,
 * engines that still run, sockets that nobody listens on. */
#include "client/daemon/leftovers.h"
#include "client/daemon/process.h"
#include "tests/unit/client/daemon/folder.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <cmocka.h>

static void text_comes_back(void **state)
{
	static const struct leftover list[] = {
		{ .kind = LEFTOVER_ENGINE, .pid = 4194304, .start_time = UINT64_MAX },
		{ .kind = LEFTOVER_TUNNEL, .name = "_=+.-0123456789" },
		{ .kind = LEFTOVER_RULES, .mark = UINT32_MAX },
		{ .kind = LEFTOVER_SOURCE_MARK },
		{ .kind = LEFTOVER_LINK, .name = "_=+.-0123456789", .mark = UINT32_MAX },
	};
	char *text = leftovers_write(list, 5, "boot-id");
	struct leftover back[6];

	(void)state;
	assert_int_equal(leftovers_parse(text, "boot-id", back, 6), 5);
	assert_int_equal(back[0].pid, 4194304);
	assert_true(back[0].start_time == UINT64_MAX);
	assert_string_equal(back[1].name, "_=+.-0123456789");
	assert_int_equal(back[2].mark, UINT32_MAX);
	assert_int_equal(back[3].kind, LEFTOVER_SOURCE_MARK);
	assert_int_equal(back[4].kind, LEFTOVER_LINK);
	assert_string_equal(back[4].name, "_=+.-0123456789");
	assert_int_equal(back[4].mark, UINT32_MAX);
	assert_int_equal(leftovers_parse(text, "boot-id", back, 2), 2);
	free(text);
}

static void lines_that_make_no_sense_are_passed_over(void **state)
{
	static const struct {
		const char *text;
		size_t count;
	} cases[] = {
		{ "boot b\nengine 5 6\n", 1 },
		{ "boot b\nengine 5 6", 1 },
		{ "boot b\nengine 5 6 7\n", 0 },
		{ "boot b\nengine 1 6\n", 0 }, /* init */
		{ "boot b\nengine -1 6\n", 0 },
		{ "boot b\nengine x 6\n", 0 },
		{ "boot b\ntunnel ../x\n", 0 },
		{ "boot b\ntunnel ..\n", 0 },
		{ "boot b\ntunnel office\n", 1 },
		{ "boot b\ntunnel officeofficeoffice\n", 0 },
		{ "boot b\nrules 0\n", 0 },
		{ "boot b\nlink office 0\n", 1 },
		{ "boot b\nlink office\n", 0 },
		{ "boot b\nlink ../x 5\n", 0 },
		{ "boot b\nlink office 5 6\n", 0 },
		{ "boot c\nlink office 5\n", 0 },
		{ "boot b\nsource-mark\n", 1 },
		{ "boot b\nsource-marks\n", 0 },
		{ "boot c\nsource-mark\n", 0 },
		{ "boot b\n\n\njunk\nrules 7\n", 1 },
		/* After another boot only names count. */
		{ "boot c\nengine 5 6\nrules 7\ntunnel office\n", 1 },
		{ "engine 5 6\ntunnel office\n", 1 },
		{ "", 0 },
	};
	struct leftover list[8];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (leftovers_parse(cases[i].text, "b", list, 8) != cases[i].count)
			fail_msg("%s", cases[i].text);
}

static void start_time_stands_behind_the_name(void **state)
{
	static const struct {
		const char *text;
		uint64_t start_time;
	} cases[] = {
		{ "7 (a) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4242 20\n", 4242 },
		{ "7 (a ) S (b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4242 20\n", 4242 },
		{ "7 (a) Z 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4242 20\n", 0 },
		{ "7 (a) S 1 2 3\n", 0 },
		{ "7 (a) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 x 20\n", 0 },
		{ "7 (a)", 0 },
		{ "", 0 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (process_stat_start_time(cases[i].text) != cases[i].start_time)
			fail_msg("%s", cases[i].text);
	assert_int_not_equal(process_start_time(getpid()), 0);
}

static pid_t sleeper(bool stubborn)
{
	pid_t pid = fork();

	if (pid == 0) {
		if (stubborn)
			signal(SIGTERM, SIG_IGN);
		for (;;)
			pause();
	}
	while (process_start_time(pid) == 0)
		usleep(1000);
	usleep(20000); /* for its signal() */
	return pid;
}

static void ends_only_the_process_that_is_meant(void **state)
{
	pid_t pid = sleeper(false);
	uint64_t start_time = process_start_time(pid);
	int status;

	(void)state;
	assert_true(process_end(pid, start_time + 1, 100)); /* the one meant is gone already */
	assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
	assert_true(process_end(pid, start_time, 1000));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WTERMSIG(status), SIGTERM);
	pid = sleeper(true);
	assert_true(process_end(pid, process_start_time(pid), 100));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WTERMSIG(status), SIGKILL);
}

static int bound_socket(const char *path, bool listening)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(address.sun_path, path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	if (listening)
		assert_int_equal(listen(fd, 1), 0);
	return fd;
}

static void cleans_up_after_a_killed_daemon(void **state)
{
	struct folder folder = folder_new(), sockets = folder_new();
	struct journal *journal = journal_new(false);
	pid_t pid = sleeper(false);
	struct leftover list[] = {
		{ .kind = LEFTOVER_ENGINE, .pid = pid, .start_time = process_start_time(pid) },
		{ .kind = LEFTOVER_TUNNEL, .name = "stale" },
		{ .kind = LEFTOVER_TUNNEL, .name = "alive" },
		{ .kind = LEFTOVER_TUNNEL, .name = "none" },
	};
	char path[128];
	int alive, status;

	(void)state;
	snprintf(path, sizeof(path), "%s/stale.sock", sockets.path);
	close(bound_socket(path, true));
	snprintf(path, sizeof(path), "%s/alive.sock", sockets.path);
	alive = bound_socket(path, true);
	assert_int_equal(leftovers_save(folder.at, list, 4), 0);
	leftovers_clean(folder.at, sockets.path, journal);
	assert_int_equal(waitpid(pid, &status, WNOHANG), pid);
	assert_int_not_equal(faccessat(sockets.at, "stale.sock", F_OK, 0), 0);
	assert_int_equal(faccessat(sockets.at, "alive.sock", F_OK, 0), 0);
	assert_int_equal(journal_count(journal), 2);
	assert_int_equal(folder_count(&folder), 0);
	/* Nothing was left: nothing is said. */
	leftovers_clean(folder.at, sockets.path, journal);
	assert_int_equal(journal_count(journal), 2);
	assert_int_equal(leftovers_save(folder.at, list, 1), 0);
	assert_int_equal(folder_count(&folder), 1);
	assert_int_equal(leftovers_save(folder.at, list, 0), 0);
	assert_int_equal(folder_count(&folder), 0);
	close(alive);
	journal_free(journal);
	folder_remove(&folder);
	folder_remove(&sockets);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_comes_back),
		cmocka_unit_test(lines_that_make_no_sense_are_passed_over),
		cmocka_unit_test(start_time_stands_behind_the_name),
		cmocka_unit_test(ends_only_the_process_that_is_meant),
		cmocka_unit_test(cleans_up_after_a_killed_daemon),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
