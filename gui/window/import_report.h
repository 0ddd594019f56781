/* SPDX-License-Identifier: MIT */
/* What became of an import, told to the person. */
#ifndef WGTCP_GUI_WINDOW_IMPORT_REPORT_H
#define WGTCP_GUI_WINDOW_IMPORT_REPORT_H

#include "gui/window/main_window.h"

struct import_item {
	char file[RPC_NAME_LEN]; /* what the file was called; "" for a text that names itself */
	char *text;              /* until the daemon has it */
	char name[RPC_NAME_LEN]; /* of the tunnel that came of it, or "" */
	char *problem, *warning; /* sentences, or NULL */
	bool exists, replace;
};

/* Asks once for all that exist. answered is called with yes or no. */
void import_report_ask_replace(
	GtkWindow *parent, const GPtrArray *items, void (*answered)(void *user, bool yes), void *user);
/* A toast when all went well, else a window with a line for each. */
void import_report_show(struct main_window *window, const GPtrArray *items);

#endif
