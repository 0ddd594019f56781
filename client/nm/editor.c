/* SPDX-License-Identifier: MIT */
/* An editor for connections, as the settings programs want it: a widget, and a connection brought up to date
 * from it. Built once with GTK 3 (nm-connection-editor) and once with GTK 4 (GNOME Settings). Source:
 * nm-vpn-editor.h. */
#include "client/nm/connection.h"
#include "client/nm/editor_page.h"
#include "client/nm/plugin.h"

struct _WgtcpEditor {
	GObject parent;
	struct page *page;
};

static void editor_interface_init(NMVpnEditorInterface *interface);

#define WGTCP_TYPE_EDITOR (wgtcp_editor_get_type())
G_DECLARE_FINAL_TYPE(WgtcpEditor, wgtcp_editor, WGTCP, EDITOR, GObject)
G_DEFINE_TYPE_WITH_CODE(WgtcpEditor, wgtcp_editor, G_TYPE_OBJECT,
	G_IMPLEMENT_INTERFACE(NM_TYPE_VPN_EDITOR, editor_interface_init))

static void changed(void *user)
{
	g_signal_emit_by_name(user, "changed");
}

static GObject *get_widget(NMVpnEditor *editor)
{
	return G_OBJECT(page_widget(WGTCP_EDITOR(editor)->page));
}

static gboolean update_connection(NMVpnEditor *editor, NMConnection *connection, GError **error)
{
	struct page *page = WGTCP_EDITOR(editor)->page;
	struct profile profile;
	struct profile_error wrong = { 0 };
	gboolean ok;

	if (!page_read(page, &profile, &wrong)) {
		g_set_error_literal(
			error, NM_CONNECTION_ERROR, NM_CONNECTION_ERROR_INVALID_PROPERTY, wrong.sentence);
		return FALSE;
	}
	ok = connection_write(connection, &profile, page_flags(page));
	if (ok)
		connection_fit_ip(connection, &profile);
	else
		g_set_error_literal(
			error, NM_CONNECTION_ERROR, NM_CONNECTION_ERROR_FAILED, "memory is short");
	profile_free(&profile);
	return ok;
}

static void editor_interface_init(NMVpnEditorInterface *interface)
{
	interface->get_widget = get_widget;
	interface->update_connection = update_connection;
}

static void finalize(GObject *object)
{
	page_free(WGTCP_EDITOR(object)->page);
	G_OBJECT_CLASS(wgtcp_editor_parent_class)->finalize(object);
}

static void wgtcp_editor_class_init(WgtcpEditorClass *class)
{
	G_OBJECT_CLASS(class)->finalize = finalize;
}

static void wgtcp_editor_init(WgtcpEditor *editor)
{
	(void)editor;
}

/* EDITOR_FACTORY. */
NMVpnEditor *wgtcp_editor_new(NMVpnEditorPlugin *plugin, NMConnection *connection, GError **error);

__attribute__((visibility("default"))) NMVpnEditor *wgtcp_editor_new(
	NMVpnEditorPlugin *plugin, NMConnection *connection, GError **error)
{
	WgtcpEditor *editor = g_object_new(WGTCP_TYPE_EDITOR, NULL);

	(void)plugin;
	(void)error;
	editor->page = page_new(connection, changed, editor);
	return NM_VPN_EDITOR(editor);
}
