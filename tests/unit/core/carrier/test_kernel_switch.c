/* SPDX-License-Identifier: MIT */
/* The order of a switch on a kernel that can do TCP, its refusals and its way back. The clock is a number, in
 * ms. */
#include "core/carrier/kernel_switch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#define DOWN KERNEL_SWITCH_LINK_DOWN
#define SET KERNEL_SWITCH_SET_TRANSPORT
#define UP KERNEL_SWITCH_LINK_UP
#define NETWORK KERNEL_SWITCH_NETWORK
#define REST KERNEL_SWITCH_REST
#define PEERS KERNEL_SWITCH_SET_PEERS

/* One call: the time, the result of the step at hand, and the step that must follow. */
struct turn {
	uint64_t at_ms;
	int result;
	enum kernel_switch_step next;
};

static void run(struct kernel_switch *machine, enum transport from, const struct turn *turns, size_t count)
{
	kernel_switch_begin(machine, from, from == TRANSPORT_UDP ? TRANSPORT_TCP : TRANSPORT_UDP);
	assert_int_equal(machine->step, DOWN);
	for (size_t i = 0; i < count; i++) {
		struct mono now = { turns[i].at_ms * 1000000 };

		assert_int_equal(kernel_switch_next(machine, turns[i].result, now), turns[i].next);
		assert_int_equal(machine->step, turns[i].next);
	}
}

#define RUN(machine, from, turns) run(machine, from, turns, sizeof(turns) / sizeof((turns)[0]))

static void both_ways_in_the_order_of_the_wire(void **state)
{
	static const struct turn turns[] = {
		{ 1000, 0, SET },
		{ 1001, 0, UP },
		{ 1002, 0, NETWORK },
		{ 1010, 0, REST }, /* counts from the moment when the routes are back */
		{ 1159, 0, REST },
		{ 1160, 0, PEERS },
		{ 1161, 0, KERNEL_SWITCH_DONE },
		{ 1162, 0, KERNEL_SWITCH_DONE },
	};
	static const struct turn to_udp[] = {
		{ 1000, 0, SET },
		{ 1001, 0, UP },
		{ 1002, 0, NETWORK },
		{ 1010, 0, PEERS }, /* nothing is dialled there that a change of routes could close */
		{ 1011, 0, KERNEL_SWITCH_DONE },
	};
	struct kernel_switch machine;

	(void)state;
	RUN(&machine, TRANSPORT_UDP, turns);
	assert_int_equal(machine.target, TRANSPORT_TCP);
	assert_int_equal(machine.error, 0);
	RUN(&machine, TRANSPORT_TCP, to_udp);
	assert_int_equal(machine.target, TRANSPORT_UDP);
}

static void somebody_sets_the_link_up_in_between(void **state)
{
	static const struct turn turns[] = {
		{ 1000, 0, SET },
		{ 1000, -EBUSY, REST },
		{ 1049, 0, REST },
		{ 1050, 0, DOWN }, /* from the start, and not at once */
		{ 1050, 0, SET },
		{ 1051, 0, UP },
		{ 1052, 0, NETWORK },
		{ 1053, 0, REST },
		{ 1203, 0, PEERS },
		{ 1203, 0, KERNEL_SWITCH_DONE },
	};
	struct kernel_switch machine;

	(void)state;
	RUN(&machine, TRANSPORT_UDP, turns);
	assert_int_equal(machine.target, TRANSPORT_TCP);
}

static void somebody_always_sets_the_link_up(void **state)
{
	struct kernel_switch machine;
	uint64_t refusals = 0, ms = 1000;

	(void)state;
	kernel_switch_begin(&machine, TRANSPORT_UDP, TRANSPORT_TCP);
	while (!machine.back) {
		int result = machine.step == SET ? -EBUSY : 0;

		refusals += machine.step == SET;
		ms += 60;
		assert_true(ms < 10000);
		(void)kernel_switch_next(&machine, result, (struct mono){ ms * 1000000 });
	}
	assert_int_equal(refusals, KERNEL_SWITCH_BUSY_TRIES + 1);
	assert_int_equal(machine.error, -EBUSY);
	assert_int_equal(machine.step, DOWN);
	assert_int_equal(machine.target, TRANSPORT_UDP);
}

/* The new port is taken: link up fails, and the old carrier comes back by the same steps. */
static void turns_back_and_says_why(void **state)
{
	static const struct turn turns[] = {
		{ 1000, 0, SET },
		{ 1000, 0, UP },
		{ 1000, -EADDRINUSE, DOWN },
		{ 1001, 0, SET },
		{ 1001, 0, UP },
		{ 1001, 0, NETWORK },
		{ 1001, 0, PEERS },
		{ 1001, 0, KERNEL_SWITCH_UNDONE },
		{ 1002, 0, KERNEL_SWITCH_UNDONE },
	};
	struct kernel_switch machine;

	(void)state;
	RUN(&machine, TRANSPORT_UDP, turns);
	assert_int_equal(machine.target, TRANSPORT_UDP);
	assert_int_equal(machine.error, -EADDRINUSE);
}

static void every_step_can_fail(void **state)
{
	static const enum kernel_switch_step steps[] = { DOWN, SET, UP, NETWORK, PEERS };

	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		for (int fails_back = 0; fails_back < 2; fails_back++) {
			struct kernel_switch machine;
			uint64_t ms = 1000;

			kernel_switch_begin(&machine, TRANSPORT_TCP, TRANSPORT_UDP);
			while (machine.step < KERNEL_SWITCH_DONE) {
				bool fails = machine.step == steps[i] && (!machine.back || fails_back);

				ms += 200;
				assert_true(ms < 10000);
				(void)kernel_switch_next(&machine,
					fails ? (machine.back ? -EIO : -ENOMEM) : 0,
					(struct mono){ ms * 1000000 });
			}
			assert_int_equal(
				machine.step, fails_back ? KERNEL_SWITCH_BROKEN : KERNEL_SWITCH_UNDONE);
			assert_int_equal(machine.error, -ENOMEM); /* the first one tells why */
		}
	}
}

static void a_gone_interface_ends_it(void **state)
{
	static const enum kernel_switch_step steps[] = { DOWN, SET, UP, NETWORK, PEERS };

	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct kernel_switch machine;

		kernel_switch_begin(&machine, TRANSPORT_UDP, TRANSPORT_TCP);
		for (uint64_t ms = 1000; machine.step != steps[i]; ms += 200)
			(void)kernel_switch_next(&machine, 0, (struct mono){ ms * 1000000 });
		assert_int_equal(
			kernel_switch_next(&machine, -ENODEV, (struct mono){ 1 }), KERNEL_SWITCH_BROKEN);
		assert_int_equal(machine.error, -ENODEV);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_ways_in_the_order_of_the_wire),
		cmocka_unit_test(somebody_sets_the_link_up_in_between),
		cmocka_unit_test(somebody_always_sets_the_link_up),
		cmocka_unit_test(turns_back_and_says_why),
		cmocka_unit_test(every_step_can_fail),
		cmocka_unit_test(a_gone_interface_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
