/* SPDX-License-Identifier: MIT */
/* What a person can set: which notifications come. */
#ifndef WGTCP_GUI_WINDOW_PREFERENCES_H
#define WGTCP_GUI_WINDOW_PREFERENCES_H

#include "gui/window/app.h"

void preferences_open(struct app *app);

#endif
