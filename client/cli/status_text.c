/* SPDX-License-Identifier: MIT */
/* A sentence, then labels and values in two columns; values are wrapped at the terminal's width. */
#include "client/cli/status_text.h"

#include "client/cli/sentence.h"

#include <string.h>

#define LABEL_COLUMNS 15
/* Below this a key of 44 characters does not stand beside its label. */
#define NARROW_COLUMNS 60

static const char *colour_of(enum rpc_state state)
{
	switch (state) {
	case RPC_STATE_UP:
		return "\033[32m";
	case RPC_STATE_CONNECTING:
	case RPC_STATE_VERIFYING:
	case RPC_STATE_DEGRADED:
	case RPC_STATE_RECONNECTING:
		return "\033[33m";
	case RPC_STATE_FAILED:
		return "\033[31m";
	case RPC_STATE_DOWN:
		break;
	}
	return "";
}

/* Colours word where it first stands in line after `from`. */
static void add_coloured(
	struct text *out, const char *line, size_t from, const char *word, const char *colour)
{
	const char *at = strstr(line + from, word);

	if (!at || !colour[0]) {
		text_addf(out, "%s", line);
		return;
	}
	text_add(out, line, (size_t)(at - line));
	text_addf(out, "%s%s\033[0m%s", colour, word, at + strlen(word));
}

static void add_head(const struct rpc_tunnel *tunnel, const struct status_style *style, struct text *out)
{
	struct text sentence = { 0 }, wrapped = { 0 };
	size_t name_len = strlen(tunnel->name);

	sentence_of_tunnel(tunnel, false, &sentence);
	text_add_wrapped(&wrapped, sentence.bytes ? sentence.bytes : "", 0, 2, style->width);
	if (wrapped.bytes)
		add_coloured(out, wrapped.bytes, name_len, rpc_state_words[tunnel->state],
			style->colour ? colour_of(tunnel->state) : "");
	text_addf(out, "\n");
	text_free(&sentence);
	text_free(&wrapped);
}

/* Takes value. */
static void add_row(struct text *out, size_t indent, const char *label, struct text *value,
	const struct status_style *style)
{
	struct text clean = { 0 };

	text_addf(out, "%*s%-*s", (int)indent, "", (int)(LABEL_COLUMNS - indent), label);
	text_add_clean(&clean, value->bytes ? value->bytes : "");
	text_add_wrapped(out, clean.bytes ? clean.bytes : "", LABEL_COLUMNS, LABEL_COLUMNS, style->width);
	text_addf(out, "\n");
	text_free(&clean);
	text_free(value);
}

