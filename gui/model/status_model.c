/* SPDX-License-Identifier: MIT */
#include "gui/model/status_model.h"

#include "gui/model/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <ctype.h>
#include <string.h>

static void tunnel_free(struct model_tunnel *tunnel)
{
	rpc_tunnel_free(&tunnel->status);
	free(tunnel);
}

void status_model_free(struct status_model *model)
{
	for (size_t i = 0; i < model->count; i++)
		tunnel_free(model->tunnels[i]);
	free(model->tunnels);
	*model = (struct status_model){ 0 };
}

void status_model_lost(struct status_model *model)
{
	for (size_t i = 0; i < model->count; i++) {
		struct model_tunnel *tunnel = model->tunnels[i];

		rpc_tunnel_free(&tunnel->status);
		tunnel->is_asking = tunnel->has_step = false;
		tunnel->history = (struct history){ 0 };
	}
	model->has_info = model->has_list = false;
	model->info = (struct rpc_info){ 0 };
	model->lockdown = (struct model_lockdown){ 0 };
}

struct model_tunnel *status_model_find(const struct status_model *model, const char *name)
{
	for (size_t i = 0; i < model->count; i++) {
		if (!strcmp(model->tunnels[i]->name, name))
			return model->tunnels[i];
	}
	return NULL;
}

struct model_tunnel *status_model_at(const struct status_model *model, size_t index)
{
	return index < model->count ? model->tunnels[index] : NULL;
}

size_t status_model_up_count(const struct status_model *model)
{
	size_t up = 0;

	for (size_t i = 0; i < model->count; i++)
		up += words_passes(model->tunnels[i]->status.state);
	return up;
}

static int compare_names(const char *one, const char *two)
{
	while (*one && tolower((unsigned char)*one) == tolower((unsigned char)*two)) {
		one++;
		two++;
	}
	return tolower((unsigned char)*one) - tolower((unsigned char)*two);
}

/* By shown name without regard to letter case; equal ones by name, which is unique. */
static int compare(const void *a, const void *b)
{
	const struct model_tunnel *one = *(struct model_tunnel *const *)a,
				  *two = *(struct model_tunnel *const *)b;
	int order = compare_names(one->shown, two->shown);

	return order ? order : strcmp(one->name, two->name);
}

static void sort(struct status_model *model)
{
	if (model->count)
		qsort(model->tunnels, model->count, sizeof(struct model_tunnel *), compare);
}

static struct model_tunnel *add(struct status_model *model, const char *name)
{
	struct model_tunnel **tunnels = realloc(model->tunnels, (model->count + 1) * sizeof(*tunnels));
	struct model_tunnel *tunnel;

	if (!tunnels)
		return NULL;
	model->tunnels = tunnels;
	tunnel = calloc(1, sizeof(*tunnel));
	if (!tunnel)
		return NULL;
	snprintf(tunnel->name, sizeof(tunnel->name), "%s", name);
	snprintf(tunnel->shown, sizeof(tunnel->shown), "%s", name);
	tunnels[model->count++] = tunnel;
	return tunnel;
}

static void remove_at(struct status_model *model, size_t index)
{
	tunnel_free(model->tunnels[index]);
	model->count--;
	memmove(model->tunnels + index, model->tunnels + index + 1,
		(model->count - index) * sizeof(struct model_tunnel *));
}

/* True when it is called otherwise now. */
static bool set_shown(struct model_tunnel *tunnel, const char *display_name)
{
	const char *shown = display_name[0] ? display_name : tunnel->name;

	if (!strcmp(tunnel->shown, shown))
		return false;
	snprintf(tunnel->shown, sizeof(tunnel->shown), "%s", shown);
	return true;
}

/* ---- the list of profiles ---- */

