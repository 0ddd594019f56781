/* SPDX-License-Identifier: MIT */
/* See ip_config.h. Always never-default: for what takes everything the daemon has rules, for NetworkManager's
 * default route would need a route to the one gateway that it knows, and this tunnel has several that may
 * change. */
#include "client/nm/ip_config.h"

#include <NetworkManager.h>
#include <string.h>

/* As NetworkManager wants an IPv4 address: the bytes as they are. */
static GVariant *v4(const struct ip_address *address)
{
	guint32 number;

	memcpy(&number, address->bytes, sizeof(number));
	return g_variant_new_uint32(number);
}

static GVariant *v6(const struct ip_address *address)
{
	return g_variant_new_fixed_array(G_VARIANT_TYPE_BYTE, address->bytes, 16, 1);
}

static const struct ip_prefix *first_address(const struct profile *profile, enum ip_family family)
{
	for (size_t i = 0; i < profile->address_count; i++)
		if (profile->addresses[i].address.family == family)
			return &profile->addresses[i];
	return NULL;
}

/* Where the first peer is now. NetworkManager takes no tunnel without a gateway; one that only listens has
 * none, and then it is told of this machine itself. */
static void find_gateway(const struct rpc_tunnel *tunnel, struct ip_address *out)
{
	struct endpoint endpoint;

	*out = (struct ip_address){ .family = IP_V4, .bytes = { 127, 0, 0, 1 } };
	for (size_t i = 0; i < tunnel->peer_count; i++)
		if (endpoint_parse(tunnel->peers[i].endpoint, strlen(tunnel->peers[i].endpoint), &endpoint)) {
			*out = endpoint.address;
			return;
		}
}

GVariant *ip_config_generic(
	const struct profile *profile, const struct rpc_tunnel *tunnel, const char *banner)
{
	struct ip_address gateway;
	GVariantBuilder builder;

	find_gateway(tunnel, &gateway);
	g_variant_builder_init(&builder, G_VARIANT_TYPE_VARDICT);
	g_variant_builder_add(
		&builder, "{sv}", NM_VPN_PLUGIN_CONFIG_TUNDEV, g_variant_new_string(tunnel->interface));
	g_variant_builder_add(&builder, "{sv}", NM_VPN_PLUGIN_CONFIG_MTU, g_variant_new_uint32(tunnel->mtu));
	g_variant_builder_add(&builder, "{sv}", NM_VPN_PLUGIN_CONFIG_EXT_GATEWAY,
		gateway.family == IP_V4 ? v4(&gateway) : v6(&gateway));
	g_variant_builder_add(&builder, "{sv}", NM_VPN_PLUGIN_CONFIG_HAS_IP4,
		g_variant_new_boolean(first_address(profile, IP_V4) != NULL));
	g_variant_builder_add(&builder, "{sv}", NM_VPN_PLUGIN_CONFIG_HAS_IP6,
		g_variant_new_boolean(first_address(profile, IP_V6) != NULL));
	/* The daemon goes on by itself when this machine sleeps or is in another network. */
	g_variant_builder_add(&builder, "{sv}", NM_VPN_PLUGIN_CAN_PERSIST, g_variant_new_boolean(TRUE));
	if (banner)
		g_variant_builder_add(
			&builder, "{sv}", NM_VPN_PLUGIN_CONFIG_BANNER, g_variant_new_string(banner));
	return g_variant_builder_end(&builder);
}

static bool takes_all(const struct profile *profile)
{
	for (size_t i = 0; i < profile->peer_count && profile->table == PROFILE_TABLE_AUTO; i++)
		for (size_t j = 0; j < profile->peers[i].allowed_ip_count; j++)
			if (profile->peers[i].allowed_ips[j].bits == 0)
				return true;
	return false;
}

/* "~." is NetworkManager's and systemd's word for every name. As wg-quick has it, servers without domains
 * answer all. */
static void add_domains(GVariantBuilder *builder, const struct profile *profile)
{
	GVariantBuilder domains;

	if (!profile->dns_server_count)
		return;
	g_variant_builder_init(&domains, G_VARIANT_TYPE_STRING_ARRAY);
	for (size_t i = 0; i < profile->dns_domains.count; i++)
		g_variant_builder_add(&domains, "s", profile->dns_domains.items[i]);
	if (takes_all(profile) || !profile->dns_domains.count)
		g_variant_builder_add(&domains, "s", "~.");
	g_variant_builder_add(
		builder, "{sv}", NM_VPN_PLUGIN_IP4_CONFIG_DOMAINS, g_variant_builder_end(&domains));
}

