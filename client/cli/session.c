/* SPDX-License-Identifier: MIT */
/* The connection to the daemon, and what is said when it or the daemon fails. */
#include "client/cli/cli.h"

#include "client/cli/suggest.h"
#include "client/rpc/json.h"
#include "core/base/wipe.h"
#include "core/port/daemon_start.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DAEMON_START_MS 5000
#define LOG_MAX 65536

/* The last line of the daemon's log, if there is one. */
static void last_line(const char *path, char *out, size_t size)
{
	char *text = NULL;
	size_t len = 0;
	char *line;

	out[0] = '\0';
	if (!path[0] || console_read_file(path, LOG_MAX, &text, &len))
		return;
	while (len && (text[len - 1] == '\n' || text[len - 1] == ' '))
		text[--len] = '\0';
	line = strrchr(text, '\n');
	snprintf(out, size, "%s", line ? line + 1 : text);
	free(text);
}

static enum cli_exit start_daemon(struct cli *cli)
{
	char log_path[512], line[300];
	int err;

	if (!cli->json && console_is_terminal(CONSOLE_ERR))
		cli_err("Starting wgtcpd...\n");
	err = daemon_start(cli->socket_path, DAEMON_START_MS, log_path, sizeof(log_path));
	switch (-err) {
	case 0:
		return CLI_DONE;
	case ENOENT:
		return cli_fail(cli, CLI_OTHER,
			"the daemon wgtcpd is not running and stands neither beside wgtcp-cli nor where it "
			"is installed; "
			"install it");
	case ETIMEDOUT:
		return cli_fail(cli, CLI_TIMED_OUT,
			"wgtcpd was started and does not answer on %s within %d s; its log is %s",
			cli->socket_path, DAEMON_START_MS / 1000, log_path[0] ? log_path : "not kept");
	case ECHILD:
		last_line(log_path, line, sizeof(line));
		return cli_fail(cli, CLI_OTHER, "wgtcpd was started and ended at once%s%s; its log is %s",
			line[0] ? ": " : "", line, log_path[0] ? log_path : "not kept");
	default:
		return cli_fail(cli, CLI_OTHER, "wgtcpd could not be started: %s", strerror(-err));
	}
}

enum cli_exit cli_connect(struct cli *cli, bool may_start)
{
	enum cli_exit code;
	int err;

	if (cli->client)
		return CLI_DONE;
	err = rpc_client_open(cli->socket_path, &cli->client);
	if ((err == -ENOENT || err == -ECONNREFUSED) && may_start && console_is_admin()) {
		code = start_daemon(cli);
		if (code)
			return code;
		err = rpc_client_open(cli->socket_path, &cli->client);
	}
	switch (-err) {
	case 0:
		return CLI_DONE;
	case ENOENT:
	case ECONNREFUSED:
		return cli_fail(cli, CLI_OTHER,
			"the daemon wgtcpd is not running (nothing listens on %s); start it with %s%s%s%s",
			cli->socket_path, daemon_start_advice(), may_start ? ", or run `wgtcp-cli " : "",
			may_start ? cli->command->name : "", may_start ? "` as root, which starts it" : "");
	case EACCES:
	case EPERM:
		return cli_fail(cli, CLI_NOT_PERMITTED,
			"you may not speak to the daemon on %s; run this as root, or as a member of the "
			"group wgtcp",
			cli->socket_path);
	case ENAMETOOLONG:
		return cli_fail(cli, CLI_USAGE,
			"the path %.60s... is too long for a socket; give a shorter --socket",
			cli->socket_path);
	case ENOTSOCK:
		return cli_fail(
			cli, CLI_USAGE, "%s is not a socket; give wgtcpd's as --socket", cli->socket_path);
	default:
		return cli_fail(cli, CLI_OTHER, "no connection to the daemon on %s: %s", cli->socket_path,
			strerror(-err));
	}
}

