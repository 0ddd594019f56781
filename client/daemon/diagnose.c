/* SPDX-License-Identifier: MIT */
/* A diagnosis from question to answer. It looks at all that it has asked for ten times a second, and moves on
 * as soon as there is nothing more to wait for. */
#include "client/daemon/diagnose_state.h"

#include "client/daemon/journal.h"
#include "client/daemon/lockdown.h"
#include "client/daemon/manager.h"
#include "client/daemon/methods.h"
#include "client/daemon/names.h"
#include "client/daemon/portal.h"
#include "core/port/net_rule.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICK_MS 100
/* Together less than 10 s. */
#define NAMES_MS 3000
#define TRY_MS 4000 /* three initiations, by UDP or TCP */
#define TCP_MS 2000
#define RUNNING_MS 2000 /* a tunnel that is there has tried already */
#define FIRST_MARK 0xca6c

static void diagnose_free(struct diagnose *diagnose)
{
	if (diagnose->tick)
		g_source_remove(diagnose->tick);
	diagnose_engine_close(diagnose);
	diagnose_peers_forget(diagnose);
	names_free(diagnose->names);
	if (diagnose->passes)
		lockdown_forget(diagnose->daemon->lockdown, DIAGNOSE_INTERFACE);
	loaded_free(&diagnose->loaded);
	free(diagnose->ways);
	free(diagnose->transports);
	if (diagnose->daemon->diagnose == diagnose)
		diagnose->daemon->diagnose = NULL;
	g_free(diagnose);
}

static void finish(struct diagnose *diagnose)
{
	struct rpc_result result = { .method = RPC_METHOD_DIAGNOSE };
	struct rpc_error error = { 0 };
	const char *url = "";

	diagnose->facts.captive = portal_is_captive(diagnose->daemon->portal, &url);
	if (diagnose->facts.captive)
		snprintf(diagnose->facts.portal, sizeof(diagnose->facts.portal), "%s", url);
	if (diagnose_judge(&diagnose->facts, &result.diagnosis)) {
		client_reply(diagnose->client, &diagnose->id, &result);
		rpc_result_free(&result);
	} else {
		rpc_error_set(&error, RPC_CODE_OTHER, "memory is short");
		client_reply_error(diagnose->client, &diagnose->id, &error);
	}
	diagnose_free(diagnose);
}

static void fail_busy(struct diagnose *diagnose, const char *why)
{
	struct rpc_error error = { 0 };

	rpc_error_set(&error, RPC_CODE_BUSY, "%s", why);
	error.cause = RPC_CAUSE_BUSY;
	client_reply_error(diagnose->client, &diagnose->id, &error);
	diagnose_free(diagnose);
}

static void progress(struct diagnose *diagnose, enum rpc_step step)
{
	struct rpc_notice notice = { .kind = RPC_NOTICE_PROGRESS };

	if (diagnose->id.kind != RPC_ID_NUMBER)
		return;
	notice.progress.request = diagnose->id.number;
	snprintf(notice.progress.name, sizeof(notice.progress.name), "%s", diagnose->facts.name);
	notice.progress.step = step;
	client_notify(diagnose->client, &notice);
}

static void enter(struct diagnose *diagnose, enum diagnose_phase phase)
{
	diagnose->phase = phase;
	diagnose->since = daemon_now();
}

/* The tunnel of that name, while it is not down. */
static const struct tunnel *running(const struct diagnose *diagnose)
{
	const struct tunnel *tunnel = manager_find(diagnose->daemon->manager, diagnose->facts.name);

	return tunnel && tunnel_phase(tunnel) != TUNNEL_DOWN ? tunnel : NULL;
}

/* ---- the mark of what it sends ---- */

/* As the tunnel itself would have it, where the kill switch lets only marked packets pass. */
static void choose_mark(struct diagnose *diagnose, const struct tunnel *tunnel)
{
	struct daemon *daemon = diagnose->daemon;
	uint32_t mark = FIRST_MARK;

	if (tunnel) {
		diagnose->mark = tunnel_mark(tunnel);
		return;
	}
	diagnose->mark = diagnose->loaded.profile.fwmark;
	if (lockdown_state(daemon->lockdown) == RPC_KILL_SWITCH_OFF)
		return;
	while (!diagnose->mark) {
		if (!net_table_in_use(IP_V4, mark) && !net_table_in_use(IP_V6, mark) &&
			!manager_mark_in_use(daemon->manager, NULL, mark))
			diagnose->mark = mark;
		mark++;
	}
	lockdown_let_pass(daemon->lockdown, DIAGNOSE_INTERFACE, diagnose->mark);
	diagnose->passes = true;
}

