/* SPDX-License-Identifier: MIT */
/* Used by underlay.c. */
#include "client/daemon/dns_manager.h"

#include <net/if.h>
#include <string.h>

#define ANSWER_MS 2000

struct question {
	void (*answered)(const struct probe_server *servers, size_t count, void *user);
	void *user;
};

static bool is_link_local(const struct ip_address *address)
{
	return address->family == IP_V6 && address->bytes[0] == 0xfe && (address->bytes[1] & 0xc0) == 0x80;
}

/* What one link has. */
static size_t add(GVariant *link, struct probe_server *servers, size_t room)
{
	const char *interface = "", *text;
	gboolean vpn = FALSE;
	GVariantIter *names = NULL;
	size_t count = 0;

	g_variant_lookup(link, "vpn", "b", &vpn);
	g_variant_lookup(link, "interface", "&s", &interface);
	if (vpn || !g_variant_lookup(link, "nameservers", "as", &names))
		return 0;
	while (count < room && g_variant_iter_next(names, "&s", &text)) {
		struct probe_server server = { 0 };

		if (!ip_address_parse(text, strlen(text), &server.address))
			continue;
		if (is_link_local(&server.address))
			server.scope = if_nametoindex(interface);
		servers[count++] = server;
	}
	g_variant_iter_free(names);
	return count;
}

static void configuration_read(GObject *source, GAsyncResult *result, gpointer user)
{
	struct probe_server servers[PROBE_SERVERS_MAX];
	struct question *question = user;
	GError *error = NULL;
	GVariant *answer = g_dbus_connection_call_finish(G_DBUS_CONNECTION(source), result, &error), *value,
		 *link;
	bool cancelled = g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
	GVariantIter links;
	size_t count = 0;

	g_clear_error(&error);
	if (answer) {
		g_variant_get(answer, "(v)", &value);
		if (g_variant_is_of_type(value, G_VARIANT_TYPE("aa{sv}"))) {
			g_variant_iter_init(&links, value);
			while ((link = g_variant_iter_next_value(&links))) {
				count += add(link, servers + count, PROBE_SERVERS_MAX - count);
				g_variant_unref(link);
			}
		}
		g_variant_unref(value);
		g_variant_unref(answer);
	}
	if (!cancelled)
		question->answered(servers, count, question->user);
	g_free(question);
}

void dns_manager_servers(GDBusConnection *connection, GCancellable *cancel,
	void (*answered)(const struct probe_server *servers, size_t count, void *user), void *user)
{
	struct question *question = g_new0(struct question, 1);

	question->answered = answered;
	question->user = user;
	g_dbus_connection_call(connection, "org.freedesktop.NetworkManager",
		"/org/freedesktop/NetworkManager/DnsManager", "org.freedesktop.DBus.Properties", "Get",
		g_variant_new("(ss)", "org.freedesktop.NetworkManager.DnsManager", "Configuration"),
		G_VARIANT_TYPE("(v)"), G_DBUS_CALL_FLAGS_NO_AUTO_START, ANSWER_MS, cancel, configuration_read,
		question);
}