enum cli_exit cli_tell_lost(const struct cli *cli, int err)
{
	switch (-err) {
	case 0:
		return cli_fail(cli, CLI_TIMED_OUT,
			"the daemon wgtcpd does not answer; `wgtcp-cli logs` may say why");
	case EINTR:
		return CLI_INTERRUPTED;
	case EPIPE:
		return cli_fail(cli, CLI_OTHER,
			"the daemon wgtcpd closed the connection; if it is not running any more, start it "
			"with %s",
			daemon_start_advice());
	case EPROTO:
		return cli_fail(cli, CLI_OTHER,
			"what listens on %s does not speak wgtcpd's protocol, version %d; are wgtcpd and "
			"wgtcp-cli of the "
			"same release?",
			cli->socket_path, RPC_VERSION);
	case EMSGSIZE:
		return cli_fail(cli, CLI_OTHER,
			"the profile is larger than the %d KiB that one message may have",
			RPC_LINE_MAX / 1024);
	default:
		return cli_fail(cli, CLI_OTHER, "the connection to the daemon failed: %s", strerror(-err));
	}
}

enum cli_exit cli_exit_of(int32_t code)
{
	if (!code)
		return CLI_DONE;
	switch ((enum rpc_code)code) {
	case RPC_CODE_NOT_UP:
		return CLI_NOT_UP;
	case RPC_CODE_NOT_PERMITTED:
		return CLI_NOT_PERMITTED;
	case RPC_CODE_NO_SUCH_TUNNEL:
		return CLI_NO_SUCH_TUNNEL;
	case RPC_CODE_TIMED_OUT:
		return CLI_TIMED_OUT;
	case RPC_CODE_PEER_UNREACHABLE:
		return CLI_PEER_UNREACHABLE;
	case RPC_CODE_CAPTIVE_PORTAL:
		return CLI_CAPTIVE_PORTAL;
	case RPC_CODE_OTHER:
	case RPC_CODE_CONFIG:
	case RPC_CODE_BUSY:
	case RPC_CODE_EXISTS:
	case RPC_CODE_CANCELLED:
	case RPC_CODE_PARSE:
	case RPC_CODE_INVALID_REQUEST:
	case RPC_CODE_UNKNOWN_METHOD:
	case RPC_CODE_INVALID_PARAMS:
	case RPC_CODE_INTERNAL:
		break;
	}
	return CLI_OTHER; /* also what a newer daemon says */
}

/* What changes profiles works on a machine where nothing runs yet, as `up` does, which comes next. Looking
 * starts nothing. */
static bool starts_daemon(const struct cli *cli)
{
	static const char *const names[] = { "import", "set", "delete", "server" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(cli->command->name, names[i]))
			return true;
	return false;
}

/* All tunnels; false when they can not be had, silently: it is only for a better sentence. */
static bool list_tunnels(struct cli *cli, struct rpc_event *event)
{
	struct rpc_request request = { .method = RPC_METHOD_TUNNEL_LIST };

	if (rpc_client_call(cli->client, &request, CLI_ANSWER_MS, event) != 1)
		return false;
	if (event->kind == RPC_EVENT_RESULT)
		return true;
	rpc_event_free(event);
	return false;
}

bool cli_resolve_name(struct cli *cli, struct rpc_request *request)
{
	const char *typed = cli->args.word_count > 1 ? cli->args.words[1] : "";
	const struct rpc_entry *found = NULL;
	struct rpc_event event;

	if (!list_tunnels(cli, &event))
		return false;
	for (size_t i = 0; i < event.result.list.tunnel_count; i++) {
		const struct rpc_entry *entry = &event.result.list.tunnels[i];

		if (strcmp(entry->display_name, typed) != 0)
			continue;
		if (found) { /* two of that name: neither */
			found = NULL;
			break;
		}
		found = entry;
	}
	if (found)
		memcpy(request->name, found->name, sizeof(request->name));
	rpc_event_free(&event);
	return found != NULL;
}

