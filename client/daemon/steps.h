/* SPDX-License-Identifier: MIT */
/* A sequence of steps, each with its undo: what a bring-up is made of. A step may wait for something and be
 * resumed. When a step fails, all steps that were begun are undone, the last first. Pure. */
#ifndef WGTCP_CLIENT_DAEMON_STEPS_H
#define WGTCP_CLIENT_DAEMON_STEPS_H

#include <stdbool.h>
#include <stddef.h>

enum step_result {
	STEP_DONE,
	STEP_WAITS,  /* steps_resume goes on */
	STEP_FAILED, /* the step has left nothing behind by itself; its undo is not called */
};

struct step {
	const char *name;
	/* Called once; and once more after each steps_resume for as long as it waits. */
	enum step_result (*run)(void *context);
	/* NULL: nothing to undo. Called for a step that is done or waits. */
	void (*undo)(void *context);
};

struct steps {
	const struct step *list; /* borrowed, constant */
	size_t count, begun;     /* of the begun ones, all are done but for the last, if it waits */
	bool waits;
	void *context;
};

void steps_init(struct steps *steps, const struct step *list, size_t count, void *context);
/* Starts, or goes on from the step that waits. STEP_DONE: all are done. STEP_FAILED: all have been undone. */
enum step_result steps_resume(struct steps *steps);
/* Undoes what was begun, also when all are done. Harmless when nothing was. */
void steps_undo(struct steps *steps);
/* The step that waits; NULL when none does. */
const struct step *steps_current(const struct steps *steps);

#endif
