/* SPDX-License-Identifier: MIT */
/* tcp_accept when the process has no descriptor left. */
#include "core/port/tcp.h"

#include "tests/contract/cmocka_all.h"
#include "tests/contract/rig.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#define CALLERS 3

static void one_is_taken_without_a_descriptor(void **state)
{
	struct tcp *near[CALLERS], *far[CALLERS];
	int fillers[256], count = 0;
	struct tcp_listener *listener;
	struct endpoint bound;

	(void)state;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 256, 256 }), 0);
	assert_int_equal(tcp_listener_adopt(rig_listener(IP_V4, &bound), &listener), 0);
	for (int i = 0; i < CALLERS; i++)
		assert_int_equal(tcp_adopt(rig_connect(&bound), &near[i]), 0);
	for (int fd; count < 256 && (fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;)
		fillers[count++] = fd;
	assert_int_equal(errno, EMFILE);
	assert_int_equal(tcp_accept(listener, &far[0]), 0);
	/* The next ones stay in the backlog, and the connection is not lost by it. */
	assert_int_equal(tcp_accept(listener, &far[1]), -EMFILE);
	assert_int_equal(tcp_accept(listener, &far[1]), -EMFILE);
	for (int i = 0; i < 4; i++)
		close(fillers[--count]);
	assert_int_equal(tcp_accept(listener, &far[1]), 0);
	assert_int_equal(tcp_accept(listener, &far[2]), 0);
	while (count)
		close(fillers[--count]);
	for (int i = 0; i < CALLERS; i++) {
		tcp_close(near[i]);
		tcp_close(far[i]);
	}
	tcp_listener_close(listener);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_is_taken_without_a_descriptor),
	};

	rig_open();
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	rig_close();
	return failed;
}
