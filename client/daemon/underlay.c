/* SPDX-License-Identifier: MIT */
/* Used by names.c and portal.c. */
#include "client/daemon/underlay.h"
#include "client/daemon/bus.h"
#include "client/daemon/daemon.h"
#include "client/daemon/dns.h"
#include "client/daemon/dns_file.h"
#include "client/daemon/dns_manager.h"
#include "client/daemon/dns_resolved.h"
#include "client/daemon/file.h"
#include "client/daemon/manager.h"

#include <fcntl.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

static const char *const resolvconf_records[] = { "/run/resolvconf/interfaces", "/run/resolvconf/interface" };

struct underlay_query {
	struct daemon *daemon;
	GCancellable *cancel;
	void (*found)(const struct underlay *underlay, void *user);
	void *user;
	char search[PROBE_SEARCH_LEN];
};

static uint32_t scope_of(const char *interface)
{
	uint32_t index = if_nametoindex(interface);

	return index ? index : (uint32_t)strtoul(interface, NULL, 10);
}

static void add_text(struct underlay *underlay, const char *text)
{
	char search[PROBE_SEARCH_LEN];

	underlay->count += dns_text_servers(
		text, underlay->servers + underlay->count, PROBE_SERVERS_MAX - underlay->count, scope_of);
	dns_text_search(text, search, sizeof(search));
	if (!underlay->search[0])
		memcpy(underlay->search, search, sizeof(search));
}

static void add_file(struct underlay *underlay, const char *path)
{
	struct stat info;
	char *text;
	size_t len;

	if (file_read(AT_FDCWD, path, DNS_FILE_TEXT_MAX, &text, &len, &info) != 0)
		return;
	add_text(underlay, text);
	file_free(text, len);
}

/* What others than our tunnels have told resolvconf. */
static void add_records(struct underlay *underlay, const struct dns *dns)
{
	const char *name;
	size_t i;

	for (i = 0; i < G_N_ELEMENTS(resolvconf_records); i++) {
		GDir *dir = g_dir_open(resolvconf_records[i], 0, NULL);

		while (dir && (name = g_dir_read_name(dir))) {
			char *path = g_build_filename(resolvconf_records[i], name, NULL);
			const char *interface = g_str_has_prefix(name, "tun.") ? name + 4 : name;

			if (!dns_is_ours(dns, if_nametoindex(interface)))
				add_file(underlay, path);
			g_free(path);
		}
		if (dir)
			g_dir_close(dir);
	}
}

static void add_original(struct underlay *underlay, const struct daemon *daemon)
{
	char *before = dns_has(daemon->dns, DNS_WAY_FILE) ? dns_file_before(daemon->state_handle) : NULL;

	if (before)
		add_text(underlay, before);
	else
		add_file(underlay, DNS_FILE_PATH);
	free(before);
}

static void query_free(struct underlay_query *query)
{
	g_object_unref(query->cancel);
	g_free(query);
}

static void resolved_answered(const struct dns_resolved_server *servers, size_t count, void *user)
{
	struct underlay_query *query = user;
	struct underlay underlay = { 0 };
	size_t i;

	for (i = 0; i < count && underlay.count < PROBE_SERVERS_MAX; i++) {
		const struct ip_address *address = &servers[i].address;
		bool link_local = address->family == IP_V6 && address->bytes[0] == 0xfe &&
				  (address->bytes[1] & 0xc0) == 0x80;

		if (servers[i].link &&
			(dns_is_ours(query->daemon->dns, servers[i].link) ||
				manager_has_interface(query->daemon->manager, servers[i].link)))
			continue;
		underlay.servers[underlay.count++] =
			(struct probe_server){ *address, link_local ? servers[i].link : 0 };
	}
	memcpy(underlay.search, query->search, sizeof(underlay.search));
	query->found(&underlay, query->user);
	query_free(query);
}

/* Of a tunnel whose names NetworkManager sets, it alone knows what was there before. */
static void manager_answered(const struct probe_server *servers, size_t count, void *user)
{
	struct underlay_query *query = user;
	struct underlay underlay = { .count = count };

	memcpy(underlay.servers, servers, count * sizeof(*servers));
	if (!count)
		add_original(&underlay, query->daemon);
	query->found(&underlay, query->user);
	query_free(query);
}

static struct underlay_query *query_new(
	struct daemon *daemon, void (*found)(const struct underlay *underlay, void *user), void *user)
{
	struct underlay_query *query = g_new0(struct underlay_query, 1);

	query->daemon = daemon;
	query->cancel = g_cancellable_new();
	query->found = found;
	query->user = user;
	return query;
}

struct underlay_query *underlay_find(
	struct daemon *daemon, void (*found)(const struct underlay *underlay, void *user), void *user)
{
	GDBusConnection *connection = bus_connection(daemon->bus);
	struct underlay underlay = { 0 };
	struct underlay_query *query;

	if (connection && dns_way(daemon->dns) != DNS_WAY_RESOLVED && manager_any_managed(daemon->manager)) {
		query = query_new(daemon, found, user);
		dns_manager_servers(connection, query->cancel, manager_answered, query);
		return query;
	}
	switch (dns_way(daemon->dns)) {
	case DNS_WAY_RESOLVED:
		if (!connection)
			break;
		query = query_new(daemon, found, user);
		add_file(&underlay, DNS_FILE_PATH);
		memcpy(query->search, underlay.search, sizeof(query->search));
		dns_resolved_servers(connection, query->cancel, resolved_answered, query);
		return query;
	case DNS_WAY_RESOLVCONF:
		if (dns_has(daemon->dns, DNS_WAY_RESOLVCONF))
			add_records(&underlay, daemon->dns);
		else
			add_file(&underlay, DNS_FILE_PATH);
		break;
	case DNS_WAY_NONE:
	case DNS_WAY_FILE:
		add_original(&underlay, daemon);
		break;
	}
	found(&underlay, user);
	return NULL;
}

void underlay_cancel(struct underlay_query *query)
{
	if (!query)
		return;
	g_cancellable_cancel(query->cancel);
	query_free(query);
}
