/* SPDX-License-Identifier: MIT */
/* Every key of the protocol in one table: where it may stand, which direction has it, and how its value is
 * read. What is not in the table is not part of the protocol. Pure. Source: wireguard.com/xplatform. What
 * `wg` 1.0.20210914 sends was checked against it: keys and flags as there, no protocol_version, numbers in
 * decimal, an all-zero key to take one away. */
#include "core/uapi/keys.h"

#include "core/base/text.h"
#include "core/base/wipe.h"

#include <errno.h>
#include <string.h>

static int bad_unless(bool good)
{
	return good ? 0 : -EINVAL;
}

static bool read_number(const char *value, size_t len, uint64_t max, uint64_t *out)
{
	return text_parse_decimal(value, len, 0, max, out);
}

static int read_u16(const char *value, size_t len, uint16_t *out)
{
	uint64_t number;

	if (!read_number(value, len, UINT16_MAX, &number))
		return -EINVAL;
	*out = (uint16_t)number;
	return 0;
}

static int read_u32(const char *value, size_t len, uint32_t *out)
{
	uint64_t number;

	if (!read_number(value, len, UINT32_MAX, &number))
		return -EINVAL;
	*out = (uint32_t)number;
	return 0;
}

static int read_key(const char *value, size_t len, uint8_t out[UAPI_KEY_LEN])
{
	uint8_t key[UAPI_KEY_LEN];
	int error = -EINVAL;

	if (len != 2 * sizeof(key))
		return -EINVAL;
	for (size_t i = 0; i < sizeof(key); i++) {
		int high = text_hex_digit(value[2 * i]), low = text_hex_digit(value[2 * i + 1]);

		if (high < 0 || low < 0)
			goto out;
		key[i] = (uint8_t)(high << 4 | low);
	}
	memcpy(out, key, sizeof(key));
	error = 0;
out:
	memory_wipe(key, sizeof(key));
	return error;
}

/* The only value of a flag; it cannot be taken back. */
static int read_true(const char *value, size_t len, bool *out)
{
	if (!text_equal(value, len, "true"))
		return -EINVAL;
	*out = true;
	return 0;
}

static int read_transport(const char *value, size_t len, enum transport *out)
{
	static const char *const names[] = {
		[TRANSPORT_AUTO] = "auto", [TRANSPORT_UDP] = "udp", [TRANSPORT_TCP] = "tcp"
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!text_equal(value, len, names[i]))
			continue;
		*out = (enum transport)i;
		return 0;
	}
	return -EINVAL;
}

/* One of the engine's own words: lower-case letters and '-'. */
static int read_word(const char *value, size_t len, char *out, size_t room)
{
	if (len == 0 || len >= room)
		return -EINVAL;
	for (size_t i = 0; i < len; i++)
		if (value[i] != '-' && (value[i] < 'a' || value[i] > 'z'))
			return -EINVAL;
	memcpy(out, value, len);
	out[len] = 0;
	return 0;
}

static int read_private_key(struct uapi_reader *reader, const char *value, size_t len)
{
	reader->device->has_private_key = true;
	return read_key(value, len, reader->device->private_key);
}

static int read_listen_port(struct uapi_reader *reader, const char *value, size_t len)
{
	reader->device->has_listen_port = true;
	return read_u16(value, len, &reader->device->listen_port);
}

static int read_fwmark(struct uapi_reader *reader, const char *value, size_t len)
{
	reader->device->has_fwmark = true;
	return read_u32(value, len, &reader->device->fwmark);
}

static int read_replace_peers(struct uapi_reader *reader, const char *value, size_t len)
{
	return read_true(value, len, &reader->device->replace_peers);
}

static int read_device_transport(struct uapi_reader *reader, const char *value, size_t len)
{
	reader->device->has_transport = true;
	return read_transport(value, len, &reader->device->transport);
}

static int read_tcp_listen_port(struct uapi_reader *reader, const char *value, size_t len)
{
	reader->device->has_tcp_listen_port = true;
	return read_u16(value, len, &reader->device->tcp_listen_port);
}

static int read_extensions(struct uapi_reader *reader, const char *value, size_t len)
{
	bool on = text_equal(value, len, "on");

	reader->device->has_extensions = true;
	reader->device->extensions = on;
	return bad_unless(on || text_equal(value, len, "off"));
}

static int read_public_key(struct uapi_reader *reader, const char *value, size_t len)
{
	reader->peer = uapi_device_add_peer(reader->device);
	reader->endpoints_emptied = reader->ports_emptied = false;
	return reader->peer ? read_key(value, len, reader->peer->public_key) : -ENOMEM;
}

static int read_remove(struct uapi_reader *reader, const char *value, size_t len)
{
	return read_true(value, len, &reader->peer->remove);
}

static int read_update_only(struct uapi_reader *reader, const char *value, size_t len)
{
	return read_true(value, len, &reader->peer->update_only);
}