/* ---- phases ---- */

static bool any_peer(const struct diagnose *diagnose, bool (*fits)(const struct diagnose_peer *peer))
{
	size_t i;

	for (i = 0; i < diagnose->facts.peer_count; i++)
		if (fits(&diagnose->facts.peers[i]))
			return true;
	return false;
}

static bool has_route(const struct diagnose_peer *peer)
{
	return peer->route;
}

/* There is something more to learn of it. */
static bool is_open(const struct diagnose_peer *peer)
{
	if (!peer->route)
		return false;
	if (!diagnose_peer_answered(peer))
		return true;
	if (peer->verified != RPC_VERIFIED_FULL && !peer->no_large)
		return true;
	return (peer->may_udp && peer->udp == DIAGNOSE_SILENT) ||
	       (peer->may_tcp && peer->tcp == DIAGNOSE_SILENT);
}

/* A handshake by TCP is still to be tried. */
static bool wants_tcp(const struct diagnose_peer *peer)
{
	return peer->route && peer->may_tcp && peer->tcp == DIAGNOSE_OPEN && peer->udp == DIAGNOSE_ANSWERED;
}

static void begin_engine(struct diagnose *diagnose)
{
	struct diagnose_facts *facts = &diagnose->facts;
	int error = diagnose_engine_open(diagnose);

	if (!error)
		error = diagnose_engine_start(diagnose, diagnose->loaded.profile.transport);
	if (!error)
		return;
	snprintf(facts->engine_error, sizeof(facts->engine_error), "%s",
		error == -ENOENT || error == -ENODEV
			? "/dev/net/tun is missing: `modprobe tun`, or give this container the device"
		: error == -EPERM ? "wgtcpd may not make network interfaces: run it as root"
				  : strerror(-error));
	diagnose_engine_close(diagnose);
}

/* Asks nobody whom neither the network nor the profile names. */
static void look_for_portal(struct diagnose *diagnose)
{
	const char *check = diagnose->loaded.profile.portal_check;
	uint32_t mark = diagnose->mark ? diagnose->mark : manager_outside_mark(diagnose->daemon->manager);

	diagnose->facts.portal_asked = check[0] != 0;
	portal_watch_wanted(diagnose->daemon->portal, check, mark);
}

static void begin_try(struct diagnose *diagnose)
{
	enter(diagnose, DIAGNOSE_TRY);
	diagnose_peers_begin(diagnose);
	if (!any_peer(diagnose, has_route))
		return;
	progress(diagnose, RPC_STEP_TRYING_UDP);
	look_for_portal(diagnose);
	if (!diagnose->facts.running && !diagnose->facts.taken)
		begin_engine(diagnose);
}

static bool begin_tcp(struct diagnose *diagnose)
{
	size_t i;

	for (i = 0; i < diagnose->loaded.profile.peer_count; i++)
		if (diagnose->transports[i] == TRANSPORT_AUTO)
			diagnose->transports[i] = TRANSPORT_TCP;
	if (diagnose_engine_start(diagnose, TRANSPORT_TCP) != 0)
		return false;
	enter(diagnose, DIAGNOSE_TCP);
	progress(diagnose, RPC_STEP_TRYING_TCP);
	return true;
}

static void look_at_tunnel(struct diagnose *diagnose, const struct tunnel *tunnel)
{
	const struct rpc_tunnel *view = tunnel_view(tunnel);
	struct diagnose_facts *facts = &diagnose->facts;

	facts->state = view->state;
	facts->cause = view->cause;
	facts->carrier = view->carrier;
	memcpy(facts->message, view->message, sizeof(facts->message));
	if (view->mtu)
		facts->mtu = view->mtu;
	diagnose_peers_look(diagnose, view);
}

