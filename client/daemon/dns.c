/* SPDX-License-Identifier: MIT */
/* Used by up_dns.c (a tunnel's step) and main.c. */
#include "client/daemon/dns.h"
#include "client/daemon/bus.h"
#include "client/daemon/children.h"
#include "client/daemon/daemon.h"
#include "client/daemon/dns_file.h"
#include "client/daemon/dns_machine.h"
#include "client/daemon/dns_resolved.h"
#include "client/daemon/file.h"
#include "client/daemon/journal.h"
#include "client/daemon/resolvconf.h"
#include "client/rpc/types.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Interfaces for which resolvconf holds something of ours, one a line. */
#define RESOLVCONF_FILE "resolvconf"
#define RESOLVCONF_FILE_MAX 8192
/* Somebody else writes resolv.conf again and again: then we do not fight over it. */
#define REWRITES_MAX 10
#define REWRITES_S 60

struct entry {
	struct dns *dns;
	char interface[16];
	uint32_t index;
	struct ip_address *servers;
	size_t server_count;
	struct profile_texts domains;
	bool all;
	enum dns_way way; /* in force, or being tried */
	GCancellable *cancel;
	uint32_t child;                                /* resolvconf under way */
	void (*done)(const char *warning, void *user); /* NULL: it is settled */
	void *user;
};

struct dns {
	struct daemon *daemon;
	GPtrArray *entries; /* the newest last */
	GFileMonitor *monitor;
	guint rewrites;
	gint64 rewrites_since_us;
};

static void try_file(struct entry *entry);

enum dns_way dns_way(const struct dns *dns)
{
	guint i;

	/* What a tunnel of ours was set by is known to work. */
	for (i = 0; i < dns->entries->len; i++) {
		const struct entry *entry = g_ptr_array_index(dns->entries, i);

		if (!entry->done && entry->way != DNS_WAY_NONE)
			return entry->way;
	}
	if (bus_connection(dns->daemon->bus) && dns_machine_has_resolved())
		return DNS_WAY_RESOLVED;
	switch (resolvconf_kind("")) {
	case RESOLVCONF_OPENRESOLV:
	case RESOLVCONF_DEBIAN:
		return DNS_WAY_RESOLVCONF;
	case RESOLVCONF_NONE:
	case RESOLVCONF_SYSTEMD:
		break;
	}
	return DNS_WAY_FILE;
}

bool dns_has(const struct dns *dns, enum dns_way way)
{
	guint i;

	for (i = 0; i < dns->entries->len; i++)
		if (((const struct entry *)g_ptr_array_index(dns->entries, i))->way == way)
			return true;
	return false;
}

bool dns_is_ours(const struct dns *dns, uint32_t link)
{
	guint i;

	for (i = 0; i < dns->entries->len; i++)
		if (((const struct entry *)g_ptr_array_index(dns->entries, i))->index == link)
			return true;
	return false;
}

/* ---- entries ---- */

static struct dns_servers servers_of(const struct entry *entry)
{
	return (struct dns_servers){ entry->servers, entry->server_count, &entry->domains };
}

static struct entry *find(const struct dns *dns, const char *interface)
{
	guint i;

	for (i = 0; i < dns->entries->len; i++) {
		struct entry *entry = g_ptr_array_index(dns->entries, i);

		if (!strcmp(entry->interface, interface))
			return entry;
	}
	return NULL;
}

static void entry_free(gpointer data)
{
	struct entry *entry = data;
	size_t i;

	bus_forget(entry->dns->daemon->bus, entry);
	g_cancellable_cancel(entry->cancel);
	g_object_unref(entry->cancel);
	if (entry->child)
		children_forget(entry->dns->daemon->children, entry->child);
	for (i = 0; i < entry->domains.count; i++)
		g_free(entry->domains.items[i]);
	g_free(entry->domains.items);
	g_free(entry->servers);
	g_free(entry);
}

static void settle(struct entry *entry, const char *warning)
{
	void (*done)(const char *, void *) = entry->done;

	entry->done = NULL;
	if (done)
		done(warning, entry->user);
}