static int read_preshared_key(struct uapi_reader *reader, const char *value, size_t len)
{
	reader->peer->has_preshared_key = true;
	return read_key(value, len, reader->peer->preshared_key);
}

static int read_endpoint(struct uapi_reader *reader, const char *value, size_t len)
{
	reader->peer->has_endpoint = true;
	return bad_unless(endpoint_parse(value, len, &reader->peer->endpoint));
}

static int read_keepalive(struct uapi_reader *reader, const char *value, size_t len)
{
	reader->peer->has_keepalive = true;
	return read_u16(value, len, &reader->peer->keepalive_s);
}

static int read_peer_transport(struct uapi_reader *reader, const char *value, size_t len)
{
	reader->peer->has_transport = true;
	return read_transport(value, len, &reader->peer->transport);
}

static int read_tcp_endpoint(struct uapi_reader *reader, const char *value, size_t len)
{
	struct uapi_peer *peer = reader->peer;
	bool first = !peer->has_tcp_endpoints;

	peer->has_tcp_endpoints = true;
	if (len == 0) {
		reader->endpoints_emptied = true;
		return bad_unless(first);
	}
	if (reader->endpoints_emptied || peer->tcp_endpoint_count == UAPI_ENDPOINTS_MAX ||
		!endpoint_parse(value, len, &peer->tcp_endpoints[peer->tcp_endpoint_count]))
		return -EINVAL;
	peer->tcp_endpoint_count++;
	return 0;
}

static int read_udp_port(struct uapi_reader *reader, const char *value, size_t len)
{
	struct uapi_peer *peer = reader->peer;
	bool first = !peer->has_udp_ports;
	uint64_t port;

	peer->has_udp_ports = true;
	if (len == 0) {
		reader->ports_emptied = true;
		return bad_unless(first);
	}
	if (reader->ports_emptied || peer->udp_port_count == UAPI_PORTS_MAX ||
		!text_parse_decimal(value, len, 1, UINT16_MAX, &port))
		return -EINVAL;
	peer->udp_ports[peer->udp_port_count++] = (uint16_t)port;
	return 0;
}

static int read_replace_allowed_ips(struct uapi_reader *reader, const char *value, size_t len)
{
	return read_true(value, len, &reader->peer->replace_allowed_ips);
}

static int read_allowed_ip(struct uapi_reader *reader, const char *value, size_t len)
{
	bool remove = len > 0 && value[0] == '-';
	struct ip_prefix prefix;

	if (!ip_prefix_parse(value + remove, len - remove, &prefix))
		return -EINVAL;
	return uapi_peer_add_allowed_ip(reader->peer, &prefix, remove) ? 0 : -ENOMEM;
}

static int read_protocol_version(struct uapi_reader *reader, const char *value, size_t len)
{
	(void)reader;
	return bad_unless(text_equal(value, len, "1"));
}

static int read_handshake_s(struct uapi_reader *reader, const char *value, size_t len)
{
	return bad_unless(read_number(value, len, UINT64_MAX, &reader->peer->last_handshake_s));
}

static int read_handshake_ns(struct uapi_reader *reader, const char *value, size_t len)
{
	uint64_t number;

	if (!read_number(value, len, 999999999, &number))
		return -EINVAL;
	reader->peer->last_handshake_ns = (uint32_t)number;
	return 0;
}

static int read_rx_bytes(struct uapi_reader *reader, const char *value, size_t len)
{
	return bad_unless(read_number(value, len, UINT64_MAX, &reader->peer->rx_bytes));
}

static int read_tx_bytes(struct uapi_reader *reader, const char *value, size_t len)
{
	return bad_unless(read_number(value, len, UINT64_MAX, &reader->peer->tx_bytes));
}

static int read_carrier(struct uapi_reader *reader, const char *value, size_t len)
{
	static const char *const names[] = {
		[CARRIER_NONE] = "none", [CARRIER_UDP] = "udp", [CARRIER_TCP] = "tcp"
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!text_equal(value, len, names[i]))
			continue;
		reader->peer->carrier = (enum carrier)i;
		return 0;
	}
	return -EINVAL;
}

static int read_rtt(struct uapi_reader *reader, const char *value, size_t len)
{
	return read_u32(value, len, &reader->peer->rtt_us);
}

static int read_stream_rtt(struct uapi_reader *reader, const char *value, size_t len)
{
	return read_u32(value, len, &reader->peer->stream_rtt_us);
}

static int read_misfits(struct uapi_reader *reader, const char *value, size_t len)
{
	return read_u32(value, len, &reader->peer->misfits);
}

static int read_large(struct uapi_reader *reader, const char *value, size_t len)
{
	return read_word(value, len, reader->peer->large, sizeof(reader->peer->large));
}

static int read_stream(struct uapi_reader *reader, const char *value, size_t len)
{
	return endpoint_parse(value, len, &reader->peer->stream) ? 0 : -EINVAL;
}

static int read_udp_state(struct uapi_reader *reader, const char *value, size_t len)
{
	return read_word(value, len, reader->peer->udp_state, sizeof(reader->peer->udp_state));
}