static bool take_list(struct status_model *model, const struct rpc_list *list, struct model_change *change)
{
	/* A long list comes in parts, the first from 0. */
	for (size_t i = 0; !list->tunnel_from && i < model->count; i++)
		model->tunnels[i]->is_in_list = false;
	for (size_t i = 0; i < list->tunnel_count; i++) {
		const struct rpc_entry *entry = &list->tunnels[i];
		struct model_tunnel *tunnel = status_model_find(model, entry->name);

		if (!tunnel)
			tunnel = add(model, entry->name);
		if (!tunnel)
			return false;
		set_shown(tunnel, entry->display_name);
		snprintf(tunnel->file, sizeof(tunnel->file), "%s", entry->file);
		snprintf(tunnel->profile_error, sizeof(tunnel->profile_error), "%s", entry->error);
		tunnel->is_listed = tunnel->is_in_list = true;
		tunnel->is_read_only = entry->read_only;
		tunnel->auto_connect = entry->auto_connect;
		tunnel->profile_transport = entry->transport;
	}
	for (size_t i = list->tunnel_from + list->tunnel_count < list->tunnels_total ? 0 : model->count;
		i-- > 0;) {
		/* One that still runs, whose profile was taken away, is to be seen and switched off. */
		if (!model->tunnels[i]->is_in_list && model->tunnels[i]->status.state == RPC_STATE_DOWN)
			remove_at(model, i);
	}
	sort(model);
	model->has_list = true;
	change->what |= MODEL_CHANGED_SET | MODEL_CHANGED_STATE;
	return true;
}

/* ---- the kill switch ---- */

static void take_lockdown(
	struct status_model *model, const struct rpc_lockdown *from, struct model_change *change)
{
	struct model_lockdown to = { .state = from->state, .open_until = from->open_until };
	size_t len = 0;

	for (size_t i = 0; i < from->tunnels.count && len < sizeof(to.holders); i++) {
		const struct model_tunnel *tunnel = status_model_find(model, from->tunnels.items[i]);

		len += (size_t)snprintf(to.holders + len, sizeof(to.holders) - len, "%s%s", len ? ", " : "",
			tunnel ? tunnel->shown : from->tunnels.items[i]);
		to.passes = to.passes || (tunnel && words_passes(tunnel->status.state));
	}
	if (to.state == model->lockdown.state && to.open_until == model->lockdown.open_until &&
		to.passes == model->lockdown.passes && !strcmp(to.holders, model->lockdown.holders))
		return;
	model->lockdown = to;
	change->what |= MODEL_CHANGED_LOCKDOWN;
}

/* ---- states ---- */

/* Takes the memory of status. */
static bool take_tunnel(struct status_model *model, struct rpc_tunnel *status, struct model_change *change)
{
	struct model_tunnel *tunnel = status_model_find(model, status->name);
	bool was_asking;

	if (!tunnel) {
		tunnel = add(model, status->name);
		if (!tunnel)
			return false;
		change->what |= MODEL_CHANGED_SET;
	}
	/* Another program's has no profile that a list would have. */
	if (!tunnel->is_listed && !status->managed_by[0])
		change->what |= MODEL_WANTS_LIST;
	if (tunnel->status.kill_switch != status->kill_switch ||
		(model->lockdown.state != RPC_KILL_SWITCH_OFF && tunnel->status.state != status->state))
		change->what |= MODEL_WANTS_LOCKDOWN;
	was_asking = tunnel->is_asking && tunnel->wants_on;
	rpc_tunnel_free(&tunnel->status);
	tunnel->status = *status;
	*status = (struct rpc_tunnel){ 0 };
	if (tunnel->status.state != RPC_STATE_CONNECTING)
		tunnel->has_step = false;
	if (tunnel->status.state == RPC_STATE_DOWN && !was_asking)
		tunnel->history = (struct history){ 0 };
	if (words_passes(tunnel->status.state))
		tunnel->trouble[0] = '\0';
	/* Until a daemon has read the profile of a tunnel that comes up, it calls it by its short name. */
	if (tunnel->status.display_name[0] &&
		(!tunnel->is_listed || strcmp(tunnel->status.display_name, tunnel->name) != 0) &&
		set_shown(tunnel, tunnel->status.display_name))
		change->what |= MODEL_CHANGED_SET;
	if (change->what & MODEL_CHANGED_SET)
		sort(model);
	change->what |= MODEL_CHANGED_STATE;
	change->tunnel = tunnel;
	change->news = news_step(&tunnel->news, &tunnel->status);
	return true;
}

static void take_gone(struct status_model *model, const char *name, struct model_change *change)
{
	for (size_t i = 0; i < model->count; i++) {
		if (!strcmp(model->tunnels[i]->name, name)) {
			remove_at(model, i);
			change->what |= MODEL_CHANGED_SET;
			return;
		}
	}
}

