/* SPDX-License-Identifier: MIT */
#include "gui/window/facts.h"

#include "gui/model/translate.h"
#include "gui/model/units.h"
#include "gui/window/ui.h"

/* More peers than this are a server's, and the command line shows them. */
#define PEERS_SHOWN 32u

enum fact {
	FACT_CARRIER,
	FACT_UDP,
	FACT_BACKEND,
	FACT_ENDPOINT,
	FACT_SINCE,
	FACT_HANDSHAKE,
	FACT_RECEIVED,
	FACT_SENT,
	FACT_RTT,
	FACT_VERIFIED,
	FACT_PROFILE,
	FACT_MANAGER,
	FACT_KILL_SWITCH,
	FACT_INTERFACE,
	FACT_FILE,
	FACT_COUNT
};

static const char *const titles[FACT_COUNT] = { N_("Carrier"), N_("UDP here"), N_("Backend"), N_("Server"),
	N_("In this state for"), N_("Last handshake"), N_("Received"), N_("Sent"), N_("Round trip"),
	N_("Seen to pass"), N_("Profile in use"), N_("Managed by"), N_("Kill switch"), N_("Interface"),
	N_("File") };

struct fact_row {
	GtkWidget *row, *value;
};

struct peer_rows {
	GtkWidget *expander;
	struct fact_row rows[5];
};

struct facts {
	GtkWidget *box, *group, *peer_group, *more;
	struct fact_row rows[FACT_COUNT];
	GPtrArray *peers;
};

static struct fact_row row_new(const char *title)
{
	struct fact_row row = { adw_action_row_new(), ui_label("", "dim-label") };

	adw_preferences_row_set_title(ADW_PREFERENCES_ROW(row.row), title);
	/* A title that may wrap gives all its room to a long value, down to a letter a line. */
	adw_action_row_set_title_lines(ADW_ACTION_ROW(row.row), 1);
	gtk_label_set_selectable(GTK_LABEL(row.value), TRUE);
	gtk_label_set_xalign(GTK_LABEL(row.value), 1);
	gtk_label_set_justify(GTK_LABEL(row.value), GTK_JUSTIFY_RIGHT);
	/* Keys and addresses are long: the value may take most of the row, and breaks where it must. */
	gtk_label_set_wrap_mode(GTK_LABEL(row.value), PANGO_WRAP_CHAR);
	gtk_label_set_natural_wrap_mode(GTK_LABEL(row.value), GTK_NATURAL_WRAP_NONE);
	gtk_widget_set_valign(row.value, GTK_ALIGN_CENTER);
	adw_action_row_add_suffix(ADW_ACTION_ROW(row.row), row.value);
	return row;
}

/* "" hides the row. */
static void row_set(const struct fact_row *row, const char *value)
{
	gtk_widget_set_visible(row->row, value[0] != '\0');
	ui_set_text(GTK_LABEL(row->value), value);
	gtk_accessible_update_property(
		GTK_ACCESSIBLE(row->row), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, value, -1);
}

/* ---- peers ---- */

static struct peer_rows *peer_new(struct facts *facts)
{
	static const char *const peer_titles[] = { N_("State"), N_("Server"), N_("Last handshake"),
		N_("Received"), N_("Sent") };
	struct peer_rows *peer = g_new0(struct peer_rows, 1);

	peer->expander = adw_expander_row_new();
	/* What a profile calls a peer is no markup. */
	adw_preferences_row_set_use_markup(ADW_PREFERENCES_ROW(peer->expander), FALSE);
	for (size_t i = 0; i < G_N_ELEMENTS(peer->rows); i++) {
		peer->rows[i] = row_new(_(peer_titles[i]));
		adw_expander_row_add_row(ADW_EXPANDER_ROW(peer->expander), peer->rows[i].row);
	}
	adw_preferences_group_add(ADW_PREFERENCES_GROUP(facts->peer_group), peer->expander);
	return peer;
}

