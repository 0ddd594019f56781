/* SPDX-License-Identifier: MIT */
/* Struct to UAPI text. The text holds keys, so an outgrown buffer is wiped before it is freed. Failure is
 * remembered in the text and asked for once, at the end. Pure. Source: wireguard.com/xplatform. */
#include "core/uapi/uapi.h"

#include "core/base/wipe.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 1024u
#define LINE_MAX 128

void uapi_text_free(struct uapi_text *text)
{
	if (text->bytes)
		memory_wipe(text->bytes, text->room);
	free(text->bytes);
	*text = (struct uapi_text){ 0 };
}

static bool make_room(struct uapi_text *text, size_t more)
{
	size_t room = text->room ? text->room : FIRST_ROOM;
	char *bytes;

	if (text->failed || more > UAPI_TEXT_MAX - text->len)
		return false;
	if (text->room - text->len >= more)
		return true;
	while (room - text->len < more)
		room *= 2;
	bytes = malloc(room);
	if (!bytes)
		return false;
	if (text->bytes) {
		memcpy(bytes, text->bytes, text->len);
		memory_wipe(text->bytes, text->room);
		free(text->bytes);
	}
	text->bytes = bytes;
	text->room = room;
	return true;
}

static void add(struct uapi_text *text, const char *bytes, size_t len)
{
	if (!make_room(text, len)) {
		text->failed = true;
		return;
	}
	memcpy(text->bytes + text->len, bytes, len);
	text->len += len;
}

/* Not for keys: the line passes through the stack. */
__attribute__((format(printf, 2, 3))) static void add_line(struct uapi_text *text, const char *format, ...)
{
	char line[LINE_MAX];
	va_list arguments;
	int len;

	va_start(arguments, format);
	len = vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	if (len < 0 || (size_t)len >= sizeof(line)) {
		text->failed = true;
		return;
	}
	line[len] = '\n';
	add(text, line, (size_t)len + 1);
}

static void add_key(struct uapi_text *text, const char *name, const uint8_t key[UAPI_KEY_LEN])
{
	static const char digits[] = "0123456789abcdef";
	char hex[2 * UAPI_KEY_LEN + 1];

	for (size_t i = 0; i < UAPI_KEY_LEN; i++) {
		hex[2 * i] = digits[key[i] >> 4];
		hex[2 * i + 1] = digits[key[i] & 15];
	}
	hex[2 * UAPI_KEY_LEN] = '\n';
	add(text, name, strlen(name));
	add(text, "=", 1);
	add(text, hex, sizeof(hex));
	memory_wipe(hex, sizeof(hex));
}

static void add_transport(struct uapi_text *text, enum transport transport)
{
	switch (transport) {
	case TRANSPORT_AUTO:
		add_line(text, "transport=auto");
		break;
	case TRANSPORT_UDP:
		add_line(text, "transport=udp");
		break;
	case TRANSPORT_TCP:
		add_line(text, "transport=tcp");
		break;
	}
}

static void add_carrier(struct uapi_text *text, enum carrier carrier)
{
	switch (carrier) {
	case CARRIER_NONE:
		add_line(text, "carrier=none");
		break;
	case CARRIER_UDP:
		add_line(text, "carrier=udp");
		break;
	case CARRIER_TCP:
		add_line(text, "carrier=tcp");
		break;
	}
}

static void add_device(struct uapi_text *text, const struct uapi_device *device)
{
	if (device->has_private_key)
		add_key(text, "private_key", device->private_key);
	if (device->has_listen_port)
		add_line(text, "listen_port=%u", (unsigned)device->listen_port);
	if (device->has_fwmark)
		add_line(text, "fwmark=%" PRIu32, device->fwmark);
	if (device->has_transport)
		add_transport(text, device->transport);
	if (device->has_tcp_listen_port)
		add_line(text, "tcp_listen_port=%u", (unsigned)device->tcp_listen_port);
	if (device->has_extensions)
		add_line(text, "extensions=%s", device->extensions ? "on" : "off");
}

