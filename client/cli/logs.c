/* SPDX-License-Identifier: MIT */
/* logs [-n N] [-f]. */
#include "client/cli/cli.h"

#include "client/rpc/json.h"

static const char *colour_of(enum rpc_level level)
{
	switch (level) {
	case RPC_LEVEL_ERROR:
		return "\033[31m";
	case RPC_LEVEL_WARNING:
		return "\033[33m";
	case RPC_LEVEL_INFO:
	case RPC_LEVEL_DEBUG:
		break;
	}
	return "";
}

static void show_entry(const struct rpc_log *entry, bool colour)
{
	const char *mark = colour ? colour_of(entry->level) : "";
	struct text line = { 0 };
	char when[32];

	console_local_time(entry->time_ms / 1000, when, sizeof(when));
	text_addf(&line, "%s %s%s%s: ", when, mark, rpc_level_words[entry->level], mark[0] ? "\033[0m" : "");
	if (entry->name[0]) {
		text_add_clean(&line, entry->name);
		text_addf(&line, ": ");
	}
	text_add_clean(&line, entry->text);
	text_addf(&line, "\n");
	if (line.bytes)
		console_write(CONSOLE_OUT, line.bytes, line.len);
	text_free(&line);
}

/* Ends with an error only; Ctrl-C ends the program. */
static enum cli_exit follow(struct cli *cli, bool colour)
{
	int taken = 1;

	while (!console_failed()) {
		uint32_t forever = IPC_FOREVER;
		struct rpc_event event;

		taken = rpc_client_next(cli->client, &forever, &event);
		if (taken != 1)
			return cli_tell_lost(cli, taken);
		if (event.kind == RPC_EVENT_NOTICE && event.notice.kind == RPC_NOTICE_LOG) {
			if (cli->json)
				cli_print_json(rpc_json_notice(&event.notice));
			else
				show_entry(&event.notice.log, colour);
		}
		rpc_event_free(&event);
	}
	return CLI_DONE;
}

enum cli_exit run_logs(struct cli *cli)
{
	struct rpc_request request = { .method = RPC_METHOD_LOGS };
	bool colour = console_wants_colour(CONSOLE_OUT);
	struct args_error error;
	struct rpc_result result;
	enum cli_exit code;

	if (!args_number(&cli->args, OPTION_LINES, 1, 10000, &request.lines, &error))
		return cli_usage(cli, "%s", error.text);
	request.follow = cli->args.values[OPTION_FOLLOW] != NULL;
	code = cli_ask(cli, &request, CLI_ANSWER_MS, &result);
	if (code)
		return code;
	if (cli->json)
		code = cli_print_json(rpc_json_result(&result));
	for (size_t i = 0; !cli->json && i < result.logs.entry_count; i++)
		show_entry(&result.logs.entries[i], colour);
	rpc_result_free(&result);
	if (!code && request.follow)
		return follow(cli, colour);
	return code;
}
