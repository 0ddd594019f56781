/* SPDX-License-Identifier: MIT */
/* What is left out: peers of the tunnel that has most of them, then the last tunnels of a list, the last
 * lines of a diagnosis, old log lines, old points of a history, then old samples. A person's own text (export) is
 * never cut. */
#include "client/rpc/fit.h"

#include "client/rpc/shapes.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

/* With no tunnel of more peers than this it is the many tunnels that make a status long. */
#define FEW_PEERS 8

/* A shallow copy of a result whose counts may be changed. */
struct view {
	struct rpc_result result;
	struct rpc_tunnel *tunnels; /* owned; status only */
};

static void set_total(struct rpc_tunnel *tunnel)
{
	if (tunnel->peers_total < tunnel->peer_count)
		tunnel->peers_total = (uint32_t)tunnel->peer_count;
}

static void set_tunnels_total(uint32_t *total, uint32_t from, size_t count)
{
	if (*total < from + count)
		*total = (uint32_t)(from + count);
}

static bool view_init(struct view *view, const struct rpc_result *result)
{
	*view = (struct view){ .result = *result };
	if (result->method == RPC_METHOD_TUNNEL_UP || result->method == RPC_METHOD_TUNNEL_SWITCH)
		set_total(&view->result.moved.tunnel);
	if (result->method == RPC_METHOD_TUNNEL_LIST)
		set_tunnels_total(&view->result.list.tunnels_total, result->list.tunnel_from,
			result->list.tunnel_count);
	if (result->method != RPC_METHOD_TUNNEL_STATUS)
		return true;
	set_tunnels_total(
		&view->result.status.tunnels_total, result->status.tunnel_from, result->status.tunnel_count);
	if (!result->status.tunnel_count)
		return true;
	view->tunnels = calloc(result->status.tunnel_count, sizeof(*view->tunnels));
	if (!view->tunnels)
		return false;
	memcpy(view->tunnels, result->status.tunnels, result->status.tunnel_count * sizeof(*view->tunnels));
	view->result.status.tunnels = view->tunnels;
	for (size_t i = 0; i < result->status.tunnel_count; i++)
		set_total(&view->tunnels[i]);
	return true;
}

static size_t less(size_t count)
{
	return count - (count + 3) / 4;
}

static bool shrink_peers(struct rpc_tunnel *tunnel)
{
	if (!tunnel->peer_count)
		return false;
	tunnel->peer_count = less(tunnel->peer_count);
	return true;
}

/* False: there is nothing that may be left out. */
static bool shrink_result(struct rpc_result *result)
{
	struct rpc_tunnel *most = NULL;

	switch (result->method) {
	case RPC_METHOD_TUNNEL_UP:
	case RPC_METHOD_TUNNEL_SWITCH:
		return shrink_peers(&result->moved.tunnel);
	case RPC_METHOD_TUNNEL_STATUS:
		for (size_t i = 0; i < result->status.tunnel_count; i++) {
			if (!most || result->status.tunnels[i].peer_count > most->peer_count)
				most = &result->status.tunnels[i];
		}
		if (most && (most->peer_count > FEW_PEERS || result->status.tunnel_count == 1))
			return shrink_peers(most);
		if (result->status.tunnel_count < 2)
			return false;
		result->status.tunnel_count = less(result->status.tunnel_count);
		return true;
	case RPC_METHOD_TUNNEL_LIST:
		if (!result->list.tunnel_count)
			return false;
		result->list.tunnel_count = less(result->list.tunnel_count);
		return true;
	case RPC_METHOD_LOGS: {
		size_t count = less(result->logs.entry_count);

		if (!result->logs.entry_count)
			return false;
		result->logs.entries += result->logs.entry_count - count;
		result->logs.entry_count = count;
		return true;
	}
	case RPC_METHOD_DIAGNOSE:
		if (!result->diagnosis.check_count)
			return false;
		result->diagnosis.check_count = less(result->diagnosis.check_count);
		return true;
	case RPC_METHOD_HISTORY: {
		size_t count = less(result->history.point_count);

		if (!result->history.point_count)
			return false;
		result->history.points += result->history.point_count - count;
		result->history.point_count = count;
		return true;
	}
	case RPC_METHOD_SPEEDTEST_PREPARE:
	case RPC_METHOD_SPEEDTEST_END:
	case RPC_METHOD_DAEMON_INFO:
	case RPC_METHOD_TUNNEL_DOWN:
	case RPC_METHOD_TUNNEL_IMPORT:
	case RPC_METHOD_TUNNEL_EXPORT:
	case RPC_METHOD_TUNNEL_DELETE:
	case RPC_METHOD_TUNNEL_SET:
	case RPC_METHOD_KILLSWITCH_UNLOCK:
	case RPC_METHOD_WATCH:
	case RPC_METHOD_SERVER_INIT:
	case RPC_METHOD_SERVER_ADD:
		return false;
	}
	return false;
}

static bool shrink_notice(struct rpc_notice *notice)
{
	switch (notice->kind) {
	case RPC_NOTICE_STATE:
		return shrink_peers(&notice->state.tunnel);
	case RPC_NOTICE_STATS:
		if (notice->stats.peer_count) {
			notice->stats.peer_count = less(notice->stats.peer_count);
			return true;
		}
		if (notice->stats.sample_count) {
			size_t count = less(notice->stats.sample_count);

			notice->stats.samples += notice->stats.sample_count - count;
			notice->stats.sample_count = count;
			return true;
		}
		return false;
	case RPC_NOTICE_PROGRESS:
	case RPC_NOTICE_LOG:
	case RPC_NOTICE_SPEEDTEST:
		return false;
	}
	return false;
}

int fit_result(const struct rpc_id *id, const struct rpc_result *result, struct message *out)
{
	struct view view;
	struct message message = { 0 };
	int err = -ENOMEM;

	if (!view_init(&view, result))
		return -ENOMEM;
	while (message_write_result(id, &view.result, &message)) {
		if (message.len <= RPC_LINE_MAX) {
			*out = message;
			err = 0;
			break;
		}
		message_free(&message);
		if (!shrink_result(&view.result)) {
			err = -EMSGSIZE;
			break;
		}
	}
	free(view.tunnels);
	return err;
}

int fit_notice(const struct rpc_notice *notice, struct message *out)
{
	struct rpc_notice view = *notice;
	struct message message = { 0 };

	if (view.kind == RPC_NOTICE_STATE)
		set_total(&view.state.tunnel);
	while (message_write_notice(&view, &message)) {
		if (message.len <= RPC_LINE_MAX) {
			*out = message;
			return 0;
		}
		message_free(&message);
		if (!shrink_notice(&view))
			return -EMSGSIZE;
	}
	return -ENOMEM;
}

struct json_object *fit_result_json(const struct rpc_result *result)
{
	struct view view;
	struct json_object *object = NULL;

	if (view_init(&view, result))
		object = message_result_json(&view.result);
	free(view.tunnels);
	return object;
}
