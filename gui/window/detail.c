/* SPDX-License-Identifier: MIT */
#include "gui/window/detail.h"

#include "gui/model/translate.h"
#include "gui/model/units.h"
#include "gui/window/facts.h"
#include "gui/window/graph_view.h"
#include "gui/window/ui.h"

#define CHOICES 3 /* enum transport */

struct detail {
	struct detail_events events;
	void *user;
	GtkWidget *scroller, *icon, *sentence, *manager, *connect, *spinner;
	GtkWidget *trouble, *trouble_text, *trouble_said, *why, *portal, *trouble_buttons;
	GtkWidget *warnings;
	GtkWidget *choices[CHOICES], *choice_note;
	GtkWidget *graphs, *rate, *rate_now, *rtt, *rtt_now;
	struct facts *facts;
	char name[RPC_NAME_LEN]; /* the tunnel that is shown */
	bool setting, on;
};

/* ---- the parts ---- */

static void on_connect(GtkButton *button, gpointer user)
{
	struct detail *detail = user;

	(void)button;
	detail->events.turned(!detail->on, detail->user);
}

static void on_choice(GtkToggleButton *button, gpointer user)
{
	struct detail *detail = user;

	if (detail->setting || !gtk_toggle_button_get_active(button))
		return;
	for (int i = 0; i < CHOICES; i++) {
		if (detail->choices[i] == GTK_WIDGET(button))
			detail->events.carrier_chosen((enum transport)i, detail->user);
	}
}

static GtkWidget *head_new(struct detail *detail)
{
	GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12);
	GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);

	detail->icon = ui_state_icon(64);
	detail->sentence = ui_label("", "title-2");
	detail->manager = ui_label("", "dim-label");
	gtk_label_set_xalign(GTK_LABEL(detail->manager), 0.5F);
	gtk_label_set_justify(GTK_LABEL(detail->manager), GTK_JUSTIFY_CENTER);
	detail->connect = gtk_button_new();
	detail->spinner = gtk_spinner_new();
	gtk_label_set_xalign(GTK_LABEL(detail->sentence), 0.5F);
	gtk_label_set_justify(GTK_LABEL(detail->sentence), GTK_JUSTIFY_CENTER);
	gtk_widget_add_css_class(detail->connect, "pill");
	gtk_widget_set_halign(line, GTK_ALIGN_CENTER);
	gtk_box_append(GTK_BOX(line), detail->connect);
	gtk_box_append(GTK_BOX(line), detail->spinner);
	gtk_box_append(GTK_BOX(box), detail->icon);
	gtk_box_append(GTK_BOX(box), detail->sentence);
	gtk_box_append(GTK_BOX(box), detail->manager);
	gtk_box_append(GTK_BOX(box), line);
	g_signal_connect(detail->connect, "clicked", G_CALLBACK(on_connect), detail);
	return box;
}

static GtkWidget *trouble_new(struct detail *detail)
{
	GtkWidget *buttons = gtk_flow_box_new();

	detail->trouble = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12);
	detail->trouble_text = ui_label("", NULL);
	gtk_label_set_selectable(GTK_LABEL(detail->trouble_text), TRUE);
	detail->trouble_said = ui_label("", "dim-label");
	gtk_label_set_selectable(GTK_LABEL(detail->trouble_said), TRUE);
	detail->portal = ui_button(_("_Open the login page"), "win.portal");
	detail->why = ui_button(_("_Why does it not work?"), "win.why");
	gtk_widget_add_css_class(detail->portal, "suggested-action");
	gtk_flow_box_set_selection_mode(GTK_FLOW_BOX(buttons), GTK_SELECTION_NONE);
	gtk_flow_box_set_max_children_per_line(GTK_FLOW_BOX(buttons), 2);
	gtk_widget_set_halign(buttons, GTK_ALIGN_FILL);
	gtk_flow_box_append(GTK_FLOW_BOX(buttons), detail->portal);
	gtk_flow_box_append(GTK_FLOW_BOX(buttons), detail->why);
	gtk_widget_add_css_class(detail->trouble, "card");
	gtk_widget_add_css_class(detail->trouble, "trouble");
	gtk_box_append(GTK_BOX(detail->trouble), detail->trouble_text);
	gtk_box_append(GTK_BOX(detail->trouble), detail->trouble_said);
	gtk_box_append(GTK_BOX(detail->trouble), buttons);
	detail->trouble_buttons = buttons;
	return detail->trouble;
}

