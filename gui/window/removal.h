/* SPDX-License-Identifier: MIT */
/* Deleting with undo: a tunnel leaves the list at once, and its profile leaves the disk when the toast with "Undo" has
 * gone. Keys never leave the daemon for it. */
#ifndef WGTCP_GUI_WINDOW_REMOVAL_H
#define WGTCP_GUI_WINDOW_REMOVAL_H

#include "gui/window/app.h"

struct removal *removal_new(struct app *app);
void removal_free(struct removal *removal);

/* Asks first when the tunnel is connected, and then disconnects it. */
void removal_start(struct removal *removal, struct model_tunnel *tunnel);
/* Whether the tunnel is being deleted. */
bool removal_hides(const struct removal *removal, const char *name);
/* Deletes now what waits for its toast; the program stays until that is answered. */
void removal_finish(struct removal *removal);

#endif
