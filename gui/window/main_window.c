/* SPDX-License-Identifier: MIT */
#include "gui/window/main_window.h"

#include "gui/model/translate.h"
#include "gui/window/actions.h"
#include "gui/window/detail.h"
#include "gui/window/frames.h"
#include "gui/window/import.h"
#include "gui/window/list.h"
#include "gui/window/lockdown_bar.h"
#include "gui/window/place.h"
#include "gui/window/removal.h"
#include "gui/window/ui.h"

#define LOCKDOWN_S 3

struct main_window {
	struct app *app;
	GtkWidget *window, *toasts, *stack, *leaflet, *list_page, *detail_page, *place_page, *title,
		*read_only;
	struct place *place;
	struct lockdown_bar *lockdown;
	struct list *list;
	struct detail *detail;
	GHashTable *choices;       /* name -> transport + 1: chosen here for the next connect */
	char wished[RPC_NAME_LEN]; /* to be shown as soon as it is there */
	guint second;              /* source */
	unsigned seconds;
	bool syncing;
};

GtkWindow *main_window_widget(const struct main_window *window)
{
	return GTK_WINDOW(window->window);
}

struct model_tunnel *main_window_tunnel(const struct main_window *window)
{
	const char *name = list_selected(window->list);

	return name[0] ? status_model_find(&window->app->feed->model, name) : NULL;
}

/* ---- what is chosen ---- */

static enum transport wanted_transport(const struct main_window *window, const struct model_tunnel *tunnel)
{
	gpointer chosen = g_hash_table_lookup(window->choices, tunnel->name);

	if (words_is_on(tunnel->status.state))
		return tunnel->status.transport;
	return chosen ? (enum transport)(GPOINTER_TO_INT(chosen) - 1) : tunnel->profile_transport;
}

static void show_detail(struct main_window *window)
{
	const struct model_tunnel *tunnel = main_window_tunnel(window);

	if (!tunnel)
		return;
	adw_window_title_set_title(ADW_WINDOW_TITLE(window->title), tunnel->shown);
	detail_show(window->detail, window->app->feed, tunnel, wanted_transport(window, tunnel));
}

static void turn(struct main_window *window, struct model_tunnel *tunnel, bool on)
{
	gpointer chosen = g_hash_table_lookup(window->choices, tunnel->name);
	enum transport transport = wanted_transport(window, tunnel);

	feed_turn(window->app->feed, tunnel, on, chosen ? &transport : NULL);
}

static void on_turned(const char *name, bool on, void *user)
{
	struct main_window *window = user;
	struct model_tunnel *tunnel = status_model_find(&window->app->feed->model, name);

	if (tunnel)
		turn(window, tunnel, on);
}

void main_window_turn(struct main_window *window)
{
	struct model_tunnel *tunnel = main_window_tunnel(window);

	if (tunnel && (words_is_on(tunnel->status.state) || !tunnel->profile_error[0]))
		turn(window, tunnel,
			tunnel->is_asking ? !tunnel->wants_on : !words_is_on(tunnel->status.state));
}

static void on_detail_turned(bool on, void *user)
{
	struct main_window *window = user;
	struct model_tunnel *tunnel = main_window_tunnel(window);

	if (tunnel)
		turn(window, tunnel, on);
}

static void on_carrier_chosen(enum transport transport, void *user)
{
	struct main_window *window = user;
	struct model_tunnel *tunnel = main_window_tunnel(window);

	if (!tunnel)
		return;
	g_hash_table_insert(window->choices, g_strdup(tunnel->name), GINT_TO_POINTER((int)transport + 1));
	if (words_is_on(tunnel->status.state))
		feed_switch(window->app->feed, tunnel, transport);
	else
		show_detail(window);
}

static void on_selected(const char *name, void *user)
{
	struct main_window *window = user;

	if (window->syncing)
		return;
	if (name[0])
		g_strlcpy(window->app->settings.last, name, sizeof(window->app->settings.last));
	show_detail(window);
	actions_update(window->app, GTK_APPLICATION_WINDOW(window->window));
}

static void on_activated(const char *name, void *user)
{
	struct main_window *window = user;

	(void)name;
	adw_leaflet_navigate(ADW_LEAFLET(window->leaflet), ADW_NAVIGATION_DIRECTION_FORWARD);
}

void main_window_show_tunnel(struct main_window *window, const char *name)
{
	g_strlcpy(window->wished, name, sizeof(window->wished));
	main_window_sync(window);
}

