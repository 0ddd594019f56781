/* SPDX-License-Identifier: MIT */
/* What a tunnel does while it is there: hears from its backend, replaces an engine that died. */
#include "client/daemon/second.h"

#include "client/daemon/journal.h"
#include "client/daemon/manager.h"
#include "client/daemon/record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* An engine that ran for so long did not die of what it was started with. */
#define HEALTHY_MS 60000

static const unsigned restart_ms[] = { 100, 1000, 5000, 15000, 30000 };

void tunnel_forget_timers(struct tunnel *tunnel)
{
	guint *timers[] = { &tunnel->restart, &tunnel->trying_tcp, &tunnel->switch_over };
	size_t i;

	for (i = 0; i < sizeof(timers) / sizeof(timers[0]); i++) {
		if (*timers[i])
			g_source_remove(*timers[i]);
		*timers[i] = 0;
	}
	asker_free(tunnel->asker);
	tunnel->asker = NULL;
}

/* ---- numbers and states ---- */

void tunnel_query(struct tunnel *tunnel)
{
	if (!tunnel->run)
		return;
	/* One answer at a time; what changes meanwhile is in the next. */
	if (tunnel->queried) {
		tunnel->query_again = true;
		return;
	}
	tunnel->queried = true;
	tunnel->backend->query(tunnel->run);
}

void tunnel_poll(struct tunnel *tunnel)
{
	const struct tunnel *carrier = second_carrier(tunnel);

	if (carrier != tunnel && carrier->configured)
		tunnel_query(second_carrier(tunnel));
	if (tunnel->phase != TUNNEL_DOWN && tunnel->configured)
		tunnel_query(tunnel);
	else
		tunnel_wait_for_names(tunnel);
}

static void resolve(const uint8_t public_key[32], void *user)
{
	tunnel_resolve(user, public_key);
}

static void remember(const uint8_t public_key[32], uint32_t udp, void *user)
{
	tunnel_remember(user, public_key, (enum fallback_udp)udp);
}

static void network(void *user)
{
	second_network_changed(user);
	tunnel_network_changed(user);
}

static int replace_network(void *user)
{
	struct tunnel *tunnel = user;
	bool done = tunnel_set_addresses(tunnel) == STEP_DONE && tunnel_set_routes(tunnel) == STEP_DONE;

	if (!done)
		journal_say(
			tunnel->daemon->journal, JOURNAL_ERROR, tunnel->name, "%s", tunnel->failure.message);
	rpc_error_free(&tunnel->failure);
	return done ? 0 : -EIO;
}

static void peer_changed(void *user)
{
	struct tunnel *tunnel = user;

	if (tunnel->configured)
		tunnel_query(tunnel);
}

static bool any_preshared_key_differs(const struct rpc_tunnel *view)
{
	size_t i;

	for (i = 0; i < view->peer_count; i++)
		if (view->peers[i].preshared_key_differs &&
			view->peers[i].cause == RPC_CAUSE_HANDSHAKE_REFUSED)
			return true;
	return false;
}

