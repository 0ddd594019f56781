/* SPDX-License-Identifier: MIT */
/* A program that uses the plugin as a settings program does: it loads it by libnm, imports a profile, shows
 * the editor in a window, and writes back what the editor says. Built with GTK 3 and with GTK 4.
 *
 *   nm-wgtcp-test-editor-gtk3 PLUGIN PROFILE     then, from stdin: "update", "export PATH", "close" or "quit"
 */
#include <NetworkManager.h>
#include <gtk/gtk.h>
#include <stdio.h>
#include <string.h>

struct host {
	GMainLoop *loop;
	NMVpnEditorPlugin *plugin;
	NMVpnEditor *editor;
	NMConnection *connection;
	unsigned changes;
};

static void on_changed(NMVpnEditor *editor, gpointer user)
{
	struct host *host = user;

	(void)editor;
	host->changes++;
}

static void update(struct host *host)
{
	GError *error = NULL;

	if (nm_vpn_editor_update_connection(host->editor, host->connection, &error) &&
		nm_connection_verify(host->connection, &error))
		printf("updated after %u changes\n", host->changes);
	else
		printf("refused: %s\n", error->message);
	g_clear_error(&error);
}

/* The window stays, as when somebody else still holds what is in it. */
static void close_editor(struct host *host)
{
	g_signal_handlers_disconnect_by_data(host->editor, host);
	g_clear_object(&host->editor);
	printf("closed\n");
}

static gboolean on_line(GIOChannel *channel, GIOCondition condition, gpointer user)
{
	struct host *host = user;
	GError *error = NULL;
	char *line = NULL;
	gsize end;

	(void)condition;
	if (g_io_channel_read_line(channel, &line, NULL, &end, NULL) != G_IO_STATUS_NORMAL) {
		g_main_loop_quit(host->loop);
		return G_SOURCE_REMOVE;
	}
	line[end] = 0;
	if (!strcmp(line, "update"))
		update(host);
	else if (!strcmp(line, "close"))
		close_editor(host);
	else if (g_str_has_prefix(line, "export "))
		printf("%s\n", nm_vpn_editor_plugin_export(
				       host->plugin, line + strlen("export "), host->connection, &error)
				       ? "exported"
				       : error->message);
	else
		g_main_loop_quit(host->loop);
	g_clear_error(&error);
	g_free(line);
	fflush(stdout);
	return G_SOURCE_CONTINUE;
}

static void show(struct host *host)
{
	GtkWidget *page = GTK_WIDGET(nm_vpn_editor_get_widget(host->editor));
#if GTK_MAJOR_VERSION >= 4
	GtkWidget *window = gtk_window_new();

	gtk_window_set_child(GTK_WINDOW(window), page);
	gtk_window_set_default_size(GTK_WINDOW(window), 760, 700);
	gtk_window_present(GTK_WINDOW(window));
#else
	GtkWidget *window = gtk_window_new(GTK_WINDOW_TOPLEVEL);

	gtk_container_add(GTK_CONTAINER(window), page);
	gtk_window_set_default_size(GTK_WINDOW(window), 760, 700);
	gtk_widget_show_all(window);
#endif
	gtk_window_set_title(GTK_WINDOW(window), "editor");
	printf("shown\n");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct host host = { 0 };
	GError *error = NULL;
	GIOChannel *input;
	char *name;

	if (argc != 3)
		return 2;
	name = g_path_get_basename(argv[0]);
	g_set_prgname(name);
	g_set_application_name(name);
	g_free(name);
#if GTK_MAJOR_VERSION >= 4
	gtk_init();
#else
	gtk_init(NULL, NULL);
#endif
	host.plugin = nm_vpn_editor_plugin_load_from_file(
		argv[1], "org.freedesktop.NetworkManager.wgtcp", -1, NULL, NULL, &error);
	if (host.plugin)
		host.connection = nm_vpn_editor_plugin_import(host.plugin, argv[2], &error);
	if (host.connection)
		host.editor = nm_vpn_editor_plugin_get_editor(host.plugin, host.connection, &error);
	if (!host.editor) {
		fprintf(stderr, "%s\n", error->message);
		return 1;
	}
	g_signal_connect(host.editor, "changed", G_CALLBACK(on_changed), &host);
	show(&host);
	input = g_io_channel_unix_new(0);
	g_io_add_watch(input, G_IO_IN | G_IO_HUP, on_line, &host);
	host.loop = g_main_loop_new(NULL, FALSE);
	g_main_loop_run(host.loop);
	return 0;
}
