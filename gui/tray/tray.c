/* SPDX-License-Identifier: MIT */
/* The menu is made anew only when tunnels come or go: what shows it (a shell, over D-Bus) keeps its items,
 * and those that were hidden or switched off do not always come back there. */
#include "gui/tray/tray.h"

#include "gui/link/feed.h"
#include "gui/model/translate.h"
#include "gui/model/units.h"
#include "gui/model/words.h"

#include <libayatana-appindicator/app-indicator.h>

struct item {
	struct tray *tray;
	char name[RPC_NAME_LEN];
	GtkWidget *widget;
};

struct tray {
	void (*quit)(void *user);
	void *user;
	char *socket_path;
	struct feed *feed;
	AppIndicator *indicator;
	GtkWidget *menu, *state, *speed;
	GPtrArray *items; /* struct item, owned */
	bool setting;     /* check marks are moved by us */
};

/* ---- the icon ---- */

static const char *const shape_icons[] = { "wgtcp-off-symbolic", "wgtcp-busy-symbolic", "wgtcp-on-symbolic",
	"wgtcp-attention-symbolic" };

/* Of several tunnels the one that most wants to be seen. */
static enum words_shape shape_of(const struct status_model *model)
{
	enum words_shape worst = WORDS_SHAPE_OFF;

	for (size_t i = 0; i < model->count; i++) {
		enum words_shape shape = words_shape(model->tunnels[i]->status.state);

		if (shape == WORDS_SHAPE_ATTENTION)
			return shape;
		/* That something is under way is more than that something else is on. */
		if (shape == WORDS_SHAPE_BUSY || worst == WORDS_SHAPE_OFF)
			worst = shape;
	}
	return worst;
}

/* "2 of 5 tunnels are connected" */
static void sum_up(const struct tray *tray, char *out, size_t size)
{
	const struct status_model *model = &tray->feed->model;
	size_t up = status_model_up_count(model);

	if (tray->feed->service != SERVICE_READY)
		g_strlcpy(out, service_words(tray->feed->service).title, size);
	else if (!model->count)
		g_strlcpy(out, _("No tunnels yet"), size);
	else if (!feed_may_change(tray->feed) && model->has_info)
		g_strlcpy(out, _("You may look, but not change anything"), size);
	else if (!up)
		g_strlcpy(out, _("Not connected"), size);
	else
		g_snprintf(out, (gulong)size,
			ngettext("%zu tunnel is connected", "%zu tunnels are connected", up), up);
}

static void show_icon(struct tray *tray)
{
	enum words_shape shape =
		tray->feed->service == SERVICE_READY ? shape_of(&tray->feed->model) : WORDS_SHAPE_OFF;
	char words[WORDS_LEN];

	if (tray->feed->service != SERVICE_READY && tray->feed->service != SERVICE_CONNECTING)
		shape = WORDS_SHAPE_ATTENTION;
	sum_up(tray, words, sizeof(words));
	app_indicator_set_icon_full(tray->indicator, shape_icons[shape], words);
	app_indicator_set_title(tray->indicator, words);
	gtk_menu_item_set_label(GTK_MENU_ITEM(tray->state), words);
}

/* ---- one tunnel ---- */

/* "Office: TCP, receiving 1.2 Mbit/s, sending 40 kbit/s", "Office: Trying UDP…", "Office" */
static void label_of(const struct model_tunnel *tunnel, char *out, size_t size)
{
	const struct rpc_tunnel *status = &tunnel->status;
	char rx[UNITS_LEN], tx[UNITS_LEN], state[WORDS_LEN];
	struct history_summary summary;

	if (tunnel->profile_error[0]) {
		g_snprintf(out, (gulong)size, _("%s: %s"), tunnel->shown, _("The profile is wrong"));
	} else if (words_passes(status->state)) {
		history_summarize(&tunnel->history, (guint64)(g_get_real_time() / G_USEC_PER_SEC), &summary);
		units_rate(summary.rx_now, rx, sizeof(rx));
		units_rate(summary.tx_now, tx, sizeof(tx));
		/* Translators: the tunnel's name, UDP or TCP, how fast it receives and sends */
		g_snprintf(out, (gulong)size, _("%s: %s, ↓ %s, ↑ %s"), tunnel->shown,
			words_carrier(status->carrier), rx, tx);
	} else if (status->state == RPC_STATE_DOWN) {
		g_strlcpy(out, tunnel->shown, size);
	} else {
		words_state(status, tunnel->has_step ? &tunnel->step : NULL, state, sizeof(state));
		g_snprintf(out, (gulong)size, _("%s: %s"), tunnel->shown, state);
	}
}

