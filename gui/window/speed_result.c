/* SPDX-License-Identifier: MIT */
/* Used by speed_view.c; main thread. */
#include "gui/window/speed_result.h"

#include "gui/model/translate.h"
#include "gui/model/units.h"
#include "gui/model/words.h"
#include "gui/window/ui.h"

static GtkWidget *group_new(GtkWidget *box, const char *title)
{
	GtkWidget *group = adw_preferences_group_new();

	adw_preferences_group_set_title(ADW_PREFERENCES_GROUP(group), title);
	gtk_box_append(GTK_BOX(box), group);
	return group;
}

/* Takes value. */
static void add_row(GtkWidget *group, const char *title, const char *more, char *value)
{
	GtkWidget *row = adw_action_row_new(), *label = ui_label(value, NULL);

	adw_preferences_row_set_use_markup(ADW_PREFERENCES_ROW(row), FALSE);
	adw_preferences_row_set_title(ADW_PREFERENCES_ROW(row), title);
	adw_action_row_set_subtitle(ADW_ACTION_ROW(row), more);
	adw_action_row_set_subtitle_lines(ADW_ACTION_ROW(row), 0);
	gtk_widget_add_css_class(label, "numeric");
	gtk_label_set_selectable(GTK_LABEL(label), TRUE);
	gtk_label_set_xalign(GTK_LABEL(label), 1);
	gtk_label_set_wrap(GTK_LABEL(label), FALSE);
	adw_action_row_add_suffix(ADW_ACTION_ROW(row), label);
	gtk_accessible_update_property(GTK_ACCESSIBLE(row), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, value, -1);
	adw_preferences_group_add(ADW_PREFERENCES_GROUP(group), row);
	g_free(value);
}

static char *rate_text(uint64_t bps)
{
	char text[UNITS_LEN];

	units_rate(bps, text, sizeof(text));
	return g_strdup(text);
}

static void add_latency(GtkWidget *group, const char *title, const struct speedtest_latency *latency)
{
	char p50[UNITS_LEN], p95[UNITS_LEN];

	if (!latency->count) {
		add_row(group, title,
			_("Nothing inside the tunnel answers an echo; ProbeAddress in the profile says whom "
			  "to ask."),
			g_strdup("–"));
		return;
	}
	units_rtt(latency->p50_us, p50, sizeof(p50));
	units_rtt(latency->p95_us, p95, sizeof(p95));
	/* Translators: a time: of a hundred round trips 95 took no longer */
	char *more = g_strdup_printf(_("95 of 100 took at most %s"), p95);

	add_row(group, title, more, g_strdup(p50));
	g_free(more);
}

static void add_responsiveness(GtkWidget *group, uint32_t rpm)
{
	if (rpm)
		add_row(group, _("Responsiveness"), _("Round trips a minute while the line is full"),
			g_strdup_printf("%u", rpm));
}

static void add_summary(GtkWidget *group, const struct speedtest_summary *summary, uint32_t rpm)
{
	add_row(group, _("Download"), "", rate_text(summary->down_bps));
	add_row(group, _("Upload"), "", rate_text(summary->up_bps));
	add_latency(group, _("Round trip at rest"), &summary->idle);
	add_latency(group, _("Round trip under load"), &summary->loaded);
	add_responsiveness(group, rpm);
}

static void add_both(GtkWidget *group, const struct speedtest_part *part)
{
	char down[UNITS_LEN], up[UNITS_LEN];

	if (!part->done || !part->report.down.present || !part->report.up.present)
		return;
	units_rate(part->report.down.bps, down, sizeof(down));
	units_rate(part->report.up.bps, up, sizeof(up));
	add_row(group, _("Both at once"), "", g_strdup_printf("↓ %s\n↑ %s", down, up));
}

static const char *headline(enum carrier better)
{
	switch (better) {
	case CARRIER_NONE:
		return _("Both carriers do equally well here");
	case CARRIER_UDP:
		return _("UDP suits better here");
	case CARRIER_TCP:
		return _("TCP suits better here");
	}
	return "";
}

static void add_one(GtkWidget *box, const struct speedtest_result *result)
{
	const struct speedtest_round *round = &result->rounds[0];
	char *title = g_strdup_printf(_("Over %s"), words_carrier(round->carrier));
	GtkWidget *group = group_new(box, round->carrier == CARRIER_NONE ? _("Result") : title);

	add_summary(group, &result->summary[CARRIER_NONE], result->rpm[CARRIER_NONE]);
	add_both(group, &round->parts[SPEEDTEST_PHASE_BOTH]);
	g_free(title);
}

static void add_comparison(GtkWidget *box, const struct speedtest_result *result)
{
	gtk_box_append(GTK_BOX(box), ui_label(headline(result->better), "title-2"));
	gtk_box_append(GTK_BOX(box), ui_label(result->sentence, NULL));
	for (int carrier = CARRIER_UDP; carrier <= CARRIER_TCP; carrier++) {
		char *title = g_strdup_printf(_("Over %s"), words_carrier((enum carrier)carrier));

		if (result->summary[carrier].measured)
			add_summary(group_new(box, title), &result->summary[carrier], result->rpm[carrier]);
		g_free(title);
	}
}

GtkWidget *speed_result_new(
	const struct speedtest_result *result, const struct speedtest_target *target, GtkWidget *again)
{
	GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 18), *clamp = adw_clamp_new();
	GtkWidget *scroller = gtk_scrolled_window_new();
	char *where = g_strdup_printf(_("Measured inside the tunnel, against %s."), target->address);

	gtk_widget_add_css_class(box, "page");
	if (result->round_count > 1)
		add_comparison(box, result);
	else
		add_one(box, result);
	gtk_box_append(GTK_BOX(box), ui_label(where, "dim-label"));
	gtk_box_append(GTK_BOX(box), again);
	adw_clamp_set_child(ADW_CLAMP(clamp), box);
	gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroller), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
	gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroller), clamp);
	g_free(where);
	return scroller;
}
