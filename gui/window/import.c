/* SPDX-License-Identifier: MIT */
#include "gui/window/import.h"

#include "core/base/wipe.h"
#include "core/config/parse.h"
#include "gui/model/translate.h"
#include "gui/window/archive.h"
#include "gui/window/import_report.h"
#include "gui/window/main_window.h"
#include "gui/window/ui.h"

#define FILES_MAX 1000u

struct import {
	struct app *app;
	GPtrArray *items; /* struct import_item, owned */
	guint reading;    /* files that are not read yet */
	guint at;
};

static void item_free(gpointer data)
{
	struct import_item *item = data;

	if (item->text)
		memory_wipe(item->text, strlen(item->text));
	g_free(item->text);
	g_free(item->problem);
	g_free(item->warning);
	g_free(item);
}

static void import_free(struct import *import)
{
	g_ptr_array_unref(import->items);
	g_free(import);
}

static struct import_item *add_item(struct import *import, const char *file)
{
	struct import_item *item = g_new0(struct import_item, 1);
	char *base = g_path_get_basename(file);
	char *valid = g_utf8_make_valid(base, -1);

	g_strlcpy(item->file, valid, sizeof(item->file));
	g_ptr_array_add(import->items, item);
	g_free(valid);
	g_free(base);
	return item;
}

static void wipe_text(struct import_item *item)
{
	if (item->text)
		memory_wipe(item->text, strlen(item->text));
	g_clear_pointer(&item->text, g_free);
}

/* ---- to the daemon ---- */

static void next(struct import *import);

static char *notes_text(const struct rpc_notes *notes)
{
	GString *text = g_string_new(NULL);

	for (size_t i = 0; i < notes->count; i++) {
		if (i)
			g_string_append_c(text, '\n');
		if (notes->items[i].line)
			g_string_append_printf(text, _("Line %u: "), notes->items[i].line);
		g_string_append(text, notes->items[i].text);
	}
	return g_string_free(text, FALSE);
}

static void on_imported(struct rpc_event *event, void *user)
{
	struct import *import = user;
	struct import_item *item = g_ptr_array_index(import->items, import->at);

	if (event && event->kind == RPC_EVENT_ERROR && event->error.code == RPC_CODE_EXISTS && !item->replace) {
		/* The text is kept for the answer to "Replace?". */
		item->exists = true;
		item->problem = g_strdup(_("There is a tunnel of this name already."));
	} else if (!event || event->kind == RPC_EVENT_ERROR) {
		item->problem = event && event->error.notes.count ? notes_text(&event->error.notes)
								  : g_strdup(feed_error_text(event));
	} else {
		g_strlcpy(item->name, event->result.done.name, sizeof(item->name));
		if (event->result.done.warnings.count)
			item->warning = notes_text(&event->result.done.warnings);
	}
	if (!item->exists)
		wipe_text(item);
	import->at++;
	next(import);
}

static void send_item(struct import *import, struct import_item *item)
{
	struct rpc_request request = { .method = RPC_METHOD_TUNNEL_IMPORT, .replace = item->replace };
	int err;

	request.text = item->text;
	g_strlcpy(request.file, item->file, sizeof(request.file));
	err = link_ask(import->app->feed->link, &request, on_imported, import);
	if (!err)
		return;
	item->problem = g_strdup(err == -EMSGSIZE ? _("It is too large to be sent to the service (64 KiB).")
						  : _("The service is not there."));
	wipe_text(item);
	import->at++;
	next(import);
}

static void on_replace(void *user, bool yes)
{
	struct import *import = user;

	for (guint i = 0; i < import->items->len; i++) {
		struct import_item *item = g_ptr_array_index(import->items, i);

		if (!item->exists)
			continue;
		item->exists = false;
		item->replace = yes;
		if (yes)
			g_clear_pointer(&item->problem, g_free);
		else
			wipe_text(item);
	}
	import->at = 0;
	next(import);
}

