/* SPDX-License-Identifier: MIT */
/* A profile is lent as the second tunnel of another: brought up, heard, and given back. What it says goes out
 * under the first one's name. Used by second.c. */
#include "client/daemon/second_state.h"

#include "client/daemon/journal.h"
#include "client/daemon/manager_state.h"

#include <stdio.h>

static void changed(struct tunnel *tunnel, void *user)
{
	struct second *second = user;

	(void)tunnel;
	if (second_carries(second->first))
		second->first->events->changed(second->first, second->first->user);
	second_wake(second->first);
}

static void numbers(struct tunnel *tunnel, void *user)
{
	struct second *second = user;

	(void)tunnel;
	second->first->events->read(second->first, second->first->user);
}

static void progress(struct tunnel *tunnel, enum rpc_step step, const char *detail, void *user)
{
	struct second *second = user;

	(void)step;
	(void)detail;
	if (second->first->phase == TUNNEL_STARTING && tunnel->loaded.profile.transport == TRANSPORT_TCP)
		second->first->events->progress(
			second->first, RPC_STEP_TRYING_TCP, second->name, second->first->user);
}

static void decided(struct tunnel *tunnel, const struct rpc_error *error, void *user)
{
	struct second *second = user;

	(void)tunnel;
	if (error && error->code != RPC_CODE_CANCELLED) {
		second->failed = true;
		snprintf(second->why, sizeof(second->why), "%s", error->message);
		journal_say(second->first->daemon->journal, JOURNAL_WARNING, second->first->name,
			"FallbackProfile %s cannot be used just now: %s", second->name, error->message);
	}
	manager_leftovers_changed(second->first->daemon->manager);
	second_wake(second->first);
}

static void switched(struct tunnel *tunnel, const struct rpc_error *error, void *user)
{
	struct second *second = user;

	(void)tunnel;
	second->first->switching = false;
	second->first->events->switched(second->first, error, second->first->user);
}

static const struct tunnel_events second_events = {
	.changed = changed,
	.read = numbers,
	.progress = progress,
	.decided = decided,
	.switched = switched,
};

void second_give_back(struct second *second)
{
	struct tunnel *tunnel = second->tunnel;

	if (!tunnel)
		return;
	second->tunnel = NULL;
	tunnel_down(tunnel, NULL); /* also takes away the word "failed" */
	tunnel->first = NULL;
	tunnel->parked = false;
	tunnel->events = &requests_tunnel_events;
	tunnel->user = tunnel->daemon->manager;
	manager_leftovers_changed(tunnel->daemon->manager);
}

void second_begin(struct second *second)
{
	struct tunnel *first = second->first;
	struct tunnel *tunnel = manager_find_or_add(first->daemon->manager, second->name);
	struct tunnel_wishes wishes = { .has_backend = first->wishes.has_backend,
		.backend = first->wishes.backend,
		.has_transport = first->wishes.has_transport,
		.transport = first->wishes.transport };

	if (tunnel->phase != TUNNEL_DOWN) {
		second->failed = true;
		snprintf(second->why, sizeof(second->why), "%s is up by itself", second->name);
		return;
	}
	journal_say(first->daemon->journal, JOURNAL_INFO, first->name, "trying the FallbackProfile %s beside",
		second->name);
	second->failed = false;
	second->tunnel = tunnel;
	tunnel->first = first;
	tunnel->parked = true;
	tunnel->events = &second_events;
	tunnel->user = second;
	tunnel_up(tunnel, &wishes);
	manager_leftovers_changed(first->daemon->manager);
}
