/* SPDX-License-Identifier: MIT */
/* See speed.h. Called by methods.c and manager.c. */
#include "client/daemon/speed.h"

#include "client/daemon/children.h"
#include "client/daemon/daemon.h"
#include "client/daemon/journal.h"
#include "client/daemon/manager.h"
#include "client/daemon/methods.h"
#include "client/daemon/process.h"
#include "client/daemon/profiles.h"
#include "core/port/net_config.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>

#define TICK_MS 100
/* The tunnel's state is asked for each second, the interface's counters each tick. */
#define POLL_TICKS 10
/* What a notice tells; more than are decided in a tick. */
#define ECHOES_MAX 40
/* A carrier that cannot be put back is left after so long, as tunnel.switch itself would. */
#define END_MS 20000

struct speed {
	struct daemon *daemon;
	struct client *client; /* NULL: it has gone, and the carrier is still to be put back */
	char name[PROFILE_NAME_LEN];
	size_t peer;
	enum transport before;
	bool moved; /* the client has asked for another carrier */
	bool ending, putting_back;
	struct mono ends; /* at the latest */
	struct rpc_id end_id;
	guint tick, ticks;
	struct rpc_echo echoes[ECHOES_MAX];
	size_t echo_count;
};

static struct tunnel *tunnel_of(const struct speed *speed)
{
	struct tunnel *tunnel = manager_find(speed->daemon->manager, speed->name);

	return tunnel && tunnel_phase(tunnel) == TUNNEL_RUNNING ? tunnel : NULL;
}

static void quiet_one(struct tunnel *tunnel, void *user)
{
	(void)user;
	tunnel_quiet(tunnel);
}

/* Of all tunnels: with a FallbackProfile, both may have been asked in the course of the test, and an echo
 * that is answered late must not find whoever has gone. */
static void quiet(const struct speed *speed)
{
	manager_each(speed->daemon->manager, quiet_one, NULL);
}

static void speed_free(struct speed *speed)
{
	quiet(speed);
	if (speed->tick)
		g_source_remove(speed->tick);
	speed->daemon->speed = NULL;
	g_free(speed);
}

/* ---- the end ---- */

static void answer_end(struct speed *speed)
{
	struct rpc_result result = { .method = RPC_METHOD_SPEEDTEST_END };

	if (speed->client && speed->end_id.kind != RPC_ID_NONE)
		client_reply(speed->client, &speed->end_id, &result);
}

/* True: all is as it was, and speed is freed. */
static bool go_on_ending(struct speed *speed)
{
	struct tunnel *tunnel = tunnel_of(speed);
	const struct rpc_id nobody = { 0 };

	if (tunnel && tunnel_is_switching(tunnel) && !mono_reached(daemon_now(), speed->ends))
		return false;
	if (tunnel && !tunnel_is_switching(tunnel) && speed->moved && !speed->putting_back &&
		tunnel_view(tunnel)->transport != speed->before && !speed->daemon->ending) {
		speed->putting_back = true;
		manager_switch(speed->daemon->manager, speed->name, speed->before, "", NULL, &nobody);
		return false;
	}
	answer_end(speed);
	speed_free(speed);
	return true;
}

/* True: at once. */
static bool begin_ending(struct speed *speed)
{
	speed->ending = true;
	speed->ends = mono_add_ms(daemon_now(), END_MS);
	quiet(speed);
	return go_on_ending(speed);
}

/* ---- the beat ---- */

static void decided(struct mono sent, uint32_t rtt_us, void *user)
{
	struct speed *speed = user;

	if (speed->echo_count < ECHOES_MAX)
		speed->echoes[speed->echo_count++] =
			(struct rpc_echo){ .sent_ms = sent.ns / 1000000, .rtt_us = rtt_us };
}

static uint64_t cpu_ms(const struct speed *speed)
{
	uint64_t sum = 0;
	size_t cursor = 0;
	pid_t pid;

	while (children_next_of(speed->daemon->children, speed->name, &cursor, &pid))
		sum += process_cpu_ms(pid);
	return sum;
}

/* The other profile of a pair, or one that was changed meanwhile, may have fewer peers. */
static enum carrier carrier_of(const struct rpc_tunnel *view, size_t peer)
{
	return peer < view->peer_count ? view->peers[peer].carrier : CARRIER_NONE;
}

static void tell(struct speed *speed, const struct tunnel *tunnel)
{
	struct rpc_notice notice = { .kind = RPC_NOTICE_SPEEDTEST };
	struct net_link link = { 0 };

	snprintf(notice.speedtest.name, sizeof(notice.speedtest.name), "%s", speed->name);
	notice.speedtest.state = manager_state(speed->daemon->manager, speed->name);
	if (tunnel) {
		if (net_link_find(speed->daemon->net, tunnel_view(tunnel)->interface, &link) != 0)
			notice.speedtest.state = RPC_STATE_DOWN;
		notice.speedtest.carrier = carrier_of(tunnel_view(tunnel), speed->peer);
		notice.speedtest.cpu_ms = cpu_ms(speed);
	}
	notice.speedtest.rx_bytes = link.rx_bytes;
	notice.speedtest.tx_bytes = link.tx_bytes;
	notice.speedtest.time_ms = daemon_now().ns / 1000000;
	notice.speedtest.echoes = speed->echoes; /* borrowed */
	notice.speedtest.echo_count = speed->echo_count;
	client_notify(speed->client, &notice);
	speed->echo_count = 0;
}