static void explain(struct tunnel *tunnel)
{
	struct rpc_tunnel *view = &tunnel->view;
	const char *how = view->transport == TRANSPORT_UDP ? "over UDP (Transport = udp allows nothing else)"
			  : view->transport == TRANSPORT_TCP
				  ? "over TCP (Transport = tcp allows nothing else)"
				  : "neither over UDP nor over TCP";
	const char *verb = view->transport == TRANSPORT_AUTO ? "answers" : "does not answer";
	const char *missing = names_missing(tunnel->names);
	const char *family = view->cause == RPC_CAUSE_NO_NETWORK ? tunnel_missing_family(tunnel) : NULL;

	view->message[0] = 0;
	switch (view->cause) {
	case RPC_CAUSE_NO_NETWORK:
		if (family) {
			snprintf(view->message, sizeof(view->message),
				"the server of %s has only an %s address, and this network has no %s: use a "
				"network that "
				"has it, or give Endpoint an address of the other kind",
				tunnel->name, family, family);
			return;
		}
		snprintf(view->message, sizeof(view->message),
			"there is no route to the server: connect this machine to a network; %s goes on by "
			"itself then",
			tunnel->name);
		return;
	case RPC_CAUSE_DNS_FAILED:
		snprintf(view->message, sizeof(view->message),
			"the name %.200s cannot be looked up: check Endpoint and this machine's DNS",
			missing ? missing : "of a peer's endpoint");
		return;
	case RPC_CAUSE_PEER_UNREACHABLE:
		snprintf(view->message, sizeof(view->message),
			"the server of %s %s %s: check that it runs and that Endpoint is right", tunnel->name,
			verb, how);
		return;
	case RPC_CAUSE_HANDSHAKE_REFUSED:
		if (any_preshared_key_differs(view)) {
			snprintf(view->message, sizeof(view->message),
				"the server of %s answers our handshake, but with another preshared key: "
				"PresharedKey "
				"in the profile is not the one that the server has for this machine (or one "
				"side has "
				"none)",
				tunnel->name);
			return;
		}
		snprintf(view->message, sizeof(view->message),
			"the server of %s can be reached but does not answer our handshake: check PublicKey "
			"and "
			"PresharedKey here, and that the server has our public key",
			tunnel->name);
		return;
	case RPC_CAUSE_CAPTIVE_PORTAL:
		tunnel_explain_portal(tunnel, view->message, sizeof(view->message));
		return;
	case RPC_CAUSE_NONE:
	case RPC_CAUSE_CLOCK:
	case RPC_CAUSE_PERMISSION:
	case RPC_CAUSE_BUSY:
	case RPC_CAUSE_CONFIG:
		break;
	}
	if (view->state == RPC_STATE_DEGRADED)
		snprintf(view->message, sizeof(view->message), "%s",
			view->reason == RPC_REASON_UDP_NO_LARGE ? "small packets pass, full-size ones do "
								  "not: try a smaller MTU in the profile"
								: "handshakes pass, data does not: something "
								  "between here and the server drops it");
}

/* before: the reading that came before the newest one. */
static void put_on_record(
	struct tunnel *tunnel, const struct stats_rate *before, const struct rpc_sample *read)
{
	const struct stats_rate *now = &tunnel->stats.rate;
	struct history_reading reading = { .time = read->time,
		.rx_bps = now->rx_bps,
		.tx_bps = now->tx_bps,
		/* One without an echo may be as old as the last handshake. */
		.rtt_us = read->echoes ? read->rtt_us : 0,
		.echoes = read->echoes,
		.lost = (uint32_t)((uint64_t)read->echoes * read->loss_permille / 1000) };

	/* A counter that went back began again at 0. */
	reading.rx_bytes = now->rx_bytes - (now->rx_bytes < before->rx_bytes ? 0 : before->rx_bytes);
	reading.tx_bytes = now->tx_bytes - (now->tx_bytes < before->tx_bytes ? 0 : before->tx_bytes);
	record_add(tunnel->daemon->record, tunnel->first ? tunnel->first->name : tunnel->name, &reading);
}

static void count(struct tunnel *tunnel)
{
	struct mono now = daemon_now();
	uint64_t rx = 0, tx = 0;
	struct stats_rate before;
	struct rpc_sample read = { .time = (uint64_t)time(NULL) };
	const struct rpc_sample *sample;
	size_t i;

	tunnel_read_echoes(tunnel, now, &read);

	for (i = 0; i < tunnel->view.peer_count; i++) {
		struct rpc_peer *peer = &tunnel->view.peers[i];
		struct stats_rate *rate = &tunnel->peers[i].rate;

		stats_rate_read(rate, now, peer->rx_bytes, peer->tx_bytes);
		peer->rx_bps = rate->rx_bps;
		peer->tx_bps = rate->tx_bps;
		rx += peer->rx_bytes;
		tx += peer->tx_bytes;
		if (peer->rtt_us > read.rtt_us)
			read.rtt_us = peer->rtt_us;
	}
	before = tunnel->stats.rate;
	sample = stats_add(&tunnel->stats, now, rx, tx, &read);
	if (tunnel->stats.rate.last.ns != before.last.ns)
		put_on_record(tunnel, &before, &read);
	if (sample && !tunnel->parked)
		manager_sampled(tunnel->daemon->manager, tunnel->first ? tunnel->first : tunnel, sample);
}