static void add_peer(const struct rpc_tunnel *tunnel, const struct rpc_peer *peer,
	const struct status_style *style, struct text *out)
{
	struct text value = { 0 };
	size_t room = style->width > LABEL_COLUMNS + 4 ? style->width - LABEL_COLUMNS : 4;

	if (style->width && style->width < NARROW_COLUMNS && strlen(peer->public_key) > room)
		text_addf(&value, "%.*s...", (int)(room - 3), peer->public_key);
	else
		text_addf(&value, "%s", peer->public_key);
	add_row(out, 2, "peer", &value, style);
	if (peer->name[0]) {
		text_addf(&value, "%s", peer->name);
		add_row(out, 4, "name", &value, style);
	}
	if (tunnel->peer_count > 1) {
		text_addf(&value, "%s", rpc_state_words[peer->state]);
		if (peer->carrier != CARRIER_NONE)
			text_addf(&value, " over %s", sentence_carrier(peer->carrier));
		if (sentence_reason(peer->reason, peer->carrier)[0])
			text_addf(&value, ", %s", sentence_reason(peer->reason, peer->carrier));
		if (sentence_cause(peer->cause)[0])
			text_addf(&value, "; %s", sentence_cause(peer->cause));
		add_row(out, 4, "state", &value, style);
	}
	if (peer->endpoint[0]) {
		text_addf(&value, "%s", peer->endpoint);
		if (peer->carrier != CARRIER_NONE)
			text_addf(&value, " (%s)", sentence_carrier(peer->carrier));
		add_row(out, 4, "endpoint", &value, style);
	}
	if (!peer->last_handshake) {
		text_addf(&value, "none yet");
	} else {
		sentence_duration(
			style->now > peer->last_handshake ? style->now - peer->last_handshake : 0, &value);
		text_addf(&value, " ago");
	}
	add_row(out, 4, "handshake", &value, style);
	if (peer->rtt_us) {
		sentence_rtt(peer->rtt_us, &value);
		if (peer->echoes)
			text_addf(&value, ", %.1f %% lost, jitter ", peer->loss_permille / 10.0);
		if (peer->echoes)
			sentence_rtt(peer->jitter_us, &value);
		if (peer->carrier_rtt_us) {
			text_addf(&value, "; TCP outside ");
			sentence_rtt(peer->carrier_rtt_us, &value);
		}
		add_row(out, 4, "round trip", &value, style);
	}
	sentence_bytes(peer->rx_bytes, &value);
	text_addf(&value, ", now ");
	sentence_rate(peer->rx_bps, &value);
	add_row(out, 4, "received", &value, style);
	sentence_bytes(peer->tx_bytes, &value);
	text_addf(&value, ", now ");
	sentence_rate(peer->tx_bps, &value);
	add_row(out, 4, "sent", &value, style);
}

void status_text_tunnel(const struct rpc_tunnel *tunnel, const struct status_style *style, struct text *out)
{
	struct text value = { 0 };

	add_head(tunnel, style, out);
	for (size_t i = 0; i < tunnel->warnings.count; i++) {
		text_addf(&value, "%s", tunnel->warnings.items[i]);
		add_row(out, 2, "warning", &value, style);
	}
	if (tunnel->state == RPC_STATE_DOWN || (tunnel->state == RPC_STATE_FAILED && !tunnel->mtu))
		return;
	if (tunnel->display_name[0] && strcmp(tunnel->display_name, tunnel->name) != 0) {
		text_addf(&value, "%s", tunnel->display_name);
		add_row(out, 2, "name", &value, style);
	}
	if (tunnel->profile[0] && strcmp(tunnel->profile, tunnel->name) != 0) {
		text_addf(&value, "%s", tunnel->profile);
		add_row(out, 2, "profile", &value, style);
	}
	if (tunnel->managed_by[0]) {
		text_addf(&value, "%s", tunnel->managed_by);
		add_row(out, 2, "managed by", &value, style);
	}
	text_addf(&value, "%s", tunnel->interface);
	if (tunnel->mtu)
		text_addf(&value, ", MTU %u", tunnel->mtu);
	if (tunnel->backend != RPC_BACKEND_NONE && !tunnel->backend_reason[0])
		text_addf(&value, ", %s", rpc_backend_words[tunnel->backend]);
	add_row(out, 2, "interface", &value, style);
	if (tunnel->backend_reason[0]) {
		text_addf(&value, "%s, because: %s", rpc_backend_words[tunnel->backend], tunnel->backend_reason);
		add_row(out, 2, "backend", &value, style);
	}
	text_addf(&value, "%s; UDP here: %s", rpc_transport_words[tunnel->transport],
		rpc_udp_words[tunnel->udp]);
	add_row(out, 2, "transport", &value, style);
	if (tunnel->since) {
		sentence_duration(style->now > tunnel->since ? style->now - tunnel->since : 0, &value);
		add_row(out, 2, "for", &value, style);
	}
	for (size_t i = 0; i < tunnel->peer_count; i++)
		add_peer(tunnel, &tunnel->peers[i], style, out);
	if (tunnel->peers_total > tunnel->peer_count) {
		text_addf(&value, "%u more", (unsigned)(tunnel->peers_total - tunnel->peer_count));
		add_row(out, 2, "peers", &value, style);
	}
}

