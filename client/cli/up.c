/* SPDX-License-Identifier: MIT */
/* up: asks, shows what the daemon tries meanwhile, and takes back what it began when the person presses
 * Ctrl-C. */
#include "client/cli/cli.h"

#include "client/cli/sentence.h"
#include "client/rpc/json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The daemon's own limit for a connect (protocol.md), and what it may take longer to say so. */
#define UP_TIMEOUT_MS 20000
#define UP_GRACE_MS 10000
#define CANCEL_MS 10000

/* The line of progress on a terminal. */
struct progress {
	bool shown; /* it is wanted at all */
	bool open;  /* the line has no end yet */
	bool tried_udp;
};

static void progress_end(struct progress *progress)
{
	if (progress->open)
		cli_err("\n");
	progress->open = false;
}

static const char *progress_words(struct progress *progress, enum rpc_step step)
{
	bool tried_udp = progress->tried_udp;

	switch (step) {
	case RPC_STEP_STARTING:
		return "Starting...";
	case RPC_STEP_WAITING_FOR_NETWORK:
		return "Waiting for a network...";
	case RPC_STEP_RESOLVING:
		return "Looking up the peer...";
	case RPC_STEP_TRYING_UDP:
		progress->tried_udp = true;
		return "Trying UDP...";
	case RPC_STEP_TRYING_TCP:
		return tried_udp ? "no answer, trying TCP..." : "Trying TCP...";
	case RPC_STEP_VERIFYING:
		return "answered, verifying...";
	}
	return "";
}

static void progress_show(struct progress *progress, enum rpc_step step)
{
	const char *words = progress_words(progress, step);

	if (!progress->shown)
		return;
	cli_err("%s%s", progress->open ? " " : "", words);
	progress->open = true;
}

/* Takes down what the tunnel.up with this id began, and waits until that is done. */
static enum cli_exit cancel(struct cli *cli, const char *name, int64_t id, struct progress *progress)
{
	struct rpc_request request = { .method = RPC_METHOD_TUNNEL_DOWN, .has_request = true, .request = id };
	struct rpc_event event;
	bool changed = false, known = false;

	snprintf(request.name, sizeof(request.name), "%s", name);
	progress_end(progress);
	/* Whoever presses Ctrl-C again does not want to wait for this. */
	console_release_interrupt();
	if (rpc_client_call(cli->client, &request, CANCEL_MS, &event) == 1) {
		known = event.kind == RPC_EVENT_RESULT;
		changed = known && event.result.done.changed;
		rpc_event_free(&event);
	}
	if (changed)
		return cli_fail(cli, CLI_INTERRUPTED, "interrupted; %s is down again", name);
	if (known)
		return cli_fail(cli, CLI_INTERRUPTED, "interrupted; %s is left as it was before", name);
	return cli_fail(
		cli, CLI_INTERRUPTED, "interrupted; `wgtcp-cli down %s` makes sure that it is down", name);
}

/* Waits for the answer to id. CLI_DONE: it is in *out. */
static enum cli_exit wait_for(struct cli *cli, const char *name, int64_t id, uint32_t left_ms,
	struct progress *progress, struct rpc_event *out)
{
	for (;;) {
		struct rpc_event event;
		int taken = console_interrupted() ? -EINTR : rpc_client_next(cli->client, &left_ms, &event);

		if (taken == -EINTR)
			return cancel(cli, name, id, progress);
		if (taken != 1) {
			progress_end(progress);
			return cli_tell_lost(cli, taken);
		}
		if (event.kind != RPC_EVENT_NOTICE && (event.id == id || !event.id)) {
			*out = event;
			return CLI_DONE;
		}
		if (event.kind == RPC_EVENT_NOTICE && event.notice.kind == RPC_NOTICE_PROGRESS &&
			event.notice.progress.request == id)
			progress_show(progress, event.notice.progress.step);
		rpc_event_free(&event);
	}
}

static enum cli_exit tell_result(const struct cli *cli, const struct rpc_result *result)
{
	const struct rpc_moved *moved = &result->moved;
	struct text sentence = { 0 };

	if (cli->json)
		return cli_print_json(rpc_json_result(result));
	sentence_of_tunnel(
		&moved->tunnel, result->method == RPC_METHOD_TUNNEL_UP && !moved->began, &sentence);
	if (sentence.bytes)
		cli_out("%s\n", sentence.bytes);
	text_free(&sentence);
	for (size_t i = 0; i < moved->warnings.count; i++)
		cli_warn(moved->warnings.items[i]);
	return CLI_DONE;
}

