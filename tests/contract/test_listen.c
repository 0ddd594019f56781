/* SPDX-License-Identifier: MIT */
/* tcp_listener_open of core/port/tcp.h, and core/port/process.h, on any platform. */
#include "core/port/process.h"
#include "core/port/tcp.h"
#include "tests/contract/cmocka_all.h"
#include "tests/contract/rig.h"

#include <errno.h>
#include <string.h>

static struct endpoint endpoint(const char *text)
{
	struct endpoint out;

	assert_true(endpoint_parse(text, strlen(text), &out));
	return out;
}

static void connects(struct tcp_listener *listener, const char *target)
{
	const struct endpoint remote = endpoint(target);
	struct tcp *near, *far;
	int handle, error;

	assert_int_equal(loop_watch_listener(rig_loop(), listener, LOOP_READ, NULL), 0);
	handle = rig_connect(&remote);
	assert_int_equal(rig_wait(NULL) & LOOP_READ, LOOP_READ);
	assert_int_equal(tcp_accept(listener, &far), 0);
	error = tcp_adopt(handle, &near);
	assert_int_equal(error, 0);
	assert_int_equal(tcp_remote(far)->address.family, remote.address.family); /* never a mapped one */
	tcp_close(far);
	assert_int_equal(tcp_accept(listener, &far), -EAGAIN);
	loop_watch_listener(rig_loop(), listener, 0, NULL);
	tcp_close(near);
}

static void each_family_for_itself(void **state)
{
	const struct endpoint four = endpoint("0.0.0.0:4430"), six = endpoint("[::]:4430");
	struct tcp_listener *on_four, *on_six, *again;

	(void)state;
	assert_int_equal(tcp_listener_open(&four, &on_four), 0);
	assert_int_equal(tcp_listener_open(&six, &on_six), 0);
	connects(on_four, "127.0.0.1:4430");
	connects(on_six, "[::1]:4430");
	assert_int_equal(tcp_listener_open(&four, &again), -EADDRINUSE);
	assert_int_equal(tcp_listener_open(&six, &again), -EADDRINUSE);
	tcp_listener_close(on_four);
	tcp_listener_close(on_six);
	/* At once, though connections of the one before may not have ended. */
	assert_int_equal(tcp_listener_open(&four, &again), 0);
	tcp_listener_close(again);
}

static void addresses_of_others(void **state)
{
	const struct endpoint other = endpoint("203.0.113.7:4430"), none = { 0 };
	struct tcp_listener *listener;

	(void)state;
	assert_int_equal(tcp_listener_open(&other, &listener), -EADDRNOTAVAIL);
	assert_int_equal(tcp_listener_open(&none, &listener), -EDESTADDRREQ);
}

static void handles(void **state)
{
	size_t many = process_allow_handles(3000);

	(void)state;
	assert_true(many >= 256 && many <= 3000);
	/* Never fewer than there were. */
	assert_int_equal(process_allow_handles(300), 300);
	assert_int_equal(process_allow_handles(3000), many);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_family_for_itself),
		cmocka_unit_test(addresses_of_others),
		cmocka_unit_test(handles),
	};

	rig_open();
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	rig_close();
	return failed;
}
