/* SPDX-License-Identifier: MIT */
#include "gui/window/log_view.h"

#include "gui/model/report.h"
#include "gui/model/translate.h"
#include "gui/window/main_window.h"
#include "gui/window/ui.h"

#define ENTRIES_MAX 2000u
#define ENTRIES_ASKED 500u

struct log_view {
	struct app *app;
	GtkWidget *window, *stack, *empty, *text, *copy;
	GtkWidget *levels;
	GArray *entries; /* struct rpc_log, oldest first */
};

/* ---- the lines ---- */

static bool is_shown(const struct log_view *view, const struct rpc_log *entry)
{
	switch (gtk_drop_down_get_selected(GTK_DROP_DOWN(view->levels))) {
	case 0:
		return entry->level == RPC_LEVEL_ERROR || entry->level == RPC_LEVEL_WARNING;
	case 1:
		return entry->level != RPC_LEVEL_DEBUG;
	default:
		return true;
	}
}

static void append(struct log_view *view, const struct rpc_log *entry)
{
	GtkTextBuffer *buffer = gtk_text_view_get_buffer(GTK_TEXT_VIEW(view->text));
	GDateTime *when = g_date_time_new_from_unix_local((gint64)(entry->time_ms / 1000));
	char *clock = when ? g_date_time_format(when, "%H:%M:%S") : g_strdup("--:--:--");
	char line[sizeof(*entry) + 64];
	GtkTextIter end;

	report_log_line(entry, clock, line, sizeof(line));
	gtk_text_buffer_get_end_iter(buffer, &end);
	if (gtk_text_buffer_get_char_count(buffer))
		gtk_text_buffer_insert(buffer, &end, "\n", 1);
	gtk_text_buffer_insert(buffer, &end, line, -1);
	if (when)
		g_date_time_unref(when);
	g_free(clock);
}

static void show_page(struct log_view *view)
{
	GtkTextBuffer *buffer = gtk_text_view_get_buffer(GTK_TEXT_VIEW(view->text));
	AdwStatusPage *empty = ADW_STATUS_PAGE(view->empty);
	struct service_words words = service_words(view->app->feed->service);

	gtk_widget_set_sensitive(view->copy, view->entries->len > 0);
	if (gtk_text_buffer_get_char_count(buffer)) {
		gtk_stack_set_visible_child_name(GTK_STACK(view->stack), "text");
		return;
	}
	if (view->app->feed->service != SERVICE_READY) {
		adw_status_page_set_title(empty, words.title);
		adw_status_page_set_description(empty, words.text);
	} else if (view->entries->len) {
		adw_status_page_set_title(empty, _("Nothing of this kind"));
		adw_status_page_set_description(empty, _("Choose another level to see more of the log."));
	} else {
		adw_status_page_set_title(empty, _("The log is empty"));
		adw_status_page_set_description(empty, _("What the service does appears here as it happens."));
	}
	gtk_stack_set_visible_child_name(GTK_STACK(view->stack), "empty");
}

static void scroll_to_end(struct log_view *view)
{
	GtkTextBuffer *buffer = gtk_text_view_get_buffer(GTK_TEXT_VIEW(view->text));
	GtkTextIter end;

	gtk_text_buffer_get_end_iter(buffer, &end);
	gtk_text_buffer_place_cursor(buffer, &end);
	gtk_text_view_scroll_mark_onscreen(GTK_TEXT_VIEW(view->text), gtk_text_buffer_get_insert(buffer));
}

/* Who has scrolled up reads, and is not pulled away. */
static bool is_at_end(const struct log_view *view)
{
	GtkAdjustment *adjustment = gtk_scrollable_get_vadjustment(GTK_SCROLLABLE(view->text));

	return gtk_adjustment_get_value(adjustment) + gtk_adjustment_get_page_size(adjustment) >=
	       gtk_adjustment_get_upper(adjustment) - 30;
}

static void show_all(struct log_view *view)
{
	gtk_text_buffer_set_text(gtk_text_view_get_buffer(GTK_TEXT_VIEW(view->text)), "", 0);
	for (guint i = 0; i < view->entries->len; i++) {
		const struct rpc_log *entry = &g_array_index(view->entries, struct rpc_log, i);

		if (is_shown(view, entry))
			append(view, entry);
	}
	show_page(view);
	scroll_to_end(view);
}

void log_view_add(struct log_view *view, const struct rpc_log *entry)
{
	bool follows = is_at_end(view);

	g_array_append_val(view->entries, *entry);
	/* Not each time: a long log is cut in halves. */
	if (view->entries->len > ENTRIES_MAX) {
		g_array_remove_range(view->entries, 0, ENTRIES_MAX / 2);
		show_all(view);
		return;
	}
	if (is_shown(view, entry))
		append(view, entry);
	show_page(view);
	if (follows)
		scroll_to_end(view);
}