/* The engine cannot know: to it, no route looks like no answer. */
static void look_for_network(struct tunnel *tunnel)
{
	switch (tunnel->view.state) {
	case RPC_STATE_CONNECTING:
	case RPC_STATE_RECONNECTING:
	case RPC_STATE_FAILED:
		if (tunnel->view.cause != RPC_CAUSE_DNS_FAILED && !tunnel_any_route(tunnel))
			tunnel->view.cause = RPC_CAUSE_NO_NETWORK;
		else
			tunnel_look_for_portal(tunnel);
		return;
	case RPC_STATE_DOWN:
	case RPC_STATE_VERIFYING:
	case RPC_STATE_UP:
	case RPC_STATE_DEGRADED:
		return;
	}
}

/* A new engine connects; a person sees a tunnel that was up before. */
static void call_it_reconnecting(struct tunnel *tunnel)
{
	size_t i;

	for (i = 0; i < tunnel->view.peer_count; i++)
		if (tunnel->view.peers[i].state == RPC_STATE_CONNECTING)
			tunnel->view.peers[i].state = RPC_STATE_RECONNECTING;
	if (tunnel->view.state == RPC_STATE_CONNECTING)
		tunnel->view.state = RPC_STATE_RECONNECTING;
}

static void answered(int error, const struct uapi_device *device, void *user)
{
	struct tunnel *tunnel = user;
	struct rpc_tunnel before = view_shell(&tunnel->view);
	bool *waiting;

	tunnel->queried = false;
	if (error || !device) {
		tunnel->query_again = false;
		return;
	}
	waiting = calloc(tunnel->view.peer_count + 1, sizeof(*waiting));
	if (!waiting)
		return;
	tunnel_waiting(tunnel, waiting);
	view_update(&tunnel->view, &tunnel->loaded.profile, device, waiting);
	if (tunnel->backend->carries)
		tunnel->view.backend = tunnel->backend->carries(tunnel->run);
	free(waiting);
	if (tunnel->phase == TUNNEL_RUNNING)
		call_it_reconnecting(tunnel);
	look_for_network(tunnel);
	tunnel_look_at_names(tunnel);
	count(tunnel);
	if (tunnel->view.state == RPC_STATE_VERIFYING && before.state != RPC_STATE_VERIFYING &&
		tunnel->phase == TUNNEL_STARTING)
		tunnel->events->progress(tunnel, RPC_STEP_VERIFYING, NULL, tunnel->user);
	if (tunnel->phase == TUNNEL_STARTING && tunnel->view.cause == RPC_CAUSE_NO_NETWORK &&
		before.cause != RPC_CAUSE_NO_NETWORK)
		tunnel->events->progress(tunnel, RPC_STEP_WAITING_FOR_NETWORK, NULL, tunnel->user);
	explain(tunnel);
	if (tunnel->phase == TUNNEL_RUNNING)
		view_call_partly(&tunnel->view, &tunnel->loaded.profile);
	tunnel_keep_show(tunnel);
	tunnel->read = daemon_now();
	tunnel_tell(tunnel, &before);
	tunnel->events->read(tunnel, tunnel->user);
	if (tunnel->query_again) {
		tunnel->query_again = false;
		tunnel_query(tunnel);
	}
	if (tunnel->switching)
		tunnel_switch_look(tunnel);
	if (tunnel->phase == TUNNEL_STARTING && steps_current(&tunnel->steps))
		tunnel_step(tunnel);
}

static void lost_again(struct tunnel *tunnel);

static void configured(int error, void *user)
{
	struct tunnel *tunnel = user;
	bool first = !tunnel->configured;

	if (error && !first)
		return; /* a change of an address; the engine keeps the old one */
	if (error) {
		rpc_error_set(&tunnel->failure, error == -EADDRINUSE ? RPC_CODE_BUSY : RPC_CODE_OTHER,
			error == -EADDRINUSE
				? "the port that %s is to listen on is in use: change ListenPort or "
				  "TcpListenPort, or end the other program%s"
				: "%s cannot be configured: %s",
			tunnel->name, error == -EADDRINUSE ? "" : strerror(-error));
		tunnel->failure.cause = error == -EADDRINUSE ? RPC_CAUSE_BUSY : RPC_CAUSE_CONFIG;
	} else {
		tunnel->configured = true;
	}
	if (tunnel->phase == TUNNEL_STARTING && steps_current(&tunnel->steps) && !tunnel->restarted) {
		tunnel_step(tunnel);
		return;
	}
	if (!first) {
		tunnel_has_new_ways(tunnel);
		return;
	}
	if (error) {
		lost_again(tunnel);
		return;
	}
	/* A new engine after one that died. */
	tunnel->restarted = false;
	tunnel_start_peers(tunnel);
	tunnel_query(tunnel);
}