static GtkWidget *choices_new(struct detail *detail)
{
	GtkWidget *group = adw_preferences_group_new(), *linked = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
	GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);

	adw_preferences_group_set_title(ADW_PREFERENCES_GROUP(group), _("Carrier"));
	detail->choice_note = ui_label("", "dim-label");
	gtk_widget_add_css_class(linked, "linked");
	gtk_box_set_homogeneous(GTK_BOX(linked), TRUE);
	for (int i = 0; i < CHOICES; i++) {
		GtkWidget *label;

		detail->choices[i] = gtk_toggle_button_new_with_label(words_transport((enum transport)i));
		/* Three long words beside each other must not make the window wider than a telephone. */
		label = gtk_button_get_child(GTK_BUTTON(detail->choices[i]));
		gtk_label_set_wrap(GTK_LABEL(label), TRUE);
		gtk_label_set_wrap_mode(GTK_LABEL(label), PANGO_WRAP_WORD_CHAR);
		gtk_label_set_justify(GTK_LABEL(label), GTK_JUSTIFY_CENTER);
		gtk_widget_add_css_class(detail->choices[i], "choice");
		if (i)
			gtk_toggle_button_set_group(
				GTK_TOGGLE_BUTTON(detail->choices[i]), GTK_TOGGLE_BUTTON(detail->choices[0]));
		g_signal_connect(detail->choices[i], "toggled", G_CALLBACK(on_choice), detail);
		gtk_box_append(GTK_BOX(linked), detail->choices[i]);
	}
	gtk_box_append(GTK_BOX(box), linked);
	gtk_box_append(GTK_BOX(box), detail->choice_note);
	adw_preferences_group_add(ADW_PREFERENCES_GROUP(group), box);
	return group;
}

/* A title, the figures of now beside it, and the graph. */
static GtkWidget *graph_new(
	const char *title, enum graph_view_kind kind, GtkWidget **graph, GtkWidget **figures)
{
	GtkWidget *card = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);
	GtkWidget *heading = ui_label(title, "heading");

	*graph = graph_view_new(kind);
	*figures = ui_label("", "dim-label");
	gtk_widget_add_css_class(*figures, "numeric");
	gtk_widget_add_css_class(card, "card");
	gtk_widget_add_css_class(card, "graph");
	gtk_box_append(GTK_BOX(card), heading);
	gtk_box_append(GTK_BOX(card), *figures);
	gtk_box_append(GTK_BOX(card), *graph);
	return card;
}

static GtkWidget *graphs_new(struct detail *detail)
{
	detail->graphs = gtk_box_new(GTK_ORIENTATION_VERTICAL, 18);
	gtk_box_append(GTK_BOX(detail->graphs),
		graph_new(_("Throughput in bit/s"), GRAPH_VIEW_RATE, &detail->rate, &detail->rate_now));
	gtk_box_append(GTK_BOX(detail->graphs),
		graph_new(_("Round trip in ms"), GRAPH_VIEW_RTT, &detail->rtt, &detail->rtt_now));
	return detail->graphs;
}

static void detail_free(gpointer user)
{
	g_free(user);
}

