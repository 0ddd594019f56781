/* SPDX-License-Identifier: MIT */
/* Steps with undo: what runs, what waits, and what is undone in which order, as a table of what each step
 * answers. */
#include "client/daemon/steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define STEPS 4

struct world {
	/* What step i answers each time: 'd'one, 'w'aits, 'f'ails. */
	const char *answers[STEPS];
	size_t asked[STEPS];
	char log[64]; /* "A" step 0 ran, "a" step 0 was undone */
};

static void note(struct world *world, char what)
{
	size_t len = strlen(world->log);

	assert_true(len + 1 < sizeof(world->log));
	world->log[len] = what;
	world->log[len + 1] = 0;
}

static enum step_result run(struct world *world, size_t step)
{
	char answer = world->answers[step][world->asked[step]++];

	note(world, "ABCD"[step]);
	switch (answer) {
	case 'd':
		return STEP_DONE;
	case 'w':
		return STEP_WAITS;
	default:
		return STEP_FAILED;
	}
}

static void undo(struct world *world, size_t step)
{
	note(world, "abcd"[step]);
}

#define RUN(n)                                                                                               \
	static enum step_result run_##n(void *world)                                                         \
	{                                                                                                    \
		return run(world, n);                                                                        \
	}
#define UNDO(n)                                                                                              \
	static void undo_##n(void *world)                                                                    \
	{                                                                                                    \
		undo(world, n);                                                                              \
	}
RUN(0)
RUN(1)
RUN(2)
RUN(3)
UNDO(0)
UNDO(1)
UNDO(3)

static const struct step list[STEPS] = {
	{ "0", run_0, undo_0 },
	{ "1", run_1, undo_1 },
	{ "2", run_2, NULL },
	{ "3", run_3, undo_3 },
};

static void each_way_through(void **state)
{
	static const struct {
		const char *name, *answers[STEPS];
		size_t resumes; /* steps_resume so often, as long as it waits */
		bool undo;      /* then steps_undo */
		enum step_result last;
		const char *log;
	} cases[] = {
		{ "all at once", { "d", "d", "d", "d" }, 1, false, STEP_DONE, "ABCD" },
		{ "all, then down", { "d", "d", "d", "d" }, 1, true, STEP_DONE, "ABCDdba" },
		{ "first fails", { "f", "", "", "" }, 1, true, STEP_FAILED, "A" },
		{ "third fails: what it did itself is its own business", { "d", "d", "f", "" }, 1, true,
			STEP_FAILED, "ABCba" },
		{ "last fails", { "d", "d", "d", "f" }, 1, true, STEP_FAILED, "ABCDba" },
		{ "second waits twice", { "d", "wwd", "d", "d" }, 3, false, STEP_DONE, "ABBBCD" },
		{ "cancelled while the second waits: its undo too", { "d", "w", "", "" }, 1, true, STEP_WAITS,
			"ABba" },
		{ "waits, then fails", { "d", "wf", "", "" }, 2, true, STEP_FAILED, "ABBa" },
		{ "waits in the one without undo", { "d", "d", "w", "" }, 1, true, STEP_WAITS, "ABCba" },
	};
	size_t i, n;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world world = { 0 };
		struct steps steps;
		enum step_result result = STEP_WAITS;

		memcpy(world.answers, cases[i].answers, sizeof(world.answers));
		steps_init(&steps, list, STEPS, &world);
		for (n = 0; n < cases[i].resumes; n++) {
			assert_int_equal(result, STEP_WAITS);
			result = steps_resume(&steps);
		}
		if (result != cases[i].last)
			fail_msg("%s: result %d", cases[i].name, result);
		if ((result == STEP_WAITS) != (steps_current(&steps) != NULL))
			fail_msg("%s: what waits", cases[i].name);
		if (cases[i].undo) {
			steps_undo(&steps);
			steps_undo(&steps); /* once is enough */
		}
		if (strcmp(world.log, cases[i].log) != 0)
			fail_msg("%s: %s, not %s", cases[i].name, world.log, cases[i].log);
	}
}

static void after_a_failure_it_can_be_tried_again(void **state)
{
	struct world world = { .answers = { "dd", "fd", "d", "d" } };
	struct steps steps;

	(void)state;
	steps_init(&steps, list, STEPS, &world);
	assert_int_equal(steps_resume(&steps), STEP_FAILED);
	assert_int_equal(steps_resume(&steps), STEP_DONE);
	assert_string_equal(world.log, "ABaABCD");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_way_through),
		cmocka_unit_test(after_a_failure_it_can_be_tried_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