/* ---- resolv.conf itself ---- */

/* The newest that is set there. */
static struct entry *newest_of_file(const struct dns *dns)
{
	guint i;

	for (i = dns->entries->len; i > 0; i--) {
		struct entry *entry = g_ptr_array_index(dns->entries, i - 1);

		if (entry->way == DNS_WAY_FILE)
			return entry;
	}
	return NULL;
}

static void stop_watching(struct dns *dns)
{
	if (!dns->monitor)
		return;
	g_signal_handlers_disconnect_by_data(dns->monitor, dns);
	g_file_monitor_cancel(dns->monitor);
	g_clear_object(&dns->monitor);
}

/* A DHCP client has written there, say, in a new network: that is what comes back later; ours goes in its
 * place. */
static void file_changed(
	GFileMonitor *monitor, GFile *file, GFile *other, GFileMonitorEvent event, gpointer user)
{
	struct dns *dns = user;
	struct entry *entry = newest_of_file(dns);
	gint64 now = g_get_monotonic_time();
	struct dns_servers servers;
	bool was_there;

	(void)monitor;
	(void)file;
	(void)other;
	(void)event;
	if (!entry || dns_file_is_ours(DNS_FILE_PATH))
		return;
	if (now - dns->rewrites_since_us > REWRITES_S * G_USEC_PER_SEC) {
		dns->rewrites_since_us = now;
		dns->rewrites = 0;
	}
	if (++dns->rewrites > REWRITES_MAX) {
		if (dns->rewrites == REWRITES_MAX + 1)
			journal_say(dns->daemon->journal, JOURNAL_WARNING, entry->interface,
				"another program writes " DNS_FILE_PATH
				" again and again: it is left alone for a while");
		return;
	}
	servers = servers_of(entry);
	if (dns_file_set(dns->daemon->state_handle, DNS_FILE_PATH, entry->interface, &servers, &was_there) ==
		0)
		journal_say(dns->daemon->journal, JOURNAL_INFO, entry->interface,
			"another program wrote " DNS_FILE_PATH ": the tunnel's DNS was set there again");
}

static void start_watching(struct dns *dns)
{
	GFile *file;

	if (dns->monitor)
		return;
	file = g_file_new_for_path(DNS_FILE_PATH);
	dns->monitor = g_file_monitor_file(file, G_FILE_MONITOR_NONE, NULL, NULL);
	g_object_unref(file);
	if (dns->monitor)
		g_signal_connect(dns->monitor, "changed", G_CALLBACK(file_changed), dns);
}

static void explain_file(int error, char *out, size_t size)
{
	switch (error) {
	case -EPERM:
	case -EACCES:
		snprintf(out, size,
			DNS_FILE_PATH " can not be changed (is it immutable? `lsattr " DNS_FILE_PATH
				      "`), so names are looked up where they were before");
		return;
	case -ENOENT:
		snprintf(out, size,
			DNS_FILE_PATH
			" is missing, or a link that leads nowhere, so the profile's DNS is not used");
		return;
	default:
		snprintf(out, size,
			DNS_FILE_PATH " can not be changed: %s: names are looked up where they were before",
			g_strerror(-error));
	}
}

static void try_file(struct entry *entry)
{
	struct dns *dns = entry->dns;
	struct dns_servers servers = servers_of(entry);
	char warning[RPC_SENTENCE_LEN];
	bool was_there = true;
	int error;

	entry->way = DNS_WAY_FILE;
	error = dns_file_set(
		dns->daemon->state_handle, DNS_FILE_PATH, entry->interface, &servers, &was_there);
	if (error) {
		entry->way = DNS_WAY_NONE;
		explain_file(error, warning, sizeof(warning));
		settle(entry, warning);
		return;
	}
	start_watching(dns);
	settle(entry, was_there ? NULL
				: DNS_FILE_PATH
			      " was missing: one stands there for as long as the tunnel is up");
}

