/* SPDX-License-Identifier: MIT */
/* The fallback machine's action, called by fallback.c alone. */
#include "core/carrier/fallback_output.h"

#include <string.h>

enum {
	INITIATION_SPACING_MS = 20, /* docs/wire.md section 2; core/tunnel enforces the same */
	ECHOES_MAX = sizeof(((struct fallback_action *)0)->echoes) / sizeof(struct fallback_echo),
};

void output_init(struct output *output, uint64_t seed)
{
	memset(output, 0, sizeof(*output));
	/* A restarted machine does not take an answer to its forerunner for one of its own. */
	output->next_id = seed * UINT64_C(0x9e3779b97f4a7c15);
}

void output_clear(struct output *output)
{
	memset(&output->action, 0, sizeof(output->action));
}

bool output_initiate(struct output *output, enum carrier carrier, struct mono now, struct mono *again)
{
	struct mono next = mono_add_ms(output->initiated, INITIATION_SPACING_MS);

	if (mono_is_set(output->initiated) && !mono_reached(now, next)) {
		*again = next;
		return false;
	}
	output->initiated = now;
	output->action.what |= carrier == CARRIER_TCP ? FALLBACK_INITIATE_TCP : FALLBACK_INITIATE_UDP;
	return true;
}

bool output_dial(struct output *output)
{
	if (output->action.what & FALLBACK_CLOSE_TCP)
		return false;
	output->action.what |= FALLBACK_DIAL_TCP;
	return true;
}

void output_close(struct output *output)
{
	struct fallback_action *action = &output->action;
	bool unborn = action->what & FALLBACK_DIAL_TCP; /* the dial of this very step: nothing to close yet */
	size_t kept = 0;

	action->what &= ~(uint32_t)(FALLBACK_INITIATE_TCP | FALLBACK_NUDGE_TCP | FALLBACK_DIAL_TCP);
	if (!unborn)
		action->what |= FALLBACK_CLOSE_TCP;
	for (size_t i = 0; i < action->echo_count; i++)
		if (action->echoes[i].carrier != CARRIER_TCP)
			action->echoes[kept++] = action->echoes[i];
	action->echo_count = kept;
	if (!kept)
		action->what &= ~(uint32_t)FALLBACK_ECHO;
}

void output_nudge(struct output *output, enum carrier carrier)
{
	output->action.what &= ~(uint32_t)(FALLBACK_NUDGE_TCP | FALLBACK_NUDGE_UDP);
	output->action.what |= carrier == CARRIER_TCP ? FALLBACK_NUDGE_TCP : FALLBACK_NUDGE_UDP;
}

uint64_t output_echo(struct output *output, enum carrier carrier, bool full, struct mono now)
{
	struct fallback_action *action = &output->action;

	if (action->echo_count == ECHOES_MAX)
		return 0;
	if (!++output->next_id)
		++output->next_id;

	struct pending_echo *pending = &output->pending[output->next_pending++ % OUTPUT_PENDING_MAX];

	pending->echo = (struct fallback_echo){ .id = output->next_id, .carrier = carrier, .full = full };
	pending->sent = now;
	action->echoes[action->echo_count++] = pending->echo;
	action->what |= FALLBACK_ECHO;
	return pending->echo.id;
}

bool output_answered(struct output *output, uint64_t id, struct pending_echo *out)
{
	for (size_t i = 0; id && i < OUTPUT_PENDING_MAX; i++) {
		struct pending_echo *pending = &output->pending[i];

		if (pending->echo.id != id)
			continue;
		*out = *pending;
		pending->echo.id = 0;
		return true;
	}
	return false;
}
