/* SPDX-License-Identifier: MIT */
#include "gui/window/ui.h"

#include "gui/model/translate.h"

guint64 ui_now(void)
{
	return (guint64)(g_get_real_time() / G_USEC_PER_SEC);
}

void ui_set_text(GtkLabel *label, const char *text)
{
	if (g_strcmp0(gtk_label_get_text(label), text) != 0)
		gtk_label_set_text(label, text);
}

void ui_name(GtkWidget *widget, const char *name)
{
	gtk_widget_set_tooltip_text(widget, name);
	gtk_accessible_update_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
}

void ui_describe(GtkWidget *widget, const char *name, const char *description)
{
	gtk_accessible_update_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_LABEL, name,
		GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, description, -1);
}

GtkWidget *ui_label(const char *text, const char *css_class)
{
	GtkWidget *label = gtk_label_new(text);

	gtk_label_set_xalign(GTK_LABEL(label), 0);
	gtk_label_set_wrap(GTK_LABEL(label), TRUE);
	gtk_label_set_wrap_mode(GTK_LABEL(label), PANGO_WRAP_WORD_CHAR);
	if (css_class)
		gtk_widget_add_css_class(label, css_class);
	return label;
}

GtkWidget *ui_icon_button(const char *icon, const char *name, const char *action)
{
	GtkWidget *button = gtk_button_new_from_icon_name(icon);

	ui_name(button, name);
	if (action)
		gtk_actionable_set_action_name(GTK_ACTIONABLE(button), action);
	return button;
}

GtkWidget *ui_button(const char *text, const char *action)
{
	GtkWidget *button = gtk_button_new_with_mnemonic(text);

	/* GTK 4.8 would read both the text with its underscore and the label. */
	gtk_accessible_reset_property(GTK_ACCESSIBLE(button), GTK_ACCESSIBLE_PROPERTY_LABEL);
	if (action)
		gtk_actionable_set_action_name(GTK_ACTIONABLE(button), action);
	return button;
}

/* ---- states ---- */

static const char *const shape_icons[] = { "wgtcp-off-symbolic", "wgtcp-busy-symbolic", "wgtcp-on-symbolic",
	"wgtcp-attention-symbolic" };
static const char *const shape_classes[] = { "dim-label", "accent", "success", "warning" };

GtkWidget *ui_state_icon(int pixel_size)
{
	GtkWidget *icon = g_object_new(GTK_TYPE_IMAGE, "accessible-role", GTK_ACCESSIBLE_ROLE_PRESENTATION, NULL);

	gtk_image_set_pixel_size(GTK_IMAGE(icon), pixel_size);
	gtk_widget_set_valign(icon, GTK_ALIGN_CENTER);
	return icon;
}

void ui_state_icon_set(GtkWidget *icon, enum rpc_state state)
{
	enum words_shape shape = words_shape(state);

	if (g_strcmp0(gtk_image_get_icon_name(GTK_IMAGE(icon)), shape_icons[shape]) == 0)
		return;
	gtk_image_set_from_icon_name(GTK_IMAGE(icon), shape_icons[shape]);
	for (size_t i = 0; i < G_N_ELEMENTS(shape_classes); i++)
		gtk_widget_remove_css_class(icon, shape_classes[i]);
	gtk_widget_add_css_class(icon, shape_classes[shape]);
}

/* ---- copying and telling ---- */

AdwToast *ui_toast_new(const char *text)
{
	/* A toast's title is markup, and a sentence of the daemon is not. */
	char *escaped = g_markup_escape_text(text, -1);
	AdwToast *toast = adw_toast_new(escaped);

	g_free(escaped);
	return toast;
}

void ui_toast(GtkWidget *near, const char *text)
{
	GtkWidget *overlay = gtk_widget_get_ancestor(near, ADW_TYPE_TOAST_OVERLAY);

	if (overlay)
		adw_toast_overlay_add_toast(ADW_TOAST_OVERLAY(overlay), ui_toast_new(text));
}

void ui_copy(GtkWidget *near, const char *text)
{
	gdk_clipboard_set_text(gtk_widget_get_clipboard(near), text);
	ui_toast(near, _("Copied"));
}

static void on_copy(GtkButton *button, gpointer user)
{
	ui_copy(GTK_WIDGET(button), gtk_label_get_text(GTK_LABEL(user)));
}

