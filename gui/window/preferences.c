/* SPDX-License-Identifier: MIT */
#include "gui/window/preferences.h"

#include "gui/model/translate.h"
#include "gui/window/main_window.h"
#include "gui/window/ui.h"

static const char *const titles[SETTINGS_NEWS_COUNT] = { N_("A tunnel has connected"),
	N_("A tunnel was lost or could not connect"), N_("A tunnel moved between UDP and TCP"),
	N_("A network wants you to log in") };

static void on_active(GObject *toggle, GParamSpec *property, gpointer user)
{
	struct app *app = user;
	int which = GPOINTER_TO_INT(g_object_get_data(toggle, "which"));

	(void)property;
	app->settings.news[which] = gtk_switch_get_active(GTK_SWITCH(toggle));
	settings_save(&app->settings);
}

void preferences_open(struct app *app)
{
	GtkWidget *window = adw_preferences_window_new(), *page = adw_preferences_page_new();
	GtkWidget *group = adw_preferences_group_new();

	adw_preferences_group_set_title(ADW_PREFERENCES_GROUP(group), _("Notifications"));
	adw_preferences_group_set_description(
		ADW_PREFERENCES_GROUP(group), _("They come while this window is open and another one is in front."));
	for (int i = 0; i < SETTINGS_NEWS_COUNT; i++) {
		GtkWidget *row = adw_action_row_new(), *toggle = gtk_switch_new();

		gtk_widget_set_valign(toggle, GTK_ALIGN_CENTER);
		gtk_switch_set_active(GTK_SWITCH(toggle), app->settings.news[i]);
		g_object_set_data(G_OBJECT(toggle), "which", GINT_TO_POINTER(i));
		adw_preferences_row_set_title(ADW_PREFERENCES_ROW(row), _(titles[i]));
		adw_action_row_set_title_lines(ADW_ACTION_ROW(row), 0);
		adw_action_row_add_suffix(ADW_ACTION_ROW(row), toggle);
		adw_action_row_set_activatable_widget(ADW_ACTION_ROW(row), toggle);
		g_signal_connect(toggle, "notify::active", G_CALLBACK(on_active), app);
		adw_preferences_group_add(ADW_PREFERENCES_GROUP(group), row);
	}
	adw_preferences_page_add(ADW_PREFERENCES_PAGE(page), ADW_PREFERENCES_GROUP(group));
	adw_preferences_window_add(ADW_PREFERENCES_WINDOW(window), ADW_PREFERENCES_PAGE(page));
	adw_preferences_window_set_search_enabled(ADW_PREFERENCES_WINDOW(window), FALSE);
	gtk_window_set_transient_for(GTK_WINDOW(window), main_window_widget(app->window));
	gtk_window_set_modal(GTK_WINDOW(window), TRUE);
	gtk_window_set_default_size(GTK_WINDOW(window), 480, 440);
	gtk_window_present(GTK_WINDOW(window));
}
