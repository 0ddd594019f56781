/* SPDX-License-Identifier: MIT */
/* Everything that the program says passes here. */
#include "client/cli/cli.h"

#include "client/rpc/json.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_format(enum console_stream stream, const char *format, va_list args)
{
	char short_line[512];
	char *line = short_line;
	va_list again;
	int len;

	va_copy(again, args);
	len = vsnprintf(short_line, sizeof(short_line), format, args);
	if (len >= (int)sizeof(short_line)) {
		line = malloc((size_t)len + 1);
		if (line)
			vsnprintf(line, (size_t)len + 1, format, again);
	}
	va_end(again);
	if (line && len > 0)
		console_write(stream, line, (size_t)len);
	if (line != short_line)
		free(line);
}

void cli_out(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	write_format(CONSOLE_OUT, format, args);
	va_end(args);
}

void cli_err(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	write_format(CONSOLE_ERR, format, args);
	va_end(args);
}

/* "wgtcp-cli: " and a sentence, wrapped for a terminal. */
static void say(const char *prefix, const char *sentence)
{
	uint32_t width = console_width(CONSOLE_ERR);
	struct text clean = { 0 }, line = { 0 };

	text_add_clean(&clean, sentence);
	text_addf(&line, "%s", prefix);
	if (clean.bytes)
		text_add_wrapped(&line, clean.bytes, strlen(prefix), 2, width);
	text_add(&line, "\n", 1);
	if (line.bytes)
		console_write(CONSOLE_ERR, line.bytes, line.len);
	text_free(&clean);
	text_free(&line);
}

enum cli_exit cli_fail(const struct cli *cli, enum cli_exit code, const char *format, ...)
{
	struct rpc_error error;
	char sentence[sizeof(error.message)];
	va_list args;

	va_start(args, format);
	vsnprintf(sentence, sizeof(sentence), format, args);
	va_end(args);
	if (cli->json) {
		rpc_error_set(&error, (enum rpc_code)code, "%s", sentence);
		cli_print_json(rpc_json_error(&error));
	}
	say("wgtcp-cli: ", sentence);
	return code;
}

enum cli_exit cli_usage(const struct cli *cli, const char *format, ...)
{
	const char *name = cli->command ? cli->command->name : NULL;
	char sentence[400];
	va_list args;

	va_start(args, format);
	vsnprintf(sentence, sizeof(sentence), format, args);
	va_end(args);
	/* A question has its own end. */
	const char *joint = sentence[0] && sentence[strlen(sentence) - 1] == '?' ? "" : ";";

	if (name)
		return cli_fail(cli, CLI_USAGE, "%s: %s%s `wgtcp-cli help %s` shows how", name, sentence,
			joint, name);
	return cli_fail(cli, CLI_USAGE, "%s%s `wgtcp-cli help` shows all commands", sentence, joint);
}

enum cli_exit cli_print_json(char *json)
{
	if (!json) {
		say("wgtcp-cli: ", "memory is short");
		return CLI_OTHER;
	}
	console_write(CONSOLE_OUT, json, strlen(json));
	console_write(CONSOLE_OUT, "\n", 1);
	rpc_json_free(json);
	return CLI_DONE;
}

void cli_warn(const char *text)
{
	say("wgtcp-cli: warning: ", text);
}

void cli_tell_notes(const char *file, const char *kind, const struct rpc_notes *notes)
{
	for (size_t i = 0; i < notes->count; i++) {
		struct text line = { 0 };

		text_add_clean(&line, file);
		if (notes->items[i].line)
			text_addf(&line, ":%u", notes->items[i].line);
		text_addf(&line, ": %s", kind);
		text_add_clean(&line, notes->items[i].text);
		text_add(&line, "\n", 1);
		if (line.bytes)
			console_write(CONSOLE_ERR, line.bytes, line.len);
		text_free(&line);
	}
}