static void next(struct import *import)
{
	struct import_item *last = NULL;
	guint existing = 0;

	for (; import->at < import->items->len; import->at++) {
		struct import_item *item = g_ptr_array_index(import->items, import->at);

		if (item->text && !item->exists) {
			send_item(import, item);
			return;
		}
	}
	for (guint i = 0; i < import->items->len; i++) {
		struct import_item *item = g_ptr_array_index(import->items, i);

		existing += item->exists;
		if (item->name[0])
			last = item;
	}
	if (!import->app->window) {
		import_free(import);
		return;
	}
	if (existing) {
		import_report_ask_replace(main_window_widget(import->app->window), import->items, on_replace, import);
		return;
	}
	if (last) {
		feed_list(import->app->feed);
		main_window_show_tunnel(import->app->window, last->name);
	}
	import_report_show(import->app->window, import->items);
	import_free(import);
}

/* ---- from files ---- */

static void add_text(const char *name, const char *text, size_t len, void *user)
{
	struct import *import = user;
	struct import_item *item = add_item(import, name);

	/* JSON has no NUL, and the daemon would see the text end there. */
	if (memchr(text, '\0', len))
		item->problem = g_strdup(_("It is not a text file."));
	else
		item->text = g_strndup(text, len);
}

static void add_bytes(struct import *import, const char *name, const char *bytes, size_t len)
{
	unsigned left_out = 0;
	int count;

	if (!archive_is_zip(bytes, len)) {
		if (len > PROFILE_TEXT_MAX)
			add_item(import, name)->problem = g_strdup(_("It is too large for a profile."));
		else
			add_text(name, bytes, len, import);
		return;
	}
	count = archive_each(bytes, len, PROFILE_TEXT_MAX, add_text, import, &left_out);
	if (count < 0)
		add_item(import, name)->problem = g_strdup(_("The archive is damaged."));
	else if (left_out)
		add_item(import, name)->problem =
			g_strdup_printf(ngettext("%u profile in it is too large or has a password.",
						"%u profiles in it are too large or have a password.", left_out),
				left_out);
	else if (!count)
		add_item(import, name)->problem = g_strdup(_("There is no .conf file in it."));
}

static void one_read(struct import *import)
{
	if (--import->reading == 0)
		next(import);
}

static void on_loaded(GObject *source, GAsyncResult *result, gpointer user)
{
	struct import *import = user;
	char *bytes = NULL, *name = g_file_get_basename(G_FILE(source));
	GError *error = NULL;
	gsize len = 0;

	if (g_file_load_contents_finish(G_FILE(source), result, &bytes, &len, NULL, &error)) {
		add_bytes(import, name, bytes, len);
		memory_wipe(bytes, len);
		g_free(bytes);
	} else {
		add_item(import, name)->problem = g_strdup(error->message);
		g_error_free(error);
	}
	g_free(name);
	one_read(import);
}

/* The size is asked first: nobody wants a film read into memory. */
static void on_size(GObject *source, GAsyncResult *result, gpointer user)
{
	struct import *import = user;
	GError *error = NULL;
	GFileInfo *info = g_file_query_info_finish(G_FILE(source), result, &error);
	char *name = g_file_get_basename(G_FILE(source));

	if (!info) {
		add_item(import, name)->problem = g_strdup(error->message);
		g_error_free(error);
		one_read(import);
	} else if (g_file_info_get_file_type(info) == G_FILE_TYPE_DIRECTORY) {
		add_item(import, name)->problem = g_strdup(_("It is a folder."));
		one_read(import);
	} else if (g_file_info_get_size(info) > ARCHIVE_BYTES_MAX) {
		add_item(import, name)->problem = g_strdup(_("It is too large for a profile."));
		one_read(import);
	} else {
		g_file_load_contents_async(G_FILE(source), NULL, on_loaded, import);
	}
	g_clear_object(&info);
	g_free(name);
}

static struct import *import_new(struct app *app)
{
	struct import *import = g_new0(struct import, 1);

	import->app = app;
	import->items = g_ptr_array_new_with_free_func(item_free);
	return import;
}

void import_files(struct app *app, const GSList *files)
{
	struct import *import = import_new(app);
	guint count = 0;

	/* Counted once too many, so that nothing is sent before all are begun. */
	import->reading = 1;
	for (; files && count < FILES_MAX; files = files->next, count++) {
		import->reading++;
		g_file_query_info_async(files->data, G_FILE_ATTRIBUTE_STANDARD_SIZE "," G_FILE_ATTRIBUTE_STANDARD_TYPE,
			G_FILE_QUERY_INFO_NONE, G_PRIORITY_DEFAULT, NULL, on_size, import);
	}
	one_read(import);
}