static void take_counters(struct rpc_tunnel *status, const struct rpc_peer *peers, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < status->peer_count; j++) {
			struct rpc_peer *to = &status->peers[j];

			if (strcmp(to->public_key, peers[i].public_key) != 0)
				continue;
			to->rx_bytes = peers[i].rx_bytes;
			to->tx_bytes = peers[i].tx_bytes;
			to->rx_bps = peers[i].rx_bps;
			to->tx_bps = peers[i].tx_bps;
			to->rtt_us = peers[i].rtt_us;
			to->last_handshake = peers[i].last_handshake;
			break;
		}
	}
}

static bool take_notice(struct status_model *model, struct rpc_notice *notice, struct model_change *change)
{
	struct model_tunnel *tunnel;

	switch (notice->kind) {
	case RPC_NOTICE_STATE:
		if (notice->state.gone) {
			take_gone(model, notice->state.tunnel.name, change);
			return true;
		}
		return take_tunnel(model, &notice->state.tunnel, change);
	case RPC_NOTICE_STATS:
		tunnel = status_model_find(model, notice->stats.name);
		if (!tunnel)
			return true;
		history_add(&tunnel->history, notice->stats.samples, notice->stats.sample_count);
		take_counters(&tunnel->status, notice->stats.peers, notice->stats.peer_count);
		change->what |= MODEL_CHANGED_STATS;
		change->tunnel = tunnel;
		return true;
	case RPC_NOTICE_PROGRESS:
		tunnel = status_model_find(model, notice->progress.name);
		/* A diagnosis of a tunnel that is down tells its progress too. */
		if (!tunnel || (!tunnel->is_asking && tunnel->status.state != RPC_STATE_CONNECTING))
			return true;
		tunnel->has_step = true;
		tunnel->step = notice->progress.step;
		change->what |= MODEL_CHANGED_STATE;
		change->tunnel = tunnel;
		return true;
	case RPC_NOTICE_LOG:
	case RPC_NOTICE_SPEEDTEST:
		return true;
	}
	return true;
}

static bool take_result(struct status_model *model, struct rpc_result *result, struct model_change *change)
{
	switch (result->method) {
	case RPC_METHOD_DAEMON_INFO:
		model->info = result->info;
		model->has_info = true;
		change->what |= MODEL_CHANGED_INFO;
		return true;
	case RPC_METHOD_TUNNEL_LIST:
		return take_list(model, &result->list, change);
	case RPC_METHOD_TUNNEL_STATUS:
		for (size_t i = 0; i < result->status.tunnel_count; i++) {
			if (!take_tunnel(model, &result->status.tunnels[i], change))
				return false;
		}
		take_lockdown(model, &result->status.lockdown, change);
		return true;
	case RPC_METHOD_KILLSWITCH_UNLOCK:
		take_lockdown(model, &result->unlocked.lockdown, change);
		return true;
	case RPC_METHOD_TUNNEL_UP:
	case RPC_METHOD_TUNNEL_SWITCH:
		return take_tunnel(model, &result->moved.tunnel, change);
	case RPC_METHOD_TUNNEL_DOWN:
	case RPC_METHOD_TUNNEL_IMPORT:
	case RPC_METHOD_TUNNEL_EXPORT:
	case RPC_METHOD_TUNNEL_DELETE:
	case RPC_METHOD_TUNNEL_SET:
	case RPC_METHOD_DIAGNOSE:
	case RPC_METHOD_LOGS:
	case RPC_METHOD_WATCH:
	case RPC_METHOD_SPEEDTEST_PREPARE:
	case RPC_METHOD_SPEEDTEST_END:
	case RPC_METHOD_HISTORY:
	case RPC_METHOD_SERVER_INIT:
	case RPC_METHOD_SERVER_ADD:
		return true;
	}
	return true;
}

bool status_model_take(struct status_model *model, struct rpc_event *event, struct model_change *change)
{
	*change = (struct model_change){ 0 };
	switch (event->kind) {
	case RPC_EVENT_NOTICE:
		return take_notice(model, &event->notice, change);
	case RPC_EVENT_RESULT:
		return take_result(model, &event->result, change);
	case RPC_EVENT_ERROR:
		return true;
	}
	return true;
}
