/* SPDX-License-Identifier: MIT */
/* A profile as a form. Each value is checked where it stands, by the parser that the daemon has too. */
#ifndef WGTCP_GUI_WINDOW_EDITOR_H
#define WGTCP_GUI_WINDOW_EDITOR_H

#include "gui/window/app.h"

/* Asks the daemon for the profile without its keys, then opens the form. */
void editor_open(struct app *app, const struct model_tunnel *tunnel);

#endif
