/* SPDX-License-Identifier: MIT */
/* The parts of a GET as uapi's struct. Lengths are checked: an attribute that is shorter than its value is -EBADMSG, and
 * unknown attributes are passed over, as newer kernels add some. Called by kernel_tunnel.
 * Source: linux/wireguard.h, WG_CMD_GET_DEVICE. */
#include "platform/linux/kernel_message.h"
#include "platform/linux/sockaddr.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/time_types.h>
#include <linux/wireguard.h>
#include <string.h>

static int bad(int error)
{
	errno = error;
	return MNL_CB_ERROR;
}

/* Copies exactly size bytes; false when the attribute has fewer. */
static bool copy(const struct nlattr *attr, void *out, size_t size)
{
	if (mnl_attr_get_payload_len(attr) < size)
		return false;
	memcpy(out, mnl_attr_get_payload(attr), size);
	return true;
}

struct allowed_ip_parse {
	uint16_t family;
	uint8_t bits;
	bool has_bits;
	const struct nlattr *address;
};

static int take_allowed_ip_attr(const struct nlattr *attr, void *data)
{
	struct allowed_ip_parse *parse = data;

	switch (mnl_attr_get_type(attr)) {
	case WGALLOWEDIP_A_FAMILY:
		if (!copy(attr, &parse->family, sizeof(parse->family)))
			return bad(EBADMSG);
		break;
	case WGALLOWEDIP_A_IPADDR:
		parse->address = attr;
		break;
	case WGALLOWEDIP_A_CIDR_MASK:
		parse->has_bits = copy(attr, &parse->bits, sizeof(parse->bits));
		break;
	}
	return MNL_CB_OK;
}

static int take_allowed_ip(const struct nlattr *attr, void *data)
{
	struct uapi_peer *peer = data;
	struct allowed_ip_parse parse = { 0 };
	struct ip_prefix prefix = { 0 };
	size_t len;

	if (mnl_attr_parse_nested(attr, take_allowed_ip_attr, &parse) < 0)
		return MNL_CB_ERROR;
	if (parse.family != AF_INET && parse.family != AF_INET6)
		return bad(EBADMSG);
	prefix.address.family = parse.family == AF_INET ? IP_V4 : IP_V6;
	prefix.bits = parse.bits;
	len = ip_address_len(&prefix.address);
	if (!parse.has_bits || parse.bits > len * 8 || !parse.address || !copy(parse.address, prefix.address.bytes, len))
		return bad(EBADMSG);
	return uapi_peer_add_allowed_ip(peer, &prefix, false) ? MNL_CB_OK : bad(ENOMEM);
}

static bool take_endpoint(const struct nlattr *attr, struct uapi_peer *peer)
{
	union sockaddr_any address = { 0 };
	size_t len = mnl_attr_get_payload_len(attr);

	if (len < sizeof(address.any))
		return false;
	memcpy(&address, mnl_attr_get_payload(attr), len < sizeof(address) ? len : sizeof(address));
	if (len < (address.any.sa_family == AF_INET6 ? sizeof(address.v6) : sizeof(address.v4)))
		return false;
	peer->endpoint = sockaddr_to_endpoint(&address);
	peer->has_endpoint = endpoint_is_set(&peer->endpoint);
	return true;
}

static bool take_handshake(const struct nlattr *attr, struct uapi_peer *peer)
{
	struct __kernel_timespec time;

	if (!copy(attr, &time, sizeof(time)))
		return false;
	peer->last_handshake_s = (uint64_t)time.tv_sec;
	peer->last_handshake_ns = (uint32_t)time.tv_nsec;
	return true;
}

static bool take_preshared_key(const struct nlattr *attr, struct uapi_peer *peer)
{
	uint8_t any = 0;

	if (!copy(attr, peer->preshared_key, WG_KEY_LEN))
		return false;
	for (size_t i = 0; i < WG_KEY_LEN; i++)
		any |= peer->preshared_key[i];
	/* The kernel always shows one: zeroes for none. */
	peer->has_preshared_key = any != 0;
	return true;
}

