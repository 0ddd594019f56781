/* SPDX-License-Identifier: MIT */
/* Every key of a profile, in the order in which it is written.
 * Source: wg-quick(8), wg(8); our keys: wgtcp-profile(5). */
#include "core/config/keys.h"

#include "core/base/text.h"
#include "core/config/error.h"
#include "core/config/name.h"
#include "core/config/values.h"

#include <string.h>

static bool read_private_key(struct profile_reading *reading, const char *value, size_t len)
{
	return profile_value_key(reading, value, len, reading->profile->private_key);
}

static bool one_address(struct profile_reading *reading, const char *value, size_t len)
{
	struct ip_prefix prefix;

	if (!profile_value_prefix(reading, value, len, &prefix))
		return false;
	return profile_add_address(reading->profile, &prefix) || profile_value_no_memory(reading, value);
}

static bool read_address(struct profile_reading *reading, const char *value, size_t len)
{
	return profile_value_list(reading, value, len, false, one_address);
}

/* An address is a server, anything else a search domain; "~" before a domain is systemd's "only for names
 * below it". */
static bool one_dns(struct profile_reading *reading, const char *value, size_t len)
{
	struct ip_address server;
	size_t tilde = value[0] == '~';
	bool digits = true;
	char quote[PROFILE_QUOTE_LEN];

	if (ip_address_parse(value, len, &server))
		return profile_add_dns_server(reading->profile, &server) ||
		       profile_value_no_memory(reading, value);
	for (size_t i = 0; i < len; i++)
		digits = digits && (value[i] == '.' || (value[i] >= '0' && value[i] <= '9'));
	if (digits || !(text_equal(value, len, "~.") || profile_domain_valid(value + tilde, len - tilde)))
		return profile_value_fail(reading, value,
			"DNS has \"%s\", which is neither an IP address nor a search domain: write it as in "
			"DNS = %s",
			profile_quote(value, len, quote), reading->key->example);
	return profile_add_text(&reading->profile->dns_domains, value, len) ||
	       profile_value_no_memory(reading, value);
}

static bool read_dns(struct profile_reading *reading, const char *value, size_t len)
{
	return profile_value_list(reading, value, len, false, one_dns);
}

static bool read_port(
	struct profile_reading *reading, const char *value, size_t len, bool *has, uint16_t *out)
{
	uint32_t port;

	if (!profile_value_number(reading, value, len, 0, UINT16_MAX, &port))
		return false;
	*has = true;
	*out = (uint16_t)port;
	return true;
}

static bool read_listen_port(struct profile_reading *reading, const char *value, size_t len)
{
	return read_port(
		reading, value, len, &reading->profile->has_listen_port, &reading->profile->listen_port);
}

static bool read_tcp_listen_port(struct profile_reading *reading, const char *value, size_t len)
{
	return read_port(reading, value, len, &reading->profile->has_tcp_listen_port,
		&reading->profile->tcp_listen_port);
}

static bool read_mtu(struct profile_reading *reading, const char *value, size_t len)
{
	return profile_value_number(reading, value, len, 576, 65535, &reading->profile->mtu);
}

static bool read_fwmark(struct profile_reading *reading, const char *value, size_t len)
{
	return profile_value_number_or_off(reading, value, len, UINT32_MAX, &reading->profile->fwmark);
}

/* The three tables that every kernel has by name; others have names only in a file of the system. */
static bool read_table(struct profile_reading *reading, const char *value, size_t len)
{
	static const struct {
		const char *name;
		uint32_t number;
	} names[] = { { "default", 253 }, { "main", 254 }, { "local", 255 } };
	struct profile *profile = reading->profile;
	char quote[PROFILE_QUOTE_LEN];

	if (text_equal_nocase(value, len, "auto") || text_equal_nocase(value, len, "off")) {
		profile->table =
			text_equal_nocase(value, len, "off") ? PROFILE_TABLE_OFF : PROFILE_TABLE_AUTO;
		return true;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!text_equal(value, len, names[i].name))
			continue;
		profile->table = PROFILE_TABLE_NUMBER;
		profile->table_number = names[i].number;
		return true;
	}
	if (!profile_value_number_or_off(reading, value, len, UINT32_MAX, &profile->table_number) ||
		profile->table_number == 0)
		return profile_value_fail(reading, value,
			"Table is \"%s\", but must be auto, off or a number from 1 to %u: write the table's "
			"number instead of its name",
			profile_quote(value, len, quote), UINT32_MAX);
	profile->table = PROFILE_TABLE_NUMBER;
	return true;
}