/* ---- what the feed says ---- */

static bool is_hidden(const char *name, void *user)
{
	struct main_window *window = user;

	return removal_hides(window->app->removal, name);
}

void main_window_sync(struct main_window *window)
{
	const struct feed *feed = window->app->feed;
	bool ready = feed->service == SERVICE_READY && feed->model.has_list && feed->model.has_info;
	bool shows_tunnels;

	window->syncing = true;
	list_sync(window->list, feed, is_hidden);
	if (ready && window->wished[0] && status_model_find(&feed->model, window->wished)) {
		list_select(window->list, window->wished);
		window->wished[0] = '\0';
		adw_leaflet_navigate(ADW_LEAFLET(window->leaflet), ADW_NAVIGATION_DIRECTION_FORWARD);
	}
	window->syncing = false;
	on_selected(list_selected(window->list), window);
	gtk_widget_set_visible(window->read_only, ready && !feed_may_change(feed));
	lockdown_bar_show(window->lockdown);
	shows_tunnels = ready && list_count(window->list);
	if (!shows_tunnels)
		place_show(window->place, feed);
	/* A page of a stack that is not in view would still be read out. */
	gtk_widget_set_visible(window->leaflet, shows_tunnels);
	gtk_widget_set_visible(window->place_page, !shows_tunnels);
	gtk_stack_set_visible_child(
		GTK_STACK(window->stack), shows_tunnels ? window->leaflet : window->place_page);
}

void main_window_service(struct main_window *window)
{
	/* The same tunnel is in view again when the service is back. */
	if (window->app->feed->service != SERVICE_READY && !window->wished[0] && list_count(window->list) &&
		!adw_leaflet_get_folded(ADW_LEAFLET(window->leaflet)))
		g_strlcpy(window->wished, list_selected(window->list), sizeof(window->wished));
	main_window_sync(window);
}

void main_window_changed(struct main_window *window, const struct model_change *change)
{
	const struct feed *feed = window->app->feed;
	const struct model_tunnel *chosen = main_window_tunnel(window);

	if (change->what & MODEL_CHANGED_LOCKDOWN)
		lockdown_bar_show(window->lockdown);
	if (change->what & (MODEL_CHANGED_SET | MODEL_CHANGED_INFO) ||
		(change->what & MODEL_CHANGED_STATE && !change->tunnel)) {
		main_window_sync(window);
		return;
	}
	if (!change->tunnel)
		return;
	list_update(window->list, feed, change->tunnel);
	if (change->tunnel != chosen)
		return;
	if (change->what & MODEL_CHANGED_STATE) {
		show_detail(window);
		actions_update(window->app, GTK_APPLICATION_WINDOW(window->window));
	} else {
		detail_tick(window->detail, chosen);
	}
}

void main_window_trouble(struct main_window *window, const struct model_tunnel *tunnel, const char *sentence)
{
	/* The chosen one has it on its page. */
	if (tunnel && tunnel == main_window_tunnel(window) && tunnel->trouble[0])
		return;
	if (tunnel) {
		char *text = g_strdup_printf("%s: %s", tunnel->shown, sentence);
		AdwToast *toast = ui_toast_new(text);

		/* A toast has one line; the page has room for the sentence. */
		adw_toast_set_button_label(toast, _("_Show"));
		adw_toast_set_action_name(toast, "app.show");
		adw_toast_set_action_target_value(toast, g_variant_new_string(tunnel->name));
		main_window_toast(window, toast);
		g_free(text);
		return;
	}
	ui_toast(window->stack, sentence);
}

void main_window_toast(struct main_window *window, AdwToast *toast)
{
	adw_toast_overlay_add_toast(ADW_TOAST_OVERLAY(window->toasts), toast);
}

/* ---- how it is made ---- */

static void on_read_only(GtkButton *button, gpointer user)
{
	char *command = place_group_command();
	char *text = g_strdup_printf(
		_("You are not in the group wgtcp. An administrator adds you with\n\n%s\n\nand it holds "
		  "from your next login on."),
		command);

	(void)button;
	ui_tell(main_window_widget(user), _("You may look, but not change anything"), text);
	g_free(text);
	g_free(command);
}