void import_text(struct app *app, const char *text)
{
	struct import *import = import_new(app);
	struct profile_error error;
	struct profile profile = { 0 };
	bool has_name = profile_parse("", text, strlen(text), &profile, &error, NULL) && profile.name[0];

	profile_free(&profile);
	/* Without a "# Name = " line something has to be made of it. The daemon says what is wrong with the text. */
	add_text(has_name ? "" : _("pasted"), text, strlen(text), import);
	if (has_name)
		((struct import_item *)g_ptr_array_index(import->items, 0))->file[0] = '\0';
	next(import);
}

/* ---- from elsewhere ---- */

static void on_text_read(GObject *source, GAsyncResult *result, gpointer user)
{
	struct app *app = user;
	char *text = gdk_clipboard_read_text_finish(GDK_CLIPBOARD(source), result, NULL);

	if (app->window && text && text[0])
		import_text(app, text);
	else if (app->window)
		main_window_trouble(app->window, NULL, _("There is no text and no file to paste."));
	if (text)
		memory_wipe(text, strlen(text));
	g_free(text);
}

static void on_files_read(GObject *source, GAsyncResult *result, gpointer user)
{
	const GValue *value = gdk_clipboard_read_value_finish(GDK_CLIPBOARD(source), result, NULL);
	struct app *app = user;

	if (app->window && value)
		import_files(app, g_value_get_boxed(value));
}

void import_paste(struct app *app)
{
	GdkClipboard *clipboard = gtk_widget_get_clipboard(GTK_WIDGET(main_window_widget(app->window)));

	if (gdk_content_formats_contain_gtype(gdk_clipboard_get_formats(clipboard), GDK_TYPE_FILE_LIST))
		gdk_clipboard_read_value_async(
			clipboard, GDK_TYPE_FILE_LIST, G_PRIORITY_DEFAULT, NULL, on_files_read, app);
	else
		gdk_clipboard_read_text_async(clipboard, NULL, on_text_read, app);
}

static void on_chosen(GtkNativeDialog *dialog, int response, gpointer user)
{
	struct app *app = user;

	if (response == GTK_RESPONSE_ACCEPT && app->window) {
		GListModel *files = gtk_file_chooser_get_files(GTK_FILE_CHOOSER(dialog));
		GSList *list = NULL;

		for (guint i = g_list_model_get_n_items(files); i-- > 0;)
			list = g_slist_prepend(list, g_list_model_get_item(files, i));
		import_files(app, list);
		g_slist_free_full(list, g_object_unref);
		g_object_unref(files);
	}
	g_object_unref(dialog);
}

void import_choose(struct app *app)
{
	GtkFileChooserNative *dialog = gtk_file_chooser_native_new(_("Import tunnels"),
		main_window_widget(app->window), GTK_FILE_CHOOSER_ACTION_OPEN, _("_Import"), _("_Cancel"));
	GtkFileFilter *profiles = gtk_file_filter_new(), *all = gtk_file_filter_new();

	gtk_file_filter_set_name(profiles, _("Profiles and archives (.conf, .zip)"));
	gtk_file_filter_add_pattern(profiles, "*.conf");
	gtk_file_filter_add_pattern(profiles, "*.zip");
	gtk_file_filter_set_name(all, _("All files"));
	gtk_file_filter_add_pattern(all, "*");
	gtk_file_chooser_add_filter(GTK_FILE_CHOOSER(dialog), profiles);
	gtk_file_chooser_add_filter(GTK_FILE_CHOOSER(dialog), all);
	gtk_file_chooser_set_select_multiple(GTK_FILE_CHOOSER(dialog), TRUE);
	g_object_unref(profiles);
	g_object_unref(all);
	g_signal_connect(dialog, "response", G_CALLBACK(on_chosen), app);
	gtk_native_dialog_show(GTK_NATIVE_DIALOG(dialog));
}