static void show_item(struct tray *tray, const struct item *item)
{
	const struct model_tunnel *tunnel = status_model_find(&tray->feed->model, item->name);
	char label[RPC_NAME_LEN + WORDS_LEN];
	bool on;

	if (!tunnel)
		return;
	on = tunnel->is_asking ? tunnel->wants_on : words_is_on(tunnel->status.state);
	label_of(tunnel, label, sizeof(label));
	if (g_strcmp0(gtk_menu_item_get_label(GTK_MENU_ITEM(item->widget)), label) != 0)
		gtk_menu_item_set_label(GTK_MENU_ITEM(item->widget), label);
	tray->setting = true;
	gtk_check_menu_item_set_active(GTK_CHECK_MENU_ITEM(item->widget), on);
	tray->setting = false;
	gtk_widget_set_sensitive(
		item->widget, feed_may_change(tray->feed) && (on || !tunnel->profile_error[0]));
}

static void on_toggled(GtkCheckMenuItem *widget, gpointer user)
{
	struct item *item = user;
	struct tray *tray = item->tray;
	struct model_tunnel *tunnel;

	if (tray->setting)
		return;
	tunnel = status_model_find(&tray->feed->model, item->name);
	if (tunnel)
		feed_turn(tray->feed, tunnel, gtk_check_menu_item_get_active(widget), NULL);
}

/* ---- the menu ---- */

/* option: NULL, or one with its value. */
static void open_window(const struct tray *tray, const char *option, const char *value)
{
	/* A second one presents the first one's window. */
	char *arguments[] = { (char *)"wgtcp-gui", (char *)"--socket", tray->socket_path, (char *)option,
		(char *)value, NULL };
	GError *error = NULL;

	if (!g_spawn_async(NULL, arguments, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, &error)) {
		g_printerr("wgtcp-tray: the window does not open: %s\n", error->message);
		g_error_free(error);
	}
}

static void on_open(GtkMenuItem *widget, gpointer user)
{
	(void)widget;
	open_window(user, NULL, NULL);
}

/* The first that is connected, in the order of the menu. */
static const struct model_tunnel *connected(const struct tray *tray)
{
	const struct status_model *model = &tray->feed->model;

	for (size_t i = 0; i < model->count; i++) {
		if (words_passes(model->tunnels[i]->status.state))
			return model->tunnels[i];
	}
	return NULL;
}

static void on_speed(GtkMenuItem *widget, gpointer user)
{
	const struct tray *tray = user;
	const struct model_tunnel *tunnel = connected(tray);

	(void)widget;
	if (tunnel)
		open_window(tray, "--speed-test", tunnel->name);
}

/* It measures what is connected. */
static void show_speed(struct tray *tray)
{
	gtk_widget_set_sensitive(tray->speed, feed_may_change(tray->feed) && connected(tray));
}

static void on_quit(GtkMenuItem *widget, gpointer user)
{
	struct tray *tray = user;

	(void)widget;
	tray->quit(tray->user);
}

static GtkWidget *add(struct tray *tray, GtkWidget *item)
{
	gtk_menu_shell_append(GTK_MENU_SHELL(tray->menu), item);
	return item;
}

