/* SPDX-License-Identifier: MIT */
#include "gui/link/feed.h"

#include "gui/model/translate.h"

#include <errno.h>
#include <glib.h>

const char *feed_error_text(const struct rpc_event *event)
{
	if (!event)
		return _("The service stopped before it answered.");
	return event->error.message;
}

static void ask_for_list(struct feed *feed, uint32_t from)
{
	struct rpc_request request = { .method = RPC_METHOD_TUNNEL_LIST, .tunnel_from = from };

	link_ask(feed->link, &request, NULL, NULL);
}

/* Where the part of a long list begins that did not fit into this answer; 0: nothing is missing. */
static uint32_t rest_of_list(const struct rpc_event *event)
{
	const struct rpc_list *list = &event->result.list;
	uint32_t end;

	if (event->kind != RPC_EVENT_RESULT || event->result.method != RPC_METHOD_TUNNEL_LIST)
		return 0;
	end = list->tunnel_from + (uint32_t)list->tunnel_count;
	return list->tunnel_count && end < list->tunnels_total ? end : 0;
}

static void on_event(struct rpc_event *event, void *user)
{
	struct feed *feed = user;
	struct model_change change;
	uint32_t rest;

	if (event->kind == RPC_EVENT_NOTICE && event->notice.kind == RPC_NOTICE_LOG) {
		if (feed->events.log)
			feed->events.log(&event->notice.log, feed->user);
		return;
	}
	if (event->kind == RPC_EVENT_NOTICE && feed->events.notice &&
		(event->notice.kind == RPC_NOTICE_PROGRESS || event->notice.kind == RPC_NOTICE_SPEEDTEST))
		feed->events.notice(&event->notice, feed->user);
	rest = rest_of_list(event);
	if (!status_model_take(&feed->model, event, &change))
		g_error("not enough memory for the tunnels");
	if (rest)
		ask_for_list(feed, rest);
	if (change.what & MODEL_WANTS_LIST && feed->model.has_list)
		feed_list(feed);
	if (change.what & MODEL_WANTS_LOCKDOWN)
		feed_lockdown(feed);
	if (change.what)
		feed->events.changed(&change, feed->user);
}

static void on_connection(int err, void *user)
{
	struct feed *feed = user;
	struct rpc_request watch = { .method = RPC_METHOD_WATCH },
			   info = { .method = RPC_METHOD_DAEMON_INFO };

	feed->service = service_state_of(err);
	if (err) {
		status_model_lost(&feed->model);
	} else {
		link_ask(feed->link, &info, NULL, NULL);
		feed_list(feed);
		link_ask(feed->link, &watch, NULL, NULL);
		feed_lockdown(feed);
	}
	feed->events.service(feed->user);
}

struct feed *feed_new(const char *socket_path, const struct feed_events *events, void *user)
{
	static const struct link_events link_events = { on_connection, on_event };
	struct feed *feed = g_new0(struct feed, 1);

	feed->events = *events;
	feed->user = user;
	feed->service = SERVICE_CONNECTING;
	feed->link = link_new(socket_path, &link_events, feed);
	return feed;
}

void feed_free(struct feed *feed)
{
	if (!feed)
		return;
	link_free(feed->link);
	status_model_free(&feed->model);
	g_free(feed);
}

bool feed_may_change(const struct feed *feed)
{
	return feed->service == SERVICE_READY && feed->model.has_info &&
	       feed->model.info.permission == RPC_PERMISSION_ALL;
}

void feed_list(struct feed *feed)
{
	ask_for_list(feed, 0);
}

/* ---- the kill switch ---- */

void feed_lockdown(struct feed *feed)
{
	/* Tunnels come by notices: all of them are skipped here. */
	struct rpc_request request = { .method = RPC_METHOD_TUNNEL_STATUS, .tunnel_from = UINT32_MAX };

	link_ask(feed->link, &request, NULL, NULL);
}

static void on_unlocked(struct rpc_event *event, void *user)
{
	struct feed *feed = user;

	if (!event || event->kind == RPC_EVENT_ERROR)
		feed->events.trouble(NULL, feed_error_text(event), feed->user);
}

void feed_unlock(struct feed *feed, uint32_t for_s)
{
	struct rpc_request request = { .method = RPC_METHOD_KILLSWITCH_UNLOCK, .for_s = for_s };

	if (link_ask(feed->link, &request, on_unlocked, feed))
		feed->events.trouble(NULL, _("The service is not there."), feed->user);
}

/* ---- one click ---- */

/* What an answer is about: the tunnel may be gone when it comes, so it is found by name. */
struct click {
	struct feed *feed;
	char name[RPC_NAME_LEN];
};

static void on_click_answered(struct rpc_event *event, void *user)
{
	struct click *click = user;
	struct feed *feed = click->feed;
	struct model_tunnel *tunnel = status_model_find(&feed->model, click->name);
	struct model_change change = { .what = MODEL_CHANGED_STATE, .tunnel = tunnel };
	bool failed = !event || event->kind == RPC_EVENT_ERROR;

	g_free(click);
	if (!tunnel)
		return;
	tunnel->is_asking = tunnel->has_step = false;
	/* That a person took it back is no trouble. */
	if (failed && event && event->error.code == RPC_CODE_CANCELLED)
		failed = false;
	if (failed)
		g_strlcpy(tunnel->trouble, feed_error_text(event), sizeof(tunnel->trouble));
	feed->events.changed(&change, feed->user);
	if (failed)
		feed->events.trouble(tunnel, feed_error_text(event), feed->user);
}

static void ask(struct feed *feed, struct model_tunnel *tunnel, struct rpc_request *request, bool wants_on)
{
	struct click *click = g_new0(struct click, 1);
	struct model_change change = { .what = MODEL_CHANGED_STATE, .tunnel = tunnel };
	int err;

	click->feed = feed;
	g_strlcpy(click->name, tunnel->name, sizeof(click->name));
	g_strlcpy(request->name, tunnel->name, sizeof(request->name));
	err = link_ask(feed->link, request, on_click_answered, click);
	tunnel->trouble[0] = '\0';
	if (err) {
		g_free(click);
		feed->events.trouble(tunnel,
			err == -EBUSY ? _("Too much is under way; try again in a moment.")
				      : _("The service is not there."),
			feed->user);
	} else {
		tunnel->is_asking = true;
		tunnel->wants_on = wants_on;
	}
	feed->events.changed(&change, feed->user);
}

void feed_turn(struct feed *feed, struct model_tunnel *tunnel, bool on, const enum transport *transport)
{
	struct rpc_request request = { .method = on ? RPC_METHOD_TUNNEL_UP : RPC_METHOD_TUNNEL_DOWN };

	if (on && transport) {
		request.has_transport = true;
		request.transport = *transport;
	}
	ask(feed, tunnel, &request, on);
}

void feed_switch(struct feed *feed, struct model_tunnel *tunnel, enum transport transport)
{
	struct rpc_request request = {
		.method = RPC_METHOD_TUNNEL_SWITCH, .has_transport = true, .transport = transport
	};

	ask(feed, tunnel, &request, true);
}
