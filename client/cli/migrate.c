/* SPDX-License-Identifier: MIT */
/* import --from: what another program has, read where it lies and left as it is. */
#include "client/cli/cli.h"

#include "client/cli/keyfile.h"
#include "client/rpc/json.h"
#include "core/base/wipe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX 65536

struct source {
	const char *name, *owner, *folder, *suffix;
	bool is_keyfile;
};

static const struct source sources[] = {
	{ "wg-quick", "wg-quick", "/etc/wireguard", ".conf", false },
	{ "networkmanager", "NetworkManager", "/etc/NetworkManager/system-connections", ".nmconnection",
		true },
};

struct migration {
	struct cli *cli;
	const struct source *source;
	struct rpc_list list; /* what the daemon has */
	unsigned done, left, failed;
};

static void fail(struct migration *migration, const char *what, const char *sentence)
{
	migration->failed++;
	cli_err("wgtcp-cli: %s: %s\n", what, sentence);
}

/* The profile is the daemon's own already, so nothing may be written over it. */
static bool is_there(const struct migration *migration, const char *name)
{
	for (size_t i = 0; i < migration->list.tunnel_count; i++)
		if (!strcmp(migration->list.tunnels[i].name, name) && !migration->list.tunnels[i].read_only)
			return true;
	return false;
}

/* title: what it is called, from which the daemon makes its name. text is wiped and freed. */
static void hand_over(
	struct migration *migration, const char *path, const char *title, char *text, const char *left_out)
{
	struct rpc_request request = { .method = RPC_METHOD_TUNNEL_IMPORT, .text = text };
	struct rpc_event event;
	int answered;

	snprintf(request.file, sizeof(request.file), "%.200s", title);
	answered = rpc_client_call(migration->cli->client, &request, CLI_ANSWER_MS, &event);
	if (answered == 1 && event.kind == RPC_EVENT_ERROR && event.error.code == RPC_CODE_EXISTS) {
		char name[RPC_NAME_LEN];

		/* One of wg-quick's that is used where it lies: a copy of its own stands before it. */
		if (name_from_word(title, name) && !is_there(migration, name) &&
			!migration->source->is_keyfile) {
			rpc_event_free(&event);
			request.replace = true;
			answered = rpc_client_call(migration->cli->client, &request, CLI_ANSWER_MS, &event);
		}
	}
	rpc_request_free(&request);
	if (answered != 1) {
		fail(migration, path, "the daemon does not answer");
		return;
	}
	if (event.kind == RPC_EVENT_ERROR && event.error.code == RPC_CODE_EXISTS) {
		migration->left++;
		if (!migration->cli->json)
			cli_out("%s is there already, and left as it is.\n", title);
	} else if (event.kind == RPC_EVENT_ERROR) {
		fail(migration, path, event.error.message);
	} else {
		migration->done++;
		if (migration->cli->json) {
			cli_print_json(rpc_json_result(&event.result));
		} else {
			cli_out("%s is imported as %s.\n", event.result.done.name, event.result.done.file);
			cli_tell_notes(path, "warning: ", &event.result.done.warnings);
			if (left_out[0])
				cli_err("%s: warning: left out, since a profile has no place for it: %s\n",
					path, left_out);
		}
	}
	rpc_event_free(&event);
}

static void take_keyfile(struct migration *migration, const char *path, const char *text, size_t len)
{
	struct keyfile_profile profile;
	char title[sizeof(profile.id) + 8], *copy;

	switch (keyfile_read(text, len, &profile)) {
	case KEYFILE_OTHER:
		return;
	case KEYFILE_NO_KEY:
		fail(migration, path,
			"NetworkManager keeps its private key elsewhere: store it with `nmcli connection "
			"modify NAME "
			"wireguard.private-key-flags 0 wireguard.private-key KEY`, then import again");
		return;
	case KEYFILE_BAD:
		fail(migration, path,
			"a value in it holds a line break or is too long, which no profile may");
		return;
	case KEYFILE_PROFILE:
		break;
	}
	snprintf(title, sizeof(title), "%s.conf", profile.id[0] ? profile.id : "networkmanager");
	copy = calloc(1, profile.len + 1);
	if (copy) {
		memcpy(copy, profile.text, profile.len);
		hand_over(migration, path, title, copy, profile.left_out);
	}
	keyfile_free(&profile);
}

static void take_file(struct migration *migration, const char *name)
{
	char path[512], *text = NULL;
	size_t len = 0;
	int err;

	snprintf(path, sizeof(path), "%s/%s", migration->source->folder, name);
	err = console_read_file(path, FILE_MAX, &text, &len);
	if (err) {
		fail(migration, path,
			err == -EFBIG ? "it is larger than the 64 KiB that a profile may have"
				      : strerror(-err));
		return;
	}
	if (migration->source->is_keyfile) {
		take_keyfile(migration, path, text, len);
		memory_wipe(text, len);
		free(text);
	} else if (strlen(text) != len) {
		fail(migration, path, "this is not a text file");
		memory_wipe(text, len);
		free(text);
	} else {
		hand_over(migration, path, name, text, "");
	}
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static const struct source *find_source(const char *name)
{
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
		if (!strcmp(sources[i].name, name))
			return &sources[i];
	return NULL;
}

enum cli_exit run_migration(struct cli *cli, const char *from)
{
	struct migration migration = { .cli = cli, .source = find_source(from) };
	const struct source *source = migration.source;
	struct rpc_result list = { 0 };
	char **names = NULL;
	size_t count = 0;
	enum cli_exit code;
	int err;

	if (!source)
		return cli_usage(cli, "--from takes wg-quick or networkmanager, not '%.60s'", from);
	err = console_list_folder(source->folder, source->suffix, &names, &count);
	if (err == -EACCES || err == -EPERM)
		return cli_fail(cli, CLI_NOT_PERMITTED, "only root may read %s: use sudo", source->folder);
	if (err && err != -ENOENT)
		return cli_fail(cli, CLI_OTHER, "%s can not be read: %s", source->folder, strerror(-err));
	code = cli_ask_list(cli, &list);
	if (!code) {
		migration.list = list.list;
		qsort(names, count, sizeof(*names), by_name);
		for (size_t i = 0; i < count; i++)
			take_file(&migration, names[i]);
		if (!cli->json && !migration.done && !migration.left && !migration.failed)
			cli_out("%s has no tunnel in %s.\n", source->owner, source->folder);
		else if (!cli->json && migration.done)
			cli_out("What %s has stays as it is; take it down there before `wgtcp-cli up`.\n",
				source->owner);
		rpc_result_free(&list);
		code = migration.failed ? CLI_OTHER : CLI_DONE;
	}
	for (size_t i = 0; i < count; i++)
		free(names[i]);
	free(names);
	return code;
}
