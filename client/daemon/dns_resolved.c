/* SPDX-License-Identifier: MIT */
/* Used by dns.c and underlay.c. */
#include "client/daemon/dns_resolved.h"

#include <string.h>
#include <sys/socket.h>

#define NAME "org.freedesktop.resolve1"
#define PATH "/org/freedesktop/resolve1"
#define MANAGER "org.freedesktop.resolve1.Manager"
#define ANSWER_MS 3000

struct setting {
	unsigned due;
	char *why;
	void (*done)(const char *why, void *user);
	void *user;
};

static int family_of(const struct ip_address *address)
{
	return address->family == IP_V4 ? AF_INET : AF_INET6;
}

static GVariant *servers_variant(uint32_t link, const struct dns_servers *dns)
{
	GVariantBuilder builder;
	size_t i;

	g_variant_builder_init(&builder, G_VARIANT_TYPE("a(iay)"));
	for (i = 0; i < dns->server_count; i++)
		g_variant_builder_add(&builder, "(i@ay)", family_of(&dns->servers[i]),
			g_variant_new_fixed_array(G_VARIANT_TYPE_BYTE, dns->servers[i].bytes,
				ip_address_len(&dns->servers[i]), 1));
	return g_variant_new("(ia(iay))", (gint32)link, &builder);
}

static GVariant *domains_variant(uint32_t link, const struct dns_servers *dns, bool all)
{
	GVariantBuilder builder;
	size_t i;

	g_variant_builder_init(&builder, G_VARIANT_TYPE("a(sb)"));
	if (all)
		g_variant_builder_add(&builder, "(sb)", ".", TRUE); /* "~." */
	for (i = 0; i < dns->domains->count; i++) {
		const char *domain = dns->domains->items[i];
		bool only_routes = domain[0] == '~';

		if (domain[only_routes])
			g_variant_builder_add(&builder, "(sb)", domain + only_routes, only_routes);
	}
	return g_variant_new("(ia(sb))", (gint32)link, &builder);
}

static void answered(GObject *source, GAsyncResult *result, gpointer user)
{
	GError *error = NULL;
	GVariant *value = g_dbus_connection_call_finish(G_DBUS_CONNECTION(source), result, &error);
	struct setting *setting = user;

	if (value)
		g_variant_unref(value);
	else if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
		setting->done = NULL;
	else if (!g_error_matches(error, G_DBUS_ERROR, G_DBUS_ERROR_UNKNOWN_METHOD) && !setting->why) {
		g_dbus_error_strip_remote_error(error);
		setting->why = g_strdup(error->message);
	}
	g_clear_error(&error);
	if (--setting->due)
		return;
	if (setting->done)
		setting->done(setting->why, setting->user);
	g_free(setting->why);
	g_free(setting);
}

static void call(GDBusConnection *connection, const char *method, GVariant *parameters, GCancellable *cancel,
	GAsyncReadyCallback done, gpointer user)
{
	g_dbus_connection_call(connection, NAME, PATH, MANAGER, method, parameters, NULL,
		G_DBUS_CALL_FLAGS_NONE, ANSWER_MS, cancel, done, user);
}

void dns_resolved_set(GDBusConnection *connection, uint32_t link, const struct dns_servers *dns, bool all,
	GCancellable *cancel, void (*done)(const char *why, void *user), void *user)
{
	struct setting *setting = g_new0(struct setting, 1);

	setting->done = done;
	setting->user = user;
	setting->due = 3;
	/* The domains first: with servers and without them, names would for a moment be asked on both links.
	 * The default route is younger than the other two, and follows from the domains where it is missing.
	 */
	call(connection, "SetLinkDomains", domains_variant(link, dns, all), cancel, answered, setting);
	call(connection, "SetLinkDefaultRoute", g_variant_new("(ib)", (gint32)link, all), cancel, answered,
		setting);
	call(connection, "SetLinkDNS", servers_variant(link, dns), cancel, answered, setting);
	call(connection, "FlushCaches", NULL, NULL, NULL, NULL);
}

void dns_resolved_revert(GDBusConnection *connection, uint32_t link)
{
	call(connection, "RevertLink", g_variant_new("(i)", (gint32)link), NULL, NULL, NULL);
	call(connection, "FlushCaches", NULL, NULL, NULL, NULL);
}

/* ---- reading ---- */

#define SERVERS_MAX 32

struct reading {
	void (*done)(const struct dns_resolved_server *servers, size_t count, void *user);
	void *user;
};

static size_t take_servers(GVariant *list, struct dns_resolved_server out[SERVERS_MAX])
{
	GVariantIter iter;
	gint32 link, family;
	GVariant *bytes;
	size_t count = 0;

	g_variant_iter_init(&iter, list);
	while (count < SERVERS_MAX && g_variant_iter_next(&iter, "(ii@ay)", &link, &family, &bytes)) {
		struct dns_resolved_server server = { .link = (uint32_t)link,
			.address.family = family == AF_INET ? IP_V4 : IP_V6 };
		gsize len;
		const void *data = g_variant_get_fixed_array(bytes, &len, 1);

		if (len == ip_address_len(&server.address)) {
			memcpy(server.address.bytes, data, len);
			out[count++] = server;
		}
		g_variant_unref(bytes);
	}
	return count;
}

static void read_servers(GObject *source, GAsyncResult *result, gpointer user)
{
	struct dns_resolved_server servers[SERVERS_MAX];
	struct reading *reading = user;
	GError *error = NULL;
	GVariant *value = g_dbus_connection_call_finish(G_DBUS_CONNECTION(source), result, &error),
		 *list = NULL;
	size_t count;

	if (value) {
		g_variant_get(value, "(v)", &list);
		if (g_variant_is_of_type(list, G_VARIANT_TYPE("a(iiay)"))) {
			count = take_servers(list, servers);
			reading->done(servers, count, reading->user);
		} else {
			reading->done(NULL, 0, reading->user);
		}
		g_variant_unref(list);
		g_variant_unref(value);
	} else if (!g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED)) {
		reading->done(NULL, 0, reading->user);
	}
	g_clear_error(&error);
	g_free(reading);
}

void dns_resolved_servers(GDBusConnection *connection, GCancellable *cancel,
	void (*done)(const struct dns_resolved_server *servers, size_t count, void *user), void *user)
{
	struct reading *reading = g_new0(struct reading, 1);

	reading->done = done;
	reading->user = user;
	g_dbus_connection_call(connection, NAME, PATH, "org.freedesktop.DBus.Properties", "Get",
		g_variant_new("(ss)", MANAGER, "DNS"), G_VARIANT_TYPE("(v)"), G_DBUS_CALL_FLAGS_NONE,
		ANSWER_MS, cancel, read_servers, reading);
}