static bool read_hook(struct profile_reading *reading, const char *value, size_t len, enum profile_hook hook)
{
	return profile_add_text(&reading->profile->hooks[hook], value, len) ||
	       profile_value_no_memory(reading, value);
}

static bool read_pre_up(struct profile_reading *reading, const char *value, size_t len)
{
	return read_hook(reading, value, len, PROFILE_PRE_UP);
}

static bool read_post_up(struct profile_reading *reading, const char *value, size_t len)
{
	return read_hook(reading, value, len, PROFILE_POST_UP);
}

static bool read_pre_down(struct profile_reading *reading, const char *value, size_t len)
{
	return read_hook(reading, value, len, PROFILE_PRE_DOWN);
}

static bool read_post_down(struct profile_reading *reading, const char *value, size_t len)
{
	return read_hook(reading, value, len, PROFILE_POST_DOWN);
}

static bool read_save_config(struct profile_reading *reading, const char *value, size_t len)
{
	return profile_value_switch(reading, value, len, &reading->profile->save_config);
}

static bool read_transport(struct profile_reading *reading, const char *value, size_t len)
{
	static const char *const names[] = {
		[TRANSPORT_AUTO] = "auto", [TRANSPORT_UDP] = "udp", [TRANSPORT_TCP] = "tcp"
	};
	size_t found;

	if (!profile_value_word(reading, value, len, names, 3, &found))
		return false;
	if (reading->peer) {
		reading->peer->has_transport = true;
		reading->peer->transport = (enum transport)found;
	} else {
		reading->profile->transport = (enum transport)found;
	}
	return true;
}

static bool read_backend(struct profile_reading *reading, const char *value, size_t len)
{
	static const char *const names[] = { [PROFILE_BACKEND_AUTO] = "auto",
		[PROFILE_BACKEND_KERNEL] = "kernel",
		[PROFILE_BACKEND_USERSPACE] = "userspace" };
	size_t found;

	if (!profile_value_word(reading, value, len, names, 3, &found))
		return false;
	reading->profile->backend = (enum profile_backend)found;
	return true;
}

static bool read_fallback_profile(struct profile_reading *reading, const char *value, size_t len)
{
	char quote[PROFILE_QUOTE_LEN];

	if (!profile_name_parse(value, len, reading->profile->fallback_profile))
		return profile_value_fail(reading, value,
			"FallbackProfile is \"%s\", which cannot be a profile's name: 1 to 15 letters, "
			"digits and _=+.- as `list` shows it",
			profile_quote(value, len, quote));
	return true;
}

static bool read_kill_switch(struct profile_reading *reading, const char *value, size_t len)
{
	return profile_value_switch(reading, value, len, &reading->profile->kill_switch);
}

static bool read_kill_switch_lan(struct profile_reading *reading, const char *value, size_t len)
{
	return profile_value_switch(reading, value, len, &reading->profile->kill_switch_lan);
}

static bool read_auto_connect(struct profile_reading *reading, const char *value, size_t len)
{
	return profile_value_switch(reading, value, len, &reading->profile->auto_connect);
}

static bool read_speed_test_server(struct profile_reading *reading, const char *value, size_t len)
{
	return profile_value_switch(reading, value, len, &reading->profile->speed_test_server);
}

static bool read_extensions(struct profile_reading *reading, const char *value, size_t len)
{
	return profile_value_switch(reading, value, len, &reading->profile->extensions);
}

static bool one_network(struct profile_reading *reading, const char *value, size_t len)
{
	return profile_add_text(&reading->profile->trusted_networks, value, len) ||
	       profile_value_no_memory(reading, value);
}

