/* SPDX-License-Identifier: MIT */
/* The spawner with an engine that tells how it was started: descriptors, arguments, environment; exits,
 * kills, the end of the daemon. */
#include "client/daemon/spawner.h"
#include "client/daemon/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define WAIT_MS 10000

struct engine {
	int seam, log;
	pid_t pid;
	uint64_t start_time;
};

static struct spawner_message receive(int handle)
{
	struct pollfd wait = { .fd = handle, .events = POLLIN };
	struct spawner_message message = { 0 };

	assert_int_equal(poll(&wait, 1, WAIT_MS), 1);
	assert_int_equal(spawner_receive(handle, &message), 0);
	return message;
}

static void read_text(int fd, char out[256])
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	ssize_t len;

	assert_int_equal(poll(&wait, 1, WAIT_MS), 1);
	len = read(fd, out, 255);
	assert_true(len >= 0);
	out[len] = 0;
}

static struct engine start(int handle, uint32_t id)
{
	struct engine engine;
	struct spawner_message message = { .kind = SPAWNER_START_ENGINE, .id = id };
	int seam[2], log[2], handles[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, seam), 0);
	assert_int_equal(pipe2(log, O_CLOEXEC), 0);
	handles[0] = seam[1];
	handles[1] = log[1];
	assert_int_equal(spawner_send(handle, &message, handles), 0);
	close(seam[1]);
	close(log[1]);
	message = receive(handle);
	assert_int_equal(message.kind, SPAWNER_STARTED);
	assert_int_equal(message.id, id);
	engine = (struct engine){ seam[0], log[0], message.pid, message.start_time };
	assert_true(engine.pid > 0 && engine.start_time != 0);
	return engine;
}

static void close_engine(struct engine *engine)
{
	close(engine->seam);
	close(engine->log);
}

static int fork_spawner(pid_t *pid)
{
	int handle;

	assert_int_equal(spawner_fork(&handle, pid), 0);
	return handle;
}

static void end_spawner(int handle, pid_t pid)
{
	int status;

	close(handle);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void a_program_gets_only_what_it_needs(void **state)
{
	pid_t pid;
	int extra = open("/dev/null", O_RDONLY); /* without O_CLOEXEC: it must not be inherited */
	int handle = fork_spawner(&pid);
	struct engine engine = start(handle, 1);
	struct spawner_message message;
	char text[256];

	(void)state;
	read_text(engine.seam, text);
	assert_string_equal(text, "2 wgtcp-engine --inherited fds=4 env=2 blocked=0 nnp=1");
	read_text(engine.log, text);
	assert_string_equal(text, "hello from the engine\n");
	assert_int_equal(write(engine.seam, "x", 1), 1);
	message = receive(handle);
	assert_int_equal(message.kind, SPAWNER_EXITED);
	assert_int_equal(message.id, 1);
	assert_int_equal(message.pid, engine.pid);
	assert_true(WIFEXITED(message.status) && WEXITSTATUS(message.status) == 7);
	close_engine(&engine);
	close(extra);
	end_spawner(handle, pid);
}

static void kills_by_number(void **state)
{
	pid_t pid;
	int handle = fork_spawner(&pid);
	struct engine meek = start(handle, 1), stubborn = start(handle, 2);
	struct spawner_message message;
	char text[256];

	(void)state;
	read_text(stubborn.seam, text);
	assert_int_equal(write(stubborn.seam, "i", 1), 1); /* ignore SIGTERM */
	assert_int_equal(
		spawner_send(handle, &(struct spawner_message){ .kind = SPAWNER_KILL, .id = 3 }, NULL), 0);
	assert_int_equal(
		spawner_send(handle, &(struct spawner_message){ .kind = SPAWNER_KILL, .id = 1 }, NULL), 0);
	message = receive(handle);
	assert_int_equal(message.id, 1);
	assert_int_equal(WTERMSIG(message.status), SIGKILL);
	assert_int_equal(
		spawner_send(handle, &(struct spawner_message){ .kind = SPAWNER_KILL, .id = 2 }, NULL), 0);
	message = receive(handle);
	assert_int_equal(message.id, 2);
	assert_int_equal(WTERMSIG(message.status), SIGKILL);
	close_engine(&meek);
	close_engine(&stubborn);
	end_spawner(handle, pid);
}

static void bad_requests_start_nothing(void **state)
{
	pid_t pid;
	int handle = fork_spawner(&pid), handles[2] = { 0, 2 };
	struct engine engine = start(handle, 1);
	struct spawner_message message;
	static const struct {
		struct spawner_message message;
		bool with_handles;
	} cases[] = {
		{ { .kind = SPAWNER_START_ENGINE, .id = 2 }, false },
		{ { .kind = SPAWNER_START_ENGINE, .id = 0 }, true },
		{ { .kind = SPAWNER_START_ENGINE, .id = 1 }, true }, /* runs already */
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(
			spawner_send(handle, &cases[i].message, cases[i].with_handles ? handles : NULL), 0);
		message = receive(handle);
		assert_int_equal(message.kind, SPAWNER_FAILED);
		assert_int_equal(message.id, cases[i].message.id);
		assert_int_not_equal(message.status, 0);
	}
	/* No message of ours: passed over. */
	assert_int_equal(send(handle, "junk", 4, 0), 4);
	assert_int_equal(spawner_send(handle, &(struct spawner_message){ .kind = 77, .id = 1 }, NULL), 0);
	assert_int_equal(
		spawner_send(handle, &(struct spawner_message){ .kind = SPAWNER_KILL, .id = 1 }, NULL), 0);
	message = receive(handle);
	assert_int_equal(message.kind, SPAWNER_EXITED);
	close_engine(&engine);
	end_spawner(handle, pid);
}

static void all_end_with_the_daemon(void **state)
{
	pid_t pid;
	int handle = fork_spawner(&pid), i;
	struct engine engine = start(handle, 1);
	char text[256];

	(void)state;
	read_text(engine.seam, text);
	assert_int_equal(write(engine.seam, "i", 1), 1);
	end_spawner(handle, pid);
	for (i = 0; i < WAIT_MS && process_start_time(engine.pid) == engine.start_time; i++)
		usleep(1000);
	assert_true(process_start_time(engine.pid) != engine.start_time);
	close_engine(&engine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_gets_only_what_it_needs),
		cmocka_unit_test(kills_by_number),
		cmocka_unit_test(bad_requests_start_nothing),
		cmocka_unit_test(all_end_with_the_daemon),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
