/* SPDX-License-Identifier: MIT */
/* That the kill switch is on, closed or open, below whatever the window shows, with the way to open it. */
#ifndef WGTCP_GUI_WINDOW_LOCKDOWN_BAR_H
#define WGTCP_GUI_WINDOW_LOCKDOWN_BAR_H

#include "gui/window/app.h"

struct lockdown_bar;

/* The widget belongs to who puts it somewhere; the bar goes with it. */
struct lockdown_bar *lockdown_bar_new(struct app *app);
GtkWidget *lockdown_bar_widget(struct lockdown_bar *bar);
/* As the model has it. */
void lockdown_bar_show(struct lockdown_bar *bar);

#endif
