/* SPDX-License-Identifier: MIT */
/* Opened by actions.c, told by app.c; main thread. */
#include "gui/window/why_view.h"

#include "gui/model/diagnosis.h"
#include "gui/model/translate.h"
#include "gui/model/why.h"
#include "gui/window/main_window.h"
#include "gui/window/ui.h"

struct why_view {
	struct app *app;
	char name[RPC_NAME_LEN];
	GtkWidget *window, *group, *summary, *said, *icon, *spinner, *again, *portal;
	GPtrArray *rows; /* borrowed: the group has them */
	bool asking;
};

struct mark {
	const char *icon, *css;
};

static const struct mark marks[] = { [RPC_VERDICT_OK] = { "wgtcp-on-symbolic", "success" },
	[RPC_VERDICT_WARNING] = { "wgtcp-attention-symbolic", "warning" },
	[RPC_VERDICT_BAD] = { "wgtcp-attention-symbolic", "error" },
	[RPC_VERDICT_UNKNOWN] = { "wgtcp-off-symbolic", "dim-label" } };

/* ---- the lines ---- */

static void icon_set(GtkWidget *icon, enum rpc_verdict verdict)
{
	for (size_t i = 0; i < G_N_ELEMENTS(marks); i++)
		gtk_widget_remove_css_class(icon, marks[i].css);
	gtk_image_set_from_icon_name(GTK_IMAGE(icon), marks[verdict].icon);
	gtk_widget_add_css_class(icon, marks[verdict].css);
	ui_name(icon, diagnosis_verdict(verdict));
}

static GtkWidget *icon_new(void)
{
	return g_object_new(GTK_TYPE_IMAGE, "accessible-role", GTK_ACCESSIBLE_ROLE_IMG, NULL);
}

static void add_row(struct why_view *view, enum rpc_verdict verdict, const char *title, const char *text)
{
	GtkWidget *row = adw_action_row_new(), *icon = icon_new();
	char *described = g_strdup_printf("%s: %s", diagnosis_verdict(verdict), text);

	icon_set(icon, verdict);
	/* A sentence of the daemon is no markup. */
	adw_preferences_row_set_use_markup(ADW_PREFERENCES_ROW(row), FALSE);
	adw_preferences_row_set_title(ADW_PREFERENCES_ROW(row), title);
	adw_action_row_set_subtitle(ADW_ACTION_ROW(row), text);
	adw_action_row_set_subtitle_lines(ADW_ACTION_ROW(row), 0);
	adw_action_row_add_prefix(ADW_ACTION_ROW(row), icon);
	gtk_accessible_update_property(
		GTK_ACCESSIBLE(row), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, described, -1);
	adw_preferences_group_add(ADW_PREFERENCES_GROUP(view->group), row);
	g_ptr_array_add(view->rows, row);
	g_free(described);
}

static void clear_rows(struct why_view *view)
{
	for (guint i = 0; i < view->rows->len; i++)
		adw_preferences_group_remove(
			ADW_PREFERENCES_GROUP(view->group), g_ptr_array_index(view->rows, i));
	g_ptr_array_set_size(view->rows, 0);
}

/* What is known without trying anything. */
static void show_known(struct why_view *view)
{
	static const enum rpc_verdict verdicts[] = {
		[WHY_GOOD] = RPC_VERDICT_OK, [WHY_BAD] = RPC_VERDICT_BAD, [WHY_UNKNOWN] = RPC_VERDICT_UNKNOWN
	};
	const struct feed *feed = view->app->feed;
	const struct model_tunnel *tunnel = status_model_find(&feed->model, view->name);
	struct why_line lines[WHY_LINES_MAX];
	size_t count = tunnel ? why_lines(feed->service, &feed->model, tunnel, ui_now(), lines) : 0;

	clear_rows(view);
	for (size_t i = 0; i < count; i++)
		add_row(view, verdicts[lines[i].mark], lines[i].title, lines[i].text);
}

static void show_diagnosis(struct why_view *view, const struct rpc_diagnosis *diagnosis)
{
	char text[DIAGNOSIS_TEXT_LEN];

	clear_rows(view);
	for (size_t i = 0; i < diagnosis->check_count; i++) {
		diagnosis_text(&diagnosis->checks[i], text, sizeof(text));
		add_row(view, diagnosis->checks[i].verdict, diagnosis_title(diagnosis->checks[i].check),
			text);
	}
}

/* ---- the head ---- */

/* said: more, in smaller letters, or "". */
static void show_head(struct why_view *view, enum rpc_verdict verdict, const char *summary, const char *said)
{
	icon_set(view->icon, verdict);
	ui_set_text(GTK_LABEL(view->summary), summary);
	ui_set_text(GTK_LABEL(view->said), said);
	gtk_widget_set_visible(view->said, said[0] != '\0');
	gtk_widget_set_visible(view->icon, !view->asking);
	gtk_widget_set_visible(view->spinner, view->asking);
	gtk_spinner_set_spinning(GTK_SPINNER(view->spinner), view->asking);
	gtk_widget_set_sensitive(view->again, !view->asking && view->app->feed->service == SERVICE_READY);
}

static const char *headline(enum rpc_verdict verdict)
{
	switch (verdict) {
	case RPC_VERDICT_OK:
		return _("Nothing is wrong");
	case RPC_VERDICT_WARNING:
		return _("It works, with a reservation");
	case RPC_VERDICT_BAD:
		return _("This is why it does not work");
	case RPC_VERDICT_UNKNOWN:
		return _("Not everything could be found out");
	}
	return "";
}