/* What SET and GET share of a peer, before its allowed IPs. */
static void add_peer(struct uapi_text *text, const struct uapi_peer *peer)
{
	char endpoint[ENDPOINT_TEXT_LEN];

	if (peer->has_preshared_key)
		add_key(text, "preshared_key", peer->preshared_key);
	if (peer->has_endpoint)
		add_line(text, "endpoint=%s", endpoint_write(&peer->endpoint, endpoint));
	if (peer->has_keepalive)
		add_line(text, "persistent_keepalive_interval=%u", (unsigned)peer->keepalive_s);
	if (peer->has_transport)
		add_transport(text, peer->transport);
	if (peer->has_tcp_endpoints && peer->tcp_endpoint_count == 0)
		add_line(text, "tcp_endpoint=");
	for (size_t i = 0; peer->has_tcp_endpoints && i < peer->tcp_endpoint_count; i++)
		add_line(text, "tcp_endpoint=%s", endpoint_write(&peer->tcp_endpoints[i], endpoint));
	if (peer->has_udp_ports && peer->udp_port_count == 0)
		add_line(text, "udp_port=");
	for (size_t i = 0; peer->has_udp_ports && i < peer->udp_port_count; i++)
		add_line(text, "udp_port=%u", (unsigned)peer->udp_ports[i]);
}

static void add_allowed_ips(struct uapi_text *text, const struct uapi_peer *peer)
{
	char prefix[PREFIX_TEXT_LEN];

	for (size_t i = 0; i < peer->allowed_ip_count; i++)
		add_line(text, "allowed_ip=%s%s", peer->allowed_ips[i].remove ? "-" : "",
			ip_prefix_write(&peer->allowed_ips[i].prefix, prefix));
}

static void add_word(struct uapi_text *text, const char *name, const char *word)
{
	if (word[0])
		add_line(text, "%s=%s", name, word);
}

static void add_statistics(struct uapi_text *text, const struct uapi_peer *peer)
{
	char stream[ENDPOINT_TEXT_LEN];

	add_line(text, "last_handshake_time_sec=%" PRIu64, peer->last_handshake_s);
	add_line(text, "last_handshake_time_nsec=%" PRIu32, peer->last_handshake_ns);
	add_line(text, "rx_bytes=%" PRIu64, peer->rx_bytes);
	add_line(text, "tx_bytes=%" PRIu64, peer->tx_bytes);
	add_carrier(text, peer->carrier);
	if (endpoint_is_set(&peer->stream))
		add_line(text, "stream=%s", endpoint_write(&peer->stream, stream));
	add_line(text, "rtt_us=%" PRIu32, peer->rtt_us);
	if (peer->stream_rtt_us)
		add_line(text, "stream_rtt_us=%" PRIu32, peer->stream_rtt_us);
	if (peer->misfits)
		add_line(text, "handshake_misfits=%" PRIu32, peer->misfits);
	add_word(text, "large_passes", peer->large);
	add_word(text, "udp_state", peer->udp_state);
	add_word(text, "state", peer->state);
	add_word(text, "cause", peer->cause);
	add_word(text, "verified", peer->verified);
	add_word(text, "reason", peer->reason);
}

bool uapi_write_set(struct uapi_text *text, const struct uapi_device *device)
{
	add_line(text, "set=1");
	add_device(text, device);
	if (device->replace_peers)
		add_line(text, "replace_peers=true");
	for (size_t i = 0; i < device->peer_count; i++) {
		const struct uapi_peer *peer = &device->peers[i];

		add_key(text, "public_key", peer->public_key);
		if (peer->remove)
			add_line(text, "remove=true");
		if (peer->update_only)
			add_line(text, "update_only=true");
		add_peer(text, peer);
		if (peer->replace_allowed_ips)
			add_line(text, "replace_allowed_ips=true");
		add_allowed_ips(text, peer);
	}
	add(text, "\n", 1);
	return !text->failed;
}

bool uapi_write_get(struct uapi_text *text, const struct uapi_device *device)
{
	add_device(text, device);
	for (size_t i = 0; i < device->peer_count; i++) {
		const struct uapi_peer *peer = &device->peers[i];

		add_key(text, "public_key", peer->public_key);
		add_peer(text, peer);
		add_line(text, "protocol_version=1");
		add_statistics(text, peer);
		add_allowed_ips(text, peer);
	}
	return uapi_write_errno(text, 0);
}

bool uapi_write_errno(struct uapi_text *text, int error)
{
	add_line(text, "errno=%d", error);
	add(text, "\n", 1);
	return !text->failed;
}