static void peer_show(const struct peer_rows *rows, const struct rpc_peer *peer, guint64 now)
{
	struct rpc_tunnel as_tunnel = {
		.state = peer->state, .cause = peer->cause, .reason = peer->reason, .carrier = peer->carrier
	};
	char sentence[WORDS_LEN], text[UNITS_LEN];

	words_sentence(&as_tunnel, NULL, sentence, sizeof(sentence));
	adw_preferences_row_set_title(
		ADW_PREFERENCES_ROW(rows->expander), peer->name[0] ? peer->name : peer->public_key);
	gtk_widget_set_tooltip_text(rows->expander, peer->name[0] ? peer->public_key : NULL);
	adw_expander_row_set_subtitle(ADW_EXPANDER_ROW(rows->expander), sentence);
	row_set(&rows->rows[0], sentence);
	row_set(&rows->rows[1], peer->endpoint);
	units_ago(peer->last_handshake, now, text, sizeof(text));
	row_set(&rows->rows[2], text);
	units_bytes(peer->rx_bytes, text, sizeof(text));
	row_set(&rows->rows[3], text);
	units_bytes(peer->tx_bytes, text, sizeof(text));
	row_set(&rows->rows[4], text);
}

/* With one peer the tunnel's rows say it all. */
static void show_peers(struct facts *facts, const struct rpc_tunnel *status, guint64 now)
{
	size_t count = status->peer_count > 1 ? MIN(status->peer_count, PEERS_SHOWN) : 0;
	char text[100];

	while (facts->peers->len > count) {
		struct peer_rows *peer = g_ptr_array_index(facts->peers, facts->peers->len - 1);

		adw_preferences_group_remove(ADW_PREFERENCES_GROUP(facts->peer_group), peer->expander);
		g_ptr_array_remove_index(facts->peers, facts->peers->len - 1);
	}
	while (facts->peers->len < count)
		g_ptr_array_add(facts->peers, peer_new(facts));
	for (size_t i = 0; i < count; i++)
		peer_show(g_ptr_array_index(facts->peers, i), &status->peers[i], now);
	gtk_widget_set_visible(facts->peer_group, count > 0);
	gtk_widget_set_visible(facts->more, count > 0 && status->peers_total > count);
	g_snprintf(text, sizeof(text),
		ngettext("And %u more.", "And %u more.", status->peers_total - (guint)count),
		status->peers_total - (guint)count);
	ui_set_text(GTK_LABEL(facts->more), text);
}

/* ---- the tunnel ---- */

static const char *udp_words(enum rpc_udp udp)
{
	switch (udp) {
	case RPC_UDP_UNKNOWN:
		return "";
	case RPC_UDP_OK:
		return _("passes");
	case RPC_UDP_BLOCKED:
		return _("is blocked");
	case RPC_UDP_UNUSED:
		return _("was not tried");
	}
	return "";
}

static const char *kill_switch_words(enum rpc_kill_switch state)
{
	switch (state) {
	case RPC_KILL_SWITCH_OFF:
		return "";
	case RPC_KILL_SWITCH_ON:
		return _("on");
	case RPC_KILL_SWITCH_OPEN:
		return _("open for a time");
	}
	return "";
}

static void show_peer_sums(struct facts *facts, const struct rpc_tunnel *status, guint64 now)
{
	uint64_t rx_bytes = 0, tx_bytes = 0, rx_bps = 0, tx_bps = 0, handshake = 0;
	char bytes[UNITS_LEN], rate[UNITS_LEN], text[2 * UNITS_LEN + 32];
	uint32_t rtt = 0;

	for (size_t i = 0; i < status->peer_count; i++) {
		const struct rpc_peer *peer = &status->peers[i];

		rx_bytes += peer->rx_bytes;
		tx_bytes += peer->tx_bytes;
		rx_bps += peer->rx_bps;
		tx_bps += peer->tx_bps;
		handshake = MAX(handshake, peer->last_handshake);
		rtt = MAX(rtt, peer->rtt_us);
	}
	if (!status->peer_count || status->state == RPC_STATE_DOWN) {
		row_set(&facts->rows[FACT_HANDSHAKE], "");
		row_set(&facts->rows[FACT_RECEIVED], "");
		row_set(&facts->rows[FACT_SENT], "");
		row_set(&facts->rows[FACT_RTT], "");
		return;
	}
	units_ago(handshake, now, text, sizeof(text));
	row_set(&facts->rows[FACT_HANDSHAKE], text);
	units_bytes(rx_bytes, bytes, sizeof(bytes));
	units_rate(rx_bps, rate, sizeof(rate));
	/* Translators: how much in all, how fast now */
	g_snprintf(text, sizeof(text), _("%s, now %s"), bytes, rate);
	row_set(&facts->rows[FACT_RECEIVED], text);
	units_bytes(tx_bytes, bytes, sizeof(bytes));
	units_rate(tx_bps, rate, sizeof(rate));
	g_snprintf(text, sizeof(text), _("%s, now %s"), bytes, rate);
	row_set(&facts->rows[FACT_SENT], text);
	if (rtt)
		units_rtt(rtt, text, sizeof(text));
	row_set(&facts->rows[FACT_RTT], rtt ? text : "");
}