/* Whether NAME.conf in /etc/wgtcp would be seen. */
static bool is_file_name(const char *name)
{
	size_t len = strlen(name);

	return len <= 15 && len == strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
						"0123456789_=+.-");
}

static enum cli_exit tell_no_such_tunnel(struct cli *cli, const char *name)
{
	const char *typed = cli->args.word_count > 1 ? cli->args.words[1] : name;
	struct suggestion suggestion;
	struct rpc_event event;
	enum cli_exit code;
	size_t count;

	if (strcmp(typed, name) != 0 && console_file_exists(typed))
		return cli_fail(cli, CLI_NO_SUCH_TUNNEL,
			"no tunnel is called '%.60s'; `wgtcp-cli import %.200s` adds it", name, typed);
	if (!list_tunnels(cli, &event))
		return cli_fail(cli, CLI_NO_SUCH_TUNNEL,
			"no tunnel is called '%.60s'; `wgtcp-cli list` shows all", name);
	count = event.result.list.tunnel_count;
	suggestion_start(&suggestion, name);
	for (size_t i = 0; i < count; i++)
		suggestion_offer(&suggestion, event.result.list.tunnels[i].name);
	if (suggestion.nearest)
		code = cli_fail(cli, CLI_NO_SUCH_TUNNEL,
			"no tunnel is called '%.60s'; did you mean '%s'? `wgtcp-cli list` shows all", name,
			suggestion.nearest);
	else if (count && !is_file_name(name))
		code = cli_fail(cli, CLI_NO_SUCH_TUNNEL,
			"no tunnel is called '%.60s'; `wgtcp-cli list` shows all (a file in /etc/wgtcp is "
			"seen only "
			"when its name has 1 to 15 of A-Z a-z 0-9 _ = + . -; `wgtcp-cli import` makes such a "
			"name)",
			name);
	else if (count)
		code = cli_fail(cli, CLI_NO_SUCH_TUNNEL,
			"no tunnel is called '%.60s'; `wgtcp-cli list` shows all", name);
	else
		code = cli_fail(cli, CLI_NO_SUCH_TUNNEL,
			"no tunnel is called '%.60s', nor is there any other yet; `wgtcp-cli import FILE` "
			"adds one",
			name);
	rpc_event_free(&event);
	return code;
}

enum cli_exit cli_tell_error(
	struct cli *cli, const struct rpc_request *request, const struct rpc_error *error)
{
	bool import = request->method == RPC_METHOD_TUNNEL_IMPORT;

	if (error->code == RPC_CODE_NO_SUCH_TUNNEL && request->name[0])
		return tell_no_such_tunnel(cli, request->name);
	if (cli->json)
		cli_print_json(rpc_json_error(error));
	/* The daemon does not know where an imported text came from, so here the notes say it better than its
	 * message. */
	if (import && error->notes.count) {
		cli_tell_notes(cli_shown_path(cli->args.words[1]), "", &error->notes);
	} else {
		struct cli silent = *cli; /* the JSON is written */

		silent.json = false;
		cli_fail(&silent, CLI_OTHER, "%s", error->message);
	}
	return cli_exit_of(error->code);
}

enum cli_exit cli_ask(
	struct cli *cli, struct rpc_request *request, uint32_t timeout_ms, struct rpc_result *result)
{
	struct rpc_event event;
	enum cli_exit code = cli_connect(cli, starts_daemon(cli));
	int taken;

	if (code)
		return code;
	taken = rpc_client_call(cli->client, request, timeout_ms, &event);
	if (taken == 1 && event.kind == RPC_EVENT_ERROR && event.error.code == RPC_CODE_NO_SUCH_TUNNEL &&
		request->name[0] && cli_resolve_name(cli, request)) {
		rpc_event_free(&event);
		taken = rpc_client_call(cli->client, request, timeout_ms, &event);
	}
	if (taken != 1)
		return cli_tell_lost(cli, taken);
	if (event.kind == RPC_EVENT_ERROR) {
		code = cli_tell_error(cli, request, &event.error);
		rpc_event_free(&event);
		return code;
	}
	*result = event.result;
	return CLI_DONE;
}

