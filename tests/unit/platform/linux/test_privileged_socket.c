/* SPDX-License-Identifier: MIT */
/* A process without privileges asks one that has them; what it may not ask for is refused. */
#include "core/port/privileged_socket.h"

#include "core/port/privileges.h"
#include "platform/linux/privileged.h"

#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static int asking_end;
static unsigned busy_us; /* so long nobody answers at first */

static int bind_low(void)
{
	/* Port 7 of a loopback address that nobody else uses. */
	const struct sockaddr_in low = {
		.sin_family = AF_INET, .sin_port = htons(7), .sin_addr.s_addr = htonl(0x7f4d4d01)
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return privileged_bind(fd, (const struct sockaddr *)&low, sizeof(low)) == 0 ? 0 : errno;
}

static int bind_nowhere(void)
{
	/* An address that is not this machine's: the other one's error is ours. */
	const struct sockaddr_in far = {
		.sin_family = AF_INET, .sin_port = htons(7), .sin_addr.s_addr = htonl(0xc6336401)
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return privileged_bind(fd, (const struct sockaddr *)&far, sizeof(far)) == 0 ? 0 : errno;
}

static int open_icmp(void)
{
	int fd = privileged_icmp(AF_INET), type = 0;
	socklen_t len = sizeof(type);

	return fd < 0                                                                      ? errno
	       : getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_RAW ? 0
											   : EPROTO;
}

static int open_packet(void)
{
	return privileged_packet() < 0 ? errno : 0;
}

/* Only IP, only ICMP: no other family, and no file. */
static int other_family(void)
{
	return privileged_icmp(AF_PACKET) < 0 ? errno : 0;
}

static void on_alarm(int signal)
{
	(void)signal;
}

/* A signal while the other one is at it is no reason never to ask again. */
static int interrupted(void)
{
	const struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	const struct itimerval often = { { 0, 500 }, { 0, 500 } };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < 20; i++)
		if (privileged_icmp(AF_INET) < 0)
			return errno;
	return 0;
}

/* The other one is busy for longer than anybody waits, and then there again. */
static int late(void)
{
	const struct timeval short_patience = { .tv_usec = 20000 };
	int tries = 0, type = 0;
	socklen_t len = sizeof(type);

	setsockopt(asking_end, SOL_SOCKET, SO_RCVTIMEO, &short_patience, sizeof(short_patience));
	if (privileged_packet() >= 0 || errno != ETIMEDOUT)
		return 200;
	if (privileged_icmp(AF_INET) >= 0 || errno != EBUSY)
		return 201;
	/* What it gets then is no packet socket. */
	for (int fd = -1; tries < 500; tries++, usleep(10000)) {
		fd = privileged_icmp(AF_INET);
		if (fd >= 0)
			return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &type, &len) == 0 && type == AF_INET
				       ? 0
				       : 202;
		if (errno != EBUSY && errno != ETIMEDOUT)
			return 203;
	}
	return 204;
}

static int nobody_there(void)
{
	privileged_socket_use(-1);
	return bind_low();
}

/* What became of it in a child that has given all up. */
static int ask(int (*what)(void))
{
	int ends[2], status = 0;
	pid_t pid;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		asking_end = ends[0];
		privileged_socket_use(ends[0]);
		_exit(privileges_keep(PRIVILEGES_NONE) == 0 ? what() : 255);
	}
	close(ends[0]);
	usleep(busy_us);
	while (privileged_socket_serve(ends[1]) == 0)
		usleep(1000);
	close(ends[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void asks_for_what_it_may_not(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(ask(bind_low), 0);
	assert_int_equal(ask(bind_nowhere), EADDRNOTAVAIL);
	assert_int_equal(ask(open_icmp), 0);
	assert_int_equal(ask(open_packet), 0);
	assert_int_equal(ask(interrupted), 0);
	busy_us = 200000;
	assert_int_equal(ask(late), 0);
	busy_us = 0;
	assert_int_not_equal(ask(other_family), 0);
	assert_int_equal(ask(nobody_there), EACCES);
}

/* Whoever asks may have been taken over. */
static void junk_is_answered_with_an_error(void **state)
{
	static const struct sockaddr_un file = { .sun_family = AF_UNIX, .sun_path = "/tmp/wgtcp-privileged" };
	/* As in privileged_socket.c: kind, family, len, address. */
	struct {
		uint32_t kind;
		int32_t family;
		uint32_t len;
		uint8_t address[28];
	} request = { .kind = 1, .len = 28 };
	uint8_t junk[200] = { 0 };
	int32_t answer;
	int ends[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	memcpy(request.address, &file, sizeof(request.address));
	for (size_t i = 0; i < 4; i++) {
		request.len = i == 1 ? 0xffffffffu : 28;
		request.kind = i == 2 ? 99 : 1;
		assert_true(send(ends[0], i == 3 ? (void *)junk : (void *)&request,
				    i == 3 ? sizeof(junk) : sizeof(request), 0) > 0);
		assert_int_equal(privileged_socket_serve(ends[1]), 0);
		assert_int_equal(recv(ends[0], &answer, sizeof(answer), 0), sizeof(answer));
		assert_int_equal(answer, EINVAL);
	}
	assert_int_not_equal(access(file.sun_path, F_OK), 0);
	close(ends[0]);
	assert_int_equal(privileged_socket_serve(ends[1]), -EPIPE);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(asks_for_what_it_may_not),
		cmocka_unit_test(junk_is_answered_with_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
