/* SPDX-License-Identifier: MIT */
/* What the plugin's file and its tests share of import and export. */
#ifndef WGTCP_CLIENT_NM_PLUGIN_H
#define WGTCP_CLIENT_NM_PLUGIN_H

#include <NetworkManager.h>

/* The function of an editor's library that makes an editor. */
#define EDITOR_FACTORY "wgtcp_editor_new"

/* A connection from a profile's file; NULL with error. At once for a file that is somebody else's. */
NMConnection *plugin_import(const char *path, GError **error);
/* Writes the profile in the connection, mode 0600, whole or not at all. */
gboolean plugin_export(const char *path, NMConnection *connection, GError **error);

#endif