/* Appends count items of size bytes; what they hold belongs to the longer list then. */
static bool add_items(void **items, size_t *count, const void *more, size_t more_count, size_t size)
{
	char *all = realloc(*items, (*count + more_count) * size);

	if (!all)
		return false;
	memcpy(all + *count * size, more, more_count * size);
	*items = all;
	*count += more_count;
	return true;
}

/* Appends the peers of more behind those of tunnel. */
static bool add_peers(struct rpc_tunnel *tunnel, const struct rpc_tunnel *more)
{
	return add_items((void **)&tunnel->peers, &tunnel->peer_count, more->peers, more->peer_count,
		sizeof(*tunnel->peers));
}

enum cli_exit cli_ask_list(struct cli *cli, struct rpc_result *result)
{
	struct rpc_request request = { .method = RPC_METHOD_TUNNEL_LIST };
	struct rpc_list *all = &result->list;
	struct rpc_result more;
	enum cli_exit code = cli_ask(cli, &request, CLI_ANSWER_MS, result);

	while (!code && all->tunnel_count < all->tunnels_total) {
		bool added;

		request.tunnel_from = (uint32_t)all->tunnel_count;
		code = cli_ask(cli, &request, CLI_ANSWER_MS, &more);
		if (code) {
			rpc_result_free(result);
			return code;
		}
		added = more.list.tunnel_count &&
			add_items((void **)&all->tunnels, &all->tunnel_count, more.list.tunnels,
				more.list.tunnel_count, sizeof(*all->tunnels));
		rpc_result_free(&more);
		if (!added) /* profiles went away in between */
			all->tunnels_total = (uint32_t)all->tunnel_count;
	}
	return code;
}

enum cli_exit cli_ask_status(struct cli *cli, const char *name, struct rpc_result *result)
{
	struct rpc_request request = { .method = RPC_METHOD_TUNNEL_STATUS };
	struct rpc_result more;
	enum cli_exit code;

	snprintf(request.name, sizeof(request.name), "%s", name);
	code = cli_ask(cli, &request, CLI_ANSWER_MS, result);
	while (!code && !name[0] && result->status.tunnel_count < result->status.tunnels_total) {
		struct rpc_status *all = &result->status;
		bool added;

		request.tunnel_from = (uint32_t)all->tunnel_count;
		code = cli_ask(cli, &request, CLI_ANSWER_MS, &more);
		if (code) {
			rpc_result_free(result);
			return code;
		}
		added = more.status.tunnel_count &&
			add_items((void **)&all->tunnels, &all->tunnel_count, more.status.tunnels,
				more.status.tunnel_count, sizeof(*all->tunnels));
		if (added)
			more.status.tunnel_count = 0; /* what they hold is ours now */
		rpc_result_free(&more);
		if (!added) /* tunnels went away in between */
			all->tunnels_total = (uint32_t)all->tunnel_count;
	}
	request.tunnel_from = 0;
	for (size_t i = 0; !code && i < result->status.tunnel_count; i++) {
		struct rpc_tunnel *tunnel = &result->status.tunnels[i];

		while (tunnel->peer_count < tunnel->peers_total) {
			bool added;

			snprintf(request.name, sizeof(request.name), "%s", tunnel->name);
			request.peer_from = (uint32_t)tunnel->peer_count;
			code = cli_ask(cli, &request, CLI_ANSWER_MS, &more);
			if (code) {
				rpc_result_free(result);
				return code;
			}
			added = more.status.tunnel_count == 1 && more.status.tunnels[0].peer_count &&
				add_peers(tunnel, &more.status.tunnels[0]);
			rpc_result_free(&more);
			if (!added) { /* peers went away in between */
				tunnel->peers_total = (uint32_t)tunnel->peer_count;
				break;
			}
		}
	}
	return code;
}