struct detail *detail_new(const struct detail_events *events, void *user)
{
	struct detail *detail = g_new0(struct detail, 1);
	GtkWidget *clamp = adw_clamp_new(), *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 18);

	detail->events = *events;
	detail->user = user;
	detail->facts = facts_new();
	detail->warnings = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);
	gtk_widget_add_css_class(box, "page");
	gtk_box_append(GTK_BOX(box), head_new(detail));
	gtk_box_append(GTK_BOX(box), trouble_new(detail));
	gtk_box_append(GTK_BOX(box), choices_new(detail));
	gtk_box_append(GTK_BOX(box), graphs_new(detail));
	gtk_box_append(GTK_BOX(box), facts_widget(detail->facts));
	gtk_box_append(GTK_BOX(box), detail->warnings);
	adw_clamp_set_child(ADW_CLAMP(clamp), box);
	detail->scroller = gtk_scrolled_window_new();
	gtk_scrolled_window_set_policy(
		GTK_SCROLLED_WINDOW(detail->scroller), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
	gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(detail->scroller), clamp);
	gtk_widget_set_vexpand(detail->scroller, TRUE);
	g_object_set_data_full(G_OBJECT(detail->scroller), "detail", detail, detail_free);
	return detail;
}

GtkWidget *detail_widget(struct detail *detail)
{
	return detail->scroller;
}

/* ---- what is shown ---- */

static void show_head(struct detail *detail, const struct feed *feed, const struct model_tunnel *tunnel)
{
	/* Reconnecting may last for hours, and what turns costs power. */
	bool busy = tunnel->is_asking || tunnel->status.state == RPC_STATE_CONNECTING ||
		    tunnel->status.state == RPC_STATE_VERIFYING;
	char sentence[WORDS_LEN], manager[RPC_MANAGER_LEN + WORDS_LEN];

	if (tunnel->profile_error[0] && !words_is_on(tunnel->status.state))
		g_strlcpy(sentence, _("The profile is wrong"), sizeof(sentence));
	else
		words_sentence(
			&tunnel->status, tunnel->has_step ? &tunnel->step : NULL, sentence, sizeof(sentence));
	ui_set_text(GTK_LABEL(detail->sentence), sentence);
	/* Translators: another program, "NetworkManager" */
	g_snprintf(manager, sizeof(manager), _("Set up by %s, which also keeps its profile"),
		tunnel->status.managed_by);
	ui_set_text(GTK_LABEL(detail->manager), manager);
	gtk_widget_set_visible(detail->manager, tunnel->status.managed_by[0] != '\0');
	ui_state_icon_set(detail->icon, tunnel->profile_error[0] ? RPC_STATE_FAILED : tunnel->status.state);
	detail->on = tunnel->is_asking ? tunnel->wants_on : words_is_on(tunnel->status.state);
	gtk_button_set_label(GTK_BUTTON(detail->connect), !detail->on ? _("Connect")
							  : words_passes(tunnel->status.state)
								  ? _("Disconnect")
								  : _("Cancel"));
	if (detail->on)
		gtk_widget_remove_css_class(detail->connect, "suggested-action");
	else
		gtk_widget_add_css_class(detail->connect, "suggested-action");
	gtk_widget_set_sensitive(
		detail->connect, feed_may_change(feed) && (!tunnel->profile_error[0] || detail->on));
	gtk_widget_set_visible(detail->spinner, busy);
	gtk_spinner_set_spinning(GTK_SPINNER(detail->spinner), busy);
}

static void show_trouble(struct detail *detail, const struct model_tunnel *tunnel)
{
	const struct rpc_tunnel *status = &tunnel->status;
	bool is_portal = status->cause == RPC_CAUSE_CAPTIVE_PORTAL;
	bool is_fine = status->state == RPC_STATE_DOWN || status->state == RPC_STATE_UP;
	char *said = g_strdup(tunnel->profile_error[0] ? tunnel->profile_error
			      : status->message[0]     ? status->message
						       : tunnel->trouble);
	const char *cure = tunnel->profile_error[0] ? words_cure(RPC_CAUSE_CONFIG)
			   : is_fine                ? ""
						    : words_cure(status->cause);

	/* Ours is in the person's language, the daemon's knows more. */
	words_capitalize(said, tunnel->name);
	gtk_widget_set_visible(detail->trouble, said[0] || cure[0]);
	ui_set_text(GTK_LABEL(detail->trouble_text), cure[0] ? cure : said);
	ui_set_text(GTK_LABEL(detail->trouble_said), cure[0] ? said : "");
	gtk_widget_set_visible(detail->trouble_said, cure[0] && said[0]);
	gtk_widget_set_visible(gtk_widget_get_parent(detail->portal), is_portal);
	gtk_widget_set_visible(gtk_widget_get_parent(detail->why), !tunnel->profile_error[0]);
	gtk_widget_set_visible(detail->trouble_buttons, is_portal || !tunnel->profile_error[0]);
	g_free(said);
}

