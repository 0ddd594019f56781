/* SPDX-License-Identifier: MIT */
/* Used by main_window.c; main thread. */
#include "gui/window/lockdown_bar.h"

#include "gui/model/translate.h"
#include "gui/window/main_window.h"
#include "gui/window/ui.h"

#define OPEN_S 300

struct lockdown_bar {
	struct app *app;
	GtkWidget *box, *icon, *text, *unlock;
};

static void on_response(AdwMessageDialog *dialog, const char *response, gpointer user)
{
	struct app *app = user;

	(void)dialog;
	if (!app->feed)
		return;
	if (!g_strcmp0(response, "time"))
		feed_unlock(app->feed, OPEN_S);
	else if (!g_strcmp0(response, "good"))
		feed_unlock(app->feed, 0);
}

static void on_unlock(GtkButton *button, gpointer user)
{
	struct lockdown_bar *bar = user;
	GtkWidget *dialog =
		adw_message_dialog_new(main_window_widget(bar->app->window), _("Open the kill switch?"),
			_("Then everything may go out beside the tunnel, where others can see it. For five "
			  "minutes is enough to log in "
			  "to a network; otherwise it stays open until the tunnel connects again."));

	(void)button;
	adw_message_dialog_add_responses(ADW_MESSAGE_DIALOG(dialog), "no", _("_Cancel"), "time",
		_("_For five minutes"), "good", _("_Open"), NULL);
	adw_message_dialog_set_response_appearance(
		ADW_MESSAGE_DIALOG(dialog), "good", ADW_RESPONSE_DESTRUCTIVE);
	adw_message_dialog_set_default_response(ADW_MESSAGE_DIALOG(dialog), "no");
	adw_message_dialog_set_close_response(ADW_MESSAGE_DIALOG(dialog), "no");
	g_signal_connect(dialog, "response", G_CALLBACK(on_response), bar->app);
	gtk_window_present(GTK_WINDOW(dialog));
}

static char *sentence_of(const struct model_lockdown *lockdown)
{
	GDateTime *until;
	char *time, *text;

	switch (lockdown->state) {
	case RPC_KILL_SWITCH_OFF:
		return g_strdup("");
	case RPC_KILL_SWITCH_ON:
		/* Translators: the names of tunnels */
		return g_strdup_printf(
			lockdown->passes
				? _("The kill switch is on: what does not go through %s does not go out.")
				: _("The kill switch is closed: nothing goes out until %s is connected."),
			lockdown->holders);
	case RPC_KILL_SWITCH_OPEN:
		until = g_date_time_new_from_unix_local((gint64)lockdown->open_until);
		time = until ? g_date_time_format(until, "%H:%M") : g_strdup("");
		/* Translators: a time of day */
		text = g_strdup_printf(
			_("The kill switch is open until %s: everything may go out, and no tunnel is used."),
			time);
		g_free(time);
		if (until)
			g_date_time_unref(until);
		return text;
	}
	return g_strdup("");
}

void lockdown_bar_show(struct lockdown_bar *bar)
{
	const struct model_lockdown *lockdown = &bar->app->feed->model.lockdown;
	bool is_calm = lockdown->state == RPC_KILL_SWITCH_ON && lockdown->passes;
	char *sentence = sentence_of(lockdown);

	gtk_widget_set_visible(bar->box, lockdown->state != RPC_KILL_SWITCH_OFF);
	ui_set_text(GTK_LABEL(bar->text), sentence);
	gtk_image_set_from_icon_name(
		GTK_IMAGE(bar->icon), is_calm ? "wgtcp-on-symbolic" : "wgtcp-attention-symbolic");
	if (is_calm)
		gtk_widget_remove_css_class(bar->icon, "warning");
	else
		gtk_widget_add_css_class(bar->icon, "warning");
	gtk_widget_set_sensitive(bar->unlock, feed_may_change(bar->app->feed));
	g_free(sentence);
}

struct lockdown_bar *lockdown_bar_new(struct app *app)
{
	struct lockdown_bar *bar = g_new0(struct lockdown_bar, 1);

	bar->app = app;
	bar->box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);
	bar->icon = g_object_new(GTK_TYPE_IMAGE, "accessible-role", GTK_ACCESSIBLE_ROLE_PRESENTATION, NULL);
	bar->text = ui_label("", NULL);
	bar->unlock = ui_button(_("_Unlock…"), NULL);
	gtk_widget_set_hexpand(bar->text, TRUE);
	gtk_widget_set_valign(bar->unlock, GTK_ALIGN_CENTER);
	gtk_widget_add_css_class(bar->box, "lockdown");
	gtk_widget_add_css_class(bar->box, "toolbar");
	g_signal_connect(bar->unlock, "clicked", G_CALLBACK(on_unlock), bar);
	gtk_box_append(GTK_BOX(bar->box), bar->icon);
	gtk_box_append(GTK_BOX(bar->box), bar->text);
	gtk_box_append(GTK_BOX(bar->box), bar->unlock);
	gtk_widget_set_visible(bar->box, FALSE);
	g_object_set_data_full(G_OBJECT(bar->box), "lockdown-bar", bar, g_free);
	return bar;
}

GtkWidget *lockdown_bar_widget(struct lockdown_bar *bar)
{
	return bar->box;
}
