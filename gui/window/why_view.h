/* SPDX-License-Identifier: MIT */
/* "Why does it not work?" as a list of what is right, wrong or unknown; and the speed test, which this version of the
 * service does not have. */
#ifndef WGTCP_GUI_WINDOW_WHY_VIEW_H
#define WGTCP_GUI_WINDOW_WHY_VIEW_H

#include "gui/window/app.h"

void why_view_open(struct app *app, const struct model_tunnel *tunnel);
void why_view_speed(struct app *app);

#endif
