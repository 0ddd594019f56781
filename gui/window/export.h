/* SPDX-License-Identifier: MIT */
/* A profile out of the daemon, into a file or onto the screen as a QR code. Both ask first: the private key is in it. */
#ifndef WGTCP_GUI_WINDOW_EXPORT_H
#define WGTCP_GUI_WINDOW_EXPORT_H

#include "gui/window/app.h"

void export_to_file(struct app *app, const struct model_tunnel *tunnel);
void export_as_qr(struct app *app, const struct model_tunnel *tunnel);

#endif
