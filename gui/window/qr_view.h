/* SPDX-License-Identifier: MIT */
/* A text as a QR code in a window of its own, wiped when that is closed. */
#ifndef WGTCP_GUI_WINDOW_QR_VIEW_H
#define WGTCP_GUI_WINDOW_QR_VIEW_H

#include <gtk/gtk.h>

/* Says so instead when the text is too long for a QR code. */
void qr_view_open(GtkWindow *parent, const char *name, const char *text);

#endif