static bool read_trusted_networks(struct profile_reading *reading, const char *value, size_t len)
{
	return profile_value_list(reading, value, len, true, one_network);
}

/* An address whose answer tells a portal from the open network. */
static bool read_portal_check(struct profile_reading *reading, const char *value, size_t len)
{
	char quote[PROFILE_QUOTE_LEN];
	size_t scheme = len > 8 && !memcmp(value, "https://", 8)  ? 8
			: len > 7 && !memcmp(value, "http://", 7) ? 7
								  : 0;
	size_t i;

	for (i = 0; i < len && value[i] > ' ' && value[i] <= '~'; i++)
		;
	if (!scheme || i < len || len >= sizeof(reading->profile->portal_check) || value[scheme] == '/')
		return profile_value_fail(reading, value,
			"PortalCheck is \"%s\", which is no web address: write one that answers with status "
			"204, "
			"as http://vpn.example.com/generate_204, or leave it out",
			profile_quote(value, len, quote));
	memcpy(reading->profile->portal_check, value, len);
	reading->profile->portal_check[len] = 0;
	return true;
}

static bool read_public_key(struct profile_reading *reading, const char *value, size_t len)
{
	static const uint8_t nobody[PROFILE_KEY_LEN];

	if (!profile_value_key(reading, value, len, reading->peer->public_key))
		return false;
	/* A point that any key agrees with (RFC 7748 section 6.1). */
	if (memcmp(reading->peer->public_key, nobody, sizeof(nobody)) == 0)
		return profile_value_fail(reading, value,
			"PublicKey is a key of zeros, which nobody has: take the one that `wg show INTERFACE "
			"public-key` "
			"tells at the peer");
	return true;
}

static bool read_preshared_key(struct profile_reading *reading, const char *value, size_t len)
{
	if (!profile_value_key(reading, value, len, reading->peer->preshared_key))
		return false;
	reading->peer->has_preshared_key = true;
	return true;
}

static bool one_allowed_ip(struct profile_reading *reading, const char *value, size_t len)
{
	struct ip_prefix prefix;

	if (!profile_value_prefix(reading, value, len, &prefix))
		return false;
	return profile_add_allowed_ip(reading->peer, &prefix) || profile_value_no_memory(reading, value);
}

static bool read_allowed_ips(struct profile_reading *reading, const char *value, size_t len)
{
	return profile_value_list(reading, value, len, false, one_allowed_ip);
}

static bool read_endpoint(struct profile_reading *reading, const char *value, size_t len)
{
	return profile_value_host(reading, value, len, &reading->peer->endpoint);
}

static bool one_tcp_endpoint(struct profile_reading *reading, const char *value, size_t len)
{
	struct profile_peer *peer = reading->peer;

	if (peer->tcp_endpoint_count == PROFILE_ENDPOINTS_MAX)
		return profile_value_fail(reading, value,
			"the peer has more than %d TcpEndpoints: keep the best %d and delete the rest",
			PROFILE_ENDPOINTS_MAX, PROFILE_ENDPOINTS_MAX);
	if (!profile_value_host(reading, value, len, &peer->tcp_endpoints[peer->tcp_endpoint_count]))
		return false;
	peer->tcp_endpoint_count++;
	return true;
}

static bool read_tcp_endpoint(struct profile_reading *reading, const char *value, size_t len)
{
	return profile_value_list(reading, value, len, false, one_tcp_endpoint);
}

static bool one_udp_port(struct profile_reading *reading, const char *value, size_t len)
{
	struct profile_peer *peer = reading->peer;
	uint32_t port;

	if (!profile_value_number(reading, value, len, 1, UINT16_MAX, &port))
		return false;
	if (peer->udp_port_count == PROFILE_PORTS_MAX)
		return profile_value_fail(reading, value,
			"the peer has more than %d UdpPorts: keep the best %d and delete the rest",
			PROFILE_PORTS_MAX, PROFILE_PORTS_MAX);
	peer->udp_ports[peer->udp_port_count++] = (uint16_t)port;
	return true;
}

static bool read_udp_ports(struct profile_reading *reading, const char *value, size_t len)
{
	return profile_value_list(reading, value, len, false, one_udp_port);
}

