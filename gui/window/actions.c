/* SPDX-License-Identifier: MIT */
#include "gui/window/actions.h"

#include "gui/model/translate.h"
#include "gui/window/editor.h"
#include "gui/window/export.h"
#include "gui/window/import.h"
#include "gui/window/log_view.h"
#include "gui/window/preferences.h"
#include "gui/window/removal.h"
#include "gui/window/speed_view.h"
#include "gui/window/ui.h"
#include "gui/window/why_view.h"

/* Any page without TLS will do: the network answers in its place. This one is what NetworkManager asks by
 * default. */
#define PORTAL_PAGE "http://nmcheck.gnome.org/"

/* ---- what they do ---- */

static struct model_tunnel *chosen(const struct app *app)
{
	return app->window ? main_window_tunnel(app->window) : NULL;
}

static void do_import(struct app *app)
{
	import_choose(app);
}

static void do_paste(struct app *app)
{
	import_paste(app);
}

static void do_log(struct app *app)
{
	log_view_open(app);
}

static void do_preferences(struct app *app)
{
	preferences_open(app);
}

static void do_portal(struct app *app)
{
	gtk_show_uri(main_window_widget(app->window), PORTAL_PAGE, GDK_CURRENT_TIME);
}

/* Not as the toolkit's help overlay, which stands hidden behind the window from its start: GTK 4.8 gives a
 * screen reader that asks for a dialog that has just closed the last window that there is, and dies when that
 * one has never been shown. */
static void do_shortcuts(struct app *app)
{
	GtkBuilder *builder = gtk_builder_new_from_resource(APP_RESOURCES "/shortcuts.ui");
	GtkWindow *shortcuts = GTK_WINDOW(gtk_builder_get_object(builder, "shortcuts"));

	gtk_window_set_transient_for(shortcuts, main_window_widget(app->window));
	gtk_window_present(shortcuts);
	g_object_unref(builder);
}

static void do_about(struct app *app)
{
	adw_show_about_window(main_window_widget(app->window), "application-name", "wgtcp",
		"application-icon", APP_ID, "version", WGTCP_VERSION, "comments",
		_("WireGuard that always gets through: over UDP where it works, over TCP where it does not."),
		"license-type", GTK_LICENSE_MIT_X11, "developer-name", "wgtcp", NULL);
}

static void do_turn(struct app *app)
{
	main_window_turn(app->window);
}

static void do_edit(struct app *app)
{
	editor_open(app, chosen(app));
}

static void do_export(struct app *app)
{
	export_to_file(app, chosen(app));
}

static void do_qr(struct app *app)
{
	export_as_qr(app, chosen(app));
}

static void do_delete(struct app *app)
{
	removal_start(app->removal, chosen(app));
}

static void do_why(struct app *app)
{
	why_view_open(app, chosen(app));
}

static void do_speed(struct app *app)
{
	speed_view_open(app, chosen(app));
}

/* ---- the table ---- */

enum need {
	NEED_NOTHING,
	NEED_CHANGE,  /* the right to change things */
	NEED_TUNNEL,  /* a chosen tunnel */
	NEED_CONTROL, /* both */
	NEED_PROFILE, /* both, and the service has its profile: another program's tunnel has none */
	NEED_OWN,     /* the same, and it is ours to write */
};

static const struct action {
	const char *name;
	void (*run)(struct app *app);
	enum need need;
	const char *keys[3];
} actions[] = {
	{ "import", do_import, NEED_CHANGE, { "<Control>o" } },
	{ "paste", do_paste, NEED_CHANGE, { "<Control>v" } },
	{ "turn", do_turn, NEED_CONTROL, { "<Control>Return", "<Control>KP_Enter" } },
	{ "edit", do_edit, NEED_OWN, { "<Control>e", "F2" } },
	{ "export", do_export, NEED_PROFILE, { "<Control>s" } },
	{ "qr", do_qr, NEED_PROFILE, { "<Control>r" } },
	{ "delete", do_delete, NEED_OWN, { "<Control>Delete" } },
	{ "why", do_why, NEED_TUNNEL, { "<Control>d" } },
	{ "speed", do_speed, NEED_TUNNEL, { "<Control>t" } },
	{ "log", do_log, NEED_NOTHING, { "<Control>l" } },
	{ "portal", do_portal, NEED_NOTHING, { NULL } },
	{ "preferences", do_preferences, NEED_NOTHING, { "<Control>comma" } },
	{ "shortcuts", do_shortcuts, NEED_NOTHING, { "<Control>question" } },
	{ "about", do_about, NEED_NOTHING, { NULL } },
};

