/* SPDX-License-Identifier: MIT */
#include "client/daemon/server_plan.h"

#include "core/base/text.h"
#include "core/base/wipe.h"
#include "core/config/key_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of what is added to a text, or of a client's whole profile. */
#define PART_MAX 2048
/* Of a larger network only the first so many are looked at: somebody who wants more plans by hand. */
#define PLACES_MAX 65534

#define NOTE "# Endpoint ="

bool server_plan_endpoint(const char *host, uint16_t port, char out[SERVER_PLAN_ENDPOINT_LEN])
{
	size_t len = strlen(host), i;
	struct ip_address address;

	if (len > 2 && host[0] == '[' && host[len - 1] == ']') {
		host++;
		len -= 2;
	}
	if (len == 0 || len >= PROFILE_HOST_LEN)
		return false;
	for (i = 0; i < len; i++)
		if ((unsigned char)host[i] <= 0x20 || (unsigned char)host[i] >= 0x7f ||
			strchr("[]/#,", host[i]))
			return false;
	if (ip_address_parse(host, len, &address) && address.family == IP_V6)
		snprintf(out, SERVER_PLAN_ENDPOINT_LEN, "[%.*s]:%u", (int)len, host, (unsigned)port);
	else if (memchr(host, ':', len))
		return false;
	else
		snprintf(out, SERVER_PLAN_ENDPOINT_LEN, "%.*s:%u", (int)len, host, (unsigned)port);
	return true;
}

/* A text of its own, with its end; what was written into part is wiped. */
static char *finish(char part[PART_MAX], int written, const char *before, size_t before_len, size_t *len)
{
	char *text = NULL;

	if (written > 0 && written < PART_MAX)
		text = malloc(before_len + (size_t)written + 1);
	if (text) {
		memcpy(text, before, before_len);
		memcpy(text + before_len, part, (size_t)written + 1);
		*len = before_len + (size_t)written;
	}
	memory_wipe(part, PART_MAX);
	return text;
}

char *server_plan_new(const char *endpoint, uint16_t port, const uint8_t private_key[PROFILE_KEY_LEN],
	const uint8_t chance[SERVER_PLAN_CHANCE_LEN], size_t *len)
{
	char part[PART_MAX], key[PROFILE_KEY_TEXT_LEN + 1];
	int written;

	profile_key_write(private_key, key);
	written = snprintf(part, sizeof(part),
		"[Interface]\n" NOTE " %s\n"
		"PrivateKey = %s\n"
		"Address = 10.%u.%u.1/24, fd%02x:%02x%02x:%02x%02x::1/64\n"
		"ListenPort = %u\n"
		"# In userspace, which listens for TCP on the same port.\n"
		"Backend = userspace\n"
		"AutoConnect = on\n",
		endpoint, key, chance[0], chance[1], chance[2], chance[3], chance[4], chance[5], chance[6],
		(unsigned)port);
	memory_wipe(key, sizeof(key));
	return finish(part, written, "", 0, len);
}

bool server_plan_noted(const char *text, size_t len, char out[SERVER_PLAN_ENDPOINT_LEN])
{
	size_t at = 0;

	while (at < len) {
		const char *line = text + at, *end = memchr(line, '\n', len - at);
		size_t line_len = end ? (size_t)(end - line) : len - at, skip = sizeof(NOTE) - 1;

		at += line_len + 1;
		if (line_len <= skip || memcmp(line, NOTE, skip) != 0)
			continue;
		while (skip < line_len && line[skip] == ' ')
			skip++;
		while (line_len > skip && (line[line_len - 1] == ' ' || line[line_len - 1] == '\r'))
			line_len--;
		if (line_len == skip || line_len - skip >= SERVER_PLAN_ENDPOINT_LEN)
			return false;
		memcpy(out, line + skip, line_len - skip);
		out[line_len - skip] = '\0';
		return true;
	}
	return false;
}

/* ---- places ---- */

static const struct ip_prefix *network_of(const struct profile *server, enum ip_family family)
{
	unsigned most = family == IP_V4 ? 30 : 126;
	size_t i;

	for (i = 0; i < server->address_count; i++)
		if (server->addresses[i].address.family == family && server->addresses[i].bits <= most)
			return &server->addresses[i];
	return NULL;
}

/* How many hosts a network has behind its first address, the last of IPv4 not counted, since it is for all.
 */
static uint32_t room_of(const struct ip_prefix *network)
{
	unsigned bits = (network->address.family == IP_V4 ? 32u : 128u) - network->bits;

	return bits >= 16 ? PLACES_MAX : (1u << bits) - 2;
}

static struct ip_prefix host_of(const struct ip_prefix *network, uint32_t number)
{
	struct ip_prefix host = ip_prefix_network(network);
	size_t last = ip_address_len(&host.address) - 1;

