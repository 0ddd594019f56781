/* SPDX-License-Identifier: MIT */
/* What may come next on a command line, for the shells' completion scripts (packaging/completions), which
 * know nothing of their own: `wgtcp-cli complete WORD...`, the last WORD being the one under the cursor. A
 * candidate a line; ":file" says that a file's name is wanted. It never speaks of errors, and never starts a
 * daemon. */
#include "client/cli/cli.h"

#include <stdio.h>
#include <string.h>

/* A person waits at the prompt. */
#define ANSWER_MS 500

/* In the order of core/config/keys.c; a test compares. */
const char *const complete_keys[] = { "Name", "PrivateKey", "Address", "DNS", "ListenPort", "TcpListenPort",
	"FwMark", "MTU", "Table", "Transport", "Backend", "FallbackProfile", "KillSwitch",
	"KillSwitchAllowLan", "AutoConnect", "SpeedTestServer", "Extensions", "TrustedNetworks",
	"PortalCheck", "PreUp", "PostUp", "PreDown", "PostDown", "SaveConfig", "PublicKey", "PresharedKey",
	"Endpoint", "TcpEndpoint", "UdpPorts", "AllowedIPs", "PersistentKeepalive", "ProbeAddress", NULL };

static const struct {
	const char *key, *values;
} key_values[] = {
	{ "Transport", "auto|udp|tcp" },
	{ "Backend", "auto|kernel|userspace" },
	{ "KillSwitch", "on|off" },
	{ "KillSwitchAllowLan", "on|off" },
	{ "AutoConnect", "on|off" },
	{ "SpeedTestServer", "on|off" },
	{ "Extensions", "on|off" },
};

static void offer(const char *word, const char *candidate, size_t len)
{
	size_t word_len = strlen(word);

	if (len >= word_len && !memcmp(candidate, word, word_len))
		cli_out("%.*s\n", (int)len, candidate);
}

/* "udp|tcp|auto", each with `before` in front of it. */
static void offer_each(const char *word, const char *before, const char *list)
{
	char candidate[128];

	while (*list) {
		size_t len = strcspn(list, "|] .");
		int written = snprintf(candidate, sizeof(candidate), "%s%.*s", before, (int)len, list);

		if (written > 0 && (size_t)written < sizeof(candidate))
			offer(word, candidate, (size_t)written);
		list += len;
		if (*list != '|')
			return;
		list++;
	}
}

static void offer_tunnels(struct cli *cli, const char *word)
{
	struct rpc_request request = { .method = RPC_METHOD_TUNNEL_LIST };
	struct rpc_event event;
	size_t count = 0;

	if (rpc_client_open(cli->socket_path, &cli->client))
		return;
	/* Where a list comes in parts, so do the candidates. */
	while (rpc_client_call(cli->client, &request, ANSWER_MS, &event) == 1) {
		bool more = false;

		if (event.kind == RPC_EVENT_RESULT) {
			const struct rpc_list *list = &event.result.list;

			for (size_t i = 0; i < list->tunnel_count; i++)
				offer(word, list->tunnels[i].name, strlen(list->tunnels[i].name));
			count += list->tunnel_count;
			more = list->tunnel_count && count < list->tunnels_total;
			request.tunnel_from = (uint32_t)count;
		}
		rpc_event_free(&event);
		if (!more)
			return;
	}
}

static void offer_commands(const char *word)
{
	for (const struct command *command = commands; command->name; command++)
		offer(word, command->name, strlen(command->name));
}

static void offer_options(const char *word, uint32_t options)
{
	char candidate[64];

	for (int option = 0; option < OPTION_COUNT; option++) {
		if (!(options & OPTION_BIT(option)))
			continue;
		snprintf(candidate, sizeof(candidate), "--%s", option_texts[option].name);
		offer(word, candidate, strlen(candidate));
	}
}

