/* SPDX-License-Identifier: MIT */
#include "gui/window/notify.h"

#include "gui/model/translate.h"
#include "gui/window/speed_view.h"

static GNotificationPriority priority_of(enum news_kind kind)
{
	switch (kind) {
	case NEWS_NONE:
	case NEWS_CONNECTED:
	case NEWS_CARRIER:
		return G_NOTIFICATION_PRIORITY_NORMAL;
	case NEWS_LOST:
	case NEWS_FAILED:
	case NEWS_PORTAL:
		return G_NOTIFICATION_PRIORITY_HIGH;
	}
	return G_NOTIFICATION_PRIORITY_NORMAL;
}

static const char *icon_of(enum news_kind kind)
{
	switch (kind) {
	case NEWS_NONE:
	case NEWS_CONNECTED:
	case NEWS_CARRIER:
		return "wgtcp-on-symbolic";
	case NEWS_LOST:
	case NEWS_FAILED:
	case NEWS_PORTAL:
		return "wgtcp-attention-symbolic";
	}
	return "wgtcp-on-symbolic";
}

/* A window of ours is in front: what happened can be seen there. */
static bool is_looked_at(void)
{
	GListModel *windows = gtk_window_get_toplevels();

	for (guint i = 0; i < g_list_model_get_n_items(windows); i++) {
		GtkWindow *window = g_list_model_get_item(windows, i);
		bool is_active = gtk_window_is_active(window);

		g_object_unref(window);
		if (is_active)
			return true;
	}
	return false;
}

void notify_news(struct app *app, const struct model_tunnel *tunnel, enum news_kind kind)
{
	char title[NEWS_TITLE_LEN], body[NEWS_BODY_LEN];
	GNotification *notification;
	GIcon *icon;

	if (!settings_wants(&app->settings, kind))
		return;
	if (is_looked_at())
		return;
	/* A comparison of carriers moves the tunnel by itself. */
	if (kind == NEWS_CARRIER && app->speed && speed_view_measures(app->speed, tunnel->name))
		return;
	news_words(kind, tunnel->shown, &tunnel->status, title, body);
	notification = g_notification_new(title);
	icon = g_themed_icon_new(icon_of(kind));
	g_notification_set_body(notification, body);
	g_notification_set_icon(notification, icon);
	g_notification_set_priority(notification, priority_of(kind));
	if (kind == NEWS_PORTAL)
		g_notification_add_button(notification, _("Open the login page"), "app.portal");
	g_notification_set_default_action_and_target(notification, "app.show", "s", tunnel->name);
	/* One for each tunnel: what is not so any more is replaced. */
	g_application_send_notification(G_APPLICATION(app->application), tunnel->name, notification);
	g_object_unref(icon);
	g_object_unref(notification);
}