/* The options of up into *request. */
static bool read_options(
	const struct cli *cli, struct rpc_request *request, uint32_t *timeout_ms, struct args_error *error)
{
	const char *transport = cli->args.values[OPTION_TRANSPORT],
		   *backend = cli->args.values[OPTION_BACKEND];
	uint32_t seconds = 0;
	int word = 0;

	if (transport) {
		if (!args_word(transport, "transport", rpc_transport_words, &word, error))
			return false;
		request->has_transport = true;
		request->transport = (enum transport)word;
	}
	if (backend) {
		if (!args_word(backend, "backend", rpc_backend_choice_words, &word, error))
			return false;
		request->has_backend = true;
		request->backend = (enum rpc_backend_choice)word;
	}
	if (!args_number(&cli->args, OPTION_TIMEOUT, 1, 3600, &seconds, error))
		return false;
	request->timeout_ms = seconds * 1000;
	*timeout_ms = (seconds ? request->timeout_ms : UP_TIMEOUT_MS) + UP_GRACE_MS;
	return true;
}

enum cli_exit run_up(struct cli *cli)
{
	struct rpc_request request = { .method = RPC_METHOD_TUNNEL_UP };
	struct progress progress = { .shown = !cli->json && console_is_terminal(CONSOLE_ERR) };
	struct args_error error;
	struct rpc_event event;
	uint32_t timeout_ms;
	enum cli_exit code;

	if (!name_from_word(cli->args.words[1], request.name))
		return cli_usage(cli, "'%.60s' is not the name of a tunnel", cli->args.words[1]);
	if (!read_options(cli, &request, &timeout_ms, &error))
		return cli_usage(cli, "%s", error.text);
	code = cli_connect(cli, true);
	if (code)
		return code;
	console_catch_interrupt();
	for (bool again = true;; again = false) {
		int64_t id = rpc_client_send(cli->client, &request);

		if (id < 0)
			return cli_tell_lost(cli, (int)id);
		code = wait_for(cli, request.name, id, timeout_ms, &progress, &event);
		if (code)
			return code;
		if (!again || event.kind != RPC_EVENT_ERROR || event.error.code != RPC_CODE_NO_SUCH_TUNNEL ||
			!cli_resolve_name(cli, &request))
			break;
		rpc_event_free(&event);
	}
	progress_end(&progress);
	if (event.kind == RPC_EVENT_ERROR) {
		code = cli_tell_error(cli, &request, &event.error);
		if (event.error.has_state && event.error.state != RPC_STATE_DOWN &&
			event.error.state != RPC_STATE_FAILED)
			cli_err("The daemon goes on trying; `wgtcp-cli down %s` ends that.\n", request.name);
	} else {
		code = tell_result(cli, &event.result);
	}
	rpc_event_free(&event);
	return code;
}

enum cli_exit run_switch(struct cli *cli)
{
	struct rpc_request request = { .method = RPC_METHOD_TUNNEL_SWITCH, .has_transport = true };
	const char *peer = cli->args.values[OPTION_PEER];
	struct args_error error;
	struct rpc_result result;
	enum cli_exit code;
	int transport = 0;

	if (!name_from_word(cli->args.words[1], request.name))
		return cli_usage(cli, "'%.60s' is not the name of a tunnel", cli->args.words[1]);
	if (!args_word(cli->args.words[2], "carrier", rpc_transport_words, &transport, &error))
		return cli_usage(cli, "%s", error.text);
	request.transport = (enum transport)transport;
	if (peer && strlen(peer) >= sizeof(request.peer))
		return cli_usage(cli, "--peer takes a public key of 44 characters");
	if (peer)
		memcpy(request.peer, peer, strlen(peer) + 1);
	code = cli_ask(cli, &request, UP_TIMEOUT_MS + UP_GRACE_MS, &result);
	if (code)
		return code;
	code = tell_result(cli, &result);
	rpc_result_free(&result);
	return code;
}

enum cli_exit run_down(struct cli *cli)
{
	struct rpc_request request = { .method = RPC_METHOD_TUNNEL_DOWN };
	struct rpc_result result;
	enum cli_exit code;

	if (!name_from_word(cli->args.words[1], request.name))
		return cli_usage(cli, "'%.60s' is not the name of a tunnel", cli->args.words[1]);
	code = cli_ask(cli, &request, UP_TIMEOUT_MS, &result);
	if (code)
		return code;
	if (cli->json)
		code = cli_print_json(rpc_json_result(&result));
	else
		cli_out("%s %s.\n", request.name, result.done.changed ? "is down" : "was down already");
	for (size_t i = 0; !cli->json && i < result.done.warnings.count; i++)
		cli_warn(result.done.warnings.items[i].text);
	rpc_result_free(&result);
	return code;
}
