/* SPDX-License-Identifier: MIT */
/* See connection.h. */
#include "client/nm/connection.h"

#include "client/nm/map.h"
#include "client/nm/names.h"

#include <stdio.h>
#include <string.h>

#define PRIVATE_KEY "private-key"
#define FLAGS "-flags"
/* As NetworkManager has it for its own WireGuard tunnels that take everything: other servers are not asked.
 */
#define FULL_DNS_PRIORITY (-50)

/* ---- reading ---- */

struct entries {
	GArray *list;
	bool secret;
};

/* libnm lends a text for the call only. */
static void add_entry(const char *key, const char *value, gpointer user)
{
	struct entries *entries = user;
	struct nm_entry entry = { g_strdup(key), g_strdup(value ? value : ""), entries->secret };

	g_array_append_val(entries->list, entry);
}

static void free_entry(gpointer data)
{
	struct nm_entry *entry = data;

	explicit_bzero((char *)(uintptr_t)entry->value, strlen(entry->value));
	g_free((char *)(uintptr_t)entry->value);
	g_free((char *)(uintptr_t)entry->key);
}

bool connection_read(
	NMConnection *connection, bool complete, struct profile *out, struct profile_error *error)
{
	NMSettingVpn *setting = nm_connection_get_setting_vpn(connection);
	struct entries entries;
	bool ok;

	if (!setting || g_strcmp0(nm_setting_vpn_get_service_type(setting), NM_WGTCP_SERVICE) != 0) {
		snprintf(error->sentence, sizeof(error->sentence), "this is no connection of wgtcp");
		return false;
	}
	entries = (struct entries){ g_array_new(FALSE, FALSE, sizeof(struct nm_entry)), false };
	g_array_set_clear_func(entries.list, free_entry);
	nm_setting_vpn_foreach_data_item(setting, add_entry, &entries);
	entries.secret = true;
	nm_setting_vpn_foreach_secret(setting, add_entry, &entries);
	ok = nm_map_read(
		(const struct nm_entry *)(void *)entries.list->data, entries.list->len, complete, out, error);
	g_array_unref(entries.list);
	return ok;
}

/* ---- secrets ---- */

struct search {
	NMSettingVpn *setting;
	const char *missing;
};

static void look_at_item(const char *key, const char *value, gpointer user)
{
	struct search *search = user;
	size_t len = strlen(key), peer;
	char *name;

	if (search->missing || len <= strlen(FLAGS) || !g_str_has_suffix(key, FLAGS))
		return;
	name = g_strndup(key, len - strlen(FLAGS));
	if (nm_map_is_secret(name, &peer) && !nm_setting_vpn_get_secret(search->setting, name) &&
		!(g_ascii_strtoull(value, NULL, 10) & NM_SETTING_SECRET_FLAG_NOT_REQUIRED))
		search->missing = g_intern_string(name);
	g_free(name);
}

const char *connection_missing_secret(NMConnection *connection)
{
	struct search search = { nm_connection_get_setting_vpn(connection), NULL };

	if (!search.setting)
		return NULL;
	if (!nm_setting_vpn_get_secret(search.setting, PRIVATE_KEY))
		return PRIVATE_KEY;
	nm_setting_vpn_foreach_data_item(search.setting, look_at_item, &search);
	return search.missing;
}

/* ---- writing ---- */

struct writing {
	NMSettingVpn *setting;
	char *flags;
};

static bool write_entry(const char *key, const char *value, bool secret, void *user)
{
	struct writing *writing = user;
	char *flags_key;

	if (!secret) {
		nm_setting_vpn_add_data_item(writing->setting, key, value);
		return true;
	}
	flags_key = g_strconcat(key, FLAGS, NULL);
	nm_setting_vpn_add_secret(writing->setting, key, value);
	nm_setting_vpn_add_data_item(writing->setting, flags_key, writing->flags);
	g_free(flags_key);
	return true;
}

/* A preshared key that somebody else keeps, and that was not handed out to us, is still one. */
static void keep_unknown(const char *key, const char *value, gpointer user)
{
	struct writing *writing = user;
	size_t peer, len = strlen(key);
	char *name, public_key[NM_MAP_KEY_LEN];

	(void)value;
	if (!g_str_has_suffix(key, FLAGS))
		return;
	name = g_strndup(key, len - strlen(FLAGS));
	if (nm_map_is_secret(name, &peer) && peer != PROFILE_EDIT_INTERFACE) {
		nm_map_key("PublicKey", peer, public_key);
		if (nm_setting_vpn_get_data_item(writing->setting, public_key))
			nm_setting_vpn_add_data_item(writing->setting, key, writing->flags);
	}
	g_free(name);
}

