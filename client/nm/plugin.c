/* SPDX-License-Identifier: MIT */
/* libnm-vpn-plugin-wgtcp.so: what nmcli and the settings programs load to import and export, and from which
 * they get the editor of their own toolkit. Without a toolkit itself; the editor is a library of its own,
 * loaded when it is asked for. Source: nm-vpn-editor-plugin.h. */
#include "client/nm/plugin.h"

#include "client/nm/names.h"

#include <dlfcn.h>
#include <string.h>

#define EDITOR_GTK3 "libnm-vpn-plugin-wgtcp-editor.so"
#define EDITOR_GTK4 "libnm-gtk4-vpn-plugin-wgtcp-editor.so"

struct _WgtcpPlugin {
	GObject parent;
};

static void plugin_interface_init(NMVpnEditorPluginInterface *interface);

#define WGTCP_TYPE_PLUGIN (wgtcp_plugin_get_type())
G_DECLARE_FINAL_TYPE(WgtcpPlugin, wgtcp_plugin, WGTCP, PLUGIN, GObject)
G_DEFINE_TYPE_WITH_CODE(WgtcpPlugin, wgtcp_plugin, G_TYPE_OBJECT,
	G_IMPLEMENT_INTERFACE(NM_TYPE_VPN_EDITOR_PLUGIN, plugin_interface_init))

enum { PROPERTY_NAME = 1, PROPERTY_DESCRIPTION, PROPERTY_SERVICE };

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec)
{
	switch (id) {
	case PROPERTY_NAME:
		g_value_set_string(value, "WireGuard over UDP and TCP (wgtcp)");
		return;
	case PROPERTY_DESCRIPTION:
		g_value_set_string(value, "WireGuard, over TCP where UDP is blocked.");
		return;
	case PROPERTY_SERVICE:
		g_value_set_string(value, NM_WGTCP_SERVICE);
		return;
	default: /* not an enum of ours */
		G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
		return;
	}
}

static NMVpnEditorPluginCapability get_capabilities(NMVpnEditorPlugin *plugin)
{
	(void)plugin;
	return NM_VPN_EDITOR_PLUGIN_CAPABILITY_IMPORT | NM_VPN_EDITOR_PLUGIN_CAPABILITY_EXPORT |
	       NM_VPN_EDITOR_PLUGIN_CAPABILITY_IPV6;
}

static NMConnection *import_file(NMVpnEditorPlugin *plugin, const char *path, GError **error)
{
	(void)plugin;
	return plugin_import(path, error);
}

static gboolean export_file(
	NMVpnEditorPlugin *plugin, const char *path, NMConnection *connection, GError **error)
{
	(void)plugin;
	return plugin_export(path, connection, error);
}

static char *suggest_name(NMVpnEditorPlugin *plugin, NMConnection *connection)
{
	const char *id = nm_connection_get_id(connection);
	char *name = g_strdup_printf("%s.conf", id ? id : "wgtcp");

	(void)plugin;
	g_strdelimit(name, "/", '-');
	return name;
}

/* ---- the editor ---- */

/* Two versions of the toolkit cannot share a process, so what is loaded already decides. */
static const char *editor_library(void)
{
	void *self = dlopen(NULL, RTLD_LAZY);
	const char *library = NULL;

	if (self && dlsym(self, "gtk_container_add"))
		library = EDITOR_GTK3;
	else if (self && dlsym(self, "gtk_window_set_child"))
		library = EDITOR_GTK4;
	if (self)
		dlclose(self);
	return library;
}

/* It lies beside this library. */
static void *open_editor(const char *library)
{
	Dl_info here;
	char *folder, *path;
	void *handle;

	if (!dladdr((const void *)&nm_vpn_editor_plugin_factory, &here))
		return dlopen(library, RTLD_LAZY | RTLD_LOCAL);
	folder = g_path_get_dirname(here.dli_fname);
	path = g_build_filename(folder, library, NULL);
	handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	g_free(folder);
	g_free(path);
	return handle;
}

static NMVpnEditor *get_editor(NMVpnEditorPlugin *plugin, NMConnection *connection, GError **error)
{
	NMVpnEditor *(*make)(NMVpnEditorPlugin * plugin, NMConnection * connection, GError * *error);
	const char *library = editor_library();
	void *handle = library ? open_editor(library) : NULL,
	     *symbol = handle ? dlsym(handle, EDITOR_FACTORY) : NULL;

	if (!symbol) {
		g_set_error(error, NM_VPN_PLUGIN_ERROR, NM_VPN_PLUGIN_ERROR_FAILED, "%s%s: %s",
			library ? "the editor cannot be loaded: "
				: "there is an editor for GTK 3 and GTK 4 only",
			library ? library : "", library ? dlerror() : "import a profile instead");
		return NULL;
	}
	memcpy(&make, &symbol, sizeof(make));
	/* It stays loaded: types that are known once cannot go. */
	return make(plugin, connection, error);
}

static void plugin_interface_init(NMVpnEditorPluginInterface *interface)
{
	interface->get_editor = get_editor;
	interface->get_capabilities = get_capabilities;
	interface->import_from_file = import_file;
	interface->export_to_file = export_file;
	interface->get_suggested_filename = suggest_name;
}

static void wgtcp_plugin_class_init(WgtcpPluginClass *class)
{
	GObjectClass *object = G_OBJECT_CLASS(class);

	object->get_property = get_property;
	g_object_class_override_property(object, PROPERTY_NAME, NM_VPN_EDITOR_PLUGIN_NAME);
	g_object_class_override_property(object, PROPERTY_DESCRIPTION, NM_VPN_EDITOR_PLUGIN_DESCRIPTION);
	g_object_class_override_property(object, PROPERTY_SERVICE, NM_VPN_EDITOR_PLUGIN_SERVICE);
}

static void wgtcp_plugin_init(WgtcpPlugin *plugin)
{
	(void)plugin;
}

__attribute__((visibility("default"))) NMVpnEditorPlugin *nm_vpn_editor_plugin_factory(GError **error)
{
	(void)error;
	return g_object_new(WGTCP_TYPE_PLUGIN, NULL);
}
