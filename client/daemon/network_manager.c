/* SPDX-License-Identifier: MIT */
/* Used by portal.c and surroundings.c. Each change makes it read all again: three small questions. */
#include "client/daemon/network_manager.h"
#include "client/daemon/bus.h"

#include <string.h>

#define NAME "org.freedesktop.NetworkManager"
#define PATH "/org/freedesktop/NetworkManager"
#define ACTIVE "org.freedesktop.NetworkManager.Connection.Active"
#define ACCESS_POINT "org.freedesktop.NetworkManager.AccessPoint"
#define PROPERTIES "org.freedesktop.DBus.Properties"
#define ANSWER_MS 5000
#define URI_LEN 512

struct facts {
	enum nm_connectivity connectivity;
	bool checks;
	char check_uri[URI_LEN];
	uint8_t ssid[SSID_LEN_MAX];
	size_t ssid_len;
};

struct network_manager {
	struct bus *bus;
	void (*changed)(void *user);
	void *user;
	GDBusConnection *connection;
	guint properties, owner; /* subscriptions */
	GCancellable *cancel;    /* of a reading under way */
	struct facts facts, reading;
};

static void read_all(struct network_manager *manager);

static void read_one(
	struct network_manager *manager, const char *path, const char *interface, GAsyncReadyCallback done)
{
	g_dbus_connection_call(manager->connection, NAME, path, PROPERTIES, "GetAll",
		g_variant_new("(s)", interface), G_VARIANT_TYPE("(a{sv})"), G_DBUS_CALL_FLAGS_NO_AUTO_START,
		ANSWER_MS, manager->cancel, done, manager);
}

static void finish(struct network_manager *manager)
{
	bool differs = memcmp(&manager->facts, &manager->reading, sizeof(manager->facts)) != 0;

	manager->facts = manager->reading;
	if (differs)
		manager->changed(manager->user);
}

/* The properties, for g_variant_unref; NULL: none (it does not run). *gone: manager must not be touched. */
static GVariant *take(GObject *source, GAsyncResult *result, bool *gone)
{
	GError *error = NULL;
	GVariant *value = g_dbus_connection_call_finish(G_DBUS_CONNECTION(source), result, &error),
		 *all = NULL;

	*gone = g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
	g_clear_error(&error);
	if (value) {
		all = g_variant_get_child_value(value, 0);
		g_variant_unref(value);
	}
	return all;
}

static void access_point_read(GObject *source, GAsyncResult *result, gpointer user)
{
	struct network_manager *manager = user;
	bool gone;
	GVariant *all = take(source, result, &gone), *ssid;
	gconstpointer bytes;
	gsize len;

	if (gone)
		return;
	ssid = all ? g_variant_lookup_value(all, "Ssid", G_VARIANT_TYPE("ay")) : NULL;
	if (ssid) {
		bytes = g_variant_get_fixed_array(ssid, &len, 1);
		if (len <= SSID_LEN_MAX) {
			memcpy(manager->reading.ssid, bytes, len);
			manager->reading.ssid_len = len;
		}
		g_variant_unref(ssid);
	}
	g_clear_pointer(&all, g_variant_unref);
	finish(manager);
}

static void active_read(GObject *source, GAsyncResult *result, gpointer user)
{
	struct network_manager *manager = user;
	const char *type = NULL, *path = NULL;
	bool gone;
	GVariant *all = take(source, result, &gone);

	if (gone)
		return;
	if (all) {
		g_variant_lookup(all, "Type", "&s", &type);
		g_variant_lookup(all, "SpecificObject", "&o", &path);
	}
	if (type && path && !strcmp(type, "802-11-wireless") && strcmp(path, "/") != 0)
		read_one(manager, path, ACCESS_POINT, access_point_read);
	else
		finish(manager);
	g_clear_pointer(&all, g_variant_unref);
}

static void manager_read(GObject *source, GAsyncResult *result, gpointer user)
{
	struct network_manager *manager = user;
	const char *primary = NULL, *uri = NULL;
	gboolean enabled = FALSE, available = FALSE;
	guint32 connectivity = 0;
	bool gone;
	GVariant *all = take(source, result, &gone);

	if (gone)
		return;
	memset(&manager->reading, 0, sizeof(manager->reading));
	if (all) {
		g_variant_lookup(all, "ConnectivityCheckEnabled", "b", &enabled);
		g_variant_lookup(all, "ConnectivityCheckAvailable", "b", &available);
		g_variant_lookup(all, "Connectivity", "u", &connectivity);
		g_variant_lookup(all, "ConnectivityCheckUri", "&s", &uri);
		g_variant_lookup(all, "PrimaryConnection", "&o", &primary);
	}
	manager->reading.checks = enabled && available;
	/* Without checks it calls everything with a default route fully connected. */
	if (manager->reading.checks && connectivity <= NM_CONNECTIVITY_FULL)
		manager->reading.connectivity = (enum nm_connectivity)connectivity;
	if (uri)
		g_strlcpy(manager->reading.check_uri, uri, sizeof(manager->reading.check_uri));
	if (primary && strcmp(primary, "/") != 0)
		read_one(manager, primary, ACTIVE, active_read);
	else
		finish(manager);
	g_clear_pointer(&all, g_variant_unref);
}

