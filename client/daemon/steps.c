/* SPDX-License-Identifier: MIT */
/* Steps with undo. Used by tunnel.c. */
#include "client/daemon/steps.h"

void steps_init(struct steps *steps, const struct step *list, size_t count, void *context)
{
	*steps = (struct steps){ .list = list, .count = count, .context = context };
}

void steps_undo(struct steps *steps)
{
	while (steps->begun > 0) {
		const struct step *step = &steps->list[--steps->begun];

		if (step->undo)
			step->undo(steps->context);
	}
	steps->waits = false;
}

enum step_result steps_resume(struct steps *steps)
{
	for (;;) {
		const struct step *step;
		enum step_result result;

		if (!steps->waits) {
			if (steps->begun == steps->count)
				return STEP_DONE;
			steps->begun++;
		}
		step = &steps->list[steps->begun - 1];
		steps->waits = false;
		result = step->run(steps->context);
		switch (result) {
		case STEP_DONE:
			continue;
		case STEP_WAITS:
			steps->waits = true;
			return STEP_WAITS;
		case STEP_FAILED:
			steps->begun--;
			steps_undo(steps);
			return STEP_FAILED;
		}
	}
}

const struct step *steps_current(const struct steps *steps)
{
	return steps->waits ? &steps->list[steps->begun - 1] : NULL;
}