static void on_diagnosed(struct rpc_event *event, void *user)
{
	struct why_view *view = user;

	view->asking = false;
	/* The service's going is told by its own event. */
	if (!event)
		return;
	if (event->kind == RPC_EVENT_ERROR) {
		show_head(
			view, RPC_VERDICT_UNKNOWN, _("The check did not take place"), feed_error_text(event));
		show_known(view);
		return;
	}
	words_capitalize(event->result.diagnosis.summary, event->result.diagnosis.name);
	show_head(view, event->result.diagnosis.verdict, headline(event->result.diagnosis.verdict),
		event->result.diagnosis.summary);
	show_diagnosis(view, &event->result.diagnosis);
	gtk_widget_set_visible(view->portal, event->result.diagnosis.cause == RPC_CAUSE_CAPTIVE_PORTAL);
}

static void ask(struct why_view *view)
{
	struct rpc_request request = { .method = RPC_METHOD_DIAGNOSE };

	if (view->asking)
		return;
	g_strlcpy(request.name, view->name, sizeof(request.name));
	view->asking = link_ask(view->app->feed->link, &request, on_diagnosed, view) == 0;
	gtk_widget_set_visible(view->portal, FALSE);
	if (view->asking)
		show_head(view, RPC_VERDICT_UNKNOWN, diagnosis_step(RPC_STEP_STARTING),
			_("This takes up to 10 seconds. Until then: what the service knows already."));
	else
		show_head(view, RPC_VERDICT_BAD, service_words(SERVICE_NOT_RUNNING).title, "");
	show_known(view);
}

void why_view_notice(struct why_view *view, const struct rpc_notice *notice)
{
	if (!view->asking || notice->kind != RPC_NOTICE_PROGRESS ||
		strcmp(notice->progress.name, view->name) != 0)
		return;
	ui_set_text(GTK_LABEL(view->summary), diagnosis_step(notice->progress.step));
}

void why_view_service(struct why_view *view)
{
	struct service_words words = service_words(view->app->feed->service);

	if (view->app->feed->service == SERVICE_READY) {
		ask(view);
		return;
	}
	show_head(view, RPC_VERDICT_BAD, words.title, words.text);
	clear_rows(view);
}

/* ---- the window ---- */

static void on_again(GtkButton *button, gpointer user)
{
	(void)button;
	ask(user);
}

static void why_view_free(gpointer user)
{
	struct why_view *view = user;

	/* What is under way ends by itself in the service. */
	if (view->app->feed)
		link_forget(view->app->feed->link, view);
	if (view->app->why == view)
		view->app->why = NULL;
	g_ptr_array_unref(view->rows);
	g_free(view);
}

static GtkWidget *head_new(struct why_view *view)
{
	GtkWidget *across = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12),
		  *texts = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);

	view->icon = icon_new();
	view->spinner = gtk_spinner_new();
	view->summary = ui_label("", "title-4");
	view->said = ui_label("", "dim-label");
	view->portal = ui_button(_("_Open the login page"), "win.portal");
	gtk_image_set_pixel_size(GTK_IMAGE(view->icon), 32);
	gtk_widget_set_size_request(view->spinner, 32, 32);
	gtk_widget_set_valign(view->icon, GTK_ALIGN_START);
	gtk_widget_set_valign(view->spinner, GTK_ALIGN_START);
	gtk_widget_add_css_class(view->portal, "suggested-action");
	gtk_widget_set_halign(view->portal, GTK_ALIGN_START);
	gtk_widget_set_hexpand(texts, TRUE);
	gtk_box_append(GTK_BOX(texts), view->summary);
	gtk_box_append(GTK_BOX(texts), view->said);
	gtk_box_append(GTK_BOX(texts), view->portal);
	gtk_box_append(GTK_BOX(across), view->icon);
	gtk_box_append(GTK_BOX(across), view->spinner);
	gtk_box_append(GTK_BOX(across), texts);
	return across;
}

void why_view_open(struct app *app, const struct model_tunnel *tunnel)
{
	GtkWidget *header, *page, *head_group;
	struct why_view *view;

	if (app->why && !strcmp(app->why->name, tunnel->name)) {
		gtk_window_present(GTK_WINDOW(app->why->window));
		ask(app->why);
		return;
	}
	if (app->why)
		gtk_window_destroy(GTK_WINDOW(app->why->window));
	view = g_new0(struct why_view, 1);
	view->app = app;
	view->rows = g_ptr_array_new();
	g_strlcpy(view->name, tunnel->name, sizeof(view->name));
	page = adw_preferences_page_new();
	head_group = adw_preferences_group_new();
	view->group = adw_preferences_group_new();
	adw_preferences_group_add(ADW_PREFERENCES_GROUP(head_group), head_new(view));
	adw_preferences_page_add(ADW_PREFERENCES_PAGE(page), ADW_PREFERENCES_GROUP(head_group));
	adw_preferences_page_add(ADW_PREFERENCES_PAGE(page), ADW_PREFERENCES_GROUP(view->group));
	view->again = ui_icon_button("view-refresh-symbolic", _("Look again"), NULL);
	view->window = ui_window(
		main_window_widget(app->window), _("Why does it not work?"), 560, 640, &header, page);
	/* The login page's action is the main window's. */
	gtk_widget_insert_action_group(view->window, "win", G_ACTION_GROUP(main_window_widget(app->window)));
	g_object_set_data_full(G_OBJECT(view->window), "why-view", view, why_view_free);
	g_signal_connect(view->again, "clicked", G_CALLBACK(on_again), view);
	adw_header_bar_pack_start(ADW_HEADER_BAR(header), view->again);
	app->why = view;
	ask(view);
	gtk_window_present(GTK_WINDOW(view->window));
}
