/* SPDX-License-Identifier: MIT */
/* What the window says of the chosen tunnel. */
#ifndef WGTCP_GUI_WINDOW_DETAIL_H
#define WGTCP_GUI_WINDOW_DETAIL_H

#include "gui/link/feed.h"

#include <gtk/gtk.h>

struct detail;

struct detail_events {
	void (*turned)(bool on, void *user);
	void (*carrier_chosen)(enum transport transport, void *user);
};

/* The widget belongs to who puts it somewhere; detail goes with it. Its buttons use the actions win.why and
 * win.portal. */
struct detail *detail_new(const struct detail_events *events, void *user);
GtkWidget *detail_widget(struct detail *detail);
/* All of it; wanted: the carrier choice that is marked. */
void detail_show(struct detail *detail, const struct feed *feed, const struct model_tunnel *tunnel, enum transport wanted);
/* Only what changes each second. */
void detail_tick(struct detail *detail, const struct model_tunnel *tunnel);

#endif