static GtkWidget *menu_button(const char *icon, const char *name, GMenuModel *menu)
{
	GtkWidget *button = gtk_menu_button_new();

	gtk_menu_button_set_icon_name(GTK_MENU_BUTTON(button), icon);
	gtk_menu_button_set_menu_model(GTK_MENU_BUTTON(button), menu);
	ui_name(button, name);
	g_object_unref(menu);
	return button;
}

static GtkWidget *page_new(GtkWidget *header, GtkWidget *body)
{
	GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);

	gtk_box_append(GTK_BOX(box), header);
	gtk_box_append(GTK_BOX(box), body);
	return box;
}

static GtkWidget *list_page_new(struct main_window *window)
{
	static const struct list_events events = { on_selected, on_activated, on_turned };
	GtkWidget *header = adw_header_bar_new(), *scroller = gtk_scrolled_window_new();
	GtkWidget *menu = menu_button("open-menu-symbolic", _("Main menu"), actions_main_menu());
	GtkWidget *page;

	window->list = list_new(&events, window);
	gtk_menu_button_set_primary(GTK_MENU_BUTTON(menu), TRUE);
	adw_header_bar_pack_start(ADW_HEADER_BAR(header),
		ui_icon_button("list-add-symbolic", _("Import tunnels"), "win.import"));
	adw_header_bar_pack_end(ADW_HEADER_BAR(header), menu);
	window->read_only = gtk_button_new_with_label(_("You may look, but not change anything"));
	gtk_label_set_wrap(GTK_LABEL(gtk_button_get_child(GTK_BUTTON(window->read_only))), TRUE);
	gtk_widget_add_css_class(window->read_only, "flat");
	gtk_widget_add_css_class(window->read_only, "read-only");
	g_signal_connect(window->read_only, "clicked", G_CALLBACK(on_read_only), window);
	gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroller), list_widget(window->list));
	gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroller), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
	gtk_widget_set_vexpand(scroller, TRUE);
	page = page_new(header, window->read_only);
	gtk_box_append(GTK_BOX(page), scroller);
	gtk_widget_set_size_request(page, 330, -1);
	g_object_bind_property(
		window->leaflet, "folded", header, "show-end-title-buttons", G_BINDING_SYNC_CREATE);
	return page;
}

static void on_back(GtkButton *button, gpointer user)
{
	struct main_window *window = user;

	(void)button;
	adw_leaflet_navigate(ADW_LEAFLET(window->leaflet), ADW_NAVIGATION_DIRECTION_BACK);
}

static GtkWidget *detail_page_new(struct main_window *window)
{
	static const struct detail_events events = { on_detail_turned, on_carrier_chosen };
	GtkWidget *header = adw_header_bar_new(), *page;
	GtkWidget *back = ui_icon_button("go-previous-symbolic", _("Back to the list"), NULL);

	window->detail = detail_new(&events, window);
	window->title = adw_window_title_new("", "");
	adw_header_bar_set_title_widget(ADW_HEADER_BAR(header), window->title);
	adw_header_bar_pack_start(ADW_HEADER_BAR(header), back);
	adw_header_bar_pack_end(ADW_HEADER_BAR(header),
		menu_button("view-more-symbolic", _("Menu of this tunnel"), actions_tunnel_menu()));
	g_signal_connect(back, "clicked", G_CALLBACK(on_back), window);
	page = page_new(header, detail_widget(window->detail));
	gtk_widget_set_hexpand(page, TRUE);
	g_object_bind_property(window->leaflet, "folded", back, "visible", G_BINDING_SYNC_CREATE);
	g_object_bind_property(
		window->leaflet, "folded", header, "show-start-title-buttons", G_BINDING_SYNC_CREATE);
	return page;
}

static GtkWidget *place_page_new(struct main_window *window)
{
	GtkWidget *header = adw_header_bar_new();

	window->place = place_new();
	gtk_widget_add_css_class(header, "flat");
	adw_header_bar_pack_end(ADW_HEADER_BAR(header),
		menu_button("open-menu-symbolic", _("Main menu"), actions_main_menu()));
	return page_new(header, place_widget(window->place));
}

static gboolean on_drop(GtkDropTarget *target, const GValue *value, double x, double y, gpointer user)
{
	struct main_window *window = user;

	(void)target;
	(void)x;
	(void)y;
	if (!feed_may_change(window->app->feed))
		return FALSE;
	if (G_VALUE_HOLDS(value, GDK_TYPE_FILE_LIST))
		import_files(window->app, g_value_get_boxed(value));
	else if (G_VALUE_HOLDS_STRING(value))
		import_text(window->app, g_value_get_string(value));
	return TRUE;
}

