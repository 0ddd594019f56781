/* SPDX-License-Identifier: MIT */
/* doctor [NAME]. */
#include "client/cli/cli.h"

#include "client/cli/doctor_text.h"
#include "client/rpc/json.h"

/* The daemon takes less than 10 s. */
#define DOCTOR_MS 15000

static void show(const struct rpc_diagnosis *diagnosis)
{
	struct status_style style = { .width = console_width(CONSOLE_OUT),
		.colour = console_wants_colour(CONSOLE_OUT),
		.now = console_now() };
	struct text text = { 0 };

	doctor_text(diagnosis, &style, &text);
	if (text.bytes)
		console_write(CONSOLE_OUT, text.bytes, text.len);
	text_free(&text);
}

enum cli_exit run_doctor(struct cli *cli)
{
	struct rpc_request request = { .method = RPC_METHOD_DIAGNOSE };
	struct rpc_result result;
	enum cli_exit code;

	if (cli->args.word_count > 1 && !name_from_word(cli->args.words[1], request.name))
		return cli_usage(cli, "'%.60s' is not the name of a tunnel", cli->args.words[1]);
	/* As `up`: where it does not work yet, nobody may have started the daemon. */
	code = cli_connect(cli, true);
	if (code)
		return code;
	if (request.name[0] && !cli->json && console_is_terminal(CONSOLE_ERR))
		cli_err("This takes up to 10 s.\n");
	code = cli_ask(cli, &request, DOCTOR_MS, &result);
	if (code)
		return code;
	if (cli->json)
		code = cli_print_json(rpc_json_result(&result));
	else
		show(&result.diagnosis);
	if (!code)
		code = cli_exit_of(result.diagnosis.code);
	rpc_result_free(&result);
	return code;
}
