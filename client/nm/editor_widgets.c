/* SPDX-License-Identifier: MIT */
/* See editor_widgets.h: every difference between the two toolkits that the editor meets. */
#include "client/nm/editor_widgets.h"

#define MARGIN 12

static void set_margins(GtkWidget *widget, int margin)
{
	gtk_widget_set_margin_start(widget, margin);
	gtk_widget_set_margin_end(widget, margin);
	gtk_widget_set_margin_top(widget, margin);
	gtk_widget_set_margin_bottom(widget, margin);
}

GtkWidget *widgets_column(int spacing)
{
	return gtk_box_new(GTK_ORIENTATION_VERTICAL, spacing);
}

GtkWidget *widgets_grid(void)
{
	GtkWidget *grid = gtk_grid_new();

	gtk_grid_set_row_spacing(GTK_GRID(grid), 6);
	gtk_grid_set_column_spacing(GTK_GRID(grid), 12);
	return grid;
}

void widgets_add(GtkWidget *box, GtkWidget *child)
{
#if GTK_MAJOR_VERSION >= 4
	gtk_box_append(GTK_BOX(box), child);
#else
	gtk_box_pack_start(GTK_BOX(box), child, FALSE, FALSE, 0);
#endif
}

void widgets_remove(GtkWidget *box, GtkWidget *child)
{
#if GTK_MAJOR_VERSION >= 4
	gtk_box_remove(GTK_BOX(box), child);
#else
	gtk_container_remove(GTK_CONTAINER(box), child);
#endif
}

GtkWidget *widgets_group(const char *title, GtkWidget *child)
{
	GtkWidget *column = widgets_column(6), *label = gtk_label_new(NULL);
	char *markup = g_markup_printf_escaped("<b>%s</b>", title);

	gtk_label_set_markup(GTK_LABEL(label), markup);
	gtk_label_set_xalign(GTK_LABEL(label), 0);
	g_free(markup);
	gtk_widget_set_margin_start(child, MARGIN);
	widgets_add(column, label);
	widgets_add(column, child);
	return column;
}

GtkWidget *widgets_expander(const char *title, GtkWidget *child)
{
	GtkWidget *expander = gtk_expander_new(title);

	gtk_widget_set_margin_start(child, MARGIN);
	gtk_widget_set_margin_top(child, 6);
#if GTK_MAJOR_VERSION >= 4
	gtk_expander_set_child(GTK_EXPANDER(expander), child);
#else
	gtk_container_add(GTK_CONTAINER(expander), child);
#endif
	return expander;
}

GtkWidget *widgets_scrolled(GtkWidget *child)
{
#if GTK_MAJOR_VERSION >= 4
	GtkWidget *scrolled = gtk_scrolled_window_new();
#else
	GtkWidget *scrolled = gtk_scrolled_window_new(NULL, NULL);
#endif

	set_margins(child, MARGIN);
	gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scrolled), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
	gtk_scrolled_window_set_propagate_natural_width(GTK_SCROLLED_WINDOW(scrolled), TRUE);
	gtk_scrolled_window_set_min_content_height(GTK_SCROLLED_WINDOW(scrolled), 420);
#if GTK_MAJOR_VERSION >= 4
	gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scrolled), child);
#else
	gtk_container_add(GTK_CONTAINER(scrolled), child);
#endif
	gtk_widget_set_hexpand(scrolled, TRUE);
	gtk_widget_set_vexpand(scrolled, TRUE);
	return scrolled;
}

/* The eye in a secret's entry. */
static void toggle_secret(GtkEntry *entry, GtkEntryIconPosition position, gpointer user)
{
	gboolean visible = !gtk_entry_get_visibility(entry);

	(void)position;
	(void)user;
	gtk_entry_set_visibility(entry, visible);
	gtk_entry_set_icon_from_icon_name(
		entry, GTK_ENTRY_ICON_SECONDARY, visible ? "view-conceal-symbolic" : "view-reveal-symbolic");
}