static bool is_met(const struct app *app, enum need need)
{
	const struct model_tunnel *tunnel = chosen(app);
	bool may_change = feed_may_change(app->feed);

	switch (need) {
	case NEED_NOTHING:
		return true;
	case NEED_CHANGE:
		return may_change;
	case NEED_TUNNEL:
		return tunnel != NULL;
	case NEED_CONTROL:
		return tunnel && may_change;
	case NEED_PROFILE:
		return tunnel && may_change && tunnel->is_listed;
	case NEED_OWN:
		return tunnel && may_change && tunnel->is_listed && !tunnel->is_read_only;
	}
	return false;
}

static void on_activate(GSimpleAction *simple, GVariant *parameter, gpointer user)
{
	const struct action *action = g_object_get_data(G_OBJECT(simple), "action");
	struct app *app = user;

	(void)parameter;
	/* What was so when the action was switched on may not be so now. */
	if (app->window && is_met(app, action->need))
		action->run(app);
}

void actions_add(struct app *app, GtkApplicationWindow *window)
{
	for (size_t i = 0; i < G_N_ELEMENTS(actions); i++) {
		GSimpleAction *simple = g_simple_action_new(actions[i].name, NULL);
		char *detailed = g_strconcat("win.", actions[i].name, NULL);

		g_object_set_data(G_OBJECT(simple), "action", (gpointer)&actions[i]);
		g_signal_connect(simple, "activate", G_CALLBACK(on_activate), app);
		g_action_map_add_action(G_ACTION_MAP(window), G_ACTION(simple));
		gtk_application_set_accels_for_action(
			GTK_APPLICATION(app->application), detailed, (const char *const *)actions[i].keys);
		g_object_unref(simple);
		g_free(detailed);
	}
}

void actions_update(struct app *app, GtkApplicationWindow *window)
{
	for (size_t i = 0; i < G_N_ELEMENTS(actions); i++) {
		GAction *action = g_action_map_lookup_action(G_ACTION_MAP(window), actions[i].name);

		g_simple_action_set_enabled(G_SIMPLE_ACTION(action), is_met(app, actions[i].need));
	}
}

/* ---- the menus ---- */

static GMenu *section(const char *const *items)
{
	GMenu *menu = g_menu_new();

	for (; items[0]; items += 2)
		g_menu_append(menu, _(items[0]), items[1]);
	return menu;
}

static GMenuModel *menu_of(const char *const *first, const char *const *second, const char *const *third)
{
	const char *const *all[] = { first, second, third };
	GMenu *menu = g_menu_new();

	for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
		GMenu *part = section(all[i]);

		g_menu_append_section(menu, NULL, G_MENU_MODEL(part));
		g_object_unref(part);
	}
	return G_MENU_MODEL(menu);
}

GMenuModel *actions_main_menu(void)
{
	static const char *const first[] = { N_("_Import…"), "win.import", N_("_Paste"), "win.paste", NULL };
	static const char *const second[] = { N_("_Log"), "win.log", NULL };
	static const char *const third[] = { N_("P_references"), "win.preferences", N_("_Keyboard Shortcuts"),
		"win.shortcuts", N_("_About wgtcp"), "win.about", N_("_Quit"), "app.quit", NULL };

	return menu_of(first, second, third);
}

GMenuModel *actions_tunnel_menu(void)
{
	static const char *const first[] = { N_("_Edit…"), "win.edit", N_("E_xport…"), "win.export",
		N_("Show as _QR code…"), "win.qr", NULL };
	static const char *const second[] = { N_("_Why does it not work?"), "win.why", N_("_Speed test"),
		"win.speed", NULL };
	static const char *const third[] = { N_("_Delete"), "win.delete", NULL };

	return menu_of(first, second, third);
}
