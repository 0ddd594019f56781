/* SPDX-License-Identifier: MIT */
/* See auth_prompt.h: a small window with GTK 4. */
#include "client/nm/auth_prompt.h"

#include <gtk/gtk.h>

struct prompt {
	GMainLoop *loop;
	GtkWidget *entry;
	char *value;
};

static void accept(GtkWidget *widget, gpointer user)
{
	struct prompt *prompt = user;

	(void)widget;
	prompt->value = g_strdup(gtk_editable_get_text(GTK_EDITABLE(prompt->entry)));
	g_main_loop_quit(prompt->loop);
}

static void cancel(GtkWidget *widget, gpointer user)
{
	struct prompt *prompt = user;

	(void)widget;
	g_main_loop_quit(prompt->loop);
}

static gboolean closed(GtkWindow *window, gpointer user)
{
	struct prompt *prompt = user;

	(void)window;
	g_main_loop_quit(prompt->loop);
	return TRUE;
}

char *auth_prompt(const char *connection, const char *label)
{
	struct prompt prompt = { 0 };
	GtkWidget *window, *box, *buttons, *text, *button;
	char *title;

	if (!gtk_init_check())
		return NULL;
	title = g_strdup_printf("Connect %s", connection);
	prompt.loop = g_main_loop_new(NULL, FALSE);
	window = gtk_window_new();
	gtk_window_set_title(GTK_WINDOW(window), title);
	g_free(title);
	box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12);
	gtk_widget_set_margin_start(box, 18);
	gtk_widget_set_margin_end(box, 18);
	gtk_widget_set_margin_top(box, 18);
	gtk_widget_set_margin_bottom(box, 18);
	text = gtk_label_new(label);
	gtk_label_set_xalign(GTK_LABEL(text), 0);
	prompt.entry = gtk_password_entry_new();
	gtk_password_entry_set_show_peek_icon(GTK_PASSWORD_ENTRY(prompt.entry), TRUE);
	gtk_editable_set_width_chars(GTK_EDITABLE(prompt.entry), 46);
	g_signal_connect(prompt.entry, "activate", G_CALLBACK(accept), &prompt);
	buttons = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
	gtk_widget_set_halign(buttons, GTK_ALIGN_END);
	button = gtk_button_new_with_mnemonic("_Cancel");
	g_signal_connect(button, "clicked", G_CALLBACK(cancel), &prompt);
	gtk_box_append(GTK_BOX(buttons), button);
	button = gtk_button_new_with_mnemonic("Co_nnect");
	gtk_widget_add_css_class(button, "suggested-action");
	g_signal_connect(button, "clicked", G_CALLBACK(accept), &prompt);
	gtk_box_append(GTK_BOX(buttons), button);
	gtk_box_append(GTK_BOX(box), text);
	gtk_box_append(GTK_BOX(box), prompt.entry);
	gtk_box_append(GTK_BOX(box), buttons);
	gtk_window_set_child(GTK_WINDOW(window), box);
	g_signal_connect(window, "close-request", G_CALLBACK(closed), &prompt);
	gtk_window_present(GTK_WINDOW(window));
	g_main_loop_run(prompt.loop);
	gtk_window_destroy(GTK_WINDOW(window));
	g_main_loop_unref(prompt.loop);
	return prompt.value;
}
