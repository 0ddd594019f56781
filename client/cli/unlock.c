/* SPDX-License-Identifier: MIT */
/* unlock [--for TIME]. By the daemon; as root also where none answers, since a machine that lets nothing out
 * is no place to look for the reason. */
#include "client/cli/cli.h"

#include "client/cli/sentence.h"
#include "client/cli/status_text.h"
#include "client/rpc/json.h"
#include "core/port/daemon_start.h"

#include <errno.h>
#include <string.h>

#define FOR_MAX_S 86400

static void tell_done(uint32_t seconds)
{
	struct text line = { 0 };

	if (!seconds) {
		cli_out("The kill switch is off.\n");
		return;
	}
	text_addf(&line, "The kill switch is open for ");
	sentence_duration(seconds, &line);
	if (line.bytes)
		cli_out("%s: log in now; it closes by itself.\n", line.bytes);
	text_free(&line);
}

/* Without a daemon that answers. */
static enum cli_exit unlock_directly(struct cli *cli, uint32_t seconds)
{
	struct rpc_result result = { .method = RPC_METHOD_KILLSWITCH_UNLOCK };
	char said[300];
	int err = daemon_unlock(seconds, said, sizeof(said));

	switch (-err) {
	case 0:
		break;
	case ENOENT:
		return cli_fail(cli, CLI_OTHER,
			"wgtcpd stands neither beside wgtcp-cli nor where it is installed; install it");
	case ECHILD:
		return cli_fail(cli, CLI_OTHER, "%s",
			said[0] ? said : "wgtcpd could not end the kill switch and did not say why");
	default:
		return cli_fail(cli, CLI_OTHER, "wgtcpd could not be started: %s", strerror(-err));
	}
	if (!cli->json) {
		tell_done(seconds);
		return CLI_DONE;
	}
	result.unlocked.changed = true;
	result.unlocked.lockdown.state = seconds ? RPC_KILL_SWITCH_OPEN : RPC_KILL_SWITCH_OFF;
	result.unlocked.lockdown.open_until = seconds ? console_now() + seconds : 0;
	return cli_print_json(rpc_json_result(&result));
}

/* 1: answered; 0: nobody answers. */
static int ask(struct cli *cli, const struct rpc_request *request, struct rpc_event *event)
{
	if (rpc_client_open(cli->socket_path, &cli->client))
		return 0;
	if (rpc_client_call(cli->client, request, CLI_ANSWER_MS, event) != 1)
		return 0;
	/* A daemon from before there was a kill switch. */
	if (event->kind == RPC_EVENT_ERROR && event->error.code == RPC_CODE_UNKNOWN_METHOD) {
		rpc_event_free(event);
		return 0;
	}
	return 1;
}

enum cli_exit run_unlock(struct cli *cli)
{
	struct rpc_request request = { .method = RPC_METHOD_KILLSWITCH_UNLOCK };
	struct args_error error;
	struct rpc_result result;
	struct rpc_event event;
	enum cli_exit code;

	if (!args_duration(&cli->args, OPTION_FOR, FOR_MAX_S, &request.for_s, &error))
		return cli_usage(cli, "%s", error.text);
	if (console_is_admin()) {
		if (!ask(cli, &request, &event))
			return unlock_directly(cli, request.for_s);
		if (event.kind == RPC_EVENT_ERROR) {
			code = cli_tell_error(cli, &request, &event.error);
			rpc_event_free(&event);
			return code;
		}
		result = event.result;
	} else {
		code = cli_ask(cli, &request, CLI_ANSWER_MS, &result);
		if (code) {
			cli_err("`sudo wgtcp-cli unlock` works without the daemon too.\n");
			return code;
		}
	}
	if (cli->json)
		code = cli_print_json(rpc_json_result(&result));
	else if (result.unlocked.changed)
		tell_done(request.for_s);
	else
		cli_out("The kill switch was off already.\n");
	rpc_result_free(&result);
	return cli->json ? code : CLI_DONE;
}
