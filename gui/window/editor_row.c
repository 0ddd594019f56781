/* SPDX-License-Identifier: MIT */
#include "gui/window/editor_row.h"

#include "core/base/wipe.h"
#include "gui/model/translate.h"
#include "gui/window/ui.h"

struct editor_row {
	struct form *form;
	size_t peer;
	const struct form_field *field;
	void (*changed)(void *user);
	void *user;
	GtkWidget *control, *problem_row, *problem;
	char *stored; /* never a key: for those "" */
	bool is_good, is_too_long;
};

/* What a choice that is not in the profile reads as, and "off". */
static const char *default_of(const struct form_field *field)
{
	switch (field->kind) {
	case FORM_TEXT:
	case FORM_SECRET:
		return "";
	case FORM_CHOICE:
		return field->values[0];
	case FORM_SWITCH:
		return "off";
	}
	return "";
}

char *editor_row_value(const struct editor_row *row)
{
	switch (row->field->kind) {
	case FORM_TEXT:
	case FORM_SECRET:
		return g_strstrip(g_strdup(gtk_editable_get_text(GTK_EDITABLE(row->control))));
	case FORM_CHOICE:
		return g_strdup(row->field->values[adw_combo_row_get_selected(ADW_COMBO_ROW(row->control))]);
	case FORM_SWITCH:
		return g_strdup(gtk_switch_get_active(GTK_SWITCH(row->control)) ? "on" : "off");
	}
	return g_strdup("");
}

bool editor_row_is_changed(const struct editor_row *row)
{
	char *value = editor_row_value(row);
	bool is_changed = strcmp(value, row->stored) != 0;

	memory_wipe(value, strlen(value));
	g_free(value);
	return is_changed;
}

bool editor_row_is_good(const struct editor_row *row)
{
	return row->is_good;
}

const char *editor_row_key(const struct editor_row *row)
{
	return row->field->key;
}

size_t editor_row_peer(const struct editor_row *row)
{
	return row->peer;
}

void editor_row_saved(struct editor_row *row)
{
	g_free(row->stored);
	row->stored = row->field->kind == FORM_SECRET ? g_strdup("") : editor_row_value(row);
	if (row->field->kind == FORM_SECRET)
		gtk_editable_set_text(GTK_EDITABLE(row->control), "");
}

static void show_problem(struct editor_row *row, const char *sentence)
{
	row->is_good = !sentence;
	ui_set_text(GTK_LABEL(row->problem), sentence ? sentence : "");
	ui_describe(row->problem_row, sentence ? sentence : "", "");
	gtk_widget_set_visible(row->problem_row, sentence != NULL);
	if (sentence)
		gtk_widget_add_css_class(row->control, "error");
	else
		gtk_widget_remove_css_class(row->control, "error");
	gtk_accessible_update_state(GTK_ACCESSIBLE(row->control), GTK_ACCESSIBLE_STATE_INVALID,
		sentence ? GTK_ACCESSIBLE_INVALID_TRUE : GTK_ACCESSIBLE_INVALID_FALSE, -1);
}

static void check(struct editor_row *row)
{
	char *value = editor_row_value(row);
	struct profile_error error;
	/* A key that is left empty stays as it is. */
	const char *checked = row->field->kind == FORM_SECRET && !value[0] ? PROFILE_HIDDEN : value;

	if (form_set(row->form, row->peer, row->field->key, checked, &error))
		show_problem(row, NULL);
	else
		show_problem(row, error.sentence);
	memory_wipe(value, strlen(value));
	g_free(value);
	row->changed(row->user);
}

static void on_changed(GtkEditable *editable, gpointer user)
{
	(void)editable;
	check(user);
}

static void on_property(GObject *object, GParamSpec *property, gpointer user)
{
	(void)object;
	(void)property;
	check(user);
}

/* ---- the kinds of row ---- */

