/* SPDX-License-Identifier: MIT */
/* News as notifications of the desktop. */
#ifndef WGTCP_GUI_WINDOW_NOTIFY_H
#define WGTCP_GUI_WINDOW_NOTIFY_H

#include "gui/window/app.h"

/* Unless it is switched off, or the person looks at the window anyway. */
void notify_news(struct app *app, const struct model_tunnel *tunnel, enum news_kind kind);

#endif