bool connection_write(NMConnection *connection, const struct profile *profile, NMSettingSecretFlags flags)
{
	NMSettingVpn *before = nm_connection_get_setting_vpn(connection),
		     *setting = NM_SETTING_VPN(nm_setting_vpn_new());
	struct writing writing = { setting, g_strdup_printf("%u", (unsigned)flags) };
	bool ok;

	g_object_set(setting, NM_SETTING_VPN_SERVICE_TYPE, NM_WGTCP_SERVICE, NULL);
	nm_setting_vpn_add_data_item(setting, PRIVATE_KEY FLAGS, writing.flags);
	ok = nm_map_write(profile, write_entry, &writing);
	if (before) {
		if (flags != NM_SETTING_SECRET_FLAG_NONE)
			nm_setting_vpn_foreach_data_item(before, keep_unknown, &writing);
		g_object_set(setting, NM_SETTING_VPN_PERSISTENT, nm_setting_vpn_get_persistent(before),
			NM_SETTING_VPN_TIMEOUT, nm_setting_vpn_get_timeout(before), NM_SETTING_VPN_USER_NAME,
			nm_setting_vpn_get_user_name(before), NULL);
	}
	g_free(writing.flags);
	if (ok)
		nm_connection_add_setting(connection, NM_SETTING(setting));
	else
		g_object_unref(setting);
	return ok;
}

bool profile_takes_all(const struct profile *profile)
{
	size_t i, j;

	for (i = 0; i < profile->peer_count && profile->table == PROFILE_TABLE_AUTO; i++)
		for (j = 0; j < profile->peers[i].allowed_ip_count; j++)
			if (profile->peers[i].allowed_ips[j].bits == 0)
				return true;
	return false;
}

void connection_fit_ip(NMConnection *connection, const struct profile *profile)
{
	NMSettingIPConfig *v4 = nm_connection_get_setting_ip4_config(connection),
			  *v6 = nm_connection_get_setting_ip6_config(connection);
	bool all = profile_takes_all(profile);

	if (!v4) {
		v4 = NM_SETTING_IP_CONFIG(nm_setting_ip4_config_new());
		g_object_set(v4, NM_SETTING_IP_CONFIG_METHOD, NM_SETTING_IP4_CONFIG_METHOD_AUTO, NULL);
		nm_connection_add_setting(connection, NM_SETTING(v4));
	}
	if (!v6) {
		v6 = NM_SETTING_IP_CONFIG(nm_setting_ip6_config_new());
		g_object_set(v6, NM_SETTING_IP_CONFIG_METHOD, NM_SETTING_IP6_CONFIG_METHOD_AUTO, NULL);
		nm_connection_add_setting(connection, NM_SETTING(v6));
	}
	/* A route to the server beside the tunnel would let this machine's other packets to it go there,
	 * unsealed. */
	g_object_set(v4, NM_SETTING_IP_CONFIG_AUTO_ROUTE_EXT_GW, all ? NM_TERNARY_FALSE : NM_TERNARY_DEFAULT,
		NULL);
	g_object_set(v6, NM_SETTING_IP_CONFIG_AUTO_ROUTE_EXT_GW, all ? NM_TERNARY_FALSE : NM_TERNARY_DEFAULT,
		NULL);
	if (all && profile->dns_server_count) {
		if (!nm_setting_ip_config_get_dns_priority(v4))
			g_object_set(v4, NM_SETTING_IP_CONFIG_DNS_PRIORITY, FULL_DNS_PRIORITY, NULL);
		if (!nm_setting_ip_config_get_dns_priority(v6))
			g_object_set(v6, NM_SETTING_IP_CONFIG_DNS_PRIORITY, FULL_DNS_PRIORITY, NULL);
	}
}

NMConnection *connection_new(const struct profile *profile, const char *id)
{
	NMConnection *connection = nm_simple_connection_new();
	NMSetting *setting = nm_setting_connection_new();
	char *uuid = nm_utils_uuid_generate();

	/* It does not connect by itself unless somebody says so in NetworkManager. */
	g_object_set(setting, NM_SETTING_CONNECTION_ID, id, NM_SETTING_CONNECTION_UUID, uuid,
		NM_SETTING_CONNECTION_TYPE, NM_SETTING_VPN_SETTING_NAME, NM_SETTING_CONNECTION_AUTOCONNECT,
		FALSE, NULL);
	g_free(uuid);
	nm_connection_add_setting(connection, setting);
	if (!connection_write(connection, profile, NM_SETTING_SECRET_FLAG_NONE)) {
		g_object_unref(connection);
		return NULL;
	}
	connection_fit_ip(connection, profile);
	return connection;
}
