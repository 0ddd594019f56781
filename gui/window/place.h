/* SPDX-License-Identifier: MIT */
/* What stands in the window when there are no tunnels to show: the service is not there, may not be used, or has none. */
#ifndef WGTCP_GUI_WINDOW_PLACE_H
#define WGTCP_GUI_WINDOW_PLACE_H

#include "gui/link/feed.h"

#include <gtk/gtk.h>

struct place;

/* The widget belongs to who puts it somewhere; place goes with it. Its buttons use the actions win.import, win.paste. */
struct place *place_new(void);
GtkWidget *place_widget(struct place *place);
void place_show(struct place *place, const struct feed *feed);

/* The command by which an administrator lets this person in. Free with g_free. */
char *place_group_command(void);

#endif