static void add_drop(struct main_window *window)
{
	GtkDropTarget *target = gtk_drop_target_new(G_TYPE_INVALID, GDK_ACTION_COPY);
	GType types[] = { GDK_TYPE_FILE_LIST, G_TYPE_STRING };

	gtk_drop_target_set_gtypes(target, types, G_N_ELEMENTS(types));
	g_signal_connect(target, "drop", G_CALLBACK(on_drop), window);
	gtk_widget_add_controller(window->window, GTK_EVENT_CONTROLLER(target));
}

static gboolean on_close(GtkWindow *widget, gpointer user)
{
	struct main_window *window = user;

	gtk_window_get_default_size(widget, &window->app->settings.width, &window->app->settings.height);
	settings_save(&window->app->settings);
	removal_finish(window->app->removal);
	return FALSE;
}

/* While packets pass the daemon's figures come each second; of what does not pass only the time goes on. */
static gboolean on_second(gpointer user)
{
	struct main_window *window = user;
	const struct model_tunnel *tunnel = main_window_tunnel(window);

	if (tunnel && tunnel->status.state != RPC_STATE_DOWN && !words_passes(tunnel->status.state))
		detail_tick(window->detail, tunnel);
	/* That its time is over, or that somebody else opened it, is told by no notice. */
	if (window->app->feed->model.lockdown.state != RPC_KILL_SWITCH_OFF &&
		++window->seconds % LOCKDOWN_S == 0)
		feed_lockdown(window->app->feed);
	return G_SOURCE_CONTINUE;
}

static void on_destroy(GtkWidget *widget, gpointer user)
{
	struct main_window *window = user;

	(void)widget;
	window->app->window = NULL;
	g_source_remove(window->second);
	g_hash_table_unref(window->choices);
	g_free(window);
}

void main_window_open(struct app *app)
{
	struct main_window *window = g_new0(struct main_window, 1);
	GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);

	window->app = app;
	window->choices = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_strlcpy(window->wished, "", sizeof(window->wished));
	window->window = adw_application_window_new(GTK_APPLICATION(app->application));
	gtk_window_set_title(GTK_WINDOW(window->window), "wgtcp");
	gtk_window_set_default_size(GTK_WINDOW(window->window), app->settings.width, app->settings.height);
	gtk_widget_set_size_request(window->window, 340, 300);
	actions_add(app, GTK_APPLICATION_WINDOW(window->window));
	window->leaflet = adw_leaflet_new();
	adw_leaflet_set_can_navigate_back(ADW_LEAFLET(window->leaflet), TRUE);
	window->list_page = list_page_new(window);
	window->detail_page = detail_page_new(window);
	adw_leaflet_append(ADW_LEAFLET(window->leaflet), window->list_page);
	adw_leaflet_page_set_navigatable(
		adw_leaflet_append(ADW_LEAFLET(window->leaflet), gtk_separator_new(GTK_ORIENTATION_VERTICAL)),
		FALSE);
	adw_leaflet_append(ADW_LEAFLET(window->leaflet), window->detail_page);
	window->stack = gtk_stack_new();
	window->place_page = place_page_new(window);
	gtk_stack_add_child(GTK_STACK(window->stack), window->place_page);
	gtk_stack_add_child(GTK_STACK(window->stack), window->leaflet);
	window->toasts = adw_toast_overlay_new();
	gtk_widget_set_vexpand(window->stack, TRUE);
	gtk_box_append(GTK_BOX(box), window->stack);
	window->lockdown = lockdown_bar_new(app);
	gtk_box_append(GTK_BOX(box), lockdown_bar_widget(window->lockdown));
	adw_toast_overlay_set_child(ADW_TOAST_OVERLAY(window->toasts), box);
	adw_application_window_set_content(ADW_APPLICATION_WINDOW(window->window), window->toasts);
	add_drop(window);
	g_signal_connect(window->window, "close-request", G_CALLBACK(on_close), window);
	g_signal_connect(window->window, "destroy", G_CALLBACK(on_destroy), window);
	window->second = g_timeout_add_seconds(1, on_second, window);
	app->window = window;
	main_window_sync(window);
	gtk_window_present(GTK_WINDOW(window->window));
	frames_watch(window->window);
}