static void stop_reading(struct network_manager *manager)
{
	if (!manager->cancel)
		return;
	g_cancellable_cancel(manager->cancel);
	g_clear_object(&manager->cancel);
}

static void read_all(struct network_manager *manager)
{
	stop_reading(manager);
	manager->cancel = g_cancellable_new();
	read_one(manager, PATH, NAME, manager_read);
}

static void signalled(GDBusConnection *connection, const char *sender, const char *path,
	const char *interface, const char *signal, GVariant *parameters, gpointer user)
{
	struct network_manager *manager = user;
	GVariant *changed;

	(void)connection;
	(void)sender;
	(void)path;
	(void)interface;
	if (!strcmp(signal, "PropertiesChanged")) {
		static const char *const watched[] = { "Connectivity", "PrimaryConnection",
			"ConnectivityCheckEnabled", "ConnectivityCheckAvailable", "ConnectivityCheckUri" };
		bool any = false;
		size_t i;

		if (!g_variant_is_of_type(parameters, G_VARIANT_TYPE("(sa{sv}as)")))
			return;
		changed = g_variant_get_child_value(parameters, 1);
		for (i = 0; i < G_N_ELEMENTS(watched) && !any; i++) {
			GVariant *value = g_variant_lookup_value(changed, watched[i], NULL);

			any = value != NULL;
			g_clear_pointer(&value, g_variant_unref);
		}
		g_variant_unref(changed);
		if (!any)
			return;
	}
	read_all(manager);
}

static void unsubscribe(struct network_manager *manager)
{
	stop_reading(manager);
	if (!manager->connection)
		return;
	g_dbus_connection_signal_unsubscribe(manager->connection, manager->properties);
	g_dbus_connection_signal_unsubscribe(manager->connection, manager->owner);
	g_clear_object(&manager->connection);
}

static void connected(GDBusConnection *connection, void *user)
{
	struct network_manager *manager = user;

	unsubscribe(manager);
	manager->connection = g_object_ref(connection);
	manager->properties = g_dbus_connection_signal_subscribe(connection, NAME, PROPERTIES,
		"PropertiesChanged", PATH, NAME, G_DBUS_SIGNAL_FLAGS_NONE, signalled, manager, NULL);
	manager->owner = g_dbus_connection_signal_subscribe(connection, "org.freedesktop.DBus",
		"org.freedesktop.DBus", "NameOwnerChanged", "/org/freedesktop/DBus", NAME,
		G_DBUS_SIGNAL_FLAGS_NONE, signalled, manager, NULL);
	read_all(manager);
}

struct network_manager *network_manager_new(struct bus *bus, void (*changed)(void *user), void *user)
{
	struct network_manager *manager = g_new0(struct network_manager, 1);

	manager->bus = bus;
	manager->changed = changed;
	manager->user = user;
	bus_watch(bus, connected, manager);
	return manager;
}

void network_manager_free(struct network_manager *manager)
{
	if (!manager)
		return;
	bus_unwatch(manager->bus, manager);
	unsubscribe(manager);
	g_free(manager);
}

enum nm_connectivity network_manager_connectivity(const struct network_manager *manager)
{
	return manager->facts.connectivity;
}

bool network_manager_checks(const struct network_manager *manager)
{
	return manager->facts.checks;
}

const char *network_manager_check_uri(const struct network_manager *manager)
{
	return manager->facts.check_uri;
}

size_t network_manager_ssid(const struct network_manager *manager, uint8_t out[SSID_LEN_MAX])
{
	memcpy(out, manager->facts.ssid, manager->facts.ssid_len);
	return manager->facts.ssid_len;
}

void network_manager_check(struct network_manager *manager)
{
	/* Its answer comes as a change of the property, too. */
	if (manager->connection && manager->facts.checks)
		g_dbus_connection_call(manager->connection, NAME, PATH, NAME, "CheckConnectivity", NULL, NULL,
			G_DBUS_CALL_FLAGS_NO_AUTO_START, ANSWER_MS, NULL, NULL, NULL);
}
