/* SPDX-License-Identifier: MIT */
/* Graphs drawn by hand: five minutes of throughput or of round trips, and the small one of a list row. */
#ifndef WGTCP_GUI_WINDOW_GRAPH_VIEW_H
#define WGTCP_GUI_WINDOW_GRAPH_VIEW_H

#include "gui/model/history.h"

#include <gtk/gtk.h>

enum graph_view_kind { GRAPH_VIEW_RATE, GRAPH_VIEW_RTT, GRAPH_VIEW_SPARK };

/* A widget that is empty until it is given a history. */
GtkWidget *graph_view_new(enum graph_view_kind kind);
/* Draws history (borrowed for the call only) as it is now, and tells a screen reader the same in words. NULL: none. */
void graph_view_show(GtkWidget *view, const struct history *history);

#endif
