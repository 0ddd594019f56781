/* SPDX-License-Identifier: MIT */
/* The list of tunnels, each with its state and a switch. */
#ifndef WGTCP_GUI_WINDOW_LIST_H
#define WGTCP_GUI_WINDOW_LIST_H

#include "gui/link/feed.h"

#include <gtk/gtk.h>

struct list;

struct list_events {
	void (*selected)(const char *name, void *user);  /* by a person, or since nothing was */
	void (*activated)(const char *name, void *user); /* clicked, Enter */
	void (*turned)(const char *name, bool on, void *user);
};

/* The widget belongs to who puts it somewhere; the list goes with it. */
struct list *list_new(const struct list_events *events, void *user);
GtkWidget *list_widget(struct list *list);

/* Rows as the model has tunnels, in its order. is_hidden: those that are being deleted. */
void list_sync(struct list *list, const struct feed *feed, bool (*is_hidden)(const char *name, void *user));
/* One row anew. */
void list_update(struct list *list, const struct feed *feed, const struct model_tunnel *tunnel);
/* "" selects nothing. */
void list_select(struct list *list, const char *name);
/* The name of the selected tunnel, or "". Borrowed until the next call of any. */
const char *list_selected(const struct list *list);
size_t list_count(const struct list *list);

#endif
