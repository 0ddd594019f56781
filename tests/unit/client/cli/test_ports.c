/* SPDX-License-Identifier: MIT */
/* The command line's ports on Linux: a unix socket, its limits in time, Ctrl-C during a wait, files. */
#include "core/port/console.h"
#include "core/port/ipc.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64];

static const char *path_of(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static int listen_on(const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%.60s/%.20s", folder, name);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 1), 0);
	return fd;
}

static int make_folder(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/wgtcp-ports-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	static const char *const names[] = { "file", "socket", "dead" };

	(void)state;
	for (size_t i = 0; i < 3; i++)
		unlink(path_of(names[i]));
	return rmdir(folder);
}

static void write_file(const char *name, const char *bytes, size_t len)
{
	FILE *file = fopen(path_of(name), "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, len, file), len);
	fclose(file);
}

static void test_connect_errors(void **state)
{
	char longest[200];
	struct ipc *ipc = NULL;

	(void)state;
	memset(longest, 'a', sizeof(longest));
	longest[199] = '\0';
	write_file("file", "x", 1);
	close(listen_on("dead"));
	assert_int_equal(ipc_connect(path_of("nothing"), &ipc), -ENOENT);
	assert_int_equal(ipc_connect(path_of("file"), &ipc), -ENOTSOCK);
	assert_int_equal(ipc_connect(path_of("dead"), &ipc), -ECONNREFUSED);
	assert_int_equal(ipc_connect(longest, &ipc), -ENAMETOOLONG);
	assert_null(ipc);
	ipc_close(NULL);
}

static void test_stream(void **state)
{
	int listener = listen_on("socket"), peer;
	uint32_t left_ms = 2000;
	struct ipc *ipc;
	char bytes[64];

	(void)state;
	assert_int_equal(ipc_connect(path_of("socket"), &ipc), 0);
	peer = accept(listener, NULL, NULL);
	assert_int_equal(ipc_send(ipc, "hello", 5, &left_ms), 0);
	assert_int_equal(read(peer, bytes, sizeof(bytes)), 5);
	assert_int_equal(write(peer, "back", 4), 4);
	assert_int_equal(ipc_receive(ipc, bytes, sizeof(bytes), &left_ms), 4);
	assert_memory_equal(bytes, "back", 4);
	assert_true(left_ms <= 2000 && left_ms > 0);

	/* Time that is up, and a peer that does not read. */
	left_ms = 30;
	assert_int_equal(ipc_receive(ipc, bytes, sizeof(bytes), &left_ms), -ETIMEDOUT);
	assert_true(left_ms <= 1);
	static char much[1 << 20];

	left_ms = 30;
	assert_int_equal(ipc_send(ipc, much, sizeof(much), &left_ms), -ETIMEDOUT);

	close(peer);
	left_ms = IPC_FOREVER;
	assert_int_equal(ipc_receive(ipc, bytes, sizeof(bytes), &left_ms), 0);
	assert_int_equal(left_ms, IPC_FOREVER);
	assert_int_equal(ipc_send(ipc, "x", 1, &left_ms), -EPIPE);
	ipc_close(ipc);
	close(listener);
	unlink(path_of("socket"));
}

/* Ctrl-C ends a wait, also when it came before the wait began, and does not kill; afterwards it kills as
 * usual. */
static void test_interrupt(void **state)
{
	int listener = listen_on("socket"), status;
	uint32_t left_ms = 5000;
	struct ipc *ipc;
	char byte;
	pid_t pid;

	(void)state;
	assert_int_equal(ipc_connect(path_of("socket"), &ipc), 0);
	console_catch_interrupt();
	assert_false(console_interrupted());
	kill(getpid(), SIGINT);
	assert_true(console_interrupted());
	assert_int_equal(ipc_receive(ipc, &byte, 1, &left_ms), -EINTR);
	assert_true(left_ms > 4000);
	assert_true(console_interrupted());

	console_catch_interrupt();
	assert_false(console_interrupted());
	pid = fork();
	if (!pid) {
		usleep(50000);
		kill(getppid(), SIGTERM);
		_exit(0);
	}
	left_ms = 5000;
	assert_int_equal(ipc_receive(ipc, &byte, 1, &left_ms), -EINTR);
	assert_true(left_ms > 1000 && left_ms < 4990);
	waitpid(pid, &status, 0);

	/* One that still waits is taken away, the next one kills. */
	kill(getpid(), SIGINT);
	console_release_interrupt();
	pid = fork();
	if (!pid) {
		kill(getpid(), SIGINT);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
	ipc_close(ipc);
	close(listener);
	unlink(path_of("socket"));
}

static void test_files(void **state)
{
	char *text = NULL;
	size_t len = 0;

	(void)state;
	write_file("file", "a\0b", 3);
	assert_int_equal(console_read_file(path_of("file"), 3, &text, &len), 0);
	assert_int_equal(len, 3);
	assert_memory_equal(text, "a\0b", 4);
	free(text);
	text = NULL;
	assert_int_equal(console_read_file(path_of("file"), 2, &text, &len), -EFBIG);
	assert_int_equal(console_read_file("/dev/zero", 1000, &text, &len), -EFBIG);
	assert_int_equal(console_read_file(folder, 1000, &text, &len), -EISDIR);
	assert_int_equal(console_read_file(path_of("nothing"), 1000, &text, &len), -ENOENT);
	assert_null(text);
	write_file("file", "", 0);
	assert_int_equal(console_read_file(path_of("file"), 0, &text, &len), 0);
	assert_int_equal(len, 0);
	assert_string_equal(text, "");
	free(text);
	assert_true(console_file_exists(path_of("file")));
	assert_false(console_file_exists(path_of("nothing")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_connect_errors),
		cmocka_unit_test(test_stream),
		cmocka_unit_test(test_interrupt),
		cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