void facts_show(struct facts *facts, const struct model_tunnel *tunnel)
{
	const struct rpc_tunnel *status = &tunnel->status;
	bool is_on = status->state != RPC_STATE_DOWN;
	guint64 now = ui_now();
	char text[RPC_INTERFACE_LEN + 64] = "";

	row_set(&facts->rows[FACT_CARRIER], is_on ? words_carrier(status->carrier) : "");
	row_set(&facts->rows[FACT_UDP], is_on ? udp_words(status->udp) : "");
	row_set(&facts->rows[FACT_BACKEND], is_on ? words_backend(status->backend) : "");
	row_set(&facts->rows[FACT_ENDPOINT],
		status->peer_count == 1 && is_on ? status->peers[0].endpoint : "");
	if (is_on && status->since)
		units_duration(now > status->since ? now - status->since : 0, text, sizeof(text));
	row_set(&facts->rows[FACT_SINCE], text);
	row_set(&facts->rows[FACT_VERIFIED],
		words_passes(status->state) ? words_verified(status->verified) : "");
	row_set(&facts->rows[FACT_PROFILE],
		is_on && status->profile[0] && strcmp(status->profile, status->name) != 0 ? status->profile
											  : "");
	row_set(&facts->rows[FACT_MANAGER], status->managed_by);
	row_set(&facts->rows[FACT_KILL_SWITCH], kill_switch_words(status->kill_switch));
	text[0] = '\0';
	if (is_on && status->interface[0] && status->mtu)
		g_snprintf(text, sizeof(text), _("%s, MTU %u"), status->interface, status->mtu);
	row_set(&facts->rows[FACT_INTERFACE], text);
	row_set(&facts->rows[FACT_FILE], tunnel->file);
	show_peer_sums(facts, status, now);
	show_peers(facts, status, now);
}

static void facts_free(gpointer user)
{
	struct facts *facts = user;

	g_ptr_array_unref(facts->peers);
	g_free(facts);
}

struct facts *facts_new(void)
{
	struct facts *facts = g_new0(struct facts, 1);

	facts->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 18);
	facts->group = adw_preferences_group_new();
	facts->peer_group = adw_preferences_group_new();
	facts->more = ui_label("", "dim-label");
	facts->peers = g_ptr_array_new_with_free_func(g_free);
	adw_preferences_group_set_title(ADW_PREFERENCES_GROUP(facts->group), _("Details"));
	adw_preferences_group_set_title(ADW_PREFERENCES_GROUP(facts->peer_group), _("Peers"));
	for (int i = 0; i < FACT_COUNT; i++) {
		facts->rows[i] = row_new(_(titles[i]));
		adw_preferences_group_add(ADW_PREFERENCES_GROUP(facts->group), facts->rows[i].row);
	}
	gtk_box_append(GTK_BOX(facts->box), facts->group);
	gtk_box_append(GTK_BOX(facts->box), facts->peer_group);
	gtk_box_append(GTK_BOX(facts->box), facts->more);
	g_object_set_data_full(G_OBJECT(facts->box), "facts", facts, facts_free);
	return facts;
}

GtkWidget *facts_widget(struct facts *facts)
{
	return facts->box;
}
