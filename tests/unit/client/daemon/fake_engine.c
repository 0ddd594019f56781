/* SPDX-License-Identifier: MIT */
/* Stands in for wgtcp-engine in test_spawner.c: says on its seam how it was started, then does what it is
 * told there. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/prctl.h>
#include <unistd.h>

extern char **environ;

static int open_count(void)
{
	int fd, count = 0;

	for (fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

int main(int argc, char **argv)
{
	char text[256], order = 0;
	size_t variables = 0;
	sigset_t blocked;
	int len;

	while (environ[variables])
		variables++;
	sigprocmask(SIG_SETMASK, NULL, &blocked);
	len = snprintf(text, sizeof(text), "%d %s %s fds=%d env=%zu blocked=%d nnp=%d", argc, argv[0],
		argc > 1 ? argv[1] : "", open_count(), variables, sigismember(&blocked, SIGCHLD),
		prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
	if (write(3, text, (size_t)len) != len)
		return 99;
	fprintf(stderr, "hello from the engine\n");
	if (read(3, &order, 1) < 1)
		return 0; /* the seam's other end is closed */
	if (order == 'x')
		return 7;
	signal(SIGTERM, SIG_IGN);
	for (;;)
		pause();
}