static gboolean tick(gpointer user)
{
	struct diagnose *diagnose = user;
	const struct tunnel *tunnel = running(diagnose);
	uint64_t spent_ms = mono_since_ms(daemon_now(), diagnose->since);

	/* Two engines with one key would take the server's answers from each other. */
	if (!!tunnel != diagnose->facts.running) {
		fail_busy(diagnose, "the tunnel was brought up or taken down meanwhile: try again");
		return G_SOURCE_REMOVE;
	}
	switch (diagnose->phase) {
	case DIAGNOSE_NAMES:
		if (diagnose_names_answered(diagnose) || spent_ms >= NAMES_MS)
			begin_try(diagnose);
		return G_SOURCE_CONTINUE;
	case DIAGNOSE_TRY:
		if (tunnel)
			look_at_tunnel(diagnose, tunnel);
		else
			diagnose_peers_look(diagnose, NULL);
		/* It may have been asked a moment ago: then it is asked again when it may be. */
		if (diagnose->engine && !any_peer(diagnose, diagnose_peer_answered))
			look_for_portal(diagnose);
		if (any_peer(diagnose, is_open) && (tunnel || diagnose->engine) &&
			spent_ms < (tunnel ? RUNNING_MS : TRY_MS) &&
			(tunnel || !diagnose_engine_is_lost(diagnose)))
			return G_SOURCE_CONTINUE;
		if (diagnose->engine && any_peer(diagnose, wants_tcp) && begin_tcp(diagnose))
			return G_SOURCE_CONTINUE;
		break;
	case DIAGNOSE_TCP:
		diagnose_peers_look(diagnose, NULL);
		if (any_peer(diagnose, wants_tcp) && spent_ms < TCP_MS && !diagnose_engine_is_lost(diagnose))
			return G_SOURCE_CONTINUE;
		break;
	}
	diagnose->tick = 0;
	finish(diagnose);
	return G_SOURCE_REMOVE;
}

/* ---- the request ---- */

static void names_changed(void *user)
{
	(void)user; /* the next tick looks */
}

static bool load(struct diagnose *diagnose, struct rpc_error *error)
{
	struct daemon *daemon = diagnose->daemon;
	const struct tunnel *tunnel = running(diagnose);
	const struct profile *profile = &diagnose->loaded.profile;
	size_t i;

	if (!profiles_load(daemon->profiles, diagnose->facts.name, &diagnose->loaded, error))
		return false;
	diagnose->ways = calloc(profile->peer_count + 1, sizeof(*diagnose->ways));
	diagnose->transports = calloc(profile->peer_count + 1, sizeof(*diagnose->transports));
	if (!diagnose->ways || !diagnose->transports) {
		rpc_error_set(error, RPC_CODE_OTHER, "memory is short");
		return false;
	}
	for (i = 0; i < profile->peer_count; i++)
		diagnose->transports[i] = profile_peer_transport(profile, i);
	diagnose->facts.running = tunnel != NULL;
	choose_mark(diagnose, tunnel);
	diagnose->names = names_new(daemon, diagnose->mark, names_changed, diagnose);
	diagnose_peers_find(diagnose);
	return true;
}

void method_diagnose(struct daemon *daemon, struct client *client, const struct rpc_request *request)
{
	struct rpc_error error = { 0 };
	struct diagnose *diagnose;

	if (daemon->diagnose || daemon->ending) {
		rpc_error_set(
			&error, RPC_CODE_BUSY, "another diagnosis is under way: try again in some seconds");
		error.cause = RPC_CAUSE_BUSY;
		client_reply_error(client, &request->id, &error);
		return;
	}
	diagnose = g_new0(struct diagnose, 1);
	diagnose->daemon = daemon;
	diagnose->client = client;
	diagnose->id = request->id;
	daemon->diagnose = diagnose;
	if (request->name[0] &&
		(!profiles_name(daemon->profiles, request->name, diagnose->facts.name, &error) ||
			!load(diagnose, &error))) {
		client_reply_error(client, &request->id, &error);
		diagnose_free(diagnose);
		return;
	}
	progress(diagnose, RPC_STEP_STARTING);
	diagnose_look(diagnose);
	if (!diagnose->facts.name[0] || !diagnose->facts.peer_count) {
		finish(diagnose);
		return;
	}
	if (diagnose->facts.host_count)
		progress(diagnose, RPC_STEP_RESOLVING);
	enter(diagnose, DIAGNOSE_NAMES);
	diagnose->tick = g_timeout_add(TICK_MS, tick, diagnose);
}

void diagnose_client_gone(struct daemon *daemon, const struct client *client)
{
	if (daemon->diagnose && daemon->diagnose->client == client)
		diagnose_free(daemon->diagnose);
}

void diagnose_cancel(struct daemon *daemon)
{
	struct rpc_error error = { 0 };

	if (!daemon->diagnose)
		return;
	rpc_error_set(&error, RPC_CODE_CANCELLED, "the daemon ends");
	client_reply_error(daemon->diagnose->client, &daemon->diagnose->id, &error);
	diagnose_free(daemon->diagnose);
}

bool diagnose_has_interface(const struct daemon *daemon)
{
	return daemon->diagnose && daemon->diagnose->interface;
}