static gboolean beat(gpointer user)
{
	struct speed *speed = user;
	struct tunnel *tunnel = tunnel_of(speed);

	if (speed->ending) {
		guint own = speed->tick;

		/* Whoever frees it must not remove the source that is just running. */
		speed->tick = 0;
		if (go_on_ending(speed))
			return G_SOURCE_REMOVE;
		speed->tick = own;
		return G_SOURCE_CONTINUE;
	}
	if (tunnel) {
		tunnel_probe(tunnel, speed->peer, decided, speed);
		if (speed->ticks++ % POLL_TICKS == 0)
			tunnel_poll(tunnel);
	}
	tell(speed, tunnel);
	if (tunnel)
		return G_SOURCE_CONTINUE;
	/* The last notice has said that there is nothing to measure any more. */
	speed->tick = 0;
	speed_free(speed);
	return G_SOURCE_REMOVE;
}

/* ---- the methods ---- */

static bool find_peer(const struct tunnel *tunnel, const struct rpc_request *request, size_t *peer,
	struct ip_address *source, struct ip_address *target, struct rpc_error *error)
{
	const struct rpc_tunnel *view = tunnel_view(tunnel);
	bool known = !request->peer[0];
	size_t i;

	for (i = 0; i < view->peer_count; i++) {
		if (request->peer[0] && strcmp(view->peers[i].public_key, request->peer) != 0)
			continue;
		known = true;
		if (!tunnel_inside(tunnel_in_use(tunnel), i, source, target))
			continue;
		*peer = i;
		return true;
	}
	if (!known)
		rpc_error_set(error, RPC_CODE_INVALID_PARAMS,
			"%s has no peer with that key: `wgtcp-cli status %s` shows them", view->name,
			view->name);
	else
		rpc_error_set(error, RPC_CODE_CONFIG,
			"%s does not say which address inside the tunnel to measure against: set "
			"ProbeAddress = IP in "
			"the profile's [Peer]",
			view->name);
	return false;
}

static void reply_prepared(struct speed *speed, const struct tunnel *tunnel,
	const struct rpc_request *request, const struct ip_address *source, const struct ip_address *target)
{
	const struct rpc_tunnel *view = tunnel_view(tunnel);
	struct rpc_result result = { .method = RPC_METHOD_SPEEDTEST_PREPARE };
	struct rpc_prepared *prepared = &result.prepared;
	char text[ENDPOINT_TEXT_LEN];

	snprintf(prepared->name, sizeof(prepared->name), "%s", view->name);
	snprintf(prepared->interface, sizeof(prepared->interface), "%s", view->interface);
	snprintf(prepared->source, sizeof(prepared->source), "%s", ip_address_write(source, text));
	snprintf(prepared->address, sizeof(prepared->address), "%s", ip_address_write(target, text));
	prepared->port = SPEED_PORT;
	snprintf(prepared->peer, sizeof(prepared->peer), "%s", view->peers[speed->peer].public_key);
	prepared->transport = view->transport;
	prepared->carrier = view->peers[speed->peer].carrier;
	prepared->backend = view->backend;
	prepared->mtu = view->mtu;
	client_reply(speed->client, &request->id, &result);
}

void method_speedtest_prepare(struct daemon *daemon, struct client *client, const struct rpc_request *request)
{
	struct rpc_error error = { 0 };
	struct ip_address source, target;
	char name[PROFILE_NAME_LEN];
	struct tunnel *tunnel;
	struct speed *speed;
	size_t peer = 0;

	if (!profiles_name(daemon->profiles, request->name, name, &error)) {
		client_reply_error(client, &request->id, &error);
		return;
	}
	tunnel = manager_find(daemon->manager, name);
	if (daemon->ending || daemon->speed) {
		rpc_error_set(&error, RPC_CODE_BUSY,
			"another speed test is under way: try again when it has ended");
		error.cause = RPC_CAUSE_BUSY;
	} else if (!tunnel || tunnel_phase(tunnel) != TUNNEL_RUNNING) {
		rpc_error_set(&error, RPC_CODE_NOT_UP, "%s is not up: `wgtcp-cli up %s` first", name, name);
	} else {
		find_peer(tunnel, request, &peer, &source, &target, &error);
	}
	if (error.code) {
		client_reply_error(client, &request->id, &error);
		return;
	}
	speed = g_new0(struct speed, 1);
	speed->daemon = daemon;
	speed->client = client;
	memcpy(speed->name, name, sizeof(speed->name));
	speed->peer = peer;
	speed->before = tunnel_view(tunnel)->transport;
	speed->tick = g_timeout_add(TICK_MS, beat, speed);
	daemon->speed = speed;
	reply_prepared(speed, tunnel, request, &source, &target);
}

void method_speedtest_end(struct daemon *daemon, struct client *client, const struct rpc_request *request)
{
	struct speed *speed = daemon->speed;
	struct rpc_result result = { .method = RPC_METHOD_SPEEDTEST_END };

	if (!speed || speed->client != client) {
		client_reply(client, &request->id, &result);
		return;
	}
	speed->end_id = request->id;
	if (!speed->ending)
		begin_ending(speed);
}

void speed_client_moves(struct daemon *daemon, const struct client *client, const char *name)
{
	if (daemon->speed && daemon->speed->client == client && !strcmp(daemon->speed->name, name))
		daemon->speed->moved = true;
}

void speed_client_gone(struct daemon *daemon, const struct client *client)
{
	struct speed *speed = daemon->speed;

	if (!speed || speed->client != client)
		return;
	speed->client = NULL;
	if (!speed->ending)
		begin_ending(speed);
}

void speed_cancel(struct daemon *daemon)
{
	if (daemon->speed)
		speed_free(daemon->speed);
}