static void offer_settings(const char *word)
{
	char before[128];

	for (size_t i = 0; i < sizeof(key_values) / sizeof(key_values[0]); i++) {
		snprintf(before, sizeof(before), "%s=", key_values[i].key);
		if (strncmp(word, before, strlen(before)) != 0)
			continue;
		offer_each(word, before, key_values[i].values);
		return;
	}
	for (size_t i = 0; complete_keys[i]; i++) {
		snprintf(before, sizeof(before), "%s=", complete_keys[i]);
		offer(word, before, strlen(before));
	}
}

/* The word that a command's usage has at this place, from 0; the last one may be repeated ("KEY=VALUE...").
 */
static const char *usage_at(const char *usage, size_t place)
{
	while (place-- && *usage) {
		size_t len = strcspn(usage, " ");

		if (!usage[len])
			return len > 3 && !strcmp(usage + len - 3, "...") ? usage : "";
		usage += len + 1;
	}
	return usage + (*usage == '[');
}

static bool usage_is(const char *usage, const char *what)
{
	size_t len = strlen(what);

	return !strncmp(usage, what, len) && (!usage[len] || strchr(" ].", usage[len]));
}

static void offer_word(struct cli *cli, const char *word, const struct command *command, size_t place)
{
	const char *usage = usage_at(command->usage, place);

	if (usage_is(usage, "NAME"))
		offer_tunnels(cli, word);
	else if (usage_is(usage, "FILE"))
		cli_out(":file\n");
	else if (usage_is(usage, "COMMAND"))
		offer_commands(word);
	else if (usage_is(usage, "KEY=VALUE"))
		offer_settings(word);
	else if (strcspn(usage, "|") < strcspn(usage, " "))
		offer_each(word, "", usage);
}

/* The option that this word is and whose value comes next; -1: none. */
static int takes_value(const char *word)
{
	for (int option = 0; option < OPTION_COUNT; option++) {
		const struct option_text *text = &option_texts[option];

		if (!text->value)
			continue;
		if ((word[0] == '-' && word[1] == '-' && !strcmp(word + 2, text->name)) ||
			(text->letter && word[0] == '-' && word[1] == text->letter && !word[2]))
			return option;
	}
	return -1;
}

static void offer_words(const char *word, const char *before, const char *const words[])
{
	char candidate[128];

	for (size_t i = 0; words[i]; i++) {
		snprintf(candidate, sizeof(candidate), "%s%s", before, words[i]);
		offer(word, candidate, strlen(candidate));
	}
}

static void offer_value(const char *word, int option)
{
	switch (option) {
	case OPTION_TRANSPORT:
		offer_words(word, "", rpc_transport_words);
		offer(word, "both", 4); /* speedtest's */
		return;
	case OPTION_BACKEND:
		offer_words(word, "", rpc_backend_choice_words);
		return;
	case OPTION_FROM:
		offer_each(word, "", "wg-quick|networkmanager");
		return;
	case OPTION_SOCKET:
	case OPTION_OUTPUT:
		cli_out(":file\n");
		return;
	}
}

static const struct command *command_of(const char *word)
{
	for (const struct command *command = commands; command->name; command++)
		if (!strcmp(command->name, word))
			return command;
	return NULL;
}

enum cli_exit cli_complete(struct cli *cli, int count, char *const words[])
{
	const struct command *command = NULL;
	const char *word = count ? words[count - 1] : "";
	size_t place = 0;
	int i;

	for (i = 0; i + 1 < count; i++) {
		int option = takes_value(words[i]);

		if (option >= 0) {
			if (i + 2 == count) {
				offer_value(word, option);
				return CLI_DONE;
			}
			i++;
			if (option == OPTION_SOCKET)
				cli->socket_path = words[i];
		} else if (words[i][0] == '-' && words[i][1]) {
			continue;
		} else if (!command) {
			command = command_of(words[i]);
			if (!command)
				return CLI_DONE;
		} else {
			place++;
		}
	}
	if (word[0] == '-')
		offer_options(word, command ? command->options | OPTIONS_ALWAYS
					    : OPTIONS_ALWAYS | OPTION_BIT(OPTION_VERSION));
	else if (!command)
		offer_commands(word);
	else
		offer_word(cli, word, command, place);
	return CLI_DONE;
}