static void on_logs(struct rpc_event *event, void *user)
{
	struct log_view *view = user;

	if (!event || event->kind == RPC_EVENT_ERROR) {
		show_page(view);
		if (event) {
			adw_status_page_set_title(ADW_STATUS_PAGE(view->empty), _("The log cannot be read"));
			adw_status_page_set_description(ADW_STATUS_PAGE(view->empty), event->error.message);
		}
		return;
	}
	g_array_set_size(view->entries, 0);
	g_array_append_vals(view->entries, event->result.logs.entries, (guint)event->result.logs.entry_count);
	show_all(view);
}

void log_view_service(struct log_view *view)
{
	struct rpc_request request = { .method = RPC_METHOD_LOGS, .lines = ENTRIES_ASKED, .follow = true };

	if (view->app->feed->service != SERVICE_READY || link_ask(view->app->feed->link, &request, on_logs, view))
		show_page(view);
}

/* ---- the window ---- */

static void on_copy(GtkButton *button, gpointer user)
{
	struct log_view *view = user;
	struct redact_text report = { 0 };
	char *program = g_strdup_printf("wgtcp-gui %s, GTK %u.%u.%u, libadwaita %u.%u.%u", WGTCP_VERSION,
		gtk_get_major_version(), gtk_get_minor_version(), gtk_get_micro_version(), adw_get_major_version(),
		adw_get_minor_version(), adw_get_micro_version());

	(void)button;
	report_write(&view->app->feed->model, &g_array_index(view->entries, struct rpc_log, 0), view->entries->len, program,
		&report);
	if (report.text) {
		gdk_clipboard_set_text(gtk_widget_get_clipboard(view->window), report.text);
		ui_toast(view->stack, _("Copied, without keys, addresses and names"));
	}
	redact_text_free(&report);
	g_free(program);
}

static void on_level(GObject *object, GParamSpec *property, gpointer user)
{
	(void)object;
	(void)property;
	show_all(user);
}

static void log_view_free(gpointer data)
{
	struct log_view *view = data;

	if (view->app->feed)
		link_forget(view->app->feed->link, view);
	view->app->log = NULL;
	g_array_unref(view->entries);
	g_free(view);
}

static GtkWidget *text_new(struct log_view *view)
{
	GtkWidget *scroller = gtk_scrolled_window_new();

	view->text = gtk_text_view_new();
	gtk_text_view_set_editable(GTK_TEXT_VIEW(view->text), FALSE);
	gtk_text_view_set_monospace(GTK_TEXT_VIEW(view->text), TRUE);
	gtk_text_view_set_wrap_mode(GTK_TEXT_VIEW(view->text), GTK_WRAP_WORD_CHAR);
	gtk_text_view_set_left_margin(GTK_TEXT_VIEW(view->text), 12);
	gtk_text_view_set_right_margin(GTK_TEXT_VIEW(view->text), 12);
	gtk_text_view_set_top_margin(GTK_TEXT_VIEW(view->text), 12);
	gtk_text_view_set_bottom_margin(GTK_TEXT_VIEW(view->text), 12);
	/* The service writes English, which runs from left to right. */
	gtk_widget_set_direction(view->text, GTK_TEXT_DIR_LTR);
	ui_describe(view->text, _("Log of the service"), "");
	gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroller), view->text);
	return scroller;
}

void log_view_open(struct app *app)
{
	const char *const levels[] = { _("Warnings and errors"), _("Everything usual"), _("Everything"), NULL };
	struct log_view *view;
	GtkWidget *header;

	if (app->log) {
		gtk_window_present(GTK_WINDOW(app->log->window));
		return;
	}
	view = g_new0(struct log_view, 1);
	view->app = app;
	view->entries = g_array_new(FALSE, FALSE, sizeof(struct rpc_log));
	view->stack = gtk_stack_new();
	view->empty = adw_status_page_new();
	gtk_stack_add_named(GTK_STACK(view->stack), view->empty, "empty");
	gtk_stack_add_named(GTK_STACK(view->stack), text_new(view), "text");
	view->window = ui_window(main_window_widget(app->window), _("Log"), 760, 560, &header, view->stack);
	g_object_set_data_full(G_OBJECT(view->window), "log-view", view, log_view_free);
	view->levels = gtk_drop_down_new_from_strings(levels);
	gtk_drop_down_set_selected(GTK_DROP_DOWN(view->levels), 1);
	ui_describe(view->levels, _("What is shown"), "");
	view->copy = ui_icon_button("edit-copy-symbolic", _("Copy a report without keys, addresses and names"), NULL);
	adw_header_bar_pack_start(ADW_HEADER_BAR(header), view->copy);
	adw_header_bar_set_title_widget(ADW_HEADER_BAR(header), view->levels);
	g_signal_connect(view->levels, "notify::selected", G_CALLBACK(on_level), view);
	g_signal_connect(view->copy, "clicked", G_CALLBACK(on_copy), view);
	app->log = view;
	log_view_service(view);
	gtk_window_present(GTK_WINDOW(view->window));
}
