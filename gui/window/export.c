/* SPDX-License-Identifier: MIT */
#include "gui/window/export.h"

#include "gui/model/translate.h"
#include "gui/window/main_window.h"
#include "gui/window/qr_view.h"
#include "gui/window/ui.h"

struct export {
	struct app *app;
	char name[RPC_NAME_LEN], shown[RPC_NAME_LEN];
	GFile *file; /* NULL: a QR code is wanted */
};

static struct export *export_new(struct app *app, const struct model_tunnel *tunnel)
{
	struct export *export = g_new0(struct export, 1);

	export->app = app;
	g_strlcpy(export->name, tunnel->name, sizeof(export->name));
	g_strlcpy(export->shown, tunnel->shown, sizeof(export->shown));
	return export;
}

static void export_free(gpointer data)
{
	struct export *export = data;

	g_clear_object(&export->file);
	g_free(export);
}

static struct export *export_copy(const struct export *export)
{
	struct export *copy = g_memdup2(export, sizeof(*export));

	if (copy->file)
		g_object_ref(copy->file);
	return copy;
}

/* ---- what the daemon gave ---- */

static void tell_failure(const struct export *export, const char *sentence)
{
	char *heading = g_strdup_printf(_("%s was not exported"), export->shown);

	ui_tell(main_window_widget(export->app->window), heading, sentence);
	g_free(heading);
}

static void write_file(const struct export *export, const char *text)
{
	GError *error = NULL;
	char *base, *told;

	/* Readable by its owner only. */
	if (!g_file_replace_contents(export->file, text, strlen(text), NULL, FALSE,
		    G_FILE_CREATE_PRIVATE | G_FILE_CREATE_REPLACE_DESTINATION, NULL, NULL, &error)) {
		tell_failure(export, error->message);
		g_error_free(error);
		return;
	}
	base = g_file_get_basename(export->file);
	told = g_strdup_printf(_("Exported as %s"), base);
	main_window_toast(export->app->window, ui_toast_new(told));
	g_free(told);
	g_free(base);
}

static void on_exported(struct rpc_event *event, void *user)
{
	struct export *export = user;

	if (!export->app->window) {
		export_free(export);
		return;
	}
	if (!event || event->kind == RPC_EVENT_ERROR) {
		char *text = event && event->error.code == RPC_CODE_NOT_PERMITTED
				     ? g_strdup_printf(_("Only an administrator may take private keys out of the service. In a "
							 "terminal: sudo wgtcp-cli export %s"),
					       export->name)
				     : g_strdup(feed_error_text(event));

		tell_failure(export, text);
		g_free(text);
	} else if (export->file) {
		write_file(export, event->result.exported.text);
	} else {
		qr_view_open(main_window_widget(export->app->window), export->shown, event->result.exported.text);
	}
	/* The text is wiped with the event. */
	export_free(export);
}

static void ask_daemon(gpointer user)
{
	struct export *export = export_copy(user);
	struct rpc_request request = { .method = RPC_METHOD_TUNNEL_EXPORT, .beside = true };

	g_strlcpy(request.name, export->name, sizeof(request.name));
	if (link_ask(export->app->feed->link, &request, on_exported, export))
		on_exported(NULL, export);
}

/* ---- the questions ---- */

static void on_file(GtkNativeDialog *dialog, int response, gpointer user)
{
	struct export *export = user;

	if (response == GTK_RESPONSE_ACCEPT && export->app->window) {
		export->file = gtk_file_chooser_get_file(GTK_FILE_CHOOSER(dialog));
		ask_daemon(export);
	}
	export_free(export);
	g_object_unref(dialog);
}

static void choose_file(gpointer user)
{
	struct export *export = export_copy(user);
	char *name = g_strconcat(export->name, ".conf", NULL);
	GtkFileChooserNative *dialog = gtk_file_chooser_native_new(_("Export"),
		main_window_widget(export->app->window), GTK_FILE_CHOOSER_ACTION_SAVE, _("_Export"), _("_Cancel"));

	gtk_file_chooser_set_current_name(GTK_FILE_CHOOSER(dialog), name);
	g_signal_connect(dialog, "response", G_CALLBACK(on_file), export);
	gtk_native_dialog_show(GTK_NATIVE_DIALOG(dialog));
	g_free(name);
}

void export_to_file(struct app *app, const struct model_tunnel *tunnel)
{
	ui_ask(main_window_widget(app->window), _("Export with the private key?"),
		_("Whoever has the file can connect as you. Keep it where nobody else reads it, and never send it "
		  "unencrypted."),
		_("_Export…"), "suggested-action", choose_file, export_new(app, tunnel), export_free);
}

void export_as_qr(struct app *app, const struct model_tunnel *tunnel)
{
	ui_ask(main_window_widget(app->window), _("Show the private key as a QR code?"),
		_("Whoever photographs the screen can connect as you. Look around before you go on."), _("_Show"),
		"suggested-action", ask_daemon, export_new(app, tunnel), export_free);
}
