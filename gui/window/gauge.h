/* SPDX-License-Identifier: MIT */
/* A figure on a round scale that grows by tens, as a speedometer has it. */
#ifndef WGTCP_GUI_WINDOW_GAUGE_H
#define WGTCP_GUI_WINDOW_GAUGE_H

#include <gtk/gtk.h>

/* The scale goes from low to high, both above 0. */
GtkWidget *gauge_new(const char *title, double low, double high);
/* value 0: nothing to show. text: the same for people. */
void gauge_show(GtkWidget *gauge, double value, const char *text);

#endif
