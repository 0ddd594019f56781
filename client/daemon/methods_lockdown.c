/* SPDX-License-Identifier: MIT */
/* killswitch.unlock. Called by methods.c. */
#include "client/daemon/methods.h"
#include "client/daemon/daemon.h"
#include "client/daemon/lockdown.h"

#include <stdlib.h>

void methods_lockdown(const struct daemon *daemon, struct rpc_lockdown *out)
{
	const struct lockdown_file *file = lockdown_file(daemon->lockdown);
	size_t i;

	*out = (struct rpc_lockdown){ .state = lockdown_state(daemon->lockdown) };
	if (out->state == RPC_KILL_SWITCH_OPEN)
		out->open_until = file->open_until;
	out->tunnels.items = calloc(file->count + 1, sizeof(*out->tunnels.items));
	for (i = 0; out->tunnels.items && i < file->count; i++)
		out->tunnels.items[out->tunnels.count++] = (char *)file->holds[i].name; /* borrowed */
}

void methods_lockdown_free(struct rpc_lockdown *view)
{
	free(view->tunnels.items);
	view->tunnels = (struct rpc_texts){ 0 };
}

void method_unlock(struct daemon *daemon, struct client *client, const struct rpc_request *request)
{
	struct rpc_result result = { .method = RPC_METHOD_KILLSWITCH_UNLOCK };
	bool was_on = lockdown_state(daemon->lockdown) != RPC_KILL_SWITCH_OFF;
	char why[KILL_SWITCH_WHY_LEN] = "";
	struct rpc_error error = { 0 };
	int failed = 0;

	if (request->for_s > LOCKDOWN_OPEN_MAX_S) {
		rpc_error_set(
			&error, RPC_CODE_INVALID_PARAMS, "for_s must be from 1 to %d", LOCKDOWN_OPEN_MAX_S);
		client_reply_error(client, &request->id, &error);
		return;
	}
	if (!request->for_s)
		failed = lockdown_unlock(daemon->lockdown, why);
	else if (was_on)
		failed = lockdown_open(daemon->lockdown, request->for_s, why);
	if (failed) {
		rpc_error_set(&error, RPC_CODE_OTHER, "the kill switch cannot be changed: %s", why);
		client_reply_error(client, &request->id, &error);
		return;
	}
	result.unlocked.changed = was_on;
	methods_lockdown(daemon, &result.unlocked.lockdown);
	client_reply(client, &request->id, &result);
	methods_lockdown_free(&result.unlocked.lockdown);
}
