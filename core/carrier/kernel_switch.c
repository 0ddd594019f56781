/* SPDX-License-Identifier: MIT */
/* The order in which a kernel that can do TCP (WGTCP) is moved to the other carrier. Called by the daemon's backend.
 * Source: docs/wire.md section 3. */
#include "core/carrier/kernel_switch.h"

#include <errno.h>

void kernel_switch_begin(struct kernel_switch *machine, enum transport from, enum transport to)
{
	*machine = (struct kernel_switch){ .step = KERNEL_SWITCH_LINK_DOWN, .from = from, .target = to };
}

static enum kernel_switch_step rest(
	struct kernel_switch *machine, struct mono now, uint64_t ms, enum kernel_switch_step after)
{
	machine->due = mono_add_ms(now, ms);
	machine->after_rest = after;
	return KERNEL_SWITCH_REST;
}

/* What follows a step that worked. */
static enum kernel_switch_step following(struct kernel_switch *machine, struct mono now)
{
	switch (machine->step) {
	case KERNEL_SWITCH_LINK_DOWN:
		return KERNEL_SWITCH_SET_TRANSPORT;
	case KERNEL_SWITCH_SET_TRANSPORT:
		return KERNEL_SWITCH_LINK_UP;
	case KERNEL_SWITCH_LINK_UP:
		return KERNEL_SWITCH_NETWORK;
	case KERNEL_SWITCH_NETWORK:
		/* On UDP nothing is dialled that a change of routes would close. */
		return machine->target == TRANSPORT_UDP
			       ? KERNEL_SWITCH_SET_PEERS
			       : rest(machine, now, KERNEL_SWITCH_REST_MS, KERNEL_SWITCH_SET_PEERS);
	case KERNEL_SWITCH_REST:
		return mono_reached(now, machine->due) ? machine->after_rest : KERNEL_SWITCH_REST;
	case KERNEL_SWITCH_SET_PEERS:
		return machine->back ? KERNEL_SWITCH_UNDONE : KERNEL_SWITCH_DONE;
	case KERNEL_SWITCH_DONE:
	case KERNEL_SWITCH_UNDONE:
	case KERNEL_SWITCH_BROKEN:
		break;
	}
	return machine->step;
}

/* A refusal applies nothing, so the same way can be gone again. Any other failure turns back once: the old carrier is set
 * again by the same steps, which is harmless where it never changed. */
static enum kernel_switch_step failed(struct kernel_switch *machine, int result, struct mono now)
{
	if (result == -EBUSY && machine->step == KERNEL_SWITCH_SET_TRANSPORT &&
		machine->tries < KERNEL_SWITCH_BUSY_TRIES) {
		machine->tries++;
		return rest(machine, now, KERNEL_SWITCH_BUSY_MS, KERNEL_SWITCH_LINK_DOWN);
	}
	if (!machine->error)
		machine->error = result;
	if (result == -ENODEV || machine->back)
		return KERNEL_SWITCH_BROKEN;
	machine->back = true;
	machine->target = machine->from;
	machine->tries = 0;
	return KERNEL_SWITCH_LINK_DOWN;
}

enum kernel_switch_step kernel_switch_next(struct kernel_switch *machine, int result, struct mono now)
{
	machine->step = result ? failed(machine, result, now) : following(machine, now);
	return machine->step;
}