static void unset_file(struct dns *dns)
{
	struct entry *next = newest_of_file(dns);
	enum dns_file_restored restored;
	struct dns_servers servers;
	bool was_there;
	int error;

	if (next) {
		servers = servers_of(next);
		dns_file_set(dns->daemon->state_handle, DNS_FILE_PATH, next->interface, &servers, &was_there);
		return;
	}
	stop_watching(dns);
	error = dns_file_restore(dns->daemon->state_handle, &restored);
	if (error)
		journal_say(dns->daemon->journal, JOURNAL_ERROR, NULL,
			DNS_FILE_PATH " can not be put back: %s: what was there is in %s/" DNS_FILE_BACKUP,
			g_strerror(-error), dns->daemon->state_folder);
	else if (restored == DNS_FILE_CHANGED)
		journal_say(dns->daemon->journal, JOURNAL_INFO, NULL,
			"another program has written " DNS_FILE_PATH " since, and what it wrote stays");
}

/* ---- resolvconf ---- */

/* Which interfaces it holds something for, so that the next daemon knows. */
static void note_resolvconf(struct dns *dns)
{
	GString *text = g_string_new(NULL);
	guint i;

	for (i = 0; i < dns->entries->len; i++) {
		const struct entry *entry = g_ptr_array_index(dns->entries, i);

		if (entry->way == DNS_WAY_RESOLVCONF)
			g_string_append_printf(text, "%s\n", entry->interface);
	}
	if (text->len)
		file_write(dns->daemon->state_handle, RESOLVCONF_FILE, text->str, text->len, 0600);
	else
		unlinkat(dns->daemon->state_handle, RESOLVCONF_FILE, 0);
	g_string_free(text, TRUE);
}

static void resolvconf_exited(int error, void *user)
{
	struct entry *entry = user;

	entry->child = 0;
	if (!error) {
		settle(entry, NULL);
		return;
	}
	journal_say(entry->dns->daemon->journal, JOURNAL_WARNING, entry->interface,
		"resolvconf failed, so " DNS_FILE_PATH " is set without it");
	children_start_resolvconf(entry->dns->daemon->children, entry->interface, false, "", NULL, NULL);
	try_file(entry);
	note_resolvconf(entry->dns);
}

static bool try_resolvconf(struct entry *entry)
{
	struct dns *dns = entry->dns;
	struct dns_servers servers = servers_of(entry);
	char *text;

	switch (resolvconf_kind("")) {
	case RESOLVCONF_OPENRESOLV:
	case RESOLVCONF_DEBIAN:
		break;
	case RESOLVCONF_NONE:
	case RESOLVCONF_SYSTEMD: /* only another way to resolved, which has been tried */
		return false;
	}
	text = dns_text_write(NULL, &servers, NULL);
	if (!text)
		return false;
	entry->way = DNS_WAY_RESOLVCONF;
	note_resolvconf(dns);
	entry->child = children_start_resolvconf(
		dns->daemon->children, entry->interface, true, text, resolvconf_exited, entry);
	free(text);
	if (!entry->child) {
		entry->way = DNS_WAY_NONE;
		note_resolvconf(dns);
	}
	return entry->child != 0;
}

static void without_resolved(struct entry *entry)
{
	if (!try_resolvconf(entry))
		try_file(entry);
}

/* ---- systemd-resolved ---- */

static void resolved_answered(const char *why, void *user)
{
	struct entry *entry = user;

	if (!why) {
		settle(entry, NULL);
		return;
	}
	journal_say(entry->dns->daemon->journal, JOURNAL_WARNING, entry->interface,
		"systemd-resolved does not take the profile's DNS: %s", why);
	entry->way = DNS_WAY_NONE;
	without_resolved(entry);
}

static void bus_tried(void *user)
{
	struct entry *entry = user;
	GDBusConnection *connection = bus_connection(entry->dns->daemon->bus);
	struct dns_servers servers = servers_of(entry);

	if (!connection || !dns_machine_has_resolved()) {
		without_resolved(entry);
		return;
	}
	entry->way = DNS_WAY_RESOLVED;
	dns_resolved_set(
		connection, entry->index, &servers, entry->all, entry->cancel, resolved_answered, entry);
}

