/* SPDX-License-Identifier: MIT */
/* uapi's struct as the messages of a SET. Only the first message carries the interface's own values and the flag that
 * empties it, only the first part of a peer carries that peer's: said twice, they would undo what came between. Called by
 * kernel_tunnel. Source: linux/wireguard.h, WG_CMD_SET_DEVICE. */
#include "platform/linux/kernel_message.h"
#include "platform/linux/sockaddr.h"

#include <linux/genetlink.h>
#include <linux/wireguard.h>
#include <string.h>

/* The most that one allowed IP and the head of one peer take, each with its nest's header and padding. */
#define ALLOWED_IP_ROOM 64
#define PEER_ROOM 192

struct nlmsghdr *kernel_message_begin(
	char buffer[KERNEL_MESSAGE_BYTES], uint16_t family, uint8_t command, uint16_t flags, const char *name)
{
	struct nlmsghdr *header = mnl_nlmsg_put_header(buffer);
	struct genlmsghdr *generic;

	header->nlmsg_type = family;
	header->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags);
	generic = mnl_nlmsg_put_extra_header(header, sizeof(*generic));
	generic->cmd = command;
	generic->version = WG_GENL_VERSION;
	mnl_attr_put_strz(header, WGDEVICE_A_IFNAME, name);
	return header;
}

static bool has_room(const struct nlmsghdr *header, size_t bytes)
{
	return header->nlmsg_len + bytes <= KERNEL_MESSAGE_BYTES;
}

static void put_device(struct nlmsghdr *header, const struct uapi_device *device, bool transport)
{
	if (device->replace_peers)
		mnl_attr_put_u32(header, WGDEVICE_A_FLAGS, WGDEVICE_F_REPLACE_PEERS);
	if (device->has_private_key)
		mnl_attr_put(header, WGDEVICE_A_PRIVATE_KEY, WG_KEY_LEN, device->private_key);
	if (device->has_listen_port)
		mnl_attr_put_u16(header, WGDEVICE_A_LISTEN_PORT, device->listen_port);
	if (device->has_fwmark)
		mnl_attr_put_u32(header, WGDEVICE_A_FWMARK, device->fwmark);
	if (transport && device->has_transport)
		mnl_attr_put_u8(header, KERNEL_DEVICE_TRANSPORT, device->transport == TRANSPORT_TCP);
}

/* continued: an earlier message had its values. That it must exist is said each time, or the second message would make
 * the peer that the first one rightly did not. */
static void put_peer(struct nlmsghdr *header, const struct uapi_peer *peer, bool continued)
{
	union sockaddr_any address;
	socklen_t len = sockaddr_from_endpoint(&address, &peer->endpoint);
	uint32_t flags = 0;

	mnl_attr_put(header, WGPEER_A_PUBLIC_KEY, WG_KEY_LEN, peer->public_key);
	if (peer->remove)
		flags |= WGPEER_F_REMOVE_ME;
	if (peer->update_only)
		flags |= WGPEER_F_UPDATE_ONLY;
	if (peer->replace_allowed_ips && !continued)
		flags |= WGPEER_F_REPLACE_ALLOWEDIPS;
	if (flags)
		mnl_attr_put_u32(header, WGPEER_A_FLAGS, flags);
	if (peer->remove || continued)
		return;
	if (peer->has_preshared_key)
		mnl_attr_put(header, WGPEER_A_PRESHARED_KEY, WG_KEY_LEN, peer->preshared_key);
	if (peer->has_endpoint && len)
		mnl_attr_put(header, WGPEER_A_ENDPOINT, len, &address);
	if (peer->has_keepalive)
		mnl_attr_put_u16(header, WGPEER_A_PERSISTENT_KEEPALIVE_INTERVAL, peer->keepalive_s);
}

static void put_allowed_ip(struct nlmsghdr *header, const struct ip_prefix *prefix)
{
	size_t len = ip_address_len(&prefix->address);
	struct nlattr *nest = mnl_attr_nest_start(header, 0);

	mnl_attr_put_u16(header, WGALLOWEDIP_A_FAMILY, len == 4 ? AF_INET : AF_INET6);
	mnl_attr_put(header, WGALLOWEDIP_A_IPADDR, len, prefix->address.bytes);
	mnl_attr_put_u8(header, WGALLOWEDIP_A_CIDR_MASK, prefix->bits);
	mnl_attr_nest_end(header, nest);
}

/* False: the message is full, and writer says where the next one goes on. */
static bool put_allowed_ips(struct nlmsghdr *header, struct kernel_writer *writer, const struct uapi_peer *peer)
{
	struct nlattr *nest;
	bool done = true;

	if (peer->remove || !peer->allowed_ip_count)
		return true;
	nest = mnl_attr_nest_start(header, WGPEER_A_ALLOWEDIPS);
	while (writer->allowed_ip < peer->allowed_ip_count) {
		if (!has_room(header, ALLOWED_IP_ROOM)) {
			done = false;
			break;
		}
		put_allowed_ip(header, &peer->allowed_ips[writer->allowed_ip++].prefix);
	}
	mnl_attr_nest_end(header, nest);
	return done;
}

static void put_peers(struct nlmsghdr *header, struct kernel_writer *writer, const struct uapi_device *device)
{
	struct nlattr *peers = mnl_attr_nest_start(header, WGDEVICE_A_PEERS);

	while (writer->peer < device->peer_count && has_room(header, PEER_ROOM + ALLOWED_IP_ROOM)) {
		const struct uapi_peer *peer = &device->peers[writer->peer];
		struct nlattr *nest = mnl_attr_nest_start(header, 0);
		bool done;

		put_peer(header, peer, writer->allowed_ip > 0);
		done = put_allowed_ips(header, writer, peer);
		mnl_attr_nest_end(header, nest);
		if (!done)
			break;
		writer->peer++;
		writer->allowed_ip = 0;
	}
	mnl_attr_nest_end(header, peers);
}

struct nlmsghdr *kernel_message_next(struct kernel_writer *writer, char buffer[KERNEL_MESSAGE_BYTES], uint16_t family,
	const char *name, const struct uapi_device *device, bool transport)
{
	struct nlmsghdr *header = kernel_message_begin(buffer, family, WG_CMD_SET_DEVICE, 0, name);

	if (!writer->started)
		put_device(header, device, transport);
	writer->started = true;
	if (device->peer_count)
		put_peers(header, writer, device);
	writer->done = writer->peer == device->peer_count;
	return header;
}
