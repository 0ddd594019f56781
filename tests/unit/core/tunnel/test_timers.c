/* SPDX-License-Identifier: MIT */
/* The timers of one peer as a table: events in, dues and deadline out. */
#include "core/tunnel/timers.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#define NEVER UINT64_MAX
#define COUNT(x) (sizeof(x) / sizeof(*(x)))

struct row {
	uint64_t ms;
	enum timers_event event;
	uint32_t what;
	/* The deadline afterwards lies in [from, to]. */
	uint64_t from, to;
};

static struct mono at(uint64_t ms)
{
	return mono_add_ms(MONO_UNSET, ms);
}

static void run(const struct row *rows, size_t count, uint16_t persistent_s)
{
	struct timers timers;

	timers_init(&timers, 12345);
	timers.persistent_s = persistent_s;
	for (size_t i = 0; i < count; i++) {
		const struct row *row = &rows[i];
		uint32_t what = timers_step(&timers, row->event, at(row->ms));
		uint64_t deadline = timers_deadline(&timers).ns;
		uint64_t ms = deadline == MONO_NEVER.ns ? NEVER : deadline / 1000000;

		if (what != row->what || ms < row->from || ms > row->to)
			fail_msg("row %zu: what %u, deadline %llu", i, what, (unsigned long long)ms);
	}
}

static void attempt(void **state)
{
	static const struct row rows[] = {
		{ 1000, TIMERS_WANT, DUE_INITIATION, 6000, 6334 },
		{ 1000, TIMERS_INITIATION_SENT, 0, 6000, 6334 },
		{ 2000, TIMERS_WANT, 0, 6000, 6334 }, /* the last one is not old enough */
		{ 5999, TIMERS_TICK, 0, 6000, 6334 },
		{ 6334, TIMERS_TICK, DUE_INITIATION, 11334, 11668 },
		{ 6334, TIMERS_TICK, 0, 11334, 11668 }, /* once only */
		{ 6334, TIMERS_INITIATION_SENT, 0, 11334, 11668 },
		{ 6400, TIMERS_SESSION_MADE, 0, 11334, 11668 },
		{ 6400, TIMERS_CONFIRMED, 0, 546400, 546400 },
		{ 546400, TIMERS_TICK, DUE_ZEROED, NEVER, NEVER },
	};

	(void)state;
	run(rows, COUNT(rows), 0);
}

static void gives_up_90_s_after_the_last_wish(void **state)
{
	static const struct row rows[] = {
		{ 1000, TIMERS_WANT, DUE_INITIATION, 6000, 6334 },
		{ 50000, TIMERS_TICK, DUE_INITIATION, 55000, 55334 },
		{ 60000, TIMERS_WANT, DUE_INITIATION, 55000, 55334 }, /* starts the 90 s anew */
		{ 91000, TIMERS_TICK, DUE_INITIATION, 96000, 96334 },
		{ 149000, TIMERS_TICK, DUE_INITIATION, 154000, 154334 },
		{ 154334, TIMERS_TICK, DUE_GAVE_UP, NEVER, NEVER },
		{ 154335, TIMERS_WANT, DUE_INITIATION, 159335, 159669 },
	};

	(void)state;
	run(rows, COUNT(rows), 0);
}

static void keepalives(void **state)
{
	static const struct row passive[] = {
		{ 1000, TIMERS_DATA_RECEIVED, 0, 11000, 11000 },
		{ 5000, TIMERS_DATA_RECEIVED, 0, 11000, 11000 }, /* from the first */
		{ 11000, TIMERS_TICK, DUE_PASSIVE, NEVER, NEVER },
		{ 12000, TIMERS_DATA_RECEIVED, 0, 22000, 22000 },
		{ 13000, TIMERS_DATA_SENT, 0, 28000, 28334 }, /* data is an answer; and wants one */
		{ 14000, TIMERS_RECEIVED, 0, NEVER, NEVER },  /* a keepalive wants none */
		{ 15000, TIMERS_SENT, 0, NEVER, NEVER },
	};
	static const struct row persistent[] = {
		{ 1000, TIMERS_INTERVAL_SET, 0, 1000, 1000 }, /* at once */
		{ 1000, TIMERS_TICK, DUE_KEEPALIVE, 26000, 26000 },
		{ 2000, TIMERS_SENT, 0, 27000, 27000 },
		{ 3000, TIMERS_RECEIVED, 0, 28000, 28000 },
		{ 28000, TIMERS_TICK, DUE_KEEPALIVE, 53000, 53000 },
	};

	(void)state;
	run(passive, COUNT(passive), 0);
	run(persistent, COUNT(persistent), 25);
}

static void no_answer(void **state)
{
	static const struct row rows[] = {
		{ 1000, TIMERS_DATA_SENT, 0, 16000, 16334 },
		{ 9000, TIMERS_DATA_SENT, 0, 16000, 16334 }, /* from the first */
		{ 16334, TIMERS_TICK, DUE_INITIATION, 21334, 21668 },
		{ 16334, TIMERS_INITIATION_SENT, 0, 21334, 21668 },
		{ 17000, TIMERS_RECEIVED, 0, 21334, 21668 },
		{ 17000, TIMERS_CONFIRMED, 0, NEVER, NEVER },
		/* 4 s later the next data: its no answer comes due when an initiation may go out again */
		{ 18000, TIMERS_DATA_SENT, 0, 33000, 33334 },
		{ 18000, TIMERS_DATA_RECEIVED, 0, 28000, 28000 },
	};

	(void)state;
	run(rows, COUNT(rows), 0);
}

static void rekey_keeps_its_distance(void **state)
{
	static const struct row rows[] = {
		{ 1000, TIMERS_INITIATION_SENT, 0, 6000, 6334 },
		{ 1100, TIMERS_CONFIRMED, 0, NEVER, NEVER },
		{ 2000, TIMERS_REKEY, 0, 6000, 6000 },
		{ 2001, TIMERS_REKEY, 0, 6000, 6000 }, /* one attempt, not one for each packet */
		{ 6000, TIMERS_TICK, DUE_INITIATION, 11000, 11334 },
		{ 7000, TIMERS_REKEY, 0, 11000, 11334 },
	};

	(void)state;
	run(rows, COUNT(rows), 0);
}

static void restart(void **state)
{
	static const struct row rows[] = {
		{ 1000, TIMERS_WANT, DUE_INITIATION, 6000, 6334 },
		{ 1000, TIMERS_INITIATION_SENT, 0, 6000, 6334 }, { 1005, TIMERS_RESTART, 0, NEVER, NEVER },
		{ 1010, TIMERS_WANT, 0, 1020, 1020 }, /* but two initiations lie 20 ms apart */
		{ 1020, TIMERS_TICK, DUE_INITIATION, 6020, 6354 },
		{ 1020, TIMERS_WANT, DUE_INITIATION, 6020, 6354 },
		{ 1020, TIMERS_INITIATION_SENT, 0, 6020, 6354 },
		{ 1100, TIMERS_WANT, 0, 6020, 6354 }, /* that was for once */
	};

	(void)state;
	run(rows, COUNT(rows), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attempt),
		cmocka_unit_test(gives_up_90_s_after_the_last_wish),
		cmocka_unit_test(keepalives),
		cmocka_unit_test(no_answer),
		cmocka_unit_test(rekey_keeps_its_distance),
		cmocka_unit_test(restart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