static void on_icon(GtkEntry *entry, GtkEntryIconPosition position, GdkEvent *event, gpointer user)
{
	(void)event;
	toggle_secret(entry, position, user);
}

GtkWidget *widgets_entry(const char *text, const char *example, gboolean secret)
{
	GtkWidget *entry = gtk_entry_new();

	gtk_widget_set_hexpand(entry, TRUE);
	gtk_entry_set_placeholder_text(GTK_ENTRY(entry), example);
#if GTK_MAJOR_VERSION >= 4
	gtk_editable_set_width_chars(GTK_EDITABLE(entry), 46);
	gtk_editable_set_text(GTK_EDITABLE(entry), text);
#else
	gtk_entry_set_width_chars(GTK_ENTRY(entry), 46);
	gtk_entry_set_text(GTK_ENTRY(entry), text);
#endif
	if (!secret)
		return entry;
	gtk_entry_set_visibility(GTK_ENTRY(entry), FALSE);
	gtk_entry_set_input_purpose(GTK_ENTRY(entry), GTK_INPUT_PURPOSE_PASSWORD);
	gtk_entry_set_icon_from_icon_name(GTK_ENTRY(entry), GTK_ENTRY_ICON_SECONDARY, "view-reveal-symbolic");
	gtk_entry_set_icon_tooltip_text(GTK_ENTRY(entry), GTK_ENTRY_ICON_SECONDARY, "Show or hide the key");
#if GTK_MAJOR_VERSION >= 4
	(void)on_icon;
	g_signal_connect(entry, "icon-press", G_CALLBACK(toggle_secret), NULL);
#else
	g_signal_connect(entry, "icon-press", G_CALLBACK(on_icon), NULL);
#endif
	return entry;
}

const char *widgets_entry_text(GtkWidget *entry)
{
#if GTK_MAJOR_VERSION >= 4
	return gtk_editable_get_text(GTK_EDITABLE(entry));
#else
	return gtk_entry_get_text(GTK_ENTRY(entry));
#endif
}

void widgets_error(GtkWidget *entry, gboolean wrong)
{
#if GTK_MAJOR_VERSION >= 4
	if (wrong)
		gtk_widget_add_css_class(entry, "error");
	else
		gtk_widget_remove_css_class(entry, "error");
#else
	GtkStyleContext *context = gtk_widget_get_style_context(entry);

	if (wrong)
		gtk_style_context_add_class(context, GTK_STYLE_CLASS_ERROR);
	else
		gtk_style_context_remove_class(context, GTK_STYLE_CLASS_ERROR);
#endif
}

GtkWidget *widgets_choice(const char *const *ids, const char *const *texts, const char *active)
{
	GtkWidget *choice = gtk_combo_box_text_new();

	for (size_t i = 0; ids[i]; i++)
		gtk_combo_box_text_append(GTK_COMBO_BOX_TEXT(choice), ids[i], texts[i]);
	if (!active || !gtk_combo_box_set_active_id(GTK_COMBO_BOX(choice), active))
		gtk_combo_box_set_active(GTK_COMBO_BOX(choice), 0);
	return choice;
}

void widgets_label(GtkWidget *label, GtkWidget *widget)
{
	gtk_label_set_xalign(GTK_LABEL(label), 0);
	gtk_label_set_mnemonic_widget(GTK_LABEL(label), widget);
#if GTK_MAJOR_VERSION < 4
	/* GTK 4 takes it from the label by itself. */
	atk_object_set_name(gtk_widget_get_accessible(widget), gtk_label_get_text(GTK_LABEL(label)));
#endif
}

GtkWidget *widgets_button(const char *text)
{
	GtkWidget *button = gtk_button_new_with_mnemonic(text);

	gtk_widget_set_halign(button, GTK_ALIGN_START);
	return button;
}

void widgets_show(GtkWidget *widget)
{
#if GTK_MAJOR_VERSION >= 4
	gtk_widget_set_visible(widget, TRUE);
#else
	gtk_widget_show_all(widget);
#endif
}
