/* SPDX-License-Identifier: MIT */
/* tunnel.up, .down, .status, .switch. Called by methods.c. */
#include "client/daemon/methods.h"
#include "client/daemon/daemon.h"
#include "client/daemon/given.h"
#include "client/daemon/lockdown.h"
#include "client/daemon/manager.h"
#include "client/daemon/profiles.h"
#include "client/daemon/speed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A tunnel that is up may have lost its profile file; its name is good all the same. */
static bool name_of(struct daemon *daemon, struct client *client, const struct rpc_request *request,
	char name[PROFILE_NAME_LEN])
{
	struct rpc_error error = { 0 };

	if (profile_name_parse(request->name, strlen(request->name), name) &&
		manager_find(daemon->manager, name) &&
		tunnel_phase(manager_find(daemon->manager, name)) != TUNNEL_DOWN)
		return true;
	if (profiles_name(daemon->profiles, request->name, name, &error))
		return true;
	client_reply_error(client, &request->id, &error);
	return false;
}

/* The profile comes with the request, for as long as this client stays. Its name must be nobody else's. */
static void up_given(struct daemon *daemon, struct client *client, const struct rpc_request *request,
	struct tunnel_wishes *wishes)
{
	struct rpc_error error = { 0 };
	struct profile profile = { 0 };
	struct profile_file file;
	char name[PROFILE_NAME_LEN];

	if (!profile_name_parse(request->name, strlen(request->name), name)) {
		rpc_error_set(&error, RPC_CODE_INVALID_PARAMS,
			"'%.64s' cannot be the name of a tunnel: take 1 to 15 of the characters A-Z a-z 0-9 "
			"_ = + . -",
			request->name);
	} else if (!request->managed_by[0]) {
		rpc_error_set(
			&error, RPC_CODE_INVALID_PARAMS, "`managed_by` is missing: say whose tunnel this is");
	} else if (profiles_find(daemon->profiles, name, &file)) {
		rpc_error_set(&error, RPC_CODE_EXISTS,
			"there is a profile called %s already: take another name", name);
	} else if (given_profile(&request->given, &profile, &error)) {
		wishes->given = &profile;
		wishes->managed_by = request->managed_by;
		wishes->owner = client;
		manager_up(daemon->manager, name, wishes, request->timeout_ms, client, &request->id);
		profile_free(&profile); /* what was not taken over */
		return;
	}
	client_reply_error(client, &request->id, &error);
}

void method_up(struct daemon *daemon, struct client *client, const struct rpc_request *request)
{
	struct tunnel_wishes wishes = { .has_transport = request->has_transport,
		.transport = request->transport,
		.has_backend = request->has_backend,
		.backend = request->backend };
	char name[PROFILE_NAME_LEN];

	if (request->has_given) {
		up_given(daemon, client, request, &wishes);
		return;
	}
	if (name_of(daemon, client, request, name))
		manager_up(daemon->manager, name, &wishes, request->timeout_ms, client, &request->id);
}

void method_down(struct daemon *daemon, struct client *client, const struct rpc_request *request)
{
	char name[PROFILE_NAME_LEN];

	if (name_of(daemon, client, request, name))
		manager_down(daemon->manager, name, client, request);
}

void method_switch(struct daemon *daemon, struct client *client, const struct rpc_request *request)
{
	char name[PROFILE_NAME_LEN];
	const struct tunnel *tunnel;
	struct rpc_error error = { 0 };
	size_t i;

	if (!name_of(daemon, client, request, name))
		return;
	tunnel = manager_find(daemon->manager, name);
	if (request->peer[0] && tunnel && tunnel_phase(tunnel) == TUNNEL_RUNNING) {
		const struct rpc_tunnel *view = tunnel_view(tunnel);

		for (i = 0; i < view->peer_count; i++)
			if (!strcmp(view->peers[i].public_key, request->peer))
				break;
		if (i == view->peer_count) {
			rpc_error_set(&error, RPC_CODE_INVALID_PARAMS,
				"%s has no peer with that key: `wgtcp-cli status %s` shows them", name, name);
			client_reply_error(client, &request->id, &error);
			return;
		}
	}
	speed_client_moves(daemon, client, name);
	manager_switch(daemon->manager, name, request->transport, request->peer, client, &request->id);
}

