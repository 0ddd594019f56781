/* SPDX-License-Identifier: MIT */
#include "gui/window/import_report.h"

#include "gui/model/translate.h"
#include "gui/window/ui.h"

struct asking {
	void (*answered)(void *user, bool yes);
	void *user;
	bool yes;
};

static void on_yes(gpointer user)
{
	struct asking *asking = user;

	asking->yes = true;
}

static void on_done(gpointer user)
{
	struct asking *asking = user;

	asking->answered(asking->user, asking->yes);
	g_free(asking);
}

void import_report_ask_replace(
	GtkWindow *parent, const GPtrArray *items, void (*answered)(void *user, bool yes), void *user)
{
	struct asking *asking = g_new0(struct asking, 1);
	GString *body = g_string_new(NULL);
	guint count = 0;

	for (guint i = 0; i < items->len; i++) {
		const struct import_item *item = g_ptr_array_index(items, i);

		if (!item->exists)
			continue;
		g_string_append_printf(body, "%s%s", count++ ? "\n" : "", item->file);
	}
	*asking = (struct asking){ answered, user, false };
	ui_ask(parent,
		ngettext("Replace the tunnel of this name?", "Replace the tunnels of these names?", count), body->str,
		_("_Replace"), "destructive-action", on_yes, asking, on_done);
	g_string_free(body, TRUE);
}

static GtkWidget *row_new(const struct import_item *item)
{
	GtkWidget *row = adw_action_row_new();
	GtkWidget *icon = ui_state_icon(16);
	const char *text = item->problem ? item->problem : item->warning ? item->warning : _("Added");

	ui_state_icon_set(icon, item->problem ? RPC_STATE_FAILED : item->warning ? RPC_STATE_DEGRADED : RPC_STATE_UP);
	adw_preferences_row_set_use_markup(ADW_PREFERENCES_ROW(row), FALSE);
	adw_preferences_row_set_title(ADW_PREFERENCES_ROW(row), item->file[0] ? item->file : item->name);
	adw_action_row_set_title_lines(ADW_ACTION_ROW(row), 0);
	adw_action_row_set_subtitle(ADW_ACTION_ROW(row), text);
	adw_action_row_set_subtitle_lines(ADW_ACTION_ROW(row), 0);
	adw_action_row_add_prefix(ADW_ACTION_ROW(row), icon);
	return row;
}

static void show_window(GtkWindow *parent, const GPtrArray *items)
{
	GtkWidget *page = adw_preferences_page_new(), *group = adw_preferences_group_new();
	GtkWidget *window = ui_window(parent, _("Import"), 480, 420, NULL, page);

	gtk_window_set_modal(GTK_WINDOW(window), TRUE);
	for (guint i = 0; i < items->len; i++)
		adw_preferences_group_add(ADW_PREFERENCES_GROUP(group), row_new(g_ptr_array_index(items, i)));
	adw_preferences_page_add(ADW_PREFERENCES_PAGE(page), ADW_PREFERENCES_GROUP(group));
	gtk_window_present(GTK_WINDOW(window));
}

void import_report_show(struct main_window *window, const GPtrArray *items)
{
	bool is_fine = true;
	guint added = 0;
	char *text;

	for (guint i = 0; i < items->len; i++) {
		const struct import_item *item = g_ptr_array_index(items, i);

		added += item->name[0] != '\0';
		is_fine &= !item->problem && !item->warning;
	}
	if (!is_fine) {
		show_window(main_window_widget(window), items);
		return;
	}
	text = g_strdup_printf(ngettext("%u tunnel added", "%u tunnels added", added), added);
	main_window_toast(window, ui_toast_new(text));
	g_free(text);
}
