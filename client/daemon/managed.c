/* SPDX-License-Identifier: MIT */
/* Tunnels that another program (NetworkManager) has asked for with a profile of its own, and for which it
 * sets addresses, routes and DNS. What it can not set is set here: further addresses, for it knows one of
 * each family; and prefixes that hold a peer or everything, which need the tunnel's mark, table and rules.
 * Called by up.c, ways.c and manager.c. */
#include "client/daemon/tunnel_state.h"

#include "client/daemon/children.h"
#include "client/daemon/journal.h"
#include "client/daemon/manager_state.h"
#include "core/port/net_config.h"

#include <stdio.h>
#include <string.h>

void tunnel_take_given(struct tunnel *tunnel)
{
	tunnel->loaded = (struct loaded){ .profile = tunnel->given };
	snprintf(
		tunnel->loaded.path, sizeof(tunnel->loaded.path), "the connection in %s", tunnel->managed_by);
	explicit_bzero(&tunnel->given, sizeof(tunnel->given));
}

bool tunnel_leaves_address(const struct tunnel *tunnel, size_t index)
{
	const struct ip_prefix *addresses = tunnel->loaded.profile.addresses;
	size_t i;

	for (i = 0; i < index; i++)
		if (addresses[i].address.family == addresses[index].address.family)
			return false;
	return tunnel_is_managed(tunnel);
}

enum step_result tunnel_set_further_addresses(struct tunnel *tunnel)
{
	const struct profile *profile = &tunnel->loaded.profile;
	size_t i;

	for (i = 0; i < profile->address_count; i++) {
		const struct ip_prefix *prefix = &profile->addresses[i];
		char text[PREFIX_TEXT_LEN];
		int error;

		if (tunnel_leaves_address(tunnel, i))
			continue;
		error = net_address_add(
			tunnel->daemon->net, tunnel->backend->interface_index(tunnel->run), prefix);
		if (error == 0 || tunnel_means_no_ipv6(prefix, error))
			continue;
		rpc_error_set(&tunnel->failure, RPC_CODE_OTHER, "address %s cannot be set: %s",
			ip_prefix_write(prefix, text), strerror(-error));
		return tunnel_fail(tunnel, RPC_CAUSE_CONFIG);
	}
	return STEP_DONE;
}

bool tunnel_leaves_route(const struct tunnel *tunnel, const struct ip_prefix *prefix)
{
	return tunnel_is_managed(tunnel) && tunnel->loaded.profile.table == PROFILE_TABLE_AUTO &&
	       !tunnel_route_is_aside(tunnel, prefix);
}

struct rpc_texts tunnel_left_routes(const struct tunnel *tunnel)
{
	const struct profile *profile = &tunnel->loaded.profile;
	GPtrArray *list = g_ptr_array_new();
	struct rpc_texts texts;
	char text[PREFIX_TEXT_LEN];
	size_t i, j;

	for (i = 0; i < profile->peer_count && tunnel->phase != TUNNEL_DOWN; i++)
		for (j = 0; j < profile->peers[i].allowed_ip_count; j++)
			if (tunnel_leaves_route(tunnel, &profile->peers[i].allowed_ips[j]))
				g_ptr_array_add(list,
					g_strdup(ip_prefix_write(&profile->peers[i].allowed_ips[j], text)));
	texts.count = list->len;
	g_ptr_array_add(list, NULL);
	texts.items = (char **)g_ptr_array_free(list, FALSE);
	return texts;
}

/* A link's own address is made by the kernel, so it says nothing. */
static void take_address(const struct ip_prefix *address, void *user)
{
	bool *found = user;

	if (address->address.family == IP_V4 || address->address.bytes[0] != 0xfe ||
		(address->address.bytes[1] & 0xc0) != 0x80)
		*found = true;
}

bool tunnel_is_let_go(const struct tunnel *tunnel)
{
	bool found = false;

	return tunnel_is_managed(tunnel) && tunnel->run &&
	       (net_addresses_each(tunnel->daemon->net, tunnel->backend->interface_index(tunnel->run),
			take_address, &found) != 0 ||
		       !found);
}

/* ---- all of them ---- */

void manager_owner_gone(struct manager *manager, const struct client *client)
{
	GHashTableIter iter;
	gpointer value;
	bool any = false;

	g_hash_table_iter_init(&iter, manager->tunnels);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		struct rpc_error error = { 0 };

		if (tunnel_phase(value) == TUNNEL_DOWN || tunnel_owner(value) != client)
			continue;
		rpc_error_set(&error, RPC_CODE_OTHER, "%s, which had asked for it, is gone",
			tunnel_view(value)->managed_by);
		journal_say(manager->daemon->journal, JOURNAL_INFO, tunnel_name(value), "down: %s",
			error.message);
		tunnel_down(value, &error);
		rpc_error_free(&error);
		any = true;
	}
	if (any)
		manager_leftovers_changed(manager);
}

static void look_for_managed(struct tunnel *tunnel, void *user)
{
	bool *found = user;

	*found |= tunnel_is_managed(tunnel) && tunnel_phase(tunnel) != TUNNEL_DOWN;
}

bool manager_any_managed(const struct manager *manager)
{
	bool found = false;

	manager_each(manager, look_for_managed, &found);
	return found;
}

void manager_forget_managed(struct manager *manager)
{
	GHashTableIter iter;
	gpointer key, value;

	g_hash_table_iter_init(&iter, manager->tunnels);
	while (g_hash_table_iter_next(&iter, &key, &value)) {
		if (!tunnel_is_managed(value) || tunnel_phase(value) != TUNNEL_DOWN ||
			children_has(manager->daemon->children, key))
			continue;
		watch_tell_gone(manager->watch, key);
		g_hash_table_iter_remove(&iter);
	}
}

static gboolean forget(gpointer user)
{
	struct manager *manager = user;

	manager->forgetting = 0;
	manager_forget_managed(manager);
	return G_SOURCE_REMOVE;
}

void manager_forget_managed_later(struct manager *manager)
{
	if (!manager->forgetting)
		manager->forgetting = g_idle_add(forget, manager);
}
