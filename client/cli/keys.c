/* SPDX-License-Identifier: MIT */
/* genkey, pubkey, genpsk: no daemon. */
#include "client/cli/cli.h"

#include "client/rpc/json.h"
#include "core/base/wipe.h"
#include "core/crypto/crypto.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static enum cli_exit show_key(const struct cli *cli, const char *what, const uint8_t key[KEY_LEN])
{
	char text[KEY_TEXT_LEN + 1];
	enum cli_exit code = CLI_DONE;

	key_write(key, text);
	if (cli->json) {
		code = cli_print_json(rpc_json_pair(what, text));
	} else {
		text[KEY_TEXT_LEN - 1] = '\n';
		console_write(CONSOLE_OUT, text, KEY_TEXT_LEN);
	}
	memory_wipe(text, sizeof(text));
	return code;
}

static enum cli_exit need_crypto(const struct cli *cli)
{
	if (crypto_init())
		return CLI_DONE;
	return cli_fail(cli, CLI_OTHER,
		"the crypto libraries give wrong answers or lack a primitive; install libsodium and OpenSSL "
		"again");
}

enum cli_exit run_genkey(struct cli *cli)
{
	uint8_t key[KEY_LEN];
	enum cli_exit code = need_crypto(cli);

	if (code)
		return code;
	dh_generate(key);
	code = show_key(cli, "private_key", key);
	memory_wipe(key, sizeof(key));
	return code;
}

enum cli_exit run_genpsk(struct cli *cli)
{
	uint8_t key[KEY_LEN];
	enum cli_exit code = need_crypto(cli);

	if (code)
		return code;
	random_fill(key, sizeof(key));
	code = show_key(cli, "preshared_key", key);
	memory_wipe(key, sizeof(key));
	return code;
}

/* Standard input: one key, and nothing else but an end of line. */
enum cli_exit run_pubkey(struct cli *cli)
{
	uint8_t private_key[KEY_LEN], public_key[KEY_LEN];
	char *text = NULL;
	size_t len = 0, all = 0;
	bool good = false;
	enum cli_exit code = need_crypto(cli);
	int err;

	if (code)
		return code;
	err = console_read_file("-", 128, &text, &len);
	if (err && err != -EFBIG)
		return cli_fail(cli, CLI_OTHER, "standard input can not be read: %s", strerror(-err));
	if (!err) {
		all = len;
		while (len && (text[len - 1] == '\n' || text[len - 1] == '\r'))
			len--;
		good = key_parse(text, len, private_key);
		memory_wipe(text, all);
		free(text);
	}
	if (!good)
		return cli_fail(cli, CLI_OTHER,
			"standard input holds no private key: 44 base64 characters that end in '='; "
			"`wgtcp-cli genkey` makes one");
	dh_public(public_key, private_key);
	code = show_key(cli, "public_key", public_key);
	memory_wipe(private_key, sizeof(private_key));
	return code;
}
