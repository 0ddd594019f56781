/* SPDX-License-Identifier: MIT */
/* Notices to those who watch. Used by manager.c. */
#include "client/daemon/watch.h"
#include "client/daemon/daemon.h"
#include "client/daemon/manager.h"

#include <glib.h>
#include <stdio.h>

/* More than keepalives and handshakes make. */
#define BUSY_BPS 4000
/* It is read each second so long after it has moved something. */
#define BUSY_MS 10000

struct watch {
	const struct manager *manager;
	GPtrArray *clients;  /* borrowed */
	guint second, quiet; /* sources: one of them, while some tunnel is there */
	struct mono busy;    /* until then something moves */
};

static void tell(struct watch *watch, const struct rpc_notice *notice)
{
	guint i;

	for (i = 0; i < watch->clients->len; i++)
		client_notify(g_ptr_array_index(watch->clients, i), notice);
}

static struct rpc_notice state_notice(const struct tunnel *tunnel)
{
	struct rpc_notice notice = { .kind = RPC_NOTICE_STATE };

	notice.state.tunnel = *tunnel_view(tunnel); /* borrowed */
	return notice;
}

static struct rpc_notice stats_notice(
	const struct tunnel *tunnel, const struct rpc_sample *samples, size_t count)
{
	const struct rpc_tunnel *view = tunnel_view(tunnel);
	struct rpc_notice notice = { .kind = RPC_NOTICE_STATS };

	snprintf(notice.stats.name, sizeof(notice.stats.name), "%s", view->name);
	notice.stats.samples = (struct rpc_sample *)samples;
	notice.stats.sample_count = count;
	notice.stats.peers = view->peers;
	notice.stats.peer_count = view->peer_count;
	return notice;
}

void watch_tell_state(struct watch *watch, const struct tunnel *tunnel)
{
	struct rpc_notice notice = state_notice(tunnel);

	tell(watch, &notice);
}

void watch_tell_sample(struct watch *watch, const struct tunnel *tunnel, const struct rpc_sample *sample)
{
	struct rpc_notice notice = stats_notice(tunnel, sample, 1);

	tell(watch, &notice);
	if (sample->rx_bps + sample->tx_bps < BUSY_BPS)
		return;
	watch->busy = mono_add_ms(daemon_now(), BUSY_MS);
	watch_wake(watch);
}

void watch_tell_gone(struct watch *watch, const char *name)
{
	struct rpc_notice notice = { .kind = RPC_NOTICE_STATE };

	snprintf(notice.state.tunnel.name, sizeof(notice.state.tunnel.name), "%s", name);
	notice.state.gone = true;
	tell(watch, &notice);
}

/* ---- the beat ---- */

struct needs {
	bool running, unsettled;
};

static void look(struct tunnel *tunnel, void *user)
{
	struct needs *needs = user;

	needs->running |= tunnel_phase(tunnel) != TUNNEL_DOWN;
	needs->unsettled |= tunnel_unsettled(tunnel);
}

static bool is_wanted(const struct watch *watch)
{
	struct needs needs = { 0 };

	manager_each(watch->manager, look, &needs);
	return needs.unsettled ||
	       (needs.running && (watch->clients->len > 0 || !mono_reached(daemon_now(), watch->busy)));
}

static void poll_one(struct tunnel *tunnel, void *user)
{
	const struct watch *watch = user;

	if (watch->clients->len > 0 || tunnel_unsettled(tunnel))
		tunnel_ask(tunnel);
	tunnel_poll(tunnel);
}

static bool is_running(const struct watch *watch)
{
	struct needs needs = { 0 };

	manager_each(watch->manager, look, &needs);
	return needs.running;
}

static gboolean now_and_then(gpointer user)
{
	struct watch *watch = user;

	if (watch->second || !is_running(watch)) {
		watch->quiet = 0;
		return G_SOURCE_REMOVE;
	}
	manager_each(watch->manager, poll_one, watch);
	return G_SOURCE_CONTINUE;
}

static void stay_quiet(struct watch *watch)
{
	if (!watch->quiet && is_running(watch))
		watch->quiet = g_timeout_add_seconds(STATS_QUIET_S, now_and_then, watch);
}

static gboolean every_second(gpointer user)
{
	struct watch *watch = user;

	if (!is_wanted(watch)) {
		watch->second = 0;
		stay_quiet(watch);
		return G_SOURCE_REMOVE;
	}
	manager_each(watch->manager, poll_one, watch);
	return G_SOURCE_CONTINUE;
}

void watch_wake(struct watch *watch)
{
	if (!watch->second && is_wanted(watch))
		watch->second = g_timeout_add_seconds(1, every_second, watch);
	else if (!watch->second)
		stay_quiet(watch);
}

/* ---- clients ---- */

static void tell_all(struct tunnel *tunnel, void *user)
{
	struct rpc_sample samples[STATS_SAMPLES];
	struct rpc_notice notice = state_notice(tunnel);
	struct client *client = user;

	client_notify(client, &notice);
	if (tunnel_phase(tunnel) == TUNNEL_DOWN || tunnel_lent_to(tunnel))
		return;
	notice = stats_notice(tunnel, samples, stats_samples(tunnel_stats(tunnel), samples));
	client_notify(client, &notice);
}

void watch_add(struct watch *watch, struct client *client)
{
	if (!g_ptr_array_find(watch->clients, client, NULL))
		g_ptr_array_add(watch->clients, client);
	manager_each(watch->manager, tell_all, client);
	/* A first reading, for the rates of the next. */
	if (!watch->second)
		manager_each(watch->manager, poll_one, watch);
	watch_wake(watch);
}

void watch_client_gone(struct watch *watch, struct client *client)
{
	g_ptr_array_remove(watch->clients, client);
}

struct watch *watch_new(const struct manager *manager)
{
	struct watch *watch = g_new0(struct watch, 1);

	watch->manager = manager;
	watch->clients = g_ptr_array_new();
	return watch;
}

void watch_free(struct watch *watch)
{
	if (!watch)
		return;
	if (watch->second)
		g_source_remove(watch->second);
	if (watch->quiet)
		g_source_remove(watch->quiet);
	g_ptr_array_unref(watch->clients);
	g_free(watch);
}
