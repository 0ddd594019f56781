/* SPDX-License-Identifier: MIT */
/* core/port/control.h and the deadline of core/port/loop.h on any platform. */
#include "core/port/control.h"

#include "tests/contract/cmocka_all.h"
#include "tests/contract/rig.h"

#include <errno.h>

static void text_goes_both_ways_and_ends(void **state)
{
	struct control *end[2];
	int handles[2];
	char text[8];

	(void)state;
	rig_control(handles);
	for (int i = 0; i < 2; i++)
		assert_int_equal(control_adopt(handles[i], &end[i]), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(control_receive(end[1 - i], text, sizeof(text)), -EAGAIN);
		assert_int_equal(control_send(end[i], "get=1\n\n", 7), 7);
		assert_int_equal(loop_watch_control(rig_loop(), end[1 - i], LOOP_READ, end), 0);
		assert_int_equal(rig_wait(NULL), LOOP_READ);
		assert_int_equal(loop_watch_control(rig_loop(), end[1 - i], 0, NULL), 0);
		assert_int_equal(control_receive(end[1 - i], text, sizeof(text)), 7);
		assert_memory_equal(text, "get=1\n\n", 7);
	}
	control_close(end[0]);
	assert_int_equal(control_receive(end[1], text, sizeof(text)), 0);
	assert_int_equal(control_send(end[1], "x", 1), -EPIPE);
	control_close(end[1]);
}

static void waiting_ends_at_the_deadline_and_not_before(void **state)
{
	struct mono start = clock_now(rig_clock());
	struct loop_ready ready;

	(void)state;
	assert_int_equal(loop_wait(rig_loop(), start, &ready, 1), 0);
	struct mono end = mono_add_ms(clock_now(rig_clock()), 30);
	assert_int_equal(loop_wait(rig_loop(), end, &ready, 1), 0);
	assert_true(mono_reached(clock_now(rig_clock()), end));
	assert_true(mono_since_ms(clock_now(rig_clock()), end) < 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_goes_both_ways_and_ends),
		cmocka_unit_test(waiting_ends_at_the_deadline_and_not_before),
	};

	rig_open();
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	rig_close();
	return failed;
}