static GtkWidget *text_new(struct editor_row *row, const char *title)
{
	bool is_secret = row->field->kind == FORM_SECRET;
	GtkWidget *entry = is_secret ? adw_password_entry_row_new() : adw_entry_row_new();
	char *full = is_secret ? g_strdup_printf(_("%s (stays as it is unless you type one)"), title) : g_strdup(title);

	adw_preferences_row_set_title(ADW_PREFERENCES_ROW(entry), full);
	g_free(full);
	row->control = entry;
	if (!is_secret)
		gtk_editable_set_text(GTK_EDITABLE(entry), row->stored);
	if (row->is_too_long)
		gtk_editable_set_editable(GTK_EDITABLE(entry), FALSE);
	g_signal_connect(entry, "changed", G_CALLBACK(on_changed), row);
	return entry;
}

static GtkWidget *choice_new(struct editor_row *row, const char *title)
{
	GtkWidget *combo = adw_combo_row_new();
	GtkStringList *labels = gtk_string_list_new(NULL);

	for (guint i = 0; row->field->labels[i]; i++)
		gtk_string_list_append(labels, _(row->field->labels[i]));
	adw_preferences_row_set_title(ADW_PREFERENCES_ROW(combo), title);
	adw_combo_row_set_model(ADW_COMBO_ROW(combo), G_LIST_MODEL(labels));
	g_object_unref(labels);
	for (guint i = 0; row->field->values[i]; i++) {
		if (!g_ascii_strcasecmp(row->field->values[i], row->stored))
			adw_combo_row_set_selected(ADW_COMBO_ROW(combo), i);
	}
	row->control = combo;
	g_signal_connect(combo, "notify::selected", G_CALLBACK(on_property), row);
	return combo;
}

static GtkWidget *switch_new(struct editor_row *row, const char *title)
{
	GtkWidget *line = adw_action_row_new();

	row->control = gtk_switch_new();
	gtk_widget_set_valign(row->control, GTK_ALIGN_CENTER);
	gtk_switch_set_active(GTK_SWITCH(row->control), !g_ascii_strcasecmp(row->stored, "on"));
	adw_preferences_row_set_title(ADW_PREFERENCES_ROW(line), title);
	adw_action_row_add_suffix(ADW_ACTION_ROW(line), row->control);
	adw_action_row_set_activatable_widget(ADW_ACTION_ROW(line), row->control);
	g_signal_connect(row->control, "notify::active", G_CALLBACK(on_property), row);
	return line;
}

static void row_free(gpointer data)
{
	struct editor_row *row = data;

	g_free(row->stored);
	g_free(row);
}

struct editor_row *editor_row_new(AdwPreferencesGroup *group, struct form *form, size_t peer,
	const struct form_field *field, void (*changed)(void *user), void *user)
{
	struct editor_row *row = g_new0(struct editor_row, 1);
	char value[FORM_VALUE_MAX];
	GtkWidget *line = NULL;

	row->form = form;
	row->peer = peer;
	row->field = field;
	row->changed = changed;
	row->user = user;
	row->is_good = true;
	row->is_too_long = !form_value(form, peer, field->key, value);
	if (row->is_too_long)
		g_strlcpy(value, _("(too long to be edited here)"), sizeof(value));
	row->stored = g_strdup(field->kind == FORM_SECRET ? "" : value[0] ? value : default_of(field));
	switch (field->kind) {
	case FORM_TEXT:
	case FORM_SECRET:
		line = text_new(row, _(field->title));
		break;
	case FORM_CHOICE:
		line = choice_new(row, _(field->title));
		break;
	case FORM_SWITCH:
		line = switch_new(row, _(field->title));
		break;
	}
	row->problem = ui_label("", "error");
	gtk_widget_add_css_class(row->problem, "caption");
	gtk_widget_add_css_class(row->problem, "problem");
	row->problem_row = adw_preferences_row_new();
	gtk_list_box_row_set_activatable(GTK_LIST_BOX_ROW(row->problem_row), FALSE);
	gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row->problem_row), row->problem);
	gtk_widget_set_visible(row->problem_row, FALSE);
	adw_preferences_group_add(group, line);
	adw_preferences_group_add(group, row->problem_row);
	g_object_set_data_full(G_OBJECT(line), "editor-row", row, row_free);
	return row;
}
