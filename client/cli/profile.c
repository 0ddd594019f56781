/* SPDX-License-Identifier: MIT */
/* import, export, delete, set. The daemon reads and checks profiles; here a file becomes a text and back. */
#include "client/cli/cli.h"

#include "client/cli/qr.h"
#include "client/rpc/json.h"
#include "client/rpc/utf8.h"
#include "core/base/text.h"
#include "core/base/wipe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What can not fit a message whatever it holds. */
#define FILE_MAX 65536

static unsigned line_at(const char *text, size_t at)
{
	unsigned line = 1;

	for (size_t i = 0; i < at; i++)
		line += text[i] == '\n';
	return line;
}

/* What the protocol can not carry as it is. */
static enum cli_exit check_text(const struct cli *cli, const char *path, const char *text, size_t len)
{
	const char *nul = memchr(text, '\0', len);
	const unsigned char *bytes = (const unsigned char *)text;

	if (len >= 2 && ((bytes[0] == 0xff && bytes[1] == 0xfe) || (bytes[0] == 0xfe && bytes[1] == 0xff)))
		return cli_fail(cli, CLI_OTHER,
			"%.200s:1: this is UTF-16; save the file as UTF-8 and import it again", path);
	if (nul)
		return cli_fail(cli, CLI_OTHER,
			"%.200s:%u: this is not a text file (it holds a NUL byte); give the profile's .conf "
			"file",
			path, line_at(text, (size_t)(nul - text)));
	for (size_t i = 0; i < len;) {
		size_t character = utf8_character_len(text + i);

		if (!character)
			return cli_fail(cli, CLI_OTHER,
				"%.200s:%u: this is not UTF-8 text; save the file as UTF-8 and import it "
				"again",
				path, line_at(text, i));
		i += character;
	}
	return CLI_DONE;
}

static enum cli_exit read_profile(const struct cli *cli, const char *path, char **text)
{
	size_t len = 0;
	int err = console_read_file(path, FILE_MAX, text, &len);
	enum cli_exit code;

	switch (-err) {
	case 0:
		break;
	case ENOENT:
		return cli_fail(cli, CLI_OTHER,
			"there is no file '%.200s'; give the path of a .conf file, or - for standard input",
			path);
	case EISDIR:
		return cli_fail(cli, CLI_OTHER, "'%.200s' is a folder; give one of its .conf files", path);
	case EACCES:
		return cli_fail(cli, CLI_NOT_PERMITTED,
			"you may not read '%.200s'; run this as root, or ask its owner", path);
	case EFBIG:
		return cli_fail(cli, CLI_OTHER,
			"'%.200s' is larger than the %d KiB that can be imported; one of up to 1 MiB can be "
			"put in place as it "
			"is: `sudo install -m 600 FILE /etc/wgtcp/NAME.conf`",
			path, FILE_MAX / 1024);
	default:
		return cli_fail(cli, CLI_OTHER, "'%.200s' can not be read: %s", path, strerror(-err));
	}
	code = check_text(cli, cli_shown_path(path), *text, len);
	if (code) {
		memory_wipe(*text, len);
		free(*text);
		*text = NULL;
	}
	return code;
}

enum cli_exit run_import(struct cli *cli)
{
	struct rpc_request request = { .method = RPC_METHOD_TUNNEL_IMPORT };
	const char *path = cli->args.word_count > 1 ? cli->args.words[1] : NULL,
		   *name = cli->args.values[OPTION_NAME];
	const char *from = cli->args.values[OPTION_FROM];
	struct rpc_result result;
	enum cli_exit code;

	if (from && (path || name || cli->args.values[OPTION_REPLACE]))
		return cli_usage(cli, "--from takes all that is there, and no FILE, --name or --replace");
	if (from)
		return run_migration(cli, from);
	if (!path)
		return cli_usage(cli, "it needs FILE");
	request.replace = cli->args.values[OPTION_REPLACE] != NULL;
	/* Not a path, as elsewhere a name may be: what is asked for is made. */
	if (name && (strchr(name, '/') || !name_from_word(name, request.name)))
		return cli_usage(cli,
			"'%.60s' is not a name for a tunnel: take 1 to 15 of A-Z a-z 0-9 _ = + . -", name);
	if (strcmp(path, "-") != 0)
		snprintf(request.file, sizeof(request.file), "%s", name_of_file(path));
	else if (!name)
		return cli_usage(cli, "standard input has no name; give the tunnel one with --name");
	code = read_profile(cli, path, &request.text);
	if (code)
		return code;
	code = cli_ask(cli, &request, CLI_ANSWER_MS, &result);
	rpc_request_free(&request);
	if (code)
		return code;
	if (cli->json) {
		code = cli_print_json(rpc_json_result(&result));
	} else {
		cli_out("%s is %s as %s; `wgtcp-cli up %s` brings it up.\n", result.done.name,
			result.done.changed ? "replaced" : "imported", result.done.file, result.done.name);
		cli_tell_notes(cli_shown_path(path), "warning: ", &result.done.warnings);
	}
	rpc_result_free(&result);
	return code;
}

static enum cli_exit show_qr(const struct cli *cli, const char *text)
{
	unsigned width = console_width(CONSOLE_OUT), needed = qr_columns(text, console_is_utf8());
	struct text out = { 0 };
	enum cli_exit code = CLI_DONE;

