/* SPDX-License-Identifier: MIT */
#include "gui/window/editor.h"

#include "core/base/wipe.h"
#include "gui/model/form.h"
#include "gui/model/translate.h"
#include "gui/window/editor_row.h"
#include "gui/window/main_window.h"
#include "gui/window/ui.h"

/* A server with more peers than this is edited as a file. */
#define PEERS_MAX 32u

struct editor {
	struct app *app;
	char name[RPC_NAME_LEN], shown[RPC_NAME_LEN];
	struct form form;
	GtkWidget *window, *save, *page;
	GPtrArray *rows; /* struct editor_row *, each owned by its widget */
	char **peer_keys; /* PublicKey by index, ended by NULL */
	/* While saving: sections are sent one after the other. */
	size_t section, changed;
	bool holds_later, is_saving;
};

static void editor_free(gpointer data)
{
	struct editor *editor = data;

	if (editor->app->feed)
		link_forget(editor->app->feed->link, editor);
	form_close(&editor->form);
	g_ptr_array_unref(editor->rows);
	g_strfreev(editor->peer_keys);
	g_free(editor);
}

static void on_row_changed(void *user)
{
	struct editor *editor = user;
	bool is_good = true, is_changed = false;

	for (guint i = 0; i < editor->rows->len; i++) {
		const struct editor_row *row = g_ptr_array_index(editor->rows, i);

		is_good &= editor_row_is_good(row);
		is_changed |= editor_row_is_changed(row);
	}
	gtk_widget_set_sensitive(editor->save, is_good && is_changed && !editor->is_saving);
}

/* ---- saving ---- */

static void save_next(struct editor *editor);

/* Sections count from 0, [Interface], then the peers. */
static size_t section_of(const struct editor_row *row)
{
	size_t peer = editor_row_peer(row);

	return peer == FORM_INTERFACE ? 0 : peer + 1;
}

static void on_saved(struct rpc_event *event, void *user)
{
	struct editor *editor = user;

	editor->is_saving = false;
	if (!event || event->kind == RPC_EVENT_ERROR) {
		ui_tell(GTK_WINDOW(editor->window), _("It was not saved"), feed_error_text(event));
		on_row_changed(editor);
		return;
	}
	for (guint i = 0; i < editor->rows->len; i++) {
		struct editor_row *row = g_ptr_array_index(editor->rows, i);

		if (section_of(row) == editor->section)
			editor_row_saved(row);
	}
	editor->holds_later |= !event->result.done.changed;
	editor->changed++;
	editor->section++;
	save_next(editor);
}

/* The changed rows of one section as settings; how many. */
static size_t collect(const struct editor *editor, size_t section, struct rpc_setting *settings)
{
	size_t count = 0;

	for (guint i = 0; i < editor->rows->len; i++) {
		const struct editor_row *row = g_ptr_array_index(editor->rows, i);

		if (section_of(row) != section || !editor_row_is_changed(row))
			continue;
		g_strlcpy(settings[count].key, editor_row_key(row), sizeof(settings[count].key));
		settings[count++].value = editor_row_value(row);
	}
	return count;
}

static void free_settings(struct rpc_setting *settings, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		memory_wipe(settings[i].value, strlen(settings[i].value));
		g_free(settings[i].value);
	}
	g_free(settings);
}

static void finish(struct editor *editor)
{
	struct app *app = editor->app;
	const struct model_tunnel *tunnel = status_model_find(&app->feed->model, editor->name);

	feed_list(app->feed);
	if (app->window) {
		main_window_toast(app->window,
			ui_toast_new(editor->holds_later && tunnel && words_is_on(tunnel->status.state)
					     ? _("Saved. It holds from the next connect on.")
					     : _("Saved")));
	}
	gtk_window_destroy(GTK_WINDOW(editor->window));
}

static void save_next(struct editor *editor)
{
	struct rpc_request request = { .method = RPC_METHOD_TUNNEL_SET };
	struct rpc_setting *settings = g_new0(struct rpc_setting, editor->rows->len + 1);
	size_t count = 0;
	int err;

	for (; editor->section <= editor->form.peer_count; editor->section++) {
		count = collect(editor, editor->section, settings);
		if (count)
			break;
	}
	if (!count) {
		g_free(settings);
		finish(editor);
		return;
	}
	g_strlcpy(request.name, editor->name, sizeof(request.name));
	if (editor->section)
		g_strlcpy(request.peer, editor->peer_keys[editor->section - 1], sizeof(request.peer));
	request.settings = settings;
	request.setting_count = count;
	editor->is_saving = true;
	gtk_widget_set_sensitive(editor->save, FALSE);
	err = link_ask(editor->app->feed->link, &request, on_saved, editor);
	free_settings(settings, count);
	if (err)
		on_saved(NULL, editor);
}