static bool read_keepalive(struct profile_reading *reading, const char *value, size_t len)
{
	uint32_t seconds;

	if (!profile_value_number_or_off(reading, value, len, UINT16_MAX, &seconds))
		return false;
	reading->peer->keepalive_s = (uint16_t)seconds;
	return true;
}

static bool read_probe_address(struct profile_reading *reading, const char *value, size_t len)
{
	char quote[PROFILE_QUOTE_LEN];

	if (!ip_address_parse(value, len, &reading->peer->probe_address))
		return profile_value_fail(reading, value,
			"ProbeAddress is \"%s\", but must be the IP address of a host inside the tunnel: for "
			"example ProbeAddress = %s",
			profile_quote(value, len, quote), reading->key->example);
	return true;
}

#define I PROFILE_IN_INTERFACE
#define P PROFILE_IN_PEER
#define LIST PROFILE_KEY_LIST
#define HOOK PROFILE_KEY_HOOK
#define SECRET PROFILE_KEY_SECRET
const struct profile_key profile_keys[] = {
	{ "PrivateKey", I, SECRET, "a key from wgtcp-cli genkey", read_private_key },
	{ "Address", I, LIST, "10.0.0.2/24, fd00::2/64", read_address },
	{ "DNS", I, LIST, "10.0.0.1, corp.example", read_dns },
	{ "ListenPort", I, 0, "51820", read_listen_port },
	{ "MTU", I, 0, "1420", read_mtu },
	{ "FwMark", I, 0, "0xca6c", read_fwmark },
	{ "Table", I, 0, "auto", read_table },
	{ "PreUp", I, HOOK, "a command", read_pre_up },
	{ "PostUp", I, HOOK, "a command", read_post_up },
	{ "PreDown", I, HOOK, "a command", read_pre_down },
	{ "PostDown", I, HOOK, "a command", read_post_down },
	{ "SaveConfig", I, 0, "false", read_save_config },
	{ "Backend", I, 0, "auto", read_backend },
	{ "TcpListenPort", I, 0, "443", read_tcp_listen_port },
	{ "FallbackProfile", I, 0, "office-tcp", read_fallback_profile },
	{ "KillSwitch", I, 0, "on", read_kill_switch },
	{ "KillSwitchAllowLan", I, 0, "on", read_kill_switch_lan },
	{ "AutoConnect", I, 0, "on", read_auto_connect },
	{ "SpeedTestServer", I, 0, "on", read_speed_test_server },
	{ "Extensions", I, 0, "off", read_extensions },
	{ "TrustedNetworks", I, LIST, "Home, Office", read_trusted_networks },
	{ "PortalCheck", I, 0, "http://vpn.example.com/generate_204", read_portal_check },
	{ "Transport", I | P, 0, "auto", read_transport },
	{ "PublicKey", P, 0, "the peer's public key", read_public_key },
	{ "PresharedKey", P, SECRET, "a key from wgtcp-cli genpsk", read_preshared_key },
	{ "AllowedIPs", P, LIST, "10.0.0.0/24, fd00::/64", read_allowed_ips },
	{ "Endpoint", P, 0, "vpn.example.com:51820", read_endpoint },
	{ "TcpEndpoint", P, LIST, "vpn.example.com:443", read_tcp_endpoint },
	{ "UdpPorts", P, LIST, "53, 443", read_udp_ports },
	{ "PersistentKeepalive", P, 0, "25", read_keepalive },
	{ "ProbeAddress", P, 0, "10.0.0.1", read_probe_address },
};
#undef I
#undef P
#undef LIST
#undef HOOK
#undef SECRET
const size_t profile_key_count = sizeof(profile_keys) / sizeof(profile_keys[0]);
_Static_assert(sizeof(profile_keys) / sizeof(profile_keys[0]) <= PROFILE_KEYS_MAX,
	"the parser's table of keys seen");

const struct profile_key *profile_key_find(const char *name, size_t len)
{
	for (size_t i = 0; i < profile_key_count; i++)
		if (text_equal_nocase(name, len, profile_keys[i].name))
			return &profile_keys[i];
	return NULL;
}