static int take_peer_attr(const struct nlattr *attr, void *data)
{
	struct uapi_peer *peer = data;
	bool good = true;

	switch (mnl_attr_get_type(attr)) {
	case WGPEER_A_PRESHARED_KEY:
		good = take_preshared_key(attr, peer);
		break;
	case WGPEER_A_ENDPOINT:
		good = take_endpoint(attr, peer);
		break;
	case WGPEER_A_PERSISTENT_KEEPALIVE_INTERVAL:
		peer->has_keepalive = good = copy(attr, &peer->keepalive_s, sizeof(peer->keepalive_s));
		break;
	case WGPEER_A_LAST_HANDSHAKE_TIME:
		good = take_handshake(attr, peer);
		break;
	case WGPEER_A_RX_BYTES:
		good = copy(attr, &peer->rx_bytes, sizeof(peer->rx_bytes));
		break;
	case WGPEER_A_TX_BYTES:
		good = copy(attr, &peer->tx_bytes, sizeof(peer->tx_bytes));
		break;
	case WGPEER_A_ALLOWEDIPS:
		if (mnl_attr_parse_nested(attr, take_allowed_ip, peer) < 0)
			return MNL_CB_ERROR;
		break;
	}
	return good ? MNL_CB_OK : bad(EBADMSG);
}

static int take_public_key(const struct nlattr *attr, void *data)
{
	const struct nlattr **found = data;

	if (mnl_attr_get_type(attr) == WGPEER_A_PUBLIC_KEY && mnl_attr_get_payload_len(attr) >= WG_KEY_LEN)
		*found = attr;
	return MNL_CB_OK;
}

static int take_peer(const struct nlattr *attr, void *data)
{
	struct uapi_device *device = data;
	const struct nlattr *key = NULL;
	struct uapi_peer *peer = device->peer_count ? &device->peers[device->peer_count - 1] : NULL;

	if (mnl_attr_parse_nested(attr, take_public_key, &key) < 0)
		return MNL_CB_ERROR;
	if (!key)
		return bad(EBADMSG);
	if (!peer || memcmp(peer->public_key, mnl_attr_get_payload(key), WG_KEY_LEN) != 0) {
		peer = uapi_device_add_peer(device);
		if (!peer)
			return bad(ENOMEM);
		memcpy(peer->public_key, mnl_attr_get_payload(key), WG_KEY_LEN);
	}
	return mnl_attr_parse_nested(attr, take_peer_attr, peer) < 0 ? MNL_CB_ERROR : MNL_CB_OK;
}

static bool take_transport(const struct nlattr *attr, struct uapi_device *device)
{
	uint8_t transport;

	if (!copy(attr, &transport, sizeof(transport)) || transport > 1)
		return false;
	device->has_transport = true;
	device->transport = transport ? TRANSPORT_TCP : TRANSPORT_UDP;
	return true;
}

static int take_device_attr(const struct nlattr *attr, void *data)
{
	struct kernel_reader *reader = data;
	struct uapi_device *device = reader->device;
	bool good = true;

	switch (mnl_attr_get_type(attr)) {
	case WGDEVICE_A_PRIVATE_KEY:
		if (!reader->transport_only)
			device->has_private_key = good = copy(attr, device->private_key, WG_KEY_LEN);
		break;
	case WGDEVICE_A_LISTEN_PORT:
		device->has_listen_port = good = copy(attr, &device->listen_port, sizeof(device->listen_port));
		break;
	case WGDEVICE_A_FWMARK:
		device->has_fwmark = good = copy(attr, &device->fwmark, sizeof(device->fwmark));
		break;
	case KERNEL_DEVICE_TRANSPORT:
		good = take_transport(attr, device);
		break;
	case WGDEVICE_A_PEERS:
		if (!reader->transport_only && mnl_attr_parse_nested(attr, take_peer, device) < 0)
			return MNL_CB_ERROR;
		break;
	}
	return good ? MNL_CB_OK : bad(EBADMSG);
}

int kernel_message_read(struct kernel_reader *reader, const struct nlmsghdr *part)
{
	const struct genlmsghdr *generic = mnl_nlmsg_get_payload(part);

	if (mnl_nlmsg_get_payload_len(part) < sizeof(*generic) || generic->cmd != WG_CMD_GET_DEVICE)
		return -EBADMSG;
	return mnl_attr_parse(part, sizeof(*generic), take_device_attr, reader) < 0 ? -errno : 0;
}
