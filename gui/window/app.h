/* SPDX-License-Identifier: MIT */
/* The program: one feed, one window, and what lives as long as they do. Everything runs on the main thread.
 */
#ifndef WGTCP_GUI_WINDOW_APP_H
#define WGTCP_GUI_WINDOW_APP_H

#include "gui/link/feed.h"
#include "gui/window/settings.h"

#include <adwaita.h>

#define APP_ID "org.wgtcp.Gui"
#define APP_RESOURCES "/org/wgtcp/Gui"

struct main_window;
struct log_view;
struct why_view;
struct speed_view;
struct removal;

struct app {
	AdwApplication *application;
	char *socket_path;
	struct feed *feed; /* from the first window on */
	struct settings settings;
	struct main_window *window; /* NULL: closed */
	struct log_view *log;       /* NULL: closed */
	struct why_view *why;       /* the newest; NULL: closed */
	struct speed_view *speed;   /* NULL: closed */
	struct removal *removal;
	GSList *opened;                  /* of GFile: to be imported */
	char *speed_option;              /* --speed-test */
	char speed_wished[RPC_NAME_LEN]; /* a speed test that is opened as soon as the tunnel is known */
	guint speed_source;
};

/* Runs the program; its exit code. */
int app_run(int argc, char **argv);

#endif