void lockdown_text(const struct rpc_lockdown *lockdown, const struct status_style *style, struct text *out)
{
	struct text sentence = { 0 };

	switch (lockdown->state) {
	case RPC_KILL_SWITCH_OFF:
		return;
	case RPC_KILL_SWITCH_ON:
		text_addf(&sentence, "The kill switch is on");
		break;
	case RPC_KILL_SWITCH_OPEN:
		text_addf(&sentence, "The kill switch is open for ");
		sentence_duration(
			lockdown->open_until > style->now ? lockdown->open_until - style->now : 0, &sentence);
		text_addf(&sentence, " more");
		break;
	}
	for (size_t i = 0; i < lockdown->tunnels.count; i++) {
		text_addf(&sentence, i ? ", " : " (");
		text_add_clean(&sentence, lockdown->tunnels.items[i]);
	}
	text_addf(&sentence, "%s: %s", lockdown->tunnels.count ? ")" : "",
		lockdown->state == RPC_KILL_SWITCH_OPEN
			? "traffic may go past the tunnel."
			: "nothing leaves this computer past a tunnel; `wgtcp-cli unlock` ends it.");
	text_add_wrapped(out, sentence.bytes ? sentence.bytes : "", 0, 2, style->width);
	text_addf(out, "\n");
	text_free(&sentence);
}

void status_text(const struct rpc_status *status, const struct status_style *style, struct text *out)
{
	bool was_long = false;

	if (!status->tunnel_count)
		text_addf(out, "There is no tunnel yet; `wgtcp-cli import FILE` adds one.\n");
	for (size_t i = 0; i < status->tunnel_count; i++) {
		bool is_long = status->tunnels[i].state != RPC_STATE_DOWN;

		if (i && (is_long || was_long))
			text_addf(out, "\n");
		status_text_tunnel(&status->tunnels[i], style, out);
		was_long = is_long;
	}
	if (status->lockdown.state != RPC_KILL_SWITCH_OFF)
		text_addf(out, "\n");
	lockdown_text(&status->lockdown, style, out);
}

void list_text(const struct rpc_list *list, const struct status_style *style, struct text *out)
{
	size_t widest = 4;

	if (!list->tunnel_count)
		text_addf(out, "There is no tunnel yet; `wgtcp-cli import FILE` adds one.\n");
	for (size_t i = 0; i < list->tunnel_count; i++) {
		size_t columns = text_columns(list->tunnels[i].name);

		widest = columns > widest ? columns : widest;
	}
	for (size_t i = 0; i < list->tunnel_count; i++) {
		const struct rpc_entry *entry = &list->tunnels[i];
		struct text rest = { 0 }, wrapped = { 0 };
		const char *word = rpc_state_words[entry->state];

		if (entry->error[0])
			text_addf(&rest, "unusable: ");
		else
			text_addf(&rest, "%s, %s", word, rpc_transport_words[entry->transport]);
		if (entry->error[0])
			text_add_clean(&rest, entry->error);
		if (!entry->error[0] && entry->display_name[0] &&
			strcmp(entry->display_name, entry->name) != 0) {
			text_addf(&rest, ", \"");
			text_add_clean(&rest, entry->display_name);
			text_addf(&rest, "\"");
		}
		if (entry->auto_connect)
			text_addf(&rest, ", connects by itself");
		text_addf(&rest, ", ");
		text_add_clean(&rest, entry->file);
		text_add_clean(&wrapped, entry->name);
		text_addf(&wrapped, "%*s  ", (int)(widest - text_columns(entry->name)), "");
		text_add_wrapped(
			&wrapped, rest.bytes ? rest.bytes : "", widest + 2, widest + 2, style->width);
		if (wrapped.bytes)
			add_coloured(out, wrapped.bytes, strlen(entry->name), word,
				style->colour && !entry->error[0] ? colour_of(entry->state) : "");
		text_addf(out, "\n");
		text_free(&rest);
		text_free(&wrapped);
	}
}
