/* SPDX-License-Identifier: MIT */
/* Whether anything on this desktop shows tray icons. */
#ifndef WGTCP_GUI_TRAY_HOST_H
#define WGTCP_GUI_TRAY_HOST_H

#include <gio/gio.h>
#include <stdbool.h>

/* Waits at most seconds for somebody to own org.kde.StatusNotifierWatcher: at login the shell may come later than we do.
 * False: nobody. */
bool host_is_there(GDBusConnection *bus, unsigned seconds);

#endif