static int read_state(struct uapi_reader *reader, const char *value, size_t len)
{
	return read_word(value, len, reader->peer->state, sizeof(reader->peer->state));
}

static int read_cause(struct uapi_reader *reader, const char *value, size_t len)
{
	return read_word(value, len, reader->peer->cause, sizeof(reader->peer->cause));
}

static int read_verified(struct uapi_reader *reader, const char *value, size_t len)
{
	return read_word(value, len, reader->peer->verified, sizeof(reader->peer->verified));
}

static int read_reason(struct uapi_reader *reader, const char *value, size_t len)
{
	return read_word(value, len, reader->peer->reason, sizeof(reader->peer->reason));
}

/* The most frequent first: a request can hold thousands of them. */
static const struct uapi_key keys[] = {
	{ "allowed_ip", UAPI_IN_PEER | UAPI_OF_SET | UAPI_OF_GET, read_allowed_ip },
	{ "public_key", UAPI_IN_DEVICE | UAPI_IN_PEER | UAPI_OF_SET | UAPI_OF_GET, read_public_key },
	{ "preshared_key", UAPI_IN_PEER | UAPI_OF_SET | UAPI_OF_GET, read_preshared_key },
	{ "protocol_version", UAPI_IN_PEER | UAPI_OF_SET | UAPI_OF_GET, read_protocol_version },
	{ "endpoint", UAPI_IN_PEER | UAPI_OF_SET | UAPI_OF_GET, read_endpoint },
	{ "persistent_keepalive_interval", UAPI_IN_PEER | UAPI_OF_SET | UAPI_OF_GET, read_keepalive },
	{ "replace_allowed_ips", UAPI_IN_PEER | UAPI_OF_SET, read_replace_allowed_ips },
	{ "remove", UAPI_IN_PEER | UAPI_OF_SET, read_remove },
	{ "update_only", UAPI_IN_PEER | UAPI_OF_SET, read_update_only },
	{ "transport", UAPI_IN_PEER | UAPI_OF_SET | UAPI_OF_GET, read_peer_transport },
	{ "tcp_endpoint", UAPI_IN_PEER | UAPI_OF_SET | UAPI_OF_GET, read_tcp_endpoint },
	{ "udp_port", UAPI_IN_PEER | UAPI_OF_SET | UAPI_OF_GET, read_udp_port },
	{ "last_handshake_time_sec", UAPI_IN_PEER | UAPI_OF_GET, read_handshake_s },
	{ "last_handshake_time_nsec", UAPI_IN_PEER | UAPI_OF_GET, read_handshake_ns },
	{ "rx_bytes", UAPI_IN_PEER | UAPI_OF_GET, read_rx_bytes },
	{ "tx_bytes", UAPI_IN_PEER | UAPI_OF_GET, read_tx_bytes },
	{ "carrier", UAPI_IN_PEER | UAPI_OF_GET, read_carrier },
	{ "stream", UAPI_IN_PEER | UAPI_OF_GET, read_stream },
	{ "rtt_us", UAPI_IN_PEER | UAPI_OF_GET, read_rtt },
	{ "stream_rtt_us", UAPI_IN_PEER | UAPI_OF_GET, read_stream_rtt },
	{ "udp_state", UAPI_IN_PEER | UAPI_OF_GET, read_udp_state },
	{ "state", UAPI_IN_PEER | UAPI_OF_GET, read_state },
	{ "cause", UAPI_IN_PEER | UAPI_OF_GET, read_cause },
	{ "verified", UAPI_IN_PEER | UAPI_OF_GET, read_verified },
	{ "reason", UAPI_IN_PEER | UAPI_OF_GET, read_reason },
	{ "handshake_misfits", UAPI_IN_PEER | UAPI_OF_GET, read_misfits },
	{ "large_passes", UAPI_IN_PEER | UAPI_OF_GET, read_large },
	{ "private_key", UAPI_IN_DEVICE | UAPI_OF_SET | UAPI_OF_GET, read_private_key },
	{ "listen_port", UAPI_IN_DEVICE | UAPI_OF_SET | UAPI_OF_GET, read_listen_port },
	{ "fwmark", UAPI_IN_DEVICE | UAPI_OF_SET | UAPI_OF_GET, read_fwmark },
	{ "replace_peers", UAPI_IN_DEVICE | UAPI_OF_SET, read_replace_peers },
	{ "transport", UAPI_IN_DEVICE | UAPI_OF_SET | UAPI_OF_GET, read_device_transport },
	{ "tcp_listen_port", UAPI_IN_DEVICE | UAPI_OF_SET | UAPI_OF_GET, read_tcp_listen_port },
	{ "extensions", UAPI_IN_DEVICE | UAPI_OF_SET | UAPI_OF_GET, read_extensions },
};

const struct uapi_key *uapi_key_find(const char *name, size_t len, unsigned where)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if ((keys[i].where & where) == where && text_equal(name, len, keys[i].name))
			return &keys[i];
	return NULL;
}
