/* SPDX-License-Identifier: MIT */
/* What a child that speaks with strangers can still do. As root all of it is looked at, else what holds for
 * everybody. */
#include "tests/contract/cmocka_all.h"

#include "core/port/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* A process of the same user, which only the filter protects. */
static bool reaches_a_neighbour(void)
{
	pid_t neighbour = fork();
	bool reached;

	if (neighbour == 0) {
		poll(NULL, 0, 200);
		_exit(0);
	}
	reached =
		neighbour < 0 || kill(neighbour, 0) == 0 || syscall(SYS_tgkill, neighbour, neighbour, 0) == 0;
	waitpid(neighbour, NULL, 0);
	return reached;
}

/* The first thing that the confined process could do and should not, as its exit code; 0: none. */
static int try_all(const char *secret, pid_t parent)
{
	bool root = geteuid() == 0;
	int pair[2];

	if (child_confine() != 0)
		return 1;
	if (socket(AF_UNIX, SOCK_STREAM, 0) >= 0)
		return 2;
	if (socket(AF_PACKET, SOCK_RAW, 0) >= 0 || socket(AF_NETLINK, SOCK_RAW, 0) >= 0)
		return 3;
	/* To the kernel the same family. */
	if (syscall(SYS_socket, (1L << 32) | AF_UNIX, (long)SOCK_STREAM, 0L) >= 0)
		return 9;
	if (socket(AF_INET, SOCK_STREAM, 0) < 0 || socket(AF_INET6, SOCK_DGRAM, 0) < 0)
		return 4;
	if (kill(parent, 0) == 0)
		return 5;
	/* One of datagrams could speak to any other. */
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0)
		return 10;
	if (reaches_a_neighbour() || syscall(SYS_tgkill, getpid(), getpid(), 0) != 0)
		return 11;
	if (root && (geteuid() == 0 || getegid() == 0 || getgroups(0, NULL) != 0 || setuid(0) == 0))
		return 6;
	if (root && open(secret, O_RDONLY) >= 0)
		return 7;
	if (root && open("/etc/shadow", O_RDONLY) >= 0)
		return 8;
	return 0;
}

static void is_confined(void **state)
{
	char secret[] = "/tmp/wgtcp-test-child.XXXXXX";
	pid_t parent = getpid(), child;
	int fd = mkstemp(secret), status;

	(void)state;
	assert_true(fd >= 0);
	fchmod(fd, 0600);
	close(fd);
	child = fork();
	if (child == 0)
		_exit(try_all(secret, parent));
	assert_int_equal(waitpid(child, &status, 0), child);
	unlink(secret);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static long read_all(struct child *child, char *out, size_t size)
{
	size_t len = 0;
	long got;

	while (len < size) {
		struct pollfd wait = { .fd = child_handle(child), .events = POLLIN };

		assert_true(poll(&wait, 1, 10000) > 0);
		got = child_read(child, out + len, size - len);
		if (got == 0)
			break;
		if (got > 0)
			len += (size_t)got;
	}
	return (long)len;
}

static void has_nothing_of_ours(void **state)
{
	char *const arguments[] = { "env", NULL };
	char text[512];
	struct child *child;
	long len;

	(void)state;
	setenv("WGTCP_SECRET", "x", 1);
	assert_int_equal(child_start("env", arguments, &child), 0);
	len = read_all(child, text, sizeof(text) - 1);
	text[len] = 0;
	child_end(child);
	assert_string_equal(text, "PATH=/usr/bin:/bin\nLC_ALL=C\n");
}

static void ends_when_told(void **state)
{
	char *const arguments[] = { "sleep", "1000", NULL };
	char byte;
	struct child *child;

	(void)state;
	assert_int_equal(child_start("sleep", arguments, &child), 0);
	assert_int_equal(child_read(child, &byte, 1), -EAGAIN);
	child_end(child);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	child_end(NULL);
}

static void is_not_there(void **state)
{
	char *const arguments[] = { "x", NULL };
	struct child *child;

	(void)state;
	assert_int_equal(child_start("wgtcp-no-such-program", arguments, &child), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_confined),
		cmocka_unit_test(has_nothing_of_ours),
		cmocka_unit_test(ends_when_told),
		cmocka_unit_test(is_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
