/* SPDX-License-Identifier: MIT */
/* Small pieces that every view is made of. */
#ifndef WGTCP_GUI_WINDOW_UI_H
#define WGTCP_GUI_WINDOW_UI_H

#include "gui/model/words.h"

#include <adwaita.h>

/* Sets a text only when it is another, so that nothing is laid out anew each second. */
void ui_set_text(GtkLabel *label, const char *text);
/* What a screen reader says of a control that has no text of its own, and its tooltip. */
void ui_name(GtkWidget *widget, const char *name);
void ui_describe(GtkWidget *widget, const char *name, const char *description);

GtkWidget *ui_label(const char *text, const char *css_class);
/* A button with a text that may have a mnemonic. action may be NULL. */
GtkWidget *ui_button(const char *text, const char *action);
/* A button with an icon only. action may be NULL. */
GtkWidget *ui_icon_button(const char *icon, const char *name, const char *action);

/* The state's icon, in shape and colour. */
GtkWidget *ui_state_icon(int pixel_size);
void ui_state_icon_set(GtkWidget *icon, enum rpc_state state);

/* A command to be typed elsewhere, with a button that copies it. */
GtkWidget *ui_command(const char *command);
/* Copies text and says so in a toast. */
void ui_copy(GtkWidget *near, const char *text);
AdwToast *ui_toast_new(const char *text);
/* A toast in the window that the widget is in. */
void ui_toast(GtkWidget *near, const char *text);

/* A question with a way out and one answer. css: "suggested-action", "destructive-action". answered is called with
 * user only for a yes; forget (may be NULL) in the end, whatever was answered. */
void ui_ask(GtkWindow *parent, const char *heading, const char *body, const char *yes, const char *css,
	void (*answered)(gpointer user), gpointer user, GDestroyNotify forget);
/* Something that went wrong, with what to do. */
void ui_tell(GtkWindow *parent, const char *heading, const char *body);

/* A window of its own over parent, with a header bar (NULL: not wanted by the caller) and toasts; Escape closes it. */
GtkWidget *ui_window(
	GtkWindow *parent, const char *title, int width, int height, GtkWidget **header, GtkWidget *body);
void ui_close_on_escape(GtkWidget *window);

/* Unix time, s. */
guint64 ui_now(void);

/* What is drawn next has this colour of the theme (NULL, or one that it has not: the text's), fainter by alpha. */
void ui_set_colour(cairo_t *cr, GtkWidget *widget, const char *name, double alpha);

#endif