static void add_dns(GVariantBuilder *builder, const struct profile *profile, enum ip_family family)
{
	GVariantBuilder servers;
	bool any = false;

	g_variant_builder_init(&servers, family == IP_V4 ? G_VARIANT_TYPE("au") : G_VARIANT_TYPE("aay"));
	for (size_t i = 0; i < profile->dns_server_count; i++) {
		const struct ip_address *server = &profile->dns_servers[i];

		if (server->family != family)
			continue;
		g_variant_builder_add_value(&servers, family == IP_V4 ? v4(server) : v6(server));
		any = true;
	}
	if (any)
		g_variant_builder_add(builder, "{sv}",
			family == IP_V4 ? NM_VPN_PLUGIN_IP4_CONFIG_DNS : NM_VPN_PLUGIN_IP6_CONFIG_DNS,
			g_variant_builder_end(&servers));
	else
		g_variant_builder_clear(&servers);
}

static void add_routes(GVariantBuilder *builder, enum ip_family family, const struct rpc_texts *routes)
{
	static const struct ip_address no_hop = { .family = IP_NONE };
	GVariantBuilder list;
	struct ip_prefix prefix;

	g_variant_builder_init(&list, family == IP_V4 ? G_VARIANT_TYPE("aau") : G_VARIANT_TYPE("a(ayuayu)"));
	for (size_t i = 0; i < routes->count; i++) {
		GVariantBuilder one;

		if (!ip_prefix_parse(routes->items[i], strlen(routes->items[i]), &prefix) ||
			prefix.address.family != family)
			continue;
		if (family == IP_V6) {
			g_variant_builder_add(&list, "(@ayu@ayu)", v6(&prefix.address), (guint32)prefix.bits,
				v6(&no_hop), (guint32)0);
			continue;
		}
		g_variant_builder_init(&one, G_VARIANT_TYPE("au"));
		g_variant_builder_add_value(&one, v4(&prefix.address));
		g_variant_builder_add(&one, "u", (guint32)prefix.bits);
		g_variant_builder_add(&one, "u", (guint32)0);
		g_variant_builder_add(&one, "u", (guint32)0);
		g_variant_builder_add_value(&list, g_variant_builder_end(&one));
	}
	g_variant_builder_add(builder, "{sv}",
		family == IP_V4 ? NM_VPN_PLUGIN_IP4_CONFIG_ROUTES : NM_VPN_PLUGIN_IP6_CONFIG_ROUTES,
		g_variant_builder_end(&list));
}

/* Addresses of the link's own, which lead nowhere. */
static const struct ip_prefix placeholders[] = {
	{ .address = { .family = IP_V4, .bytes = { 169, 254, 119, 103 } }, .bits = 32 },
	{ .address = { .family = IP_V6, .bytes = { 0xfe, 0x80, [14] = 0x77, [15] = 0x67 } }, .bits = 128 },
};

GVariant *ip_config_family(
	const struct profile *profile, enum ip_family family, const struct rpc_texts *routes)
{
	const struct ip_prefix *address = first_address(profile, family);
	GVariantBuilder builder;

	if (!address)
		return NULL;
	if (!routes)
		address = &placeholders[family == IP_V6];
	g_variant_builder_init(&builder, G_VARIANT_TYPE_VARDICT);
	g_variant_builder_add(&builder, "{sv}", NM_VPN_PLUGIN_IP4_CONFIG_ADDRESS,
		family == IP_V4 ? v4(&address->address) : v6(&address->address));
	g_variant_builder_add(
		&builder, "{sv}", NM_VPN_PLUGIN_IP4_CONFIG_PREFIX, g_variant_new_uint32(address->bits));
	g_variant_builder_add(
		&builder, "{sv}", NM_VPN_PLUGIN_IP4_CONFIG_NEVER_DEFAULT, g_variant_new_boolean(TRUE));
	add_dns(&builder, profile, family);
	add_domains(&builder, profile);
	if (routes)
		add_routes(&builder, family, routes);
	return g_variant_builder_end(&builder);
}
