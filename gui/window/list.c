/* SPDX-License-Identifier: MIT */
#include "gui/window/list.h"

#include "gui/model/translate.h"
#include "gui/window/graph_view.h"
#include "gui/window/ui.h"

struct row {
	struct list *list;
	char name[RPC_NAME_LEN];
	size_t place;
	GtkWidget *row, *icon, *title, *state, *spark, *toggle;
	bool setting; /* the switch is moved by us */
};

struct list {
	struct list_events events;
	void *user;
	GtkWidget *box;
	GPtrArray *rows; /* borrowed: each is owned by its widget */
};

static struct row *row_of(GtkListBoxRow *widget)
{
	return widget ? g_object_get_data(G_OBJECT(widget), "row") : NULL;
}

static struct row *find(const struct list *list, const char *name)
{
	for (guint i = 0; i < list->rows->len; i++) {
		struct row *row = g_ptr_array_index(list->rows, i);

		if (!strcmp(row->name, name))
			return row;
	}
	return NULL;
}

/* The switch shows the wish at once and the state when it has come true. */
static gboolean on_switch(GtkSwitch *toggle, gboolean on, gpointer user)
{
	struct row *row = user;

	(void)toggle;
	if (!row->setting)
		row->list->events.turned(row->name, on, row->list->user);
	return TRUE;
}

static struct row *row_new(struct list *list, const char *name)
{
	GtkWidget *across = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);
	GtkWidget *texts = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
	struct row *row = g_new0(struct row, 1);

	row->list = list;
	g_strlcpy(row->name, name, sizeof(row->name));
	row->row = gtk_list_box_row_new();
	row->icon = ui_state_icon(20);
	row->title = ui_label("", "heading");
	row->state = ui_label("", "caption");
	row->spark = graph_view_new(GRAPH_VIEW_SPARK);
	row->toggle = gtk_switch_new();
	gtk_label_set_wrap(GTK_LABEL(row->title), FALSE);
	gtk_label_set_ellipsize(GTK_LABEL(row->title), PANGO_ELLIPSIZE_END);
	gtk_label_set_wrap(GTK_LABEL(row->state), FALSE);
	gtk_label_set_ellipsize(GTK_LABEL(row->state), PANGO_ELLIPSIZE_END);
	gtk_widget_add_css_class(row->state, "dim-label");
	gtk_widget_set_valign(row->toggle, GTK_ALIGN_CENTER);
	gtk_widget_set_hexpand(texts, TRUE);
	gtk_widget_set_valign(texts, GTK_ALIGN_CENTER);
	gtk_widget_add_css_class(across, "tunnel-row");
	gtk_box_append(GTK_BOX(texts), row->title);
	gtk_box_append(GTK_BOX(texts), row->state);
	gtk_box_append(GTK_BOX(across), row->icon);
	gtk_box_append(GTK_BOX(across), texts);
	gtk_box_append(GTK_BOX(across), row->spark);
	gtk_box_append(GTK_BOX(across), row->toggle);
	gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row->row), across);
	g_object_set_data_full(G_OBJECT(row->row), "row", row, g_free);
	g_signal_connect(row->toggle, "state-set", G_CALLBACK(on_switch), row);
	return row;
}

static void update(struct row *row, const struct feed *feed, const struct model_tunnel *tunnel)
{
	bool passes = words_passes(tunnel->status.state);
	bool on = tunnel->is_asking ? tunnel->wants_on : words_is_on(tunnel->status.state);
	char state[WORDS_LEN], name[RPC_NAME_LEN + 64];

	if (tunnel->profile_error[0])
		g_strlcpy(state, _("The profile is wrong"), sizeof(state));
	else
		words_state(&tunnel->status, tunnel->has_step ? &tunnel->step : NULL, state, sizeof(state));
	ui_state_icon_set(row->icon, tunnel->profile_error[0] ? RPC_STATE_FAILED : tunnel->status.state);
	ui_set_text(GTK_LABEL(row->title), tunnel->shown);
	ui_set_text(GTK_LABEL(row->state), state);
	gtk_widget_set_visible(row->spark, passes && tunnel->history.count > 1);
	if (passes)
		graph_view_show(row->spark, &tunnel->history);
	row->setting = true;
	/* In this order: the state takes the knob with it, which stays on while a lost tunnel is wanted. */
	gtk_switch_set_state(GTK_SWITCH(row->toggle), passes);
	gtk_switch_set_active(GTK_SWITCH(row->toggle), on);
	row->setting = false;
	/* What runs can be switched off even when its profile went bad. */
	gtk_widget_set_sensitive(row->toggle, feed_may_change(feed) && (!tunnel->profile_error[0] || on));
	g_snprintf(name, sizeof(name), _("Connect %s"), tunnel->shown);
	ui_describe(row->toggle, name, state);
	g_snprintf(name, sizeof(name), "%s, %s", tunnel->shown, state);
	ui_describe(row->row, name, "");
}