static void on_save(GtkButton *button, gpointer user)
{
	struct editor *editor = user;

	(void)button;
	editor->section = 0;
	editor->holds_later = false;
	save_next(editor);
}

/* ---- the form ---- */

static void add_section(struct editor *editor, size_t peer)
{
	GtkWidget *group = adw_preferences_group_new();
	unsigned section = peer == FORM_INTERFACE ? PROFILE_IN_INTERFACE : PROFILE_IN_PEER;
	char title[200];

	if (peer == FORM_INTERFACE) {
		adw_preferences_group_set_title(ADW_PREFERENCES_GROUP(group), _("Tunnel"));
	} else {
		char *escaped;

		form_peer_title(&editor->form, peer, title, sizeof(title));
		escaped = g_markup_escape_text(title, -1);
		adw_preferences_group_set_title(ADW_PREFERENCES_GROUP(group), _("Peer"));
		adw_preferences_group_set_description(ADW_PREFERENCES_GROUP(group), escaped);
		g_free(escaped);
	}
	for (size_t i = 0; i < form_field_count; i++) {
		if (form_fields[i].section == section)
			g_ptr_array_add(editor->rows, editor_row_new(ADW_PREFERENCES_GROUP(group), &editor->form, peer,
							      &form_fields[i], on_row_changed, editor));
	}
	adw_preferences_page_add(ADW_PREFERENCES_PAGE(editor->page), ADW_PREFERENCES_GROUP(group));
}

static void show(struct editor *editor)
{
	size_t peers = MIN(editor->form.peer_count, PEERS_MAX);
	GtkWidget *header, *cancel = ui_button(_("_Cancel"), "window.close");
	char *title = g_strdup_printf(_("Edit %s"), editor->shown);

	editor->page = adw_preferences_page_new();
	editor->window = ui_window(main_window_widget(editor->app->window), title, 560, 680, &header, editor->page);
	g_object_set_data_full(G_OBJECT(editor->window), "editor", editor, editor_free);
	gtk_window_set_modal(GTK_WINDOW(editor->window), TRUE);
	editor->save = ui_button(_("_Save"), NULL);
	gtk_widget_add_css_class(editor->save, "suggested-action");
	gtk_widget_set_sensitive(editor->save, FALSE);
	adw_header_bar_set_show_end_title_buttons(ADW_HEADER_BAR(header), FALSE);
	adw_header_bar_set_show_start_title_buttons(ADW_HEADER_BAR(header), FALSE);
	adw_header_bar_pack_start(ADW_HEADER_BAR(header), cancel);
	adw_header_bar_pack_end(ADW_HEADER_BAR(header), editor->save);
	g_signal_connect(editor->save, "clicked", G_CALLBACK(on_save), editor);
	add_section(editor, FORM_INTERFACE);
	for (size_t i = 0; i < peers; i++)
		add_section(editor, i);
	gtk_window_present(GTK_WINDOW(editor->window));
	g_free(title);
}

static void take_peer_keys(struct editor *editor)
{
	char key[FORM_VALUE_MAX];

	editor->peer_keys = g_new0(char *, editor->form.peer_count + 1);
	for (size_t i = 0; i < editor->form.peer_count; i++) {
		if (!form_value(&editor->form, i, "PublicKey", key))
			key[0] = '\0';
		editor->peer_keys[i] = g_strdup(key);
	}
}

static void on_exported(struct rpc_event *event, void *user)
{
	struct editor *editor = user;
	struct profile_error error;
	const char *why = NULL;

	if (!event || event->kind == RPC_EVENT_ERROR)
		why = feed_error_text(event);
	else if (!form_open(&editor->form, editor->name, event->result.exported.text, &error))
		why = error.sentence;
	if (!editor->app->window) {
		editor_free(editor);
	} else if (why) {
		ui_tell(main_window_widget(editor->app->window), _("The profile cannot be edited here"), why);
		editor_free(editor);
	} else {
		take_peer_keys(editor);
		show(editor);
	}
}

void editor_open(struct app *app, const struct model_tunnel *tunnel)
{
	struct rpc_request request = { .method = RPC_METHOD_TUNNEL_EXPORT, .hide_keys = true };
	struct editor *editor = g_new0(struct editor, 1);

	editor->app = app;
	editor->rows = g_ptr_array_new();
	g_strlcpy(editor->name, tunnel->name, sizeof(editor->name));
	g_strlcpy(editor->shown, tunnel->shown, sizeof(editor->shown));
	g_strlcpy(request.name, tunnel->name, sizeof(request.name));
	if (link_ask(app->feed->link, &request, on_exported, editor))
		on_exported(NULL, editor);
}
