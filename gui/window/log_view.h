/* SPDX-License-Identifier: MIT */
/* The daemon's log as it grows, and a report for those who help, without secrets. */
#ifndef WGTCP_GUI_WINDOW_LOG_VIEW_H
#define WGTCP_GUI_WINDOW_LOG_VIEW_H

#include "gui/window/app.h"

/* Opens it, or brings it to the front. */
void log_view_open(struct app *app);
/* As the feed says. */
void log_view_add(struct log_view *view, const struct rpc_log *entry);
/* The service came back: the log is asked for again. */
void log_view_service(struct log_view *view);

#endif
