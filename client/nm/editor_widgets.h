/* SPDX-License-Identifier: MIT */
/* The few widgets of the editor, the same for GTK 3 and GTK 4. */
#ifndef WGTCP_CLIENT_NM_EDITOR_WIDGETS_H
#define WGTCP_CLIENT_NM_EDITOR_WIDGETS_H

#include <gtk/gtk.h>

GtkWidget *widgets_column(int spacing);
GtkWidget *widgets_grid(void);
void widgets_add(GtkWidget *box, GtkWidget *child);
void widgets_remove(GtkWidget *box, GtkWidget *child);
/* child in a frame with a title in bold above it. */
GtkWidget *widgets_group(const char *title, GtkWidget *child);
GtkWidget *widgets_expander(const char *title, GtkWidget *child);
GtkWidget *widgets_scrolled(GtkWidget *child);
/* secret: shows dots, until the small eye is pressed. */
GtkWidget *widgets_entry(const char *text, const char *example, gboolean secret);
const char *widgets_entry_text(GtkWidget *entry);
void widgets_error(GtkWidget *entry, gboolean wrong);
GtkWidget *widgets_choice(const char *const *ids, const char *const *texts, const char *active);
/* The label beside a widget, which it is called by. */
void widgets_label(GtkWidget *label, GtkWidget *widget);
GtkWidget *widgets_button(const char *text);
/* Shows what was added after the whole was shown. */
void widgets_show(GtkWidget *widget);

#endif
