/* SPDX-License-Identifier: MIT */
/* See write.h. Keys come in the order of the table in keys.c; what has its default is left out. */
#include "core/config/write.h"

#include "core/base/wipe.h"
#include "core/config/key_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 1024
/* A list goes on in a further line of the same key once the line is this long. */
#define LIST_WIDTH 100

struct writer {
	char *bytes;
	size_t len, room;
	bool failed;
};

/* Room for more bytes and the NUL behind them. */
static bool make_room(struct writer *writer, size_t more)
{
	size_t room = writer->room ? writer->room : FIRST_ROOM;
	char *bytes;

	if (writer->failed)
		return false;
	while (room - writer->len <= more)
		room *= 2;
	if (room == writer->room)
		return true;
	bytes = malloc(room);
	if (!bytes) {
		writer->failed = true;
		return false;
	}
	if (writer->bytes)
		memcpy(bytes, writer->bytes, writer->len);
	profile_text_free(writer->bytes, writer->len);
	writer->bytes = bytes;
	writer->room = room;
	return true;
}

static void add(struct writer *writer, const char *text)
{
	size_t len = strlen(text);

	if (!make_room(writer, len))
		return;
	memcpy(writer->bytes + writer->len, text, len + 1);
	writer->len += len;
}

static void add_pair(struct writer *writer, const char *key, const char *value)
{
	add(writer, key);
	add(writer, " = ");
	add(writer, value);
	add(writer, "\n");
}

static void add_number(struct writer *writer, const char *key, uint32_t number)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", (unsigned)number);
	add_pair(writer, key, text);
}

static void add_key(struct writer *writer, const char *name, const uint8_t key[PROFILE_KEY_LEN], bool hidden)
{
	char text[PROFILE_KEY_TEXT_LEN + 1];

	if (hidden) {
		add_pair(writer, name, PROFILE_HIDDEN);
		return;
	}
	profile_key_write(key, text);
	add_pair(writer, name, text);
	memory_wipe(text, sizeof(text));
}

static void add_name(struct writer *writer, const char *name)
{
	if (name[0])
		add_pair(writer, "# Name", name);
}

/* The line of a list that is being written. */
struct list {
	const char *key;
	size_t line_start; /* where it starts in the text */
	bool open;
};

static void add_element(struct writer *writer, struct list *list, const char *text)
{
	if (list->open && writer->len - list->line_start + strlen(text) > LIST_WIDTH) {
		add(writer, "\n");
		list->open = false;
	}
	if (list->open) {
		add(writer, ", ");
	} else {
		list->line_start = writer->len;
		add(writer, list->key);
		add(writer, " = ");
		list->open = true;
	}
	add(writer, text);
}

static void end_list(struct writer *writer, struct list *list)
{
	if (list->open)
		add(writer, "\n");
	list->open = false;
}

static void add_prefixes(
	struct writer *writer, const char *key, const struct ip_prefix *prefixes, size_t count)
{
	struct list list = { .key = key };
	char text[PREFIX_TEXT_LEN];

	for (size_t i = 0; i < count; i++)
		add_element(writer, &list, ip_prefix_write(&prefixes[i], text));
	end_list(writer, &list);
}

static void add_texts(struct writer *writer, const char *key, const struct profile_texts *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		add_pair(writer, key, texts->items[i]);
}

static void add_dns(struct writer *writer, const struct profile *profile)
{
	struct list list = { .key = "DNS" };
	char text[ENDPOINT_TEXT_LEN];

	for (size_t i = 0; i < profile->dns_server_count; i++)
		add_element(writer, &list, ip_address_write(&profile->dns_servers[i], text));
	for (size_t i = 0; i < profile->dns_domains.count; i++)
		add_element(writer, &list, profile->dns_domains.items[i]);
	end_list(writer, &list);
}

static void add_table(struct writer *writer, const struct profile *profile)
{
	switch (profile->table) {
	case PROFILE_TABLE_AUTO:
		break;
	case PROFILE_TABLE_OFF:
		add_pair(writer, "Table", "off");
		break;
	case PROFILE_TABLE_NUMBER:
		add_number(writer, "Table", profile->table_number);
		break;
	}
}

static void add_transport(struct writer *writer, enum transport transport)
{
	switch (transport) {
	case TRANSPORT_AUTO:
		add_pair(writer, "Transport", "auto");
		break;
	case TRANSPORT_UDP:
		add_pair(writer, "Transport", "udp");
		break;
	case TRANSPORT_TCP:
		add_pair(writer, "Transport", "tcp");
		break;
	}
}

static void add_backend(struct writer *writer, enum profile_backend backend)
{
	switch (backend) {
	case PROFILE_BACKEND_AUTO:
		break;
	case PROFILE_BACKEND_KERNEL:
		add_pair(writer, "Backend", "kernel");
		break;
	case PROFILE_BACKEND_USERSPACE:
		add_pair(writer, "Backend", "userspace");
		break;
	}
}