/* ---- the list ---- */

static int compare(GtkListBoxRow *a, GtkListBoxRow *b, gpointer user)
{
	size_t one = row_of(a)->place, two = row_of(b)->place;

	(void)user;
	return one < two ? -1 : one > two;
}

static void on_selected(GtkListBox *box, GtkListBoxRow *widget, gpointer user)
{
	struct list *list = user;
	struct row *row = row_of(widget);

	(void)box;
	list->events.selected(row ? row->name : "", list->user);
}

static void on_activated(GtkListBox *box, GtkListBoxRow *widget, gpointer user)
{
	struct list *list = user;

	(void)box;
	list->events.activated(row_of(widget)->name, list->user);
}

static void list_free(gpointer user)
{
	struct list *list = user;

	g_ptr_array_unref(list->rows);
	g_free(list);
}

struct list *list_new(const struct list_events *events, void *user)
{
	struct list *list = g_new0(struct list, 1);

	list->events = *events;
	list->user = user;
	list->rows = g_ptr_array_new();
	list->box = gtk_list_box_new();
	gtk_list_box_set_selection_mode(GTK_LIST_BOX(list->box), GTK_SELECTION_BROWSE);
	gtk_list_box_set_sort_func(GTK_LIST_BOX(list->box), compare, NULL, NULL);
	gtk_widget_add_css_class(list->box, "navigation-sidebar");
	ui_describe(list->box, _("Tunnels"), "");
	g_signal_connect(list->box, "row-selected", G_CALLBACK(on_selected), list);
	g_signal_connect(list->box, "row-activated", G_CALLBACK(on_activated), list);
	g_object_set_data_full(G_OBJECT(list->box), "list", list, list_free);
	return list;
}

GtkWidget *list_widget(struct list *list)
{
	return list->box;
}

void list_sync(struct list *list, const struct feed *feed, bool (*is_hidden)(const char *name, void *user))
{
	const struct status_model *model = &feed->model;

	for (guint i = list->rows->len; i-- > 0;) {
		struct row *row = g_ptr_array_index(list->rows, i);

		if (status_model_find(model, row->name) && !is_hidden(row->name, list->user))
			continue;
		g_ptr_array_remove_index(list->rows, i);
		gtk_list_box_remove(GTK_LIST_BOX(list->box), row->row);
	}
	for (size_t i = 0; i < model->count; i++) {
		const struct model_tunnel *tunnel = model->tunnels[i];
		struct row *row = find(list, tunnel->name);

		if (is_hidden(tunnel->name, list->user))
			continue;
		if (row) {
			row->place = i;
		} else {
			row = row_new(list, tunnel->name);
			row->place = i;
			g_ptr_array_add(list->rows, row);
			gtk_list_box_append(GTK_LIST_BOX(list->box), row->row);
		}
		update(row, feed, tunnel);
	}
	gtk_list_box_invalidate_sort(GTK_LIST_BOX(list->box));
	if (list->rows->len && !gtk_list_box_get_selected_row(GTK_LIST_BOX(list->box)))
		gtk_list_box_select_row(GTK_LIST_BOX(list->box),
			gtk_list_box_get_row_at_index(GTK_LIST_BOX(list->box), 0));
}

void list_update(struct list *list, const struct feed *feed, const struct model_tunnel *tunnel)
{
	struct row *row = find(list, tunnel->name);

	if (row)
		update(row, feed, tunnel);
}

void list_select(struct list *list, const char *name)
{
	struct row *row = find(list, name);

	gtk_list_box_select_row(GTK_LIST_BOX(list->box), row ? GTK_LIST_BOX_ROW(row->row) : NULL);
}

const char *list_selected(const struct list *list)
{
	struct row *row = row_of(gtk_list_box_get_selected_row(GTK_LIST_BOX(list->box)));

	return row ? row->name : "";
}

size_t list_count(const struct list *list)
{
	return list->rows->len;
}
