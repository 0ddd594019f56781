/* SPDX-License-Identifier: MIT */
/* What a person can do, by menu, button or key, as actions of the window. */
#ifndef WGTCP_GUI_WINDOW_ACTIONS_H
#define WGTCP_GUI_WINDOW_ACTIONS_H

#include "gui/window/main_window.h"

/* Actions win.* of the window, and the keys for them. */
void actions_add(struct app *app, GtkApplicationWindow *window);
/* Which of them make sense just now. */
void actions_update(struct app *app, GtkApplicationWindow *window);
GMenuModel *actions_main_menu(void);
GMenuModel *actions_tunnel_menu(void);

#endif
