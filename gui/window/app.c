/* SPDX-License-Identifier: MIT */
#include "gui/window/app.h"

#include "gui/model/translate.h"
#include "gui/window/import.h"
#include "gui/window/log_view.h"
#include "gui/window/main_window.h"
#include "gui/window/notify.h"
#include "gui/window/removal.h"
#include "gui/window/speed_view.h"
#include "gui/window/why_view.h"

/* ---- the feed ---- */

static void import_opened(struct app *app)
{
	GSList *opened = app->opened;

	if (!opened || !app->window || !feed_may_change(app->feed))
		return;
	app->opened = NULL;
	import_files(app, opened);
	g_slist_free_full(opened, g_object_unref);
}

static gboolean on_speed_tried(gpointer user)
{
	struct app *app = user;
	const struct model_tunnel *tunnel;

	app->speed_source = 0;
	if (!app->window || !app->speed_wished[0])
		return G_SOURCE_REMOVE;
	tunnel = app->feed->model.has_list ? status_model_find(&app->feed->model, app->speed_wished) : NULL;
	/* The service has not been heard yet, or has no such tunnel. */
	if (!tunnel)
		return G_SOURCE_REMOVE;
	speed_view_open(app, tunnel);
	app->speed_wished[0] = '\0';
	return G_SOURCE_REMOVE;
}

static void try_speed(struct app *app)
{
	if (app->speed_wished[0] && !app->speed_source)
		app->speed_source = g_idle_add(on_speed_tried, app);
}

static void on_service(void *user)
{
	struct app *app = user;

	if (app->window)
		main_window_service(app->window);
	if (app->log)
		log_view_service(app->log);
	if (app->why)
		why_view_service(app->why);
	if (app->speed)
		speed_view_service(app->speed);
}

static void on_changed(const struct model_change *change, void *user)
{
	struct app *app = user;

	if (change->news != NEWS_NONE)
		notify_news(app, change->tunnel, change->news);
	if (app->window)
		main_window_changed(app->window, change);
	import_opened(app);
	try_speed(app);
}

static void on_trouble(struct model_tunnel *tunnel, const char *sentence, void *user)
{
	struct app *app = user;

	if (app->window)
		main_window_trouble(app->window, tunnel, sentence);
}

static void on_log(const struct rpc_log *entry, void *user)
{
	struct app *app = user;

	if (app->log)
		log_view_add(app->log, entry);
}

static void on_notice(const struct rpc_notice *notice, void *user)
{
	struct app *app = user;

	if (app->why)
		why_view_notice(app->why, notice);
	if (app->speed)
		speed_view_notice(app->speed, notice);
}

/* ---- the application ---- */

static void on_activate(GApplication *application, gpointer user)
{
	static const struct feed_events events = { on_service, on_changed, on_trouble, on_log, on_notice };
	struct app *app = user;

	(void)application;
	if (!app->feed)
		app->feed = feed_new(app->socket_path, &events, app);
	if (app->window)
		gtk_window_present(main_window_widget(app->window));
	else
		main_window_open(app);
}

/* Files named on the command line, or opened by another program: imported as soon as the service lets us. */
static void on_open(GApplication *application, gpointer files, int count, const char *hint, gpointer user)
{
	GFile **opened = files;
	struct app *app = user;

	(void)hint;
	for (int i = count; i-- > 0;)
		app->opened = g_slist_prepend(app->opened, g_object_ref(opened[i]));
	g_application_activate(application);
	import_opened(app);
}

static void on_show(GSimpleAction *action, GVariant *parameter, gpointer user)
{
	struct app *app = user;

	(void)action;
	g_application_activate(G_APPLICATION(app->application));
	main_window_show_tunnel(app->window, g_variant_get_string(parameter, NULL));
}

static void on_speed(GSimpleAction *action, GVariant *parameter, gpointer user)
{
	struct app *app = user;

	on_show(action, parameter, user);
	g_strlcpy(app->speed_wished, g_variant_get_string(parameter, NULL), sizeof(app->speed_wished));
	try_speed(app);
}

static void on_portal(GSimpleAction *action, GVariant *parameter, gpointer user)
{
	struct app *app = user;

	(void)action;
	(void)parameter;
	g_application_activate(G_APPLICATION(app->application));
	gtk_widget_activate_action(GTK_WIDGET(main_window_widget(app->window)), "win.portal", NULL);
}

