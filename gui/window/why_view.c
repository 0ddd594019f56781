/* SPDX-License-Identifier: MIT */
#include "gui/window/why_view.h"

#include "gui/model/translate.h"
#include "gui/model/why.h"
#include "gui/window/main_window.h"
#include "gui/window/ui.h"

struct why_view {
	struct app *app;
	char name[RPC_NAME_LEN];
	GtkWidget *page, *group;
	GtkWidget *rows[WHY_LINES_MAX];
};

static GtkWidget *row_new(const struct why_line *line)
{
	static const char *const icons[] = { "wgtcp-on-symbolic", "wgtcp-attention-symbolic", "wgtcp-off-symbolic" };
	static const char *const classes[] = { "success", "warning", "dim-label" };
	const char *const words[] = { _("right"), _("wrong"), _("not known") };
	GtkWidget *row = adw_action_row_new();
	GtkWidget *icon = g_object_new(GTK_TYPE_IMAGE, "accessible-role", GTK_ACCESSIBLE_ROLE_IMG, NULL);

	gtk_image_set_from_icon_name(GTK_IMAGE(icon), icons[line->mark]);
	gtk_widget_add_css_class(icon, classes[line->mark]);
	ui_name(icon, words[line->mark]);
	adw_preferences_row_set_use_markup(ADW_PREFERENCES_ROW(row), FALSE);
	adw_preferences_row_set_title(ADW_PREFERENCES_ROW(row), line->title);
	adw_action_row_set_subtitle(ADW_ACTION_ROW(row), line->text);
	adw_action_row_set_subtitle_lines(ADW_ACTION_ROW(row), 0);
	adw_action_row_add_prefix(ADW_ACTION_ROW(row), icon);
	return row;
}

static void show(struct why_view *view)
{
	const struct feed *feed = view->app->feed;
	const struct model_tunnel *tunnel = status_model_find(&feed->model, view->name);
	struct why_line lines[WHY_LINES_MAX];
	size_t count = tunnel ? why_lines(feed->service, &feed->model, tunnel, ui_now(), lines) : 0;

	for (size_t i = 0; i < WHY_LINES_MAX; i++) {
		if (view->rows[i])
			adw_preferences_group_remove(ADW_PREFERENCES_GROUP(view->group), view->rows[i]);
		view->rows[i] = i < count ? row_new(&lines[i]) : NULL;
		if (view->rows[i])
			adw_preferences_group_add(ADW_PREFERENCES_GROUP(view->group), view->rows[i]);
	}
}

static void on_again(GtkButton *button, gpointer user)
{
	(void)button;
	show(user);
}

void why_view_open(struct app *app, const struct model_tunnel *tunnel)
{
	struct why_view *view = g_new0(struct why_view, 1);
	GtkWidget *header, *window;
	GtkWidget *again = ui_icon_button("view-refresh-symbolic", _("Look again"), NULL);

	view->app = app;
	g_strlcpy(view->name, tunnel->name, sizeof(view->name));
	view->page = adw_preferences_page_new();
	view->group = adw_preferences_group_new();
	adw_preferences_group_set_description(ADW_PREFERENCES_GROUP(view->group),
		_("What the service knows of this tunnel now. This version of it has no thorough check that tries things "
		  "out."));
	adw_preferences_page_add(ADW_PREFERENCES_PAGE(view->page), ADW_PREFERENCES_GROUP(view->group));
	window = ui_window(
		main_window_widget(app->window), _("Why does it not work?"), 520, 560, &header, view->page);
	g_object_set_data_full(G_OBJECT(window), "why-view", view, g_free);
	g_signal_connect(again, "clicked", G_CALLBACK(on_again), view);
	adw_header_bar_pack_start(ADW_HEADER_BAR(header), again);
	show(view);
	gtk_window_present(GTK_WINDOW(window));
}

void why_view_speed(struct app *app)
{
	char *text = g_strdup_printf(_("wgtcpd %s cannot measure how fast a tunnel is. The graphs show what passes through it "
				       "now."),
		app->feed->model.has_info ? app->feed->model.info.daemon_version : "");

	ui_tell(main_window_widget(app->window), _("There is no speed test yet"), text);
	g_free(text);
}
