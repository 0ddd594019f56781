/* SPDX-License-Identifier: MIT */
#include "gui/window/removal.h"

#include "gui/model/translate.h"
#include "gui/window/main_window.h"
#include "gui/window/ui.h"

struct entry {
	struct removal *removal;
	char name[RPC_NAME_LEN], shown[RPC_NAME_LEN];
	AdwToast *toast;
	bool undone, sent;
};

struct removal {
	struct app *app;
	GPtrArray *entries; /* owned */
};

static void entry_free(gpointer data)
{
	struct entry *entry = data;

	g_signal_handlers_disconnect_by_data(entry->toast, entry);
	g_object_unref(entry->toast);
	g_free(entry);
}

static struct entry *find(const struct removal *removal, const char *name)
{
	for (guint i = 0; i < removal->entries->len; i++) {
		struct entry *entry = g_ptr_array_index(removal->entries, i);

		if (!strcmp(entry->name, name))
			return entry;
	}
	return NULL;
}

bool removal_hides(const struct removal *removal, const char *name)
{
	return find(removal, name) != NULL;
}

/* The tunnel is in the list again, or gone from the model. */
static void forget(struct entry *entry)
{
	struct removal *removal = entry->removal;

	g_ptr_array_remove(removal->entries, entry);
	if (removal->app->window)
		main_window_sync(removal->app->window);
}

static void on_deleted(struct rpc_event *event, void *user)
{
	struct entry *entry = user;
	struct removal *removal = entry->removal;
	bool failed = !event || event->kind == RPC_EVENT_ERROR;

	if (failed && removal->app->window) {
		char *heading = g_strdup_printf(_("%s was not deleted"), entry->shown);

		ui_tell(main_window_widget(removal->app->window), heading, feed_error_text(event));
		g_free(heading);
	} else if (event && event->result.done.warnings.count && removal->app->window) {
		main_window_toast(removal->app->window, ui_toast_new(event->result.done.warnings.items[0].text));
	}
	if (!failed)
		feed_list(removal->app->feed);
	g_application_release(G_APPLICATION(removal->app->application));
	forget(entry);
}

static void delete_now(struct entry *entry)
{
	struct rpc_request request = { .method = RPC_METHOD_TUNNEL_DELETE };
	struct app *app = entry->removal->app;

	if (entry->sent)
		return;
	entry->sent = true;
	g_strlcpy(request.name, entry->name, sizeof(request.name));
	g_application_hold(G_APPLICATION(app->application));
	if (link_ask(app->feed->link, &request, on_deleted, entry))
		on_deleted(NULL, entry);
}

static void on_undo(AdwToast *toast, gpointer user)
{
	struct entry *entry = user;

	(void)toast;
	entry->undone = true;
}

static void on_dismissed(AdwToast *toast, gpointer user)
{
	struct entry *entry = user;

	(void)toast;
	if (entry->sent)
		return;
	if (entry->undone) {
		struct app *app = entry->removal->app;
		char *name = g_strdup(entry->name);

		forget(entry);
		if (app->window)
			main_window_show_tunnel(app->window, name);
		g_free(name);
	} else {
		delete_now(entry);
	}
}

static void hide(struct removal *removal, const struct model_tunnel *tunnel)
{
	struct entry *entry = g_new0(struct entry, 1);
	char *text = g_strdup_printf(_("%s is deleted"), tunnel->shown);
	AdwToast *toast = ui_toast_new(text);

	entry->removal = removal;
	entry->toast = g_object_ref(toast);
	g_strlcpy(entry->name, tunnel->name, sizeof(entry->name));
	g_strlcpy(entry->shown, tunnel->shown, sizeof(entry->shown));
	g_ptr_array_add(removal->entries, entry);
	adw_toast_set_button_label(toast, _("_Undo"));
	/* A toast that waits for others would come too late to undo anything. */
	adw_toast_set_priority(toast, ADW_TOAST_PRIORITY_HIGH);
	g_signal_connect(toast, "button-clicked", G_CALLBACK(on_undo), entry);
	g_signal_connect(toast, "dismissed", G_CALLBACK(on_dismissed), entry);
	main_window_toast(removal->app->window, toast);
	main_window_sync(removal->app->window);
	g_free(text);
}

/* ---- a tunnel that is connected ---- */

struct going {
	struct removal *removal;
	char name[RPC_NAME_LEN];
};

static void on_down(struct rpc_event *event, void *user)
{
	struct going *going = user;
	struct removal *removal = going->removal;
	const struct model_tunnel *tunnel = status_model_find(&removal->app->feed->model, going->name);

	if (tunnel && removal->app->window && !find(removal, going->name)) {
		if (event && event->kind == RPC_EVENT_RESULT)
			hide(removal, tunnel);
		else
			main_window_trouble(removal->app->window, NULL, feed_error_text(event));
	}
	g_free(going);
}

static void on_yes(gpointer user)
{
	const struct going *asked = user;
	struct going *going = g_memdup2(asked, sizeof(*asked));
	struct rpc_request request = { .method = RPC_METHOD_TUNNEL_DOWN };

	g_strlcpy(request.name, going->name, sizeof(request.name));
	if (link_ask(going->removal->app->feed->link, &request, on_down, going))
		on_down(NULL, going);
}

void removal_start(struct removal *removal, struct model_tunnel *tunnel)
{
	struct going *going;
	char *heading;

	if (find(removal, tunnel->name))
		return;
	if (!words_is_on(tunnel->status.state)) {
		hide(removal, tunnel);
		return;
	}
	going = g_new0(struct going, 1);
	going->removal = removal;
	g_strlcpy(going->name, tunnel->name, sizeof(going->name));
	heading = g_strdup_printf(_("%s is connected"), tunnel->shown);
	ui_ask(main_window_widget(removal->app->window), heading, _("Disconnect and delete it?"), _("_Delete"),
		"destructive-action", on_yes, going, g_free);
	g_free(heading);
}

void removal_finish(struct removal *removal)
{
	for (guint i = removal->entries->len; i-- > 0;) {
		if (i < removal->entries->len)
			delete_now(g_ptr_array_index(removal->entries, i));
	}
}

struct removal *removal_new(struct app *app)
{
	struct removal *removal = g_new0(struct removal, 1);

	removal->app = app;
	removal->entries = g_ptr_array_new_with_free_func(entry_free);
	return removal;
}

void removal_free(struct removal *removal)
{
	if (!removal)
		return;
	g_ptr_array_unref(removal->entries);
	g_free(removal);
}
