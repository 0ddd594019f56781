/* SPDX-License-Identifier: MIT */
/* The speed test of a tunnel: what is measured, live gauges, the result. */
#ifndef WGTCP_GUI_WINDOW_SPEED_VIEW_H
#define WGTCP_GUI_WINDOW_SPEED_VIEW_H

#include "gui/window/app.h"

/* Opens it, or brings it to the front when a test of that tunnel is in it already. */
void speed_view_open(struct app *app, const struct model_tunnel *tunnel);
/* As the feed says. */
void speed_view_notice(struct speed_view *view, const struct rpc_notice *notice);
/* Whether a test of that tunnel is under way. */
bool speed_view_measures(const struct speed_view *view, const char *name);
/* The service came or went. */
void speed_view_service(struct speed_view *view);

#endif
