/* SPDX-License-Identifier: MIT */
/* wgtcp-tray: a process of its own, since the indicator's library brings GTK 3, and the window has GTK 4. */
#include "gui/link/link.h"
#include "gui/model/translate.h"
#include "gui/tray/host.h"
#include "gui/tray/tray.h"

#include <glib-unix.h>
#include <gtk/gtk.h>
#include <locale.h>

static void on_quit(void *user)
{
	(void)user;
	gtk_main_quit();
}

static gboolean on_signal(gpointer user)
{
	(void)user;
	gtk_main_quit();
	return G_SOURCE_CONTINUE;
}

static void use_language(void)
{
	/* Tests run from a build folder. */
	const char *folder = g_getenv("WGTCP_LOCALE_DIR");

	setlocale(LC_ALL, "");
	bindtextdomain(TRANSLATE_DOMAIN, folder ? folder : WGTCP_LOCALE_DIR);
	bind_textdomain_codeset(TRANSLATE_DOMAIN, "UTF-8");
	textdomain(TRANSLATE_DOMAIN);
}

int main(int argc, char **argv)
{
	char *socket_path = NULL, *icons = NULL;
	int wait = 0;
	const GOptionEntry entries[] = {
		{ "socket", 0, 0, G_OPTION_ARG_FILENAME, &socket_path,
			N_("wgtcpd's socket (/run/wgtcp/wgtcpd.sock)"), N_("PATH") },
		{ "icons", 0, 0, G_OPTION_ARG_FILENAME, &icons,
			N_("The folder of icon themes with our icons"), N_("PATH") },
		{ "wait", 0, 0, G_OPTION_ARG_INT, &wait, N_("Wait so long for the desktop to show a tray"),
			N_("SECONDS") },
		{ NULL, 0, 0, 0, NULL, NULL, NULL },
	};
	struct tray_options options;
	GDBusConnection *bus = NULL;
	struct tray *tray = NULL;
	GError *error = NULL;
	int code = 1;

	use_language();
	if (!gtk_init_with_args(&argc, &argv, NULL, entries, TRANSLATE_DOMAIN, &error)) {
		g_printerr("wgtcp-tray: %s\n", error ? error->message : _("there is no display"));
		goto out;
	}
	bus = g_bus_get_sync(G_BUS_TYPE_SESSION, NULL, &error);
	if (!bus) {
		g_printerr(_("wgtcp-tray: there is no session bus: %s\n"), error->message);
		goto out;
	}
	if (!host_is_there(bus, wait > 0 ? (unsigned)wait : 0)) {
		g_printerr("%s\n",
			_("wgtcp-tray: this desktop shows no tray icons (nobody owns "
			  "org.kde.StatusNotifierWatcher). In GNOME "
			  "the extension AppIndicator shows them; the window, wgtcp-gui, needs none."));
		goto out;
	}
	options.socket_path = socket_path ? socket_path : LINK_DEFAULT_PATH;
	options.icon_folder = icons ? icons : WGTCP_ICON_DIR;
	tray = tray_new(&options, on_quit, NULL);
	g_unix_signal_add(SIGTERM, on_signal, NULL);
	g_unix_signal_add(SIGINT, on_signal, NULL);
	gtk_main();
	code = 0;
out:
	tray_free(tray);
	/* Who clicked on Quit waits for the answer to the click. */
	if (bus)
		g_dbus_connection_flush_sync(bus, NULL, NULL);
	g_clear_object(&bus);
	g_clear_error(&error);
	g_free(socket_path);
	g_free(icons);
	return code;
}
