/* SPDX-License-Identifier: MIT */
/* The figures of a tunnel as rows of a name and a value, and the same for each peer. */
#ifndef WGTCP_GUI_WINDOW_FACTS_H
#define WGTCP_GUI_WINDOW_FACTS_H

#include "gui/model/status_model.h"

#include <gtk/gtk.h>

struct facts;

/* The widget belongs to who puts it somewhere; facts go with it. */
struct facts *facts_new(void);
GtkWidget *facts_widget(struct facts *facts);
void facts_show(struct facts *facts, const struct model_tunnel *tunnel);

#endif
