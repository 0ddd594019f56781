/* SPDX-License-Identifier: MIT */
/* How long the window takes to make a frame, for tests and for who looks into a slow window. */
#ifndef WGTCP_GUI_WINDOW_FRAMES_H
#define WGTCP_GUI_WINDOW_FRAMES_H

#include <gtk/gtk.h>

/* With WGTCP_FRAME_TIMES in the environment: prints a line on stderr for each 20 frames of a window that has
 * been shown. Else does nothing. */
void frames_watch(GtkWidget *window);

#endif
