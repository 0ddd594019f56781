/* SPDX-License-Identifier: MIT */
/* Profiles from files, archives, the clipboard or a drop to the daemon, one after the other; what became of each is told
 * in the end. The texts hold keys: they are wiped as soon as the daemon has them. */
#ifndef WGTCP_GUI_WINDOW_IMPORT_H
#define WGTCP_GUI_WINDOW_IMPORT_H

#include "gui/window/app.h"

/* Asks which. */
void import_choose(struct app *app);
/* files: of GFile. */
void import_files(struct app *app, const GSList *files);
void import_text(struct app *app, const char *text);
/* Whatever the clipboard holds. */
void import_paste(struct app *app);

#endif