static void show_choice(struct detail *detail, const struct feed *feed, const struct model_tunnel *tunnel,
	enum transport wanted)
{
	const char *note = "";

	detail->setting = true;
	gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(detail->choices[wanted]), TRUE);
	detail->setting = false;
	for (int i = 0; i < CHOICES; i++)
		gtk_widget_set_sensitive(
			detail->choices[i], feed_may_change(feed) && !tunnel->profile_error[0]);
	switch (wanted) {
	case TRANSPORT_AUTO:
		note = _("UDP where it works, TCP where it does not, and back by itself.");
		break;
	case TRANSPORT_UDP:
		note = _("Not one packet over TCP, also where UDP is blocked.");
		break;
	case TRANSPORT_TCP:
		note = _("Not one packet over UDP, also where it would work.");
		break;
	}
	ui_set_text(GTK_LABEL(detail->choice_note), note);
}

static void show_warnings(struct detail *detail, const struct rpc_texts *warnings)
{
	GtkWidget *child = gtk_widget_get_first_child(detail->warnings);
	size_t i;

	for (i = 0; i < warnings->count; i++) {
		if (!child) {
			GtkWidget *label = ui_label("", "dim-label");

			gtk_label_set_selectable(GTK_LABEL(label), TRUE);
			gtk_box_append(GTK_BOX(detail->warnings), label);
			child = label;
		}
		ui_set_text(GTK_LABEL(child), warnings->items[i]);
		child = gtk_widget_get_next_sibling(child);
	}
	while (child) {
		GtkWidget *next = gtk_widget_get_next_sibling(child);

		gtk_box_remove(GTK_BOX(detail->warnings), child);
		child = next;
	}
	gtk_widget_set_visible(detail->warnings, i > 0);
}

void detail_tick(struct detail *detail, const struct model_tunnel *tunnel)
{
	char rx[UNITS_LEN], tx[UNITS_LEN], text[2 * UNITS_LEN + 64];
	enum rpc_state state = tunnel->status.state;
	bool shows = words_is_on(state) && state != RPC_STATE_CONNECTING && tunnel->history.count;
	struct history_summary summary;

	gtk_widget_set_visible(detail->graphs, shows);
	if (shows) {
		history_summarize(&tunnel->history, ui_now(), &summary);
		units_rate(summary.rx_now, rx, sizeof(rx));
		units_rate(summary.tx_now, tx, sizeof(tx));
		g_snprintf(text, sizeof(text), _("↓ receiving %s (line)   ↑ sending %s (dashes)"), rx, tx);
		ui_set_text(GTK_LABEL(detail->rate_now), text);
		units_rtt(summary.rtt_now, rx, sizeof(rx));
		ui_set_text(GTK_LABEL(detail->rtt_now), summary.rtt_now ? rx : _("No answer at the moment"));
		graph_view_show(detail->rate, &tunnel->history);
		graph_view_show(detail->rtt, &tunnel->history);
	}
	facts_show(detail->facts, tunnel);
}

void detail_show(struct detail *detail, const struct feed *feed, const struct model_tunnel *tunnel,
	enum transport wanted)
{
	if (strcmp(detail->name, tunnel->name) != 0) {
		g_strlcpy(detail->name, tunnel->name, sizeof(detail->name));
		/* Another tunnel has a scale of its own, and starts at the top. */
		graph_view_show(detail->rate, NULL);
		graph_view_show(detail->rtt, NULL);
		gtk_adjustment_set_value(
			gtk_scrolled_window_get_vadjustment(GTK_SCROLLED_WINDOW(detail->scroller)), 0);
	}
	show_head(detail, feed, tunnel);
	show_trouble(detail, tunnel);
	show_choice(detail, feed, tunnel, wanted);
	show_warnings(detail, &tunnel->status.warnings);
	detail_tick(detail, tunnel);
}
