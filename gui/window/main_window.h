/* SPDX-License-Identifier: MIT */
/* The one window: the list, the chosen tunnel, or why there is neither. */
#ifndef WGTCP_GUI_WINDOW_MAIN_WINDOW_H
#define WGTCP_GUI_WINDOW_MAIN_WINDOW_H

#include "gui/window/app.h"

/* Sets app->window, and takes it away when the window goes. */
void main_window_open(struct app *app);
GtkWindow *main_window_widget(const struct main_window *window);

/* As the feed says. */
void main_window_service(struct main_window *window);
void main_window_changed(struct main_window *window, const struct model_change *change);
void main_window_trouble(struct main_window *window, const struct model_tunnel *tunnel, const char *sentence);

/* Brings a tunnel into view. */
void main_window_show_tunnel(struct main_window *window, const char *name);
/* The chosen tunnel, or NULL. */
struct model_tunnel *main_window_tunnel(const struct main_window *window);
/* Connects or disconnects the chosen tunnel, as its button does. */
void main_window_turn(struct main_window *window);
/* The list anew, for who hid a tunnel or shows it again. */
void main_window_sync(struct main_window *window);
void main_window_toast(struct main_window *window, AdwToast *toast);

#endif
