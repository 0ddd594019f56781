/* SPDX-License-Identifier: MIT */
/* server init, server add: the daemon makes the keys; the client's profile becomes a file and a QR code here.
 */
#include "client/cli/cli.h"

#include "client/cli/qr.h"
#include "client/rpc/json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_CLIENT "client"

/* CLIENT.conf, with what can not be in a file's name replaced. */
static void file_of(const char *client, char *out, size_t size)
{
	size_t at = 0;

	for (; *client && at + sizeof(".conf") < size; client++)
		out[at++] =
			*client == '/' || *client == '\\' || (unsigned char)*client < 0x20 ? '-' : *client;
	if (at && out[0] == '.')
		out[0] = '-';
	snprintf(out + at, size - at, ".conf");
}

static bool read_request(struct cli *cli, struct rpc_request *request, enum cli_exit *code)
{
	const char *endpoint = cli->args.values[OPTION_ENDPOINT], *name = cli->args.values[OPTION_NAME];
	const char *client = cli->args.word_count > 2 ? cli->args.words[2] : DEFAULT_CLIENT;
	bool adds = request->method == RPC_METHOD_SERVER_ADD;
	struct args_error error;

	if (adds && cli->args.word_count < 3) {
		*code = cli_usage(cli, "it needs the new client's name: server add NAME");
		return false;
	}
	if (!adds && !endpoint) {
		*code = cli_usage(cli,
			"it needs --endpoint HOST: the name or address by which clients reach this machine");
		return false;
	}
	if (name && !name_from_word(name, request->name)) {
		*code = cli_usage(cli, "'%.60s' is not a name for a tunnel", name);
		return false;
	}
	if (!args_number(&cli->args, OPTION_PORT, 1, 65535, &request->port, &error)) {
		*code = cli_usage(cli, "%s", error.text);
		return false;
	}
	if ((endpoint && strlen(endpoint) >= sizeof(request->endpoint)) ||
		strlen(client) >= sizeof(request->client)) {
		*code = cli_usage(cli, "that name is too long");
		return false;
	}
	snprintf(request->endpoint, sizeof(request->endpoint), "%s", endpoint ? endpoint : "");
	snprintf(request->client, sizeof(request->client), "%s", client);
	return true;
}

/* Whether it stands on the screen. */
static bool show_qr(const char *profile)
{
	unsigned width = console_width(CONSOLE_OUT), needed = qr_columns(profile, console_is_utf8());
	struct text out = { 0 };
	bool shown = false;

	if (!console_is_terminal(CONSOLE_OUT))
		return false;
	if (width && needed > width) {
		cli_out("No QR code is shown, since it is %u columns wide and this window %u.\n", needed,
			width);
	} else if (qr_write(profile, console_is_utf8(), console_wants_colour(CONSOLE_OUT), &out)) {
		console_write(CONSOLE_OUT, out.bytes, out.len);
		shown = true;
	}
	text_free(&out);
	return shown;
}

static void tell(const struct rpc_served *served, bool made, const char *path)
{
	const char *port = strrchr(served->endpoint, ':');
	bool shown;

	if (made)
		cli_out("The server is ready as %s; `wgtcp-cli up %s` starts it, and it starts with the "
			"machine.\n",
			served->file, served->name);
	else if (served->changed)
		cli_out("%s knows the client %s.\n", served->name, served->client);
	else
		cli_out("%s knows the client %s from its next start on: `wgtcp-cli down %s` and `wgtcp-cli "
			"up %s`.\n",
			served->name, served->client, served->name, served->name);
	shown = show_qr(served->text);
	if (path)
		cli_out("The profile for %s is %s. It holds its private key, which is nowhere else:\n"
			"hand it over by a safe way, then delete it. `wgtcp-cli import %s` takes it "
			"there%s.\n",
			served->client, path, path, shown ? ",\nand a telephone takes the QR code" : "");
	if (made && port)
		cli_out("Nothing was opened in a firewall: port %s must be open to this machine, for UDP and "
			"for TCP.\n",
			port + 1);
}

enum cli_exit run_server(struct cli *cli)
{
	bool makes = !strcmp(cli->args.words[1], "init");
	struct rpc_request request = { .method = makes ? RPC_METHOD_SERVER_INIT : RPC_METHOD_SERVER_ADD };
	const char *output = cli->args.values[OPTION_OUTPUT];
	char path[RPC_NAME_LEN + 8];
	struct rpc_result result;
	enum cli_exit code;
	int err = 0;

	if (!makes && strcmp(cli->args.words[1], "add") != 0)
		return cli_usage(cli, "'%.60s' is neither init nor add", cli->args.words[1]);
	if (!read_request(cli, &request, &code))
		return code;
	file_of(request.client, path, sizeof(path));
	if (!output && !cli->json)
		output = path;
	if (output && strcmp(output, "-") != 0 && console_file_exists(output))
		return cli_fail(cli, CLI_OTHER,
			"'%.200s' is there already, and nothing is written over it: take another file with "
			"--output",
			output);
	code = cli_ask(cli, &request, CLI_ANSWER_MS, &result);
	if (code)
		return code;
	if (output && !strcmp(output, "-"))
		console_write(CONSOLE_OUT, result.served.text, strlen(result.served.text));
	else if (output)
		err = console_write_secret(output, result.served.text, strlen(result.served.text));
	if (err) {
		/* The key is nowhere else. */
		console_write(CONSOLE_OUT, result.served.text, strlen(result.served.text));
		code = cli_fail(cli, CLI_OTHER,
			"'%.200s' can not be written: %s; the profile stands above instead", output,
			strerror(-err));
	} else if (cli->json) {
		code = cli_print_json(rpc_json_result(&result));
	} else if (!strcmp(output, "-")) {
		if (!result.served.changed)
			cli_err("%s knows the client %s from its next start on: `wgtcp-cli down %s` and "
				"`wgtcp-cli up %s`.\n",
				result.served.name, result.served.client, result.served.name,
				result.served.name);
	} else {
		tell(&result.served, makes, output);
		cli_tell_notes(result.served.file, "warning: ", &result.served.warnings);
	}
	rpc_result_free(&result);
	return code;
}
