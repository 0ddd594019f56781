/* SPDX-License-Identifier: MIT */
/* "Why does it not work?": the daemon's diagnosis as it is made, and what was known before it. */
#ifndef WGTCP_GUI_WINDOW_WHY_VIEW_H
#define WGTCP_GUI_WINDOW_WHY_VIEW_H

#include "gui/window/app.h"

/* Opens it and begins; one that shows another tunnel is closed. */
void why_view_open(struct app *app, const struct model_tunnel *tunnel);
/* As the feed says. */
void why_view_notice(struct why_view *view, const struct rpc_notice *notice);
/* The service came or went. */
void why_view_service(struct why_view *view);

#endif