/* ---- for everybody ---- */

void dns_set(struct dns *dns, const struct dns_settings *settings,
	void (*done)(const char *warning, void *user), void *user)
{
	struct entry *entry = g_new0(struct entry, 1);
	size_t i;

	dns_unset(dns, settings->interface);
	entry->dns = dns;
	g_strlcpy(entry->interface, settings->interface, sizeof(entry->interface));
	entry->index = settings->index;
	entry->all = settings->all;
	entry->servers =
		g_memdup2(settings->dns.servers, settings->dns.server_count * sizeof(*entry->servers));
	entry->server_count = settings->dns.server_count;
	entry->domains.items = g_new0(char *, settings->dns.domains->count + 1);
	for (i = 0; i < settings->dns.domains->count; i++)
		entry->domains.items[entry->domains.count++] = g_strdup(settings->dns.domains->items[i]);
	entry->cancel = g_cancellable_new();
	entry->done = done;
	entry->user = user;
	g_ptr_array_add(dns->entries, entry);
	bus_when_tried(dns->daemon->bus, bus_tried, entry);
}

void dns_unset(struct dns *dns, const char *interface)
{
	struct entry *entry = find(dns, interface);
	GDBusConnection *connection = bus_connection(dns->daemon->bus);
	enum dns_way way;
	uint32_t index;

	if (!entry)
		return;
	way = entry->way;
	index = entry->index;
	g_ptr_array_remove(dns->entries, entry);
	switch (way) {
	case DNS_WAY_NONE:
		return;
	case DNS_WAY_RESOLVED:
		if (connection)
			dns_resolved_revert(connection, index);
		return;
	case DNS_WAY_RESOLVCONF:
		children_start_resolvconf(dns->daemon->children, interface, false, "", NULL, NULL);
		note_resolvconf(dns);
		return;
	case DNS_WAY_FILE:
		unset_file(dns);
		return;
	}
}

/* What a daemon left that was killed. Links that resolved knew have gone with their engines. */
static void clean_up(struct dns *dns)
{
	struct daemon *daemon = dns->daemon;
	enum dns_file_restored restored = DNS_FILE_NONE_HELD;
	char *text, *line, *rest = NULL;
	struct stat info;
	size_t len;
	int error = dns_file_restore(daemon->state_handle, &restored);

	if (error)
		journal_say(daemon->journal, JOURNAL_ERROR, NULL,
			DNS_FILE_PATH " can not be put back: %s: what was there is in %s/" DNS_FILE_BACKUP,
			g_strerror(-error), daemon->state_folder);
	else if (restored == DNS_FILE_RESTORED)
		journal_say(daemon->journal, JOURNAL_INFO, NULL,
			"put back the " DNS_FILE_PATH " that the last daemon had replaced");
	if (file_read(daemon->state_handle, RESOLVCONF_FILE, RESOLVCONF_FILE_MAX, &text, &len, &info) != 0)
		return;
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		children_start_resolvconf(daemon->children, line, false, "", NULL, NULL);
		journal_say(daemon->journal, JOURNAL_INFO, line,
			"took back the DNS that the last daemon had set");
	}
	file_free(text, len);
	unlinkat(daemon->state_handle, RESOLVCONF_FILE, 0);
}

struct dns *dns_new(struct daemon *daemon)
{
	struct dns *dns = g_new0(struct dns, 1);

	dns->daemon = daemon;
	dns->entries = g_ptr_array_new_with_free_func(entry_free);
	clean_up(dns);
	return dns;
}

void dns_free(struct dns *dns)
{
	if (!dns)
		return;
	while (dns->entries->len)
		dns_unset(dns, ((struct entry *)g_ptr_array_index(dns->entries, 0))->interface);
	stop_watching(dns);
	g_ptr_array_unref(dns->entries);
	g_free(dns);
}
