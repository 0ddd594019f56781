/* SPDX-License-Identifier: MIT */
/* help, version. */
#include "client/cli/cli.h"

#include "client/cli/suggest.h"
#include "client/rpc/json.h"

#include <string.h>

/* In three lines, so that the help of each command fits a screen. */
static const char exit_codes[] =
	"Exit codes: 0 done, 1 something else (the sentence says what), 2 wrong command\n"
	"line, 3 not up, 4 not permitted, 5 no such tunnel, 6 timed out, 7 the peer is\n"
	"unreachable on every carrier, 8 a captive portal wants a login, 130 interrupted\n";

static void add_option(struct text *out, enum option option)
{
	const struct option_text *text = &option_texts[option];
	size_t start = out->len;

	if (text->letter)
		text_addf(out, "  -%c, --%s", text->letter, text->name);
	else
		text_addf(out, "      --%s", text->name);
	if (text->value)
		text_addf(out, " %s", text->value);
	text_addf(
		out, "%*s  %s\n", (int)(out->len - start < 22 ? 22 - (out->len - start) : 0), "", text->help);
}

static void add_options(struct text *out, uint32_t options)
{
	for (int option = 0; option < OPTION_COUNT; option++) {
		if (options & OPTION_BIT(option))
			add_option(out, (enum option)option);
	}
}

static void write_all(struct text *out)
{
	text_addf(out, "Usage: wgtcp-cli COMMAND ... (WireGuard over UDP, or TCP where UDP is blocked)\n\n");
	for (const struct command *command = commands; command->name; command++) {
		size_t start = out->len;

		text_addf(out, "  %s %s", command->name, command->usage);
		text_addf(out, "%*s  %s\n", (int)(out->len - start < 26 ? 26 - (out->len - start) : 0), "",
			command->summary);
	}
	text_addf(out, "\n`wgtcp-cli help COMMAND` has its options and exit codes. NO_COLOR: no colours.\n");
}

void help_write(const struct command *command, struct text *out)
{
	if (!command) {
		write_all(out);
		return;
	}
	text_addf(out, "Usage: wgtcp-cli %s%s%s%s\n\n", command->name, command->usage[0] ? " " : "",
		command->usage, command->options ? " [options]" : "");
	text_addf(out, "%c%s.\n", command->summary[0] - 'a' + 'A', command->summary + 1);
	if (command->details[0])
		text_addf(out, "%s\n", command->details);
	text_addf(out, "\n");
	add_options(out, command->options | OPTIONS_ALWAYS);
	text_addf(out, "\n%s", exit_codes);
}

enum cli_exit run_version(struct cli *cli)
{
	if (cli->json)
		return cli_print_json(rpc_json_pair("wgtcp_cli", WGTCP_VERSION));
	cli_out("wgtcp-cli %s\n", WGTCP_VERSION);
	return CLI_DONE;
}

enum cli_exit run_help(struct cli *cli)
{
	const char *name = cli->args.word_count > 1 ? cli->args.words[1] : NULL;
	const struct command *command = name ? commands : NULL;
	struct suggestion suggestion;
	struct text text = { 0 };

	if (name) {
		suggestion_start(&suggestion, name);
		for (; command->name && strcmp(command->name, name) != 0; command++)
			suggestion_offer(&suggestion, command->name);
		if (!command->name && suggestion.nearest)
			return cli_usage(cli, "'%.60s' is not a command; did you mean '%s'?", name,
				suggestion.nearest);
		if (!command->name)
			return cli_usage(cli, "'%.60s' is not a command", name);
	}
	help_write(command, &text);
	if (text.bytes)
		console_write(CONSOLE_OUT, text.bytes, text.len);
	text_free(&text);
	return CLI_DONE;
}