/* ---- engines that die, interfaces that go ---- */

static gboolean restart_due(gpointer user)
{
	struct tunnel *tunnel = user;

	tunnel->restart = 0;
	if (tunnel->backend->restart(tunnel->run) != 0 || tunnel_configure(tunnel) != 0) {
		lost_again(tunnel);
		return G_SOURCE_REMOVE;
	}
	tunnel->lived = daemon_now();
	return G_SOURCE_REMOVE;
}

static void schedule_restart(struct tunnel *tunnel)
{
	size_t most = sizeof(restart_ms) / sizeof(restart_ms[0]) - 1;
	unsigned delay = restart_ms[tunnel->deaths < most ? tunnel->deaths : most];

	tunnel->deaths++;
	if (!tunnel->restart)
		tunnel->restart = g_timeout_add(delay, restart_due, tunnel);
}

static void lost_again(struct tunnel *tunnel)
{
	rpc_error_free(&tunnel->failure);
	schedule_restart(tunnel);
}

static void lost(void *user)
{
	struct tunnel *tunnel = user;
	struct rpc_tunnel before = view_shell(&tunnel->view);
	size_t i;

	tunnel->queried = tunnel->query_again = false;
	if (tunnel->phase == TUNNEL_STARTING && !tunnel->configured && !tunnel->restarted) {
		rpc_error_set(&tunnel->failure, RPC_CODE_OTHER,
			"the engine of %s ended while it was being set up: `wgtcp-cli logs` says why",
			tunnel->name);
		tunnel_step(tunnel);
		return;
	}
	tunnel->configured = false;
	tunnel->restarted = true;
	for (i = 0; i < tunnel->view.peer_count; i++) {
		struct rpc_peer *peer = &tunnel->view.peers[i];

		if (peer->state != RPC_STATE_DOWN)
			peer->state = tunnel->phase == TUNNEL_STARTING ? RPC_STATE_CONNECTING
								       : RPC_STATE_RECONNECTING;
		peer->carrier = CARRIER_NONE;
		peer->verified = RPC_VERIFIED_NONE;
	}
	if (tunnel->phase == TUNNEL_RUNNING) {
		tunnel->view.state = RPC_STATE_RECONNECTING;
		tunnel->view.carrier = CARRIER_NONE;
		tunnel->view.verified = RPC_VERIFIED_NONE;
		tunnel->view.cause = RPC_CAUSE_NONE;
	}
	if (mono_since_ms(daemon_now(), tunnel->lived) > HEALTHY_MS)
		tunnel->deaths = 0;
	snprintf(tunnel->view.message, sizeof(tunnel->view.message),
		"the engine of %s ended by itself and is being started again: `wgtcp-cli logs` says more",
		tunnel->name);
	schedule_restart(tunnel);
	tunnel_tell(tunnel, &before);
}

static void link_gone(void *user)
{
	struct tunnel *tunnel = user;
	struct rpc_error error = { 0 };

	rpc_error_set(&error, RPC_CODE_OTHER,
		"somebody deleted the interface %s, so the tunnel was taken down: `wgtcp-cli up %s` brings "
		"it back",
		tunnel->name, tunnel->name);
	error.cause = RPC_CAUSE_CONFIG;
	error.has_state = true;
	error.state = RPC_STATE_FAILED;
	journal_say(tunnel->daemon->journal, JOURNAL_ERROR, tunnel->name, "%s", error.message);
	tunnel_down(tunnel, &error);
	rpc_error_free(&error);
}

static void timestamp(const struct wall *newest, void *user)
{
	struct tunnel *tunnel = user;

	manager_timestamp(tunnel->daemon->manager, newest);
}

const struct backend_events tunnel_backend_events = {
	.peer_changed = peer_changed,
	.resolve = resolve,
	.timestamp = timestamp,
	.remember = remember,
	.network = network,
	.replace_network = replace_network,
	.lost = lost,
	.link_gone = link_gone,
	.configured = configured,
	.answered = answered,
};