static void add_tunnel(struct tray *tray, const struct model_tunnel *tunnel)
{
	struct item *item = g_new0(struct item, 1);

	item->tray = tray;
	g_strlcpy(item->name, tunnel->name, sizeof(item->name));
	item->widget = add(tray, gtk_check_menu_item_new_with_label(tunnel->shown));
	g_signal_connect(item->widget, "toggled", G_CALLBACK(on_toggled), item);
	g_ptr_array_add(tray->items, item);
	show_item(tray, item);
}

static void make_menu(struct tray *tray)
{
	const struct feed *feed = tray->feed;
	GtkWidget *item;

	g_ptr_array_set_size(tray->items, 0);
	tray->menu = gtk_menu_new();
	tray->state = add(tray, gtk_menu_item_new_with_label(""));
	gtk_widget_set_sensitive(tray->state, FALSE);
	add(tray, gtk_separator_menu_item_new());
	for (size_t i = 0; feed->service == SERVICE_READY && i < feed->model.count; i++)
		add_tunnel(tray, feed->model.tunnels[i]);
	if (tray->items->len)
		add(tray, gtk_separator_menu_item_new());
	tray->speed = add(tray, gtk_menu_item_new_with_mnemonic(_("_Speed test")));
	g_signal_connect(tray->speed, "activate", G_CALLBACK(on_speed), tray);
	item = add(tray, gtk_menu_item_new_with_mnemonic(_("_Open the window")));
	g_signal_connect(item, "activate", G_CALLBACK(on_open), tray);
	item = add(tray, gtk_menu_item_new_with_mnemonic(_("_Quit")));
	g_signal_connect(item, "activate", G_CALLBACK(on_quit), tray);
	gtk_widget_show_all(tray->menu);
	/* The indicator takes the menu, and lets the old one go. */
	app_indicator_set_menu(tray->indicator, GTK_MENU(tray->menu));
	show_icon(tray);
	show_speed(tray);
}

/* ---- the feed ---- */

static void on_service(void *user)
{
	make_menu(user);
}

static void on_changed(const struct model_change *change, void *user)
{
	struct tray *tray = user;

	if (change->what & (MODEL_CHANGED_SET | MODEL_CHANGED_INFO)) {
		make_menu(tray);
		return;
	}
	for (guint i = 0; i < tray->items->len; i++) {
		const struct item *item = g_ptr_array_index(tray->items, i);

		if (!change->tunnel || !strcmp(item->name, change->tunnel->name))
			show_item(tray, item);
	}
	if (change->what & ~(unsigned)MODEL_CHANGED_STATS) {
		show_icon(tray);
		show_speed(tray);
	}
}

static void on_trouble(struct model_tunnel *tunnel, const char *sentence, void *user)
{
	(void)user;
	/* The menu shows the state; the sentence is for who started us in a terminal. */
	g_printerr("wgtcp-tray: %s%s%s\n", tunnel ? tunnel->shown : "", tunnel ? ": " : "", sentence);
}

struct tray *tray_new(const struct tray_options *options, void (*quit)(void *user), void *user)
{
	static const struct feed_events events = { on_service, on_changed, on_trouble, NULL, NULL };
	struct tray *tray = g_new0(struct tray, 1);

	tray->quit = quit;
	tray->user = user;
	tray->socket_path = g_strdup(options->socket_path);
	tray->items = g_ptr_array_new_with_free_func(g_free);
	tray->indicator = app_indicator_new_with_path("wgtcp", shape_icons[WORDS_SHAPE_OFF],
		APP_INDICATOR_CATEGORY_COMMUNICATIONS, options->icon_folder);
	app_indicator_set_status(tray->indicator, APP_INDICATOR_STATUS_ACTIVE);
	tray->feed = feed_new(options->socket_path, &events, tray);
	make_menu(tray);
	return tray;
}

void tray_free(struct tray *tray)
{
	if (!tray)
		return;
	feed_free(tray->feed);
	g_object_unref(tray->indicator);
	g_ptr_array_unref(tray->items);
	g_free(tray->socket_path);
	g_free(tray);
}
