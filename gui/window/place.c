/* SPDX-License-Identifier: MIT */
#include "gui/window/place.h"

#include "gui/model/translate.h"
#include "gui/window/ui.h"

/* A service that answers within this time needs no words. */
#define QUIET_MS 400

struct place {
	GtkWidget *page, *command_box, *command, *buttons, *spinner;
	char *command_text;
	guint quiet; /* source */
};

char *place_group_command(void)
{
	char command[300];

	service_group_command(g_get_user_name(), command, sizeof(command));
	return g_strdup(command);
}

static void show_command(struct place *place, const char *command)
{
	if (!g_strcmp0(place->command_text, command))
		return;
	g_free(place->command_text);
	place->command_text = g_strdup(command);
	if (place->command)
		gtk_box_remove(GTK_BOX(place->command_box), place->command);
	place->command = command[0] ? ui_command(command) : NULL;
	if (place->command)
		gtk_box_append(GTK_BOX(place->command_box), place->command);
}

static void show(struct place *place, const char *icon, const char *title, const char *text)
{
	AdwStatusPage *page = ADW_STATUS_PAGE(place->page);

	adw_status_page_set_icon_name(page, icon);
	adw_status_page_set_title(page, title);
	adw_status_page_set_description(page, text);
}

static gboolean on_quiet_over(gpointer user)
{
	struct place *place = user;

	place->quiet = 0;
	show(place, NULL, service_words(SERVICE_CONNECTING).title, NULL);
	gtk_widget_set_visible(place->spinner, TRUE);
	gtk_spinner_start(GTK_SPINNER(place->spinner));
	return G_SOURCE_REMOVE;
}

void place_show(struct place *place, const struct feed *feed)
{
	bool waits = feed->service == SERVICE_CONNECTING || (feed->service == SERVICE_READY && !feed->model.has_list);
	struct service_words words = service_words(feed->service);

	if (waits) {
		if (!place->quiet)
			place->quiet = g_timeout_add(QUIET_MS, on_quiet_over, place);
		gtk_widget_set_visible(place->buttons, FALSE);
		show_command(place, "");
		show(place, NULL, "", NULL);
		return;
	}
	if (place->quiet)
		g_source_remove(place->quiet);
	place->quiet = 0;
	gtk_spinner_stop(GTK_SPINNER(place->spinner));
	gtk_widget_set_visible(place->spinner, FALSE);
	gtk_widget_set_visible(place->buttons, feed->service == SERVICE_READY && feed_may_change(feed));
	if (feed->service == SERVICE_READY && feed_may_change(feed)) {
		show(place, "org.wgtcp.Gui", _("No tunnels yet"),
			_("Import the .conf file that your administrator sent you: choose it, drop it here, or paste its "
			  "text. Several files and .zip archives work too."));
		show_command(place, "");
	} else if (feed->service == SERVICE_READY) {
		char *command = place_group_command();

		show(place, "wgtcp-off-symbolic", _("No tunnels yet"),
			_("Members of the group wgtcp can add some. An administrator adds you with this command; it holds "
			  "from your next login on."));
		show_command(place, command);
		g_free(command);
	} else if (feed->service == SERVICE_FORBIDDEN) {
		char *command = place_group_command();

		show(place, "wgtcp-attention-symbolic", words.title, words.text);
		show_command(place, command);
		g_free(command);
	} else {
		show(place, "wgtcp-attention-symbolic", words.title, words.text);
		show_command(place, words.command);
	}
}

static void place_free(gpointer user)
{
	struct place *place = user;

	if (place->quiet)
		g_source_remove(place->quiet);
	g_free(place->command_text);
	g_free(place);
}

static GtkWidget *button_new(const char *text, const char *action, bool is_suggested)
{
	GtkWidget *button = ui_button(text, action);

	gtk_widget_add_css_class(button, "pill");
	if (is_suggested)
		gtk_widget_add_css_class(button, "suggested-action");
	gtk_widget_set_halign(button, GTK_ALIGN_CENTER);
	return button;
}

struct place *place_new(void)
{
	struct place *place = g_new0(struct place, 1);
	GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 18), *clamp = adw_clamp_new();

	place->page = adw_status_page_new();
	place->command_box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
	place->buttons = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12);
	place->spinner = gtk_spinner_new();
	gtk_widget_set_size_request(place->spinner, 32, 32);
	gtk_widget_set_visible(place->spinner, FALSE);
	gtk_box_append(GTK_BOX(place->buttons), button_new(_("_Import…"), "win.import", true));
	gtk_box_append(GTK_BOX(place->buttons), button_new(_("_Paste"), "win.paste", false));
	gtk_box_append(GTK_BOX(box), place->spinner);
	gtk_box_append(GTK_BOX(box), place->command_box);
	gtk_box_append(GTK_BOX(box), place->buttons);
	adw_clamp_set_maximum_size(ADW_CLAMP(clamp), 420);
	adw_clamp_set_child(ADW_CLAMP(clamp), box);
	adw_status_page_set_child(ADW_STATUS_PAGE(place->page), clamp);
	gtk_widget_set_vexpand(place->page, TRUE);
	g_object_set_data_full(G_OBJECT(place->page), "place", place, place_free);
	return place;
}

GtkWidget *place_widget(struct place *place)
{
	return place->page;
}