	/* A network that begins at 0 in these bits: nothing to carry. */
	host.address.bytes[last] |= (uint8_t)number;
	host.address.bytes[last - 1] |= (uint8_t)(number >> 8);
	host.bits = network->bits;
	return host;
}

static bool is_taken(const struct profile *server, const struct ip_address *address)
{
	size_t i, n;

	for (i = 0; i < server->address_count; i++)
		if (ip_address_equal(&server->addresses[i].address, address))
			return true;
	for (i = 0; i < server->peer_count; i++)
		for (n = 0; n < server->peers[i].allowed_ip_count; n++)
			if (ip_prefix_contains(&server->peers[i].allowed_ips[n], address))
				return true;
	return false;
}

bool server_plan_place(const struct profile *server, struct server_place *out)
{
	const struct ip_prefix *networks[2] = { network_of(server, IP_V4), network_of(server, IP_V6) };
	uint32_t room = PLACES_MAX, number;
	size_t i;

	for (i = 0; i < 2; i++)
		if (networks[i] && room_of(networks[i]) < room)
			room = room_of(networks[i]);
	if (!networks[0] && !networks[1])
		return false;
	for (number = 1; number <= room; number++) {
		struct server_place place = { 0 };
		bool taken = false;

		/* The same number in both, so that people can tell who is who. */
		for (i = 0; i < 2; i++) {
			if (!networks[i])
				continue;
			place.addresses[place.count] = host_of(networks[i], number);
			taken = taken || is_taken(server, &place.addresses[place.count].address);
			place.count++;
		}
		if (taken)
			continue;
		*out = place;
		return true;
	}
	return false;
}

/* ---- a client ---- */

/* "10.1.2.3/32, fd00::3/128"; with networks: "10.1.2.0/24, fd00::/64"; else as they are. */
enum form { AS_HOSTS, AS_NETWORKS, AS_ADDRESSES };

static void write_place(const struct server_place *place, enum form form, char out[2 * PREFIX_TEXT_LEN + 3])
{
	size_t used = 0, i;

	for (i = 0; i < place->count; i++) {
		struct ip_prefix prefix = place->addresses[i];
		char text[PREFIX_TEXT_LEN];

		if (form == AS_HOSTS)
			prefix.bits = (uint8_t)(8 * ip_address_len(&prefix.address));
		if (form == AS_NETWORKS)
			prefix = ip_prefix_network(&prefix);
		used += (size_t)snprintf(out + used, 2 * PREFIX_TEXT_LEN + 3 - used, "%s%s", i ? ", " : "",
			ip_prefix_write(&prefix, text));
	}
}

char *server_plan_add(const char *text, size_t len, const char *client,
	const uint8_t public_key[PROFILE_KEY_LEN], const uint8_t preshared_key[PROFILE_KEY_LEN],
	const struct server_place *place, size_t *out_len)
{
	char part[PART_MAX], key[PROFILE_KEY_TEXT_LEN + 1], psk[PROFILE_KEY_TEXT_LEN + 1];
	char allowed[2 * PREFIX_TEXT_LEN + 3] = "";
	int written;

	profile_key_write(public_key, key);
	profile_key_write(preshared_key, psk);
	write_place(place, AS_HOSTS, allowed);
	written = snprintf(part, sizeof(part),
		"%s\n[Peer]\n# Name = %s\nPublicKey = %s\nPresharedKey = %s\nAllowedIPs = %s\n",
		len && text[len - 1] != '\n' ? "\n" : "", client, key, psk, allowed);
	memory_wipe(psk, sizeof(psk));
	return finish(part, written, text, len, out_len);
}

char *server_plan_client(const char *endpoint, const uint8_t private_key[PROFILE_KEY_LEN],
	const uint8_t server_key[PROFILE_KEY_LEN], const uint8_t preshared_key[PROFILE_KEY_LEN],
	const struct server_place *place, size_t *len)
{
	char part[PART_MAX], key[PROFILE_KEY_TEXT_LEN + 1], psk[PROFILE_KEY_TEXT_LEN + 1],
		peer[PROFILE_KEY_TEXT_LEN + 1];
	char own[2 * PREFIX_TEXT_LEN + 3] = "", networks[2 * PREFIX_TEXT_LEN + 3] = "";
	int written;

	profile_key_write(private_key, key);
	profile_key_write(server_key, peer);
	profile_key_write(preshared_key, psk);
	write_place(place, AS_ADDRESSES, own);
	write_place(place, AS_NETWORKS, networks);
	written = snprintf(part, sizeof(part),
		"[Interface]\nPrivateKey = %s\nAddress = %s\n\n"
		"[Peer]\nPublicKey = %s\nPresharedKey = %s\nEndpoint = %s\nAllowedIPs = %s\n",
		key, own, peer, psk, endpoint, networks);
	memory_wipe(key, sizeof(key));
	memory_wipe(psk, sizeof(psk));
	return finish(part, written, "", 0, len);
}