	if (width && needed > width)
		code = cli_fail(cli, CLI_OTHER,
			"the QR code is %u columns wide and this window %u: make the window wider or its "
			"letters "
			"smaller, and try again",
			needed, width);
	else if (qr_write(text, console_is_utf8(), console_wants_colour(CONSOLE_OUT), &out))
		console_write(CONSOLE_OUT, out.bytes, out.len);
	else
		code = cli_fail(cli, CLI_OTHER,
			"the profile is too large for a QR code; `wgtcp-cli export %s` writes it as text",
			cli->args.words[1]);
	text_free(&out);
	return code;
}

enum cli_exit run_export(struct cli *cli)
{
	struct rpc_request request = { .method = RPC_METHOD_TUNNEL_EXPORT };
	struct rpc_result result;
	enum cli_exit code;

	if (!name_from_word(cli->args.words[1], request.name))
		return cli_usage(cli, "'%.60s' is not the name of a tunnel", cli->args.words[1]);
	if (cli->json && cli->args.values[OPTION_QR])
		return cli_usage(cli, "--qr is for people and --json for programs; give one of them");
	request.hide_keys = cli->args.values[OPTION_HIDE_KEYS] != NULL;
	request.beside = !request.hide_keys;
	code = cli_ask(cli, &request, CLI_ANSWER_MS, &result);
	if (code)
		return code;
	if (cli->json)
		code = cli_print_json(rpc_json_result(&result));
	else if (cli->args.values[OPTION_QR])
		code = show_qr(cli, result.exported.text);
	else
		console_write(CONSOLE_OUT, result.exported.text, strlen(result.exported.text));
	rpc_result_free(&result);
	return code;
}

enum cli_exit run_delete(struct cli *cli)
{
	struct rpc_request request = { .method = RPC_METHOD_TUNNEL_DELETE };
	struct rpc_result result;
	enum cli_exit code;

	if (!name_from_word(cli->args.words[1], request.name))
		return cli_usage(cli, "'%.60s' is not the name of a tunnel", cli->args.words[1]);
	code = cli_ask(cli, &request, CLI_ANSWER_MS, &result);
	if (code)
		return code;
	if (cli->json)
		code = cli_print_json(rpc_json_result(&result));
	else
		cli_out("%s is deleted.\n", request.name);
	if (!cli->json)
		cli_tell_notes(request.name, "warning: ", &result.done.warnings);
	rpc_result_free(&result);
	return code;
}

/* "KEY=VALUE" as a setting; its value is the caller's to free. */
static bool read_setting(const char *word, struct rpc_setting *out)
{
	const char *equals = strchr(word, '=');
	size_t len = equals ? (size_t)(equals - word) : 0;

	while (len && word[len - 1] == ' ')
		len--;
	if (!len || len >= sizeof(out->key))
		return false;
	equals++;
	equals += strspn(equals, " ");
	memcpy(out->key, word, len);
	out->key[len] = '\0';
	out->value = malloc(strlen(equals) + 1);
	if (!out->value)
		return false;
	memcpy(out->value, equals, strlen(equals) + 1);
	return true;
}

/* A key's value is not repeated on the screen. */
static bool is_secret(const char *key)
{
	static const char *const secrets[] = { "PrivateKey", "PresharedKey" };

	for (size_t i = 0; i < 2; i++) {
		if (text_equal_nocase(key, strlen(key), secrets[i]))
			return true;
	}
	return false;
}

static void tell_setting(const struct rpc_setting *setting, const char *file)
{
	if (!setting->value[0])
		cli_out("%s is taken away in %s.\n", setting->key, file);
	else if (is_secret(setting->key))
		cli_out("%s is set in %s.\n", setting->key, file);
	else
		cli_out("%s = %s in %s.\n", setting->key, setting->value, file);
}

enum cli_exit run_set(struct cli *cli)
{
	struct rpc_request request = { .method = RPC_METHOD_TUNNEL_SET };
	const char *peer = cli->args.values[OPTION_PEER];
	size_t count = cli->args.word_count - 2;
	struct rpc_result result;
	enum cli_exit code;

	if (!name_from_word(cli->args.words[1], request.name))
		return cli_usage(cli, "'%.60s' is not the name of a tunnel", cli->args.words[1]);
	if (peer && strlen(peer) >= sizeof(request.peer))
		return cli_usage(cli, "--peer takes a public key of 44 characters");
	if (peer)
		memcpy(request.peer, peer, strlen(peer) + 1);
	request.settings = calloc(count, sizeof(*request.settings));
	if (!request.settings)
		return cli_fail(cli, CLI_OTHER, "memory is short; close something and try again");
	for (size_t i = 0; i < count; i++) {
		if (!read_setting(cli->args.words[2 + i], &request.settings[i])) {
			rpc_request_free(&request);
			return cli_usage(cli, "'%.60s' is not KEY=VALUE, such as Transport=tcp",
				cli->args.words[2 + i]);
		}
		request.setting_count++;
	}
	code = cli_ask(cli, &request, CLI_ANSWER_MS, &result);
	if (!code && cli->json) {
		code = cli_print_json(rpc_json_result(&result));
	} else if (!code) {
		for (size_t i = 0; i < count; i++)
			tell_setting(&request.settings[i], result.done.file);
		if (!result.done.changed)
			cli_out("%s is up, and stays as it was until `wgtcp-cli down %s` and `wgtcp-cli up "
				"%s`.\n",
				result.done.name, result.done.name, result.done.name);
		cli_tell_notes(result.done.file, "warning: ", &result.done.warnings);
	}
	if (!code)
		rpc_result_free(&result);
	rpc_request_free(&request);
	return code;
}