static void on_quit(GSimpleAction *action, GVariant *parameter, gpointer user)
{
	struct app *app = user;

	(void)action;
	(void)parameter;
	/* By the window's own way out, which saves and finishes what waits. */
	if (app->window)
		gtk_window_close(main_window_widget(app->window));
	else
		g_application_quit(G_APPLICATION(app->application));
}

static void on_startup(GApplication *application, gpointer user)
{
	static const GActionEntry entries[] = {
		{ .name = "show", .activate = on_show, .parameter_type = "s" },
		{ .name = "speed", .activate = on_speed, .parameter_type = "s" },
		{ .name = "portal", .activate = on_portal }, { .name = "quit", .activate = on_quit }
	};
	const char *const quit_keys[] = { "<Control>q", NULL }, *const close_keys[] = { "<Control>w", NULL };
	struct app *app = user;

	g_action_map_add_action_entries(G_ACTION_MAP(application), entries, G_N_ELEMENTS(entries), app);
	gtk_application_set_accels_for_action(GTK_APPLICATION(application), "app.quit", quit_keys);
	gtk_application_set_accels_for_action(GTK_APPLICATION(application), "window.close", close_keys);
	gtk_window_set_default_icon_name(APP_ID);
	/* The toolkit takes it from the locale; tests have only the C one. */
	if (!g_strcmp0(g_getenv("WGTCP_TEXT_DIRECTION"), "rtl"))
		gtk_widget_set_default_direction(GTK_TEXT_DIR_RTL);
	settings_load(&app->settings);
	app->removal = removal_new(app);
}

static void on_shutdown(GApplication *application, gpointer user)
{
	struct app *app = user;

	(void)application;
	if (app->speed_source)
		g_source_remove(app->speed_source);
	app->speed_source = 0;
	feed_free(app->feed);
	app->feed = NULL;
	removal_free(app->removal);
	app->removal = NULL;
	g_slist_free_full(app->opened, g_object_unref);
	app->opened = NULL;
}

/* Handed to the program that runs already, or done by this one. */
static int on_local_options(GApplication *application, GVariantDict *dict, gpointer user)
{
	struct app *app = user;
	GError *error = NULL;

	(void)dict;
	if (!app->speed_option)
		return -1;
	if (!g_application_register(application, NULL, &error)) {
		g_printerr("wgtcp-gui: %s\n", error->message);
		g_error_free(error);
		return 1;
	}
	g_action_group_activate_action(
		G_ACTION_GROUP(application), "speed", g_variant_new_string(app->speed_option));
	return g_application_get_is_remote(application) ? 0 : -1;
}

int app_run(int argc, char **argv)
{
	struct app app = { .socket_path = NULL };
	const GOptionEntry options[] = { { "socket", 0, 0, G_OPTION_ARG_FILENAME, &app.socket_path,
						 N_("wgtcpd's socket (/run/wgtcp/wgtcpd.sock)"), N_("PATH") },
		{ "speed-test", 0, 0, G_OPTION_ARG_STRING, &app.speed_option,
			N_("Open the speed test of a tunnel"), N_("NAME") },
		{ NULL, 0, 0, 0, NULL, NULL, NULL } };
	int code;

	app.application = adw_application_new(APP_ID, G_APPLICATION_HANDLES_OPEN);
	g_application_set_resource_base_path(G_APPLICATION(app.application), APP_RESOURCES);
	g_application_set_option_context_summary(
		G_APPLICATION(app.application), _("The window of wgtcp: connect, and see that it works."));
	g_application_add_main_option_entries(G_APPLICATION(app.application), options);
	g_signal_connect(app.application, "handle-local-options", G_CALLBACK(on_local_options), &app);
	g_signal_connect(app.application, "startup", G_CALLBACK(on_startup), &app);
	g_signal_connect(app.application, "activate", G_CALLBACK(on_activate), &app);
	g_signal_connect(app.application, "open", G_CALLBACK(on_open), &app);
	g_signal_connect(app.application, "shutdown", G_CALLBACK(on_shutdown), &app);
	/* Options are read before "activate", which needs the path. */
	app.socket_path = g_strdup(LINK_DEFAULT_PATH);
	code = g_application_run(G_APPLICATION(app.application), argc, argv);
	g_object_unref(app.application);
	g_free(app.socket_path);
	g_free(app.speed_option);
	return code;
}
