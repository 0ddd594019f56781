/* SPDX-License-Identifier: MIT */
/* Releasing what the protocol's structs own. What can hold a key is wiped first. */
#include "client/rpc/types.h"

#include "core/base/wipe.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void string_free(char *text)
{
	if (text)
		memory_wipe(text, strlen(text));
	free(text);
}

static void texts_free(struct rpc_texts *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		free(texts->items[i]);
	free(texts->items);
}

void rpc_given_free(struct rpc_given *given)
{
	for (size_t i = 0; i < given->peer_count; i++) {
		texts_free(&given->peers[i].allowed_ips);
		texts_free(&given->peers[i].tcp_endpoints);
		texts_free(&given->peers[i].udp_ports);
		memory_wipe(&given->peers[i], sizeof(given->peers[i]));
	}
	free(given->peers);
	texts_free(&given->addresses);
	texts_free(&given->dns);
	memory_wipe(given, sizeof(*given));
}

void rpc_request_free(struct rpc_request *request)
{
	for (size_t i = 0; i < request->setting_count; i++)
		string_free(request->settings[i].value);
	free(request->settings);
	string_free(request->text);
	rpc_given_free(&request->given);
	*request = (struct rpc_request){ 0 };
}

void rpc_tunnel_free(struct rpc_tunnel *tunnel)
{
	texts_free(&tunnel->warnings);
	free(tunnel->peers);
	*tunnel = (struct rpc_tunnel){ 0 };
}

static void status_free(struct rpc_status *status)
{
	for (size_t i = 0; i < status->tunnel_count; i++)
		rpc_tunnel_free(&status->tunnels[i]);
	free(status->tunnels);
	texts_free(&status->lockdown.tunnels);
}

void rpc_result_free(struct rpc_result *result)
{
	switch (result->method) {
	case RPC_METHOD_DAEMON_INFO:
	case RPC_METHOD_WATCH:
	case RPC_METHOD_SPEEDTEST_PREPARE:
	case RPC_METHOD_SPEEDTEST_END:
		break;
	case RPC_METHOD_HISTORY:
		free(result->history.points);
		break;
	case RPC_METHOD_TUNNEL_LIST:
		free(result->list.tunnels);
		break;
	case RPC_METHOD_TUNNEL_UP:
	case RPC_METHOD_TUNNEL_SWITCH:
		rpc_tunnel_free(&result->moved.tunnel);
		texts_free(&result->moved.warnings);
		texts_free(&result->moved.routes);
		break;
	case RPC_METHOD_TUNNEL_DOWN:
	case RPC_METHOD_TUNNEL_IMPORT:
	case RPC_METHOD_TUNNEL_DELETE:
	case RPC_METHOD_TUNNEL_SET:
		free(result->done.warnings.items);
		break;
	case RPC_METHOD_TUNNEL_STATUS:
		status_free(&result->status);
		break;
	case RPC_METHOD_TUNNEL_EXPORT:
		string_free(result->exported.text);
		break;
	case RPC_METHOD_SERVER_INIT:
	case RPC_METHOD_SERVER_ADD:
		string_free(result->served.text);
		free(result->served.warnings.items);
		break;
	case RPC_METHOD_LOGS:
		free(result->logs.entries);
		break;
	case RPC_METHOD_DIAGNOSE:
		free(result->diagnosis.checks);
		break;
	case RPC_METHOD_KILLSWITCH_UNLOCK:
		texts_free(&result->unlocked.lockdown.tunnels);
		break;
	}
	*result = (struct rpc_result){ 0 };
}

void rpc_error_free(struct rpc_error *error)
{
	free(error->notes.items);
	*error = (struct rpc_error){ 0 };
}

void rpc_error_set(struct rpc_error *error, enum rpc_code code, const char *format, ...)
{
	va_list args;

	*error = (struct rpc_error){ .code = code };
	va_start(args, format);
	vsnprintf(error->message, sizeof(error->message), format, args);
	va_end(args);
}

void rpc_notice_free(struct rpc_notice *notice)
{
	switch (notice->kind) {
	case RPC_NOTICE_STATE:
		rpc_tunnel_free(&notice->state.tunnel);
		break;
	case RPC_NOTICE_STATS:
		free(notice->stats.samples);
		free(notice->stats.peers);
		break;
	case RPC_NOTICE_PROGRESS:
	case RPC_NOTICE_LOG:
		break;
	case RPC_NOTICE_SPEEDTEST:
		free(notice->speedtest.echoes);
		break;
	}
	*notice = (struct rpc_notice){ 0 };
}
