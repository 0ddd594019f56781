/* SPDX-License-Identifier: MIT */
/* nm-wgtcp-service [--bus-name NAME] [--persist]: started by NetworkManager as root. */
#include "client/nm/names.h"
#include "client/nm/service.h"

#include <glib-unix.h>
#include <locale.h>
#include <stdio.h>

static gboolean stop(gpointer loop)
{
	g_main_loop_quit(loop);
	return G_SOURCE_CONTINUE;
}

static void quit(NMVpnServicePlugin *plugin, gpointer loop)
{
	(void)plugin;
	g_main_loop_quit(loop);
}

int main(int argc, char **argv)
{
	char *bus_name = NULL;
	gboolean persist = FALSE;
	GOptionEntry entries[] = {
		{ "bus-name", 0, 0, G_OPTION_ARG_STRING, &bus_name, "D-Bus name to take", "NAME" },
		{ "persist", 0, 0, G_OPTION_ARG_NONE, &persist, "do not end with the connection", NULL },
		{ 0 },
	};
	GOptionContext *options = g_option_context_new(NULL);
	NMVpnServicePlugin *plugin;
	GError *error = NULL;
	GMainLoop *loop;

	setlocale(LC_ALL, "");
	g_option_context_add_main_entries(options, entries, NULL);
	g_option_context_set_summary(
		options, "Connects NetworkManager with wgtcpd; NetworkManager starts it.");
	if (!g_option_context_parse(options, &argc, &argv, &error) || argc > 1) {
		fprintf(stderr, "nm-wgtcp-service: %s: see --help\n",
			error ? error->message : "too many arguments");
		g_clear_error(&error);
		g_option_context_free(options);
		return 2;
	}
	g_option_context_free(options);
	plugin = service_new(bus_name ? bus_name : NM_WGTCP_SERVICE, &error);
	if (!plugin) {
		fprintf(stderr,
			"nm-wgtcp-service: the bus does not let it be %s: %s: is its D-Bus policy "
			"installed?\n",
			bus_name ? bus_name : NM_WGTCP_SERVICE, error->message);
		g_error_free(error);
		g_free(bus_name);
		return 1;
	}
	loop = g_main_loop_new(NULL, FALSE);
	if (!persist)
		g_signal_connect(plugin, "quit", G_CALLBACK(quit), loop);
	g_unix_signal_add(SIGTERM, stop, loop);
	g_unix_signal_add(SIGINT, stop, loop);
	g_main_loop_run(loop);
	/* Why it ended must arrive before its name goes. */
	g_dbus_connection_flush_sync(nm_vpn_service_plugin_get_connection(plugin), NULL, NULL);
	nm_vpn_service_plugin_shutdown(plugin);
	g_object_unref(plugin);
	g_main_loop_unref(loop);
	g_free(bus_name);
	return 0;
}
