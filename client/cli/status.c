/* SPDX-License-Identifier: MIT */
/* status, status --watch, list. */
#include "client/cli/cli.h"

#include "client/cli/live.h"
#include "client/cli/sentence.h"
#include "client/cli/status_text.h"
#include "client/rpc/json.h"

#include <stdlib.h>
#include <string.h>

/* How soon a change of the terminal's size is followed. */
#define RESIZE_MS 250

static struct status_style style_now(void)
{
	return (struct status_style){ .width = console_width(CONSOLE_OUT),
		.colour = console_wants_colour(CONSOLE_OUT),
		.now = console_now() };
}

static void show_text(struct text *text)
{
	if (text->bytes)
		console_write(CONSOLE_OUT, text->bytes, text->len);
	text_free(text);
}

static bool is_up(enum rpc_state state)
{
	return state == RPC_STATE_UP || state == RPC_STATE_DEGRADED;
}

/* ---- watch ---- */

/* The tunnel of that name, a new one at the end, or NULL when memory is short. */
static struct rpc_tunnel *find_tunnel(struct rpc_status *status, const char *name, bool make)
{
	struct rpc_tunnel *tunnels;

	for (size_t i = 0; i < status->tunnel_count; i++) {
		if (!strcmp(status->tunnels[i].name, name))
			return &status->tunnels[i];
	}
	if (!make)
		return NULL;
	tunnels = realloc(status->tunnels, (status->tunnel_count + 1) * sizeof(*tunnels));
	if (!tunnels)
		return NULL;
	status->tunnels = tunnels;
	tunnels[status->tunnel_count] = (struct rpc_tunnel){ 0 };
	return &tunnels[status->tunnel_count++];
}

/* Takes what a state notice says, and its memory. */
static void take_state(struct rpc_status *status, struct rpc_notice *notice)
{
	struct rpc_tunnel *tunnel = find_tunnel(status, notice->state.tunnel.name, !notice->state.gone);

	if (!tunnel)
		return;
	rpc_tunnel_free(tunnel);
	if (notice->state.gone) {
		*tunnel = status->tunnels[--status->tunnel_count];
		return;
	}
	*tunnel = notice->state.tunnel;
	notice->state.tunnel = (struct rpc_tunnel){ 0 };
}

static void take_stats(struct rpc_status *status, const struct rpc_notice *notice)
{
	struct rpc_tunnel *tunnel = find_tunnel(status, notice->stats.name, false);

	for (size_t i = 0; tunnel && i < notice->stats.peer_count; i++) {
		const struct rpc_peer *from = &notice->stats.peers[i];

		for (size_t j = 0; j < tunnel->peer_count; j++) {
			struct rpc_peer *to = &tunnel->peers[j];

			if (strcmp(to->public_key, from->public_key) != 0)
				continue;
			to->rx_bytes = from->rx_bytes;
			to->tx_bytes = from->tx_bytes;
			to->rx_bps = from->rx_bps;
			to->tx_bps = from->tx_bps;
			to->rtt_us = from->rtt_us;
			to->echoes = from->echoes;
			to->loss_permille = from->loss_permille;
			to->jitter_us = from->jitter_us;
			to->carrier_rtt_us = from->carrier_rtt_us;
			to->last_handshake = from->last_handshake;
		}
	}
}

static bool is_wanted(const struct rpc_notice *notice, const char *name)
{
	switch (notice->kind) {
	case RPC_NOTICE_STATE:
		return !name[0] || !strcmp(notice->state.tunnel.name, name);
	case RPC_NOTICE_STATS:
		return !name[0] || !strcmp(notice->stats.name, name);
	case RPC_NOTICE_PROGRESS:
	case RPC_NOTICE_LOG:
	case RPC_NOTICE_SPEEDTEST:
		return false;
	}
	return false;
}

/* Off a terminal: a line a change. */
static void show_change(const struct rpc_notice *notice)
{
	struct text sentence = { 0 };
	char when[32];

	console_local_time(console_now(), when, sizeof(when));
	if (notice->state.gone)
		text_addf(&sentence, "%s was deleted.", notice->state.tunnel.name);
	else
		sentence_of_tunnel(&notice->state.tunnel, false, &sentence);
	if (sentence.bytes)
		cli_out("%s %s\n", when, sentence.bytes);
	text_free(&sentence);
}

/* Draws over what stands there, so that nothing flickers. */
static void show_screen(const struct rpc_status *status, const struct live *live)
{
	struct status_style style = style_now();
	uint32_t height = console_height(CONSOLE_OUT);
	bool utf8 = console_is_utf8();
	struct text text = { 0 }, screen = { 0 };

	for (size_t i = 0; i < status->tunnel_count; i++) {
		if (i)
			text_addf(&text, "\n");
		status_text_tunnel(&status->tunnels[i], &style, &text);
		if (status->tunnels[i].state != RPC_STATE_DOWN)
			live_text(live, status->tunnels[i].name, &style, utf8, &text);
	}
	if (!status->tunnel_count)
		text_addf(&text, "There is no tunnel yet; `wgtcp-cli import FILE` adds one.\n");
	text_addf(&screen, "\033[H");
	if (text.bytes)
		live_screen(text.bytes, height, &screen);
	text_free(&text);
	show_text(&screen);
}

