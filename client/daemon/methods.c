/* SPDX-License-Identifier: MIT */
/* Who may do what, and the methods that need no tunnel. Called by listener.c. */
#include "client/daemon/methods.h"
#include "client/daemon/daemon.h"
#include "client/daemon/manager.h"

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum rpc_level level_of(enum journal_level level)
{
	switch (level) {
	case JOURNAL_ERROR:
		return RPC_LEVEL_ERROR;
	case JOURNAL_WARNING:
		return RPC_LEVEL_WARNING;
	case JOURNAL_INFO:
		return RPC_LEVEL_INFO;
	}
	return RPC_LEVEL_INFO;
}

void methods_log_entry(const struct journal_line *line, struct rpc_log *out)
{
	*out = (struct rpc_log){ .time_ms = line->time.s * 1000 + line->time.ns / 1000000,
		.level = level_of(line->level) };
	snprintf(out->name, sizeof(out->name), "%s", line->tunnel);
	snprintf(out->text, sizeof(out->text), "%s", line->text);
}

static void method_info(struct daemon *daemon, struct client *client, const struct rpc_request *request)
{
	struct rpc_result result = { .method = RPC_METHOD_DAEMON_INFO };

	snprintf(result.info.daemon_version, sizeof(result.info.daemon_version), "%s", WGTCP_VERSION);
	result.info.pid = (uint32_t)getpid();
	result.info.permission = client_may_do_all(client) ? RPC_PERMISSION_ALL : RPC_PERMISSION_READ;
	snprintf(result.info.config_dir, sizeof(result.info.config_dir), "%s", daemon->config_folder);
	snprintf(result.info.state_dir, sizeof(result.info.state_dir), "%s", daemon->state_folder);
	client_reply(client, &request->id, &result);
}

static void method_logs(struct daemon *daemon, struct client *client, const struct rpc_request *request)
{
	size_t count = journal_count(daemon->journal), wanted = count, i;
	struct rpc_result result = { .method = RPC_METHOD_LOGS };

	if (request->lines && request->lines < count)
		wanted = request->lines;
	result.logs.entries = g_new0(struct rpc_log, wanted + 1);
	for (i = 0; i < wanted; i++)
		methods_log_entry(journal_at(daemon->journal, count - wanted + i), &result.logs.entries[i]);
	result.logs.entry_count = wanted;
	client_reply(client, &request->id, &result);
	g_free(result.logs.entries);
	if (request->follow)
		client_follow_log(client);
}

static void method_watch(struct daemon *daemon, struct client *client, const struct rpc_request *request)
{
	struct rpc_result result = { .method = RPC_METHOD_WATCH };

	client_reply(client, &request->id, &result);
	manager_watch(daemon->manager, client);
}

/* Reading the state is for everybody on this machine. */
static bool only_reads(enum rpc_method method)
{
	switch (method) {
	case RPC_METHOD_DAEMON_INFO:
	case RPC_METHOD_TUNNEL_LIST:
	case RPC_METHOD_TUNNEL_STATUS:
	case RPC_METHOD_WATCH:
	case RPC_METHOD_HISTORY:
		return true;
	case RPC_METHOD_LOGS:
	case RPC_METHOD_TUNNEL_UP:
	case RPC_METHOD_TUNNEL_DOWN:
	case RPC_METHOD_TUNNEL_IMPORT:
	case RPC_METHOD_TUNNEL_EXPORT:
	case RPC_METHOD_TUNNEL_DELETE:
	case RPC_METHOD_TUNNEL_SET:
	case RPC_METHOD_TUNNEL_SWITCH:
	case RPC_METHOD_KILLSWITCH_UNLOCK:
	case RPC_METHOD_DIAGNOSE:
	case RPC_METHOD_SPEEDTEST_PREPARE:
	case RPC_METHOD_SPEEDTEST_END:
	case RPC_METHOD_SERVER_INIT:
	case RPC_METHOD_SERVER_ADD:
		return false;
	}
	return false;
}

void methods_handle(struct daemon *daemon, struct client *client, const struct rpc_request *request)
{
	struct rpc_error error = { 0 };

	if (!only_reads(request->method) && !client_may_do_all(client)) {
		rpc_error_set(&error, RPC_CODE_NOT_PERMITTED,
			"only root and members of the group %s may do this: `sudo usermod -aG %s $USER`, "
			"then log in again",
			LISTENER_GROUP, LISTENER_GROUP);
		error.cause = RPC_CAUSE_PERMISSION;
		client_reply_error(client, &request->id, &error);
		return;
	}
	switch (request->method) {
	case RPC_METHOD_DAEMON_INFO:
		method_info(daemon, client, request);
		return;
	case RPC_METHOD_TUNNEL_LIST:
		method_list(daemon, client, request);
		return;
	case RPC_METHOD_TUNNEL_UP:
		method_up(daemon, client, request);
		return;
	case RPC_METHOD_TUNNEL_DOWN:
		method_down(daemon, client, request);
		return;
	case RPC_METHOD_TUNNEL_STATUS:
		method_status(daemon, client, request);
		return;
	case RPC_METHOD_TUNNEL_IMPORT:
		method_import(daemon, client, request);
		return;
	case RPC_METHOD_TUNNEL_EXPORT:
		method_export(daemon, client, request);
		return;
	case RPC_METHOD_TUNNEL_DELETE:
		method_delete(daemon, client, request);
		return;
	case RPC_METHOD_TUNNEL_SET:
		method_set(daemon, client, request);
		return;
	case RPC_METHOD_TUNNEL_SWITCH:
		method_switch(daemon, client, request);
		return;
	case RPC_METHOD_KILLSWITCH_UNLOCK:
		method_unlock(daemon, client, request);
		return;
	case RPC_METHOD_DIAGNOSE:
		method_diagnose(daemon, client, request);
		return;
	case RPC_METHOD_SPEEDTEST_PREPARE:
		method_speedtest_prepare(daemon, client, request);
		return;
	case RPC_METHOD_SPEEDTEST_END:
		method_speedtest_end(daemon, client, request);
		return;
	case RPC_METHOD_HISTORY:
		method_history(daemon, client, request);
		return;
	case RPC_METHOD_LOGS:
		method_logs(daemon, client, request);
		return;
	case RPC_METHOD_WATCH:
		method_watch(daemon, client, request);
		return;
	case RPC_METHOD_SERVER_INIT:
	case RPC_METHOD_SERVER_ADD:
		method_server(daemon, client, request);
		return;
	}
}
