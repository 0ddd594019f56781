/* SPDX-License-Identifier: MIT */
/* Used by surroundings.c. */
#include "client/daemon/on_demand.h"
#include "client/daemon/daemon.h"
#include "client/daemon/journal.h"
#include "client/daemon/manager.h"
#include "client/daemon/profiles.h"

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct on_demand {
	struct daemon *daemon;
	GHashTable *trusted; /* names of profiles that trusted the place before; of others that were looked
				at: absent */
	GHashTable *seen;
};

static bool is_hardware(const char *text, const uint8_t *hardware, size_t len)
{
	char written[3 * 16 + 1], *at = written;
	size_t i;

	for (i = 0; i < len; i++)
		at += sprintf(at, "%s%02x", i ? ":" : "", hardware[i]);
	*at = 0;
	return len && !g_ascii_strcasecmp(text, written);
}

static bool names_gateway(const char *text, const struct on_demand_place *place)
{
	struct ip_address address;
	bool numeric = ip_address_parse(text, strlen(text), &address);
	size_t i;

	for (i = 0; i < 2; i++)
		if ((numeric && place->gateways[i].family != IP_NONE &&
			    ip_address_equal(&address, &place->gateways[i])) ||
			is_hardware(text, place->hardware[i], place->hardware_len[i]))
			return true;
	return false;
}

bool on_demand_trusts(const struct profile_texts *list, const struct on_demand_place *place)
{
	size_t i;

	for (i = 0; i < list->count; i++) {
		const char *text = list->items[i];

		if ((place->ssid_len && strlen(text) == place->ssid_len &&
			    !memcmp(text, place->ssid, place->ssid_len)) ||
			names_gateway(text, place))
			return true;
	}
	return false;
}

static bool is_up(const struct manager *manager, const char *name)
{
	const struct tunnel *tunnel = manager_find(manager, name);

	return tunnel && tunnel_phase(tunnel) != TUNNEL_DOWN;
}

static void look_at(struct on_demand *on_demand, const char *name, const struct profile *profile,
	const struct on_demand_place *place)
{
	struct daemon *daemon = on_demand->daemon;
	bool trusts = on_demand_trusts(&profile->trusted_networks, place);
	bool before = g_hash_table_contains(on_demand->trusted, name);
	bool first = g_hash_table_add(on_demand->seen, g_strdup(name));

	if (trusts)
		g_hash_table_add(on_demand->trusted, g_strdup(name));
	else
		g_hash_table_remove(on_demand->trusted, name);
	if (trusts && !before && !first && is_up(daemon->manager, name)) {
		journal_say(daemon->journal, JOURNAL_INFO, name, "down: this network is trusted");
		tunnel_down(manager_find(daemon->manager, name), NULL);
		manager_leftovers_changed(daemon->manager);
	} else if (!trusts && (before || first) && profile->auto_connect && !is_up(daemon->manager, name)) {
		manager_auto_connect(daemon->manager, name, "AutoConnect: this network is not trusted");
	}
}

void on_demand_look(struct on_demand *on_demand, const struct on_demand_place *place)
{
	struct profile_file *files;
	size_t count, i;

	/* Between two networks nothing is known: what held before goes on. */
	if (!place->connected)
		return;
	count = profiles_list(on_demand->daemon->profiles, &files);
	for (i = 0; i < count; i++) {
		struct rpc_error error = { 0 };
		struct loaded loaded;

		if (!profiles_load(on_demand->daemon->profiles, files[i].name, &loaded, &error)) {
			rpc_error_free(&error);
			continue;
		}
		if (loaded.profile.trusted_networks.count)
			look_at(on_demand, files[i].name, &loaded.profile, place);
		loaded_free(&loaded);
	}
	free(files);
}

struct on_demand *on_demand_new(struct daemon *daemon)
{
	struct on_demand *on_demand = g_new0(struct on_demand, 1);

	on_demand->daemon = daemon;
	on_demand->trusted = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	on_demand->seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	return on_demand;
}

void on_demand_free(struct on_demand *on_demand)
{
	if (!on_demand)
		return;
	g_hash_table_unref(on_demand->trusted);
	g_hash_table_unref(on_demand->seen);
	g_free(on_demand);
}
