/* SPDX-License-Identifier: MIT */
/* A short-lived engine that tries real handshakes. Its interface has no addresses and no routes and stays
 * down, so nothing but the engine's own packets passes. Called by diagnose.c. */
#include "client/daemon/diagnose_state.h"

#include "client/daemon/backend.h"
#include "client/daemon/manager.h"
#include "client/daemon/view.h"
#include "core/port/net_config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct diagnose_engine {
	struct diagnose *owner;
	struct backend_run *run;
	struct rpc_tunnel view;
	bool has_view; /* since the last start */
	bool configured, queried, lost;
};

static void query(struct diagnose_engine *engine)
{
	if (!engine->configured || engine->queried || engine->lost)
		return;
	engine->queried = true;
	backend_userspace.query(engine->run);
}

/* Sends what follows a configuration; echoes go to whom the tunnel would ask. */
static void start_peers(struct diagnose_engine *engine)
{
	const struct profile *profile = &engine->owner->loaded.profile;
	size_t i, j;

	for (i = 0; i < profile->peer_count; i++) {
		struct seam_message probe = { .kind = SEAM_PROBE };

		if (!profile_probe_address(profile, i, &probe.target))
			continue;
		for (j = 0; j < profile->address_count; j++)
			if (profile->addresses[j].address.family == probe.target.family) {
				probe.source = profile->addresses[j].address;
				break;
			}
		if (j == profile->address_count)
			continue;
		memcpy(probe.public_key, profile->peers[i].public_key, sizeof(probe.public_key));
		probe.flag = profile->peers[i].probe_address.family != IP_NONE;
		backend_userspace.send(engine->run, &probe);
	}
	backend_userspace.send(engine->run, &(struct seam_message){ .kind = SEAM_START });
}

static void configured(int error, void *user)
{
	struct diagnose_engine *engine = user;

	engine->lost |= error != 0;
	if (error)
		return;
	engine->configured = true;
	start_peers(engine);
	query(engine);
}

static void answered(int error, const struct uapi_device *device, void *user)
{
	struct diagnose_engine *engine = user;
	bool *waiting;

	engine->queried = false;
	if (error || !device || !engine->configured)
		return; /* or it is about sessions that have been given up */
	waiting = calloc(engine->view.peer_count + 1, sizeof(*waiting));
	if (!waiting)
		return;
	view_update(&engine->view, &engine->owner->loaded.profile, device, waiting);
	engine->has_view = true;
	free(waiting);
}

static void peer_changed(void *user)
{
	query(user);
}

static void timestamp(const struct wall *newest, void *user)
{
	struct diagnose_engine *engine = user;

	manager_timestamp(engine->owner->daemon->manager, newest);
}

static void lost(void *user)
{
	struct diagnose_engine *engine = user;

	engine->lost = true;
}

/* It looks once and ends: nothing is followed. */
static void resolve(const uint8_t public_key[32], void *user)
{
	(void)public_key;
	(void)user;
}

static void remember(const uint8_t public_key[32], uint32_t udp, void *user)
{
	(void)public_key;
	(void)udp;
	(void)user;
}

static void network(void *user)
{
	(void)user;
}

static int replace_network(void *user)
{
	(void)user;
	return 0;
}

static const struct backend_events events = {
	.peer_changed = peer_changed,
	.resolve = resolve,
	.timestamp = timestamp,
	.remember = remember,
	.network = network,
	.replace_network = replace_network,
	.lost = lost,
	.link_gone = lost,
	.configured = configured,
	.answered = answered,
};

int diagnose_engine_open(struct diagnose *diagnose)
{
	struct diagnose_engine *engine = g_new0(struct diagnose_engine, 1);
	struct backend_settings settings = { .interface = DIAGNOSE_INTERFACE,
		.timestamp_floor = diagnose->daemon->timestamp_floor,
		.events = &events,
		.user = engine };
	int error;

	engine->owner = diagnose;
	diagnose->interface = true;
	manager_leftovers_changed(diagnose->daemon->manager);
	error = backend_userspace.create(diagnose->daemon, &settings, &engine->run);
	if (!error)
		error = net_link_set(diagnose->daemon->net, backend_userspace.interface_index(engine->run),
			diagnose->facts.mtu, false);
	diagnose->engine = engine;
	if (error)
		diagnose_engine_close(diagnose);
	return error;
}

void diagnose_engine_close(struct diagnose *diagnose)
{
	struct diagnose_engine *engine = diagnose->engine;

	diagnose->engine = NULL;
	if (!engine)
		return;
	backend_userspace.destroy(engine->run);
	rpc_tunnel_free(&engine->view);
	g_free(engine);
	diagnose->interface = false;
	manager_leftovers_changed(diagnose->daemon->manager);
}

int diagnose_engine_start(struct diagnose *diagnose, enum transport transport)
{
	const struct profile *profile = &diagnose->loaded.profile;
	struct diagnose_engine *engine = diagnose->engine;
	struct uapi_device device = { 0 };
	int error = -ENOMEM;

	rpc_tunnel_free(&engine->view);
	engine->has_view = engine->configured = false;
	if (!view_init(&engine->view, DIAGNOSE_INTERFACE, profile) ||
		!device_build(
			profile, diagnose->ways, diagnose->transports, diagnose->mark, transport, &device))
		goto out;
	/* Nobody is to call us meanwhile. */
	device.has_listen_port = device.has_tcp_listen_port = false;
	error = backend_userspace.configure(engine->run, &device);
out:
	uapi_device_free(&device);
	explicit_bzero(&device, sizeof(device));
	return error;
}

const struct rpc_tunnel *diagnose_engine_view(struct diagnose *diagnose)
{
	query(diagnose->engine);
	return diagnose->engine->has_view ? &diagnose->engine->view : NULL;
}

bool diagnose_engine_is_lost(const struct diagnose *diagnose)
{
	return diagnose->engine->lost;
}