/* A person may make the window larger or smaller at any time. */
static bool is_resized(uint32_t size[2])
{
	uint32_t width = console_width(CONSOLE_OUT), height = console_height(CONSOLE_OUT);
	bool changed = size[0] != width || size[1] != height;

	size[0] = width;
	size[1] = height;
	return changed;
}

/* Off a terminal: a line a second. */
static void show_stats(const struct rpc_notice *notice)
{
	struct text line = { 0 };
	char when[32];

	console_local_time(console_now(), when, sizeof(when));
	live_line(notice, &line);
	if (line.bytes)
		cli_out("%s %s\n", when, line.bytes);
	text_free(&line);
}

struct watching {
	struct cli *cli;
	const char *name; /* "" for all */
	struct rpc_status status;
	struct live live;
	bool screen;
};

static void take_notice(struct watching *watching, struct rpc_notice *notice)
{
	if (!is_wanted(notice, watching->name))
		return;
	if (watching->cli->json)
		cli_print_json(rpc_json_notice(notice));
	else if (!watching->screen && notice->kind == RPC_NOTICE_STATE)
		show_change(notice);
	else if (!watching->screen)
		show_stats(notice);
	if (notice->kind == RPC_NOTICE_STATE) {
		if (notice->state.gone || notice->state.tunnel.state == RPC_STATE_DOWN)
			live_forget(&watching->live, notice->state.tunnel.name);
		take_state(&watching->status, notice);
	} else {
		take_stats(&watching->status, notice);
		live_take(&watching->live, notice);
	}
}

static int watch_on(struct watching *watching)
{
	uint32_t size[2] = { 0 };
	int taken = 0;

	while (!console_failed()) {
		uint32_t left_ms = watching->screen ? RESIZE_MS : IPC_FOREVER;
		struct rpc_event event;

		taken = rpc_client_next(watching->cli->client, &left_ms, &event);
		if (taken < 0 || (!taken && !watching->screen))
			return taken;
		if (taken) {
			if (event.kind == RPC_EVENT_NOTICE)
				take_notice(watching, &event.notice);
			rpc_event_free(&event);
		}
		if (watching->screen && (taken || is_resized(size)))
			show_screen(&watching->status, &watching->live);
	}
	return taken;
}

/* name: "" for all. Ends with Ctrl-C or an error. */
static enum cli_exit watch(struct cli *cli, const char *name)
{
	struct rpc_request request = { .method = RPC_METHOD_WATCH };
	struct watching watching = {
		.cli = cli, .name = name, .screen = !cli->json && console_is_terminal(CONSOLE_OUT)
	};
	struct rpc_result result;
	enum cli_exit code = cli_ask(cli, &request, CLI_ANSWER_MS, &result);
	int taken;

	if (code)
		return code;
	rpc_result_free(&result);
	if (watching.screen) {
		console_catch_interrupt(); /* the cursor is to come back */
		cli_out("\033[?25l\033[2J");
	}
	taken = watch_on(&watching);
	if (watching.screen) {
		cli_out("\033[?25h\n");
		console_release_interrupt();
	}
	for (size_t i = 0; i < watching.status.tunnel_count; i++)
		rpc_tunnel_free(&watching.status.tunnels[i]);
	free(watching.status.tunnels);
	live_free(&watching.live);
	return console_failed() ? CLI_DONE : cli_tell_lost(cli, taken);
}

/* ---- once ---- */

enum cli_exit run_status(struct cli *cli)
{
	char name[RPC_NAME_LEN] = "";
	struct status_style style = style_now();
	struct text text = { 0 };
	struct rpc_result result;
	enum cli_exit code;

	if (cli->args.word_count > 1 && !name_from_word(cli->args.words[1], name))
		return cli_usage(cli, "'%.60s' is not the name of a tunnel", cli->args.words[1]);
	code = cli_ask_status(cli, name, &result);
	if (code)
		return code;
	if (cli->args.values[OPTION_WATCH]) {
		if (name[0] && result.status.tunnel_count)
			memcpy(name, result.status.tunnels[0].name, sizeof(name));
		rpc_result_free(&result);
		return watch(cli, name);
	}
	if (cli->json) {
		code = cli_print_json(rpc_json_result(&result));
	} else {
		status_text(&result.status, &style, &text);
		show_text(&text);
	}
	if (!code && name[0] && !(result.status.tunnel_count && is_up(result.status.tunnels[0].state)))
		code = CLI_NOT_UP;
	rpc_result_free(&result);
	return code;
}

enum cli_exit run_list(struct cli *cli)
{
	struct status_style style = style_now();
	struct text text = { 0 };
	struct rpc_result result;
	enum cli_exit code = cli_ask_list(cli, &result);

	if (code)
		return code;
	if (cli->json) {
		code = cli_print_json(rpc_json_result(&result));
	} else {
		list_text(&result.list, &style, &text);
		show_text(&text);
	}
	rpc_result_free(&result);
	return code;
}