GtkWidget *ui_command(const char *command)
{
	GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
	GtkWidget *label = ui_label(command, "monospace");
	GtkWidget *button = ui_icon_button("edit-copy-symbolic", _("Copy the command"), NULL);

	gtk_label_set_selectable(GTK_LABEL(label), TRUE);
	gtk_widget_set_hexpand(label, TRUE);
	/* Commands are typed from left to right in every language. */
	gtk_widget_set_direction(box, GTK_TEXT_DIR_LTR);
	gtk_widget_set_direction(label, GTK_TEXT_DIR_LTR);
	gtk_widget_set_valign(button, GTK_ALIGN_CENTER);
	gtk_widget_add_css_class(button, "flat");
	gtk_widget_add_css_class(box, "card");
	gtk_widget_add_css_class(box, "command");
	gtk_box_append(GTK_BOX(box), label);
	gtk_box_append(GTK_BOX(box), button);
	g_signal_connect(button, "clicked", G_CALLBACK(on_copy), label);
	return box;
}

struct question {
	void (*answered)(gpointer user);
	gpointer user;
	GDestroyNotify forget;
};

static void on_response(AdwMessageDialog *dialog, const char *response, gpointer user)
{
	struct question *question = user;

	(void)dialog;
	if (!g_strcmp0(response, "yes"))
		question->answered(question->user);
	if (question->forget)
		question->forget(question->user);
	g_free(question);
}

void ui_ask(GtkWindow *parent, const char *heading, const char *body, const char *yes, const char *css,
	void (*answered)(gpointer user), gpointer user, GDestroyNotify forget)
{
	GtkWidget *dialog = adw_message_dialog_new(parent, heading, body);
	struct question *question = g_new(struct question, 1);

	*question = (struct question){ answered, user, forget };
	adw_message_dialog_add_responses(
		ADW_MESSAGE_DIALOG(dialog), "no", _("_Cancel"), "yes", yes, NULL);
	adw_message_dialog_set_response_appearance(ADW_MESSAGE_DIALOG(dialog), "yes",
		g_str_equal(css, "destructive-action") ? ADW_RESPONSE_DESTRUCTIVE : ADW_RESPONSE_SUGGESTED);
	adw_message_dialog_set_default_response(ADW_MESSAGE_DIALOG(dialog), "no");
	adw_message_dialog_set_close_response(ADW_MESSAGE_DIALOG(dialog), "no");
	g_signal_connect(dialog, "response", G_CALLBACK(on_response), question);
	gtk_window_present(GTK_WINDOW(dialog));
}

void ui_tell(GtkWindow *parent, const char *heading, const char *body)
{
	GtkWidget *dialog = adw_message_dialog_new(parent, heading, body);

	adw_message_dialog_add_response(ADW_MESSAGE_DIALOG(dialog), "close", _("_Close"));
	adw_message_dialog_set_default_response(ADW_MESSAGE_DIALOG(dialog), "close");
	adw_message_dialog_set_close_response(ADW_MESSAGE_DIALOG(dialog), "close");
	gtk_window_present(GTK_WINDOW(dialog));
}

/* ---- windows ---- */

void ui_close_on_escape(GtkWidget *window)
{
	GtkEventController *controller = gtk_shortcut_controller_new();

	gtk_shortcut_controller_add_shortcut(GTK_SHORTCUT_CONTROLLER(controller),
		gtk_shortcut_new(gtk_keyval_trigger_new(GDK_KEY_Escape, 0), gtk_named_action_new("window.close")));
	gtk_widget_add_controller(window, controller);
}

GtkWidget *ui_window(GtkWindow *parent, const char *title, int width, int height, GtkWidget **header, GtkWidget *body)
{
	GtkWidget *window = adw_window_new(), *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
	GtkWidget *toasts = adw_toast_overlay_new(), *bar = adw_header_bar_new();

	gtk_window_set_title(GTK_WINDOW(window), title);
	gtk_window_set_transient_for(GTK_WINDOW(window), parent);
	gtk_window_set_destroy_with_parent(GTK_WINDOW(window), TRUE);
	gtk_window_set_default_size(GTK_WINDOW(window), width, height);
	gtk_widget_set_size_request(window, 320, 200);
	gtk_widget_set_vexpand(body, TRUE);
	gtk_box_append(GTK_BOX(box), bar);
	gtk_box_append(GTK_BOX(box), body);
	adw_toast_overlay_set_child(ADW_TOAST_OVERLAY(toasts), box);
	adw_window_set_content(ADW_WINDOW(window), toasts);
	ui_close_on_escape(window);
	if (header)
		*header = bar;
	return window;
}

void ui_set_colour(cairo_t *cr, GtkWidget *widget, const char *name, double alpha)
{
	GtkStyleContext *context = gtk_widget_get_style_context(widget);
	GdkRGBA colour;

	if (!name || !gtk_style_context_lookup_color(context, name, &colour))
		gtk_style_context_get_color(context, &colour);
	colour.alpha *= (float)alpha;
	gdk_cairo_set_source_rgba(cr, &colour);
}
