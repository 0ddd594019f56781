/* SPDX-License-Identifier: MIT */
/* Finds the subcommand, checks its options, runs it. */
#include "client/cli/cli.h"

#include "client/cli/suggest.h"

#include <string.h>

static const struct command *find(const char *name, struct suggestion *suggestion)
{
	suggestion_start(suggestion, name);
	for (const struct command *command = commands; command->name; command++) {
		if (!strcmp(command->name, name))
			return command;
		suggestion_offer(suggestion, command->name);
	}
	return NULL;
}

static enum cli_exit show_help(const struct command *command, enum console_stream stream, enum cli_exit code)
{
	struct text text = { 0 };

	help_write(command, &text);
	if (text.bytes)
		console_write(stream, text.bytes, text.len);
	text_free(&text);
	return code;
}

static enum cli_exit run(struct cli *cli, int argc, char *const argv[])
{
	struct suggestion suggestion;
	struct args_error error;
	size_t count;

	cli->socket_path = ipc_default_path();
	if (argc > 1 && !strcmp(argv[1], "complete"))
		return cli_complete(cli, argc - 2, argv + 2);
	/* Until the options are known, a program that asked for JSON must get it for their errors too. */
	for (int i = 1; i < argc; i++)
		cli->json = cli->json || !strcmp(argv[i], "--json");
	if (!args_parse(argc, argv, &cli->args, &error))
		return cli_usage(cli, "%s", error.text);
	cli->json = cli->args.values[OPTION_JSON] != NULL;
	cli->socket_path =
		cli->args.values[OPTION_SOCKET] ? cli->args.values[OPTION_SOCKET] : ipc_default_path();
	if (!cli->args.word_count && cli->args.values[OPTION_VERSION])
		return run_version(cli);
	if (!cli->args.word_count) {
		if (cli->args.values[OPTION_HELP])
			return show_help(NULL, CONSOLE_OUT, CLI_DONE);
		return show_help(NULL, CONSOLE_ERR, CLI_USAGE);
	}
	cli->command = find(cli->args.words[0], &suggestion);
	if (!cli->command && suggestion.nearest)
		return cli_usage(cli, "'%.60s' is not a command; did you mean '%s'?", cli->args.words[0],
			suggestion.nearest);
	if (!cli->command)
		return cli_usage(cli, "'%.60s' is not a command", cli->args.words[0]);
	if (cli->args.values[OPTION_HELP])
		return show_help(cli->command, CONSOLE_OUT, CLI_DONE);
	if (!args_check(&cli->args, cli->command->options | OPTIONS_ALWAYS, &error))
		return cli_usage(cli, "%s", error.text);
	count = cli->args.word_count - 1;
	if (count < cli->command->words_min)
		return cli_usage(cli, "it needs %s", cli->command->usage);
	if (count > cli->command->words_max)
		return cli_usage(
			cli, "'%.60s' is one word too many", cli->args.words[cli->command->words_max + 1]);
	return cli->command->run(cli);
}

int cli_main(int argc, char *const argv[])
{
	struct cli cli = { 0 };
	enum cli_exit code = run(&cli, argc, argv);

	rpc_client_close(cli.client);
	/* A result that nobody could read is not done: the disk is full, or the pipe is closed. */
	if (!console_failed())
		return (int)code;
	/* To a reader that had enough (| head) nothing is to be said. */
	if (console_is_full())
		cli_err("wgtcp-cli: the output could not be written: the disk is full\n");
	return code == CLI_DONE ? CLI_OTHER : (int)code;
}