/* ---- status ---- */

/* Of a profile that is not in use: what can be said without reading it. */
static struct rpc_tunnel down_view(const struct daemon *daemon, const char *name)
{
	struct rpc_tunnel view = { 0 };

	snprintf(view.name, sizeof(view.name), "%s", name);
	snprintf(view.display_name, sizeof(view.display_name), "%s", name);
	snprintf(view.profile, sizeof(view.profile), "%s", name);
	if (lockdown_holds(daemon->lockdown, name))
		view.kill_switch = lockdown_state(daemon->lockdown);
	return view;
}

/* Borrows from the tunnel. */
static struct rpc_tunnel view_of(const struct daemon *daemon, const char *name, uint32_t peer_from)
{
	const struct tunnel *tunnel = manager_find(daemon->manager, name);
	struct rpc_tunnel view;

	if (!tunnel)
		return down_view(daemon, name);
	view = *tunnel_view(tunnel);
	view.peers_total = (uint32_t)view.peer_count;
	if (peer_from > view.peer_count)
		peer_from = (uint32_t)view.peer_count;
	if (view.peers)
		view.peers += peer_from;
	view.peer_count -= peer_from;
	return view;
}

struct listing {
	const struct daemon *daemon;
	struct rpc_tunnel *views;
	size_t count, room;
};

static void add_view(struct listing *listing, const char *name, uint32_t peer_from)
{
	struct rpc_tunnel *views;

	if (listing->count == listing->room) {
		listing->room = listing->room ? 2 * listing->room : 8;
		views = realloc(listing->views, listing->room * sizeof(*views));
		if (!views)
			return;
		listing->views = views;
	}
	listing->views[listing->count++] = view_of(listing->daemon, name, peer_from);
}

/* A tunnel that is there, though its profile's file has gone. */
static void add_missing(struct tunnel *tunnel, void *user)
{
	struct listing *listing = user;
	size_t i;

	if (tunnel_phase(tunnel) == TUNNEL_DOWN || tunnel_lent_to(tunnel))
		return;
	for (i = 0; i < listing->count; i++)
		if (!strcmp(listing->views[i].name, tunnel_name(tunnel)))
			return;
	add_view(listing, tunnel_name(tunnel), 0);
}

void method_status_answer(struct daemon *daemon, struct client *client, const struct rpc_id *id,
	const char *name, uint32_t from)
{
	struct rpc_result result = { .method = RPC_METHOD_TUNNEL_STATUS };
	struct listing listing = { .daemon = daemon };
	struct profile_file *files = NULL;
	size_t count, i;

	if (name[0]) {
		add_view(&listing, name, from);
	} else {
		count = profiles_list(daemon->profiles, &files);
		for (i = 0; i < count; i++)
			add_view(&listing, files[i].name, 0);
		free(files);
		manager_each(daemon->manager, add_missing, &listing);
	}
	result.status.tunnels = listing.views;
	result.status.tunnel_count = listing.count;
	result.status.tunnels_total = (uint32_t)listing.count;
	if (!name[0] && from) {
		result.status.tunnel_from = from < listing.count ? from : (uint32_t)listing.count;
		result.status.tunnel_count -= result.status.tunnel_from;
		if (listing.views)
			result.status.tunnels += result.status.tunnel_from;
	}
	methods_lockdown(daemon, &result.status.lockdown);
	client_reply(client, id, &result);
	methods_lockdown_free(&result.status.lockdown);
	/* What the views hold is the tunnels'. */
	free(listing.views);
}

void method_status(struct daemon *daemon, struct client *client, const struct rpc_request *request)
{
	char name[PROFILE_NAME_LEN] = "";

	if (!request->name[0] || name_of(daemon, client, request, name))
		manager_status(daemon->manager, name, name[0] ? request->peer_from : request->tunnel_from,
			client, &request->id);
}