static void add_host(struct writer *writer, const char *key, const struct profile_host *host)
{
	char text[PROFILE_HOST_LEN + 16];

	if (!host->host[0])
		return;
	snprintf(text, sizeof(text), strchr(host->host, ':') ? "[%s]:%u" : "%s:%u", host->host,
		(unsigned)host->port);
	add_pair(writer, key, text);
}

static void add_switch(struct writer *writer, const char *key, bool on)
{
	if (on)
		add_pair(writer, key, "on");
}

static void add_interface(struct writer *writer, const struct profile *profile, bool hidden)
{
	static const char *const hooks[PROFILE_HOOK_COUNT] = { [PROFILE_PRE_UP] = "PreUp",
		[PROFILE_POST_UP] = "PostUp",
		[PROFILE_PRE_DOWN] = "PreDown",
		[PROFILE_POST_DOWN] = "PostDown" };

	add(writer, "[Interface]\n");
	add_name(writer, profile->name);
	add_key(writer, "PrivateKey", profile->private_key, hidden);
	add_prefixes(writer, "Address", profile->addresses, profile->address_count);
	add_dns(writer, profile);
	if (profile->has_listen_port)
		add_number(writer, "ListenPort", profile->listen_port);
	if (profile->mtu)
		add_number(writer, "MTU", profile->mtu);
	if (profile->fwmark)
		add_number(writer, "FwMark", profile->fwmark);
	add_table(writer, profile);
	for (size_t i = 0; i < PROFILE_HOOK_COUNT; i++)
		add_texts(writer, hooks[i], &profile->hooks[i]);
	if (profile->save_config) /* wg-quick knows only true and false */
		add_pair(writer, "SaveConfig", "true");
	add_backend(writer, profile->backend);
	if (profile->has_tcp_listen_port)
		add_number(writer, "TcpListenPort", profile->tcp_listen_port);
	if (profile->fallback_profile[0])
		add_pair(writer, "FallbackProfile", profile->fallback_profile);
	add_switch(writer, "KillSwitch", profile->kill_switch);
	add_switch(writer, "KillSwitchAllowLan", profile->kill_switch_lan);
	add_switch(writer, "AutoConnect", profile->auto_connect);
	add_switch(writer, "SpeedTestServer", profile->speed_test_server);
	if (!profile->extensions)
		add_pair(writer, "Extensions", "off");
	add_texts(writer, "TrustedNetworks", &profile->trusted_networks);
	if (profile->portal_check[0])
		add_pair(writer, "PortalCheck", profile->portal_check);
	if (profile->transport != TRANSPORT_AUTO)
		add_transport(writer, profile->transport);
}

static void add_peer(struct writer *writer, const struct profile_peer *peer, bool hidden)
{
	struct list ports = { .key = "UdpPorts" };
	char text[ENDPOINT_TEXT_LEN];

	add(writer, "\n[Peer]\n");
	add_name(writer, peer->name);
	if (peer->has_transport)
		add_transport(writer, peer->transport);
	add_key(writer, "PublicKey", peer->public_key, false);
	if (peer->has_preshared_key)
		add_key(writer, "PresharedKey", peer->preshared_key, hidden);
	add_prefixes(writer, "AllowedIPs", peer->allowed_ips, peer->allowed_ip_count);
	add_host(writer, "Endpoint", &peer->endpoint);
	for (size_t i = 0; i < peer->tcp_endpoint_count; i++)
		add_host(writer, "TcpEndpoint", &peer->tcp_endpoints[i]);
	for (size_t i = 0; i < peer->udp_port_count; i++) {
		snprintf(text, sizeof(text), "%u", (unsigned)peer->udp_ports[i]);
		add_element(writer, &ports, text);
	}
	end_list(writer, &ports);
	if (peer->keepalive_s)
		add_number(writer, "PersistentKeepalive", peer->keepalive_s);
	if (peer->probe_address.family != IP_NONE)
		add_pair(writer, "ProbeAddress", ip_address_write(&peer->probe_address, text));
}

char *profile_write(const struct profile *profile, bool hidden, size_t *len)
{
	struct writer writer = { 0 };

	add_interface(&writer, profile, hidden);
	for (size_t i = 0; i < profile->peer_count; i++)
		add_peer(&writer, &profile->peers[i], hidden);
	if (writer.failed) {
		profile_text_free(writer.bytes, writer.len);
		return NULL;
	}
	*len = writer.len;
	return writer.bytes;
}

void profile_text_free(char *text, size_t len)
{
	if (text)
		memory_wipe(text, len);
	free(text);
}
