/* SPDX-License-Identifier: MIT */
/* The gateway and its hardware address, by rtnetlink: the route tells the gateway, the neighbour table its
 * address. The daemon's thread. Source: rtnetlink(7). */
#include "core/port/net_identity.h"

#include "platform/linux/netlink.h"

#include <errno.h>
#include <linux/if_arp.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#define HARDWARE_MAX sizeof(((struct net_gateway *)0)->hardware)

struct way {
	struct ip_address next; /* the gateway, or the host itself */
	uint32_t interface;
};

static int family_of(const struct ip_address *address)
{
	return address->family == IP_V4 ? AF_INET : AF_INET6;
}

static int take_way_attr(const struct nlattr *attr, void *data)
{
	struct way *way = data;

	switch (mnl_attr_get_type(attr)) {
	case RTA_GATEWAY:
		if (mnl_attr_get_payload_len(attr) == ip_address_len(&way->next))
			memcpy(way->next.bytes, mnl_attr_get_payload(attr), ip_address_len(&way->next));
		break;
	case RTA_OIF:
		way->interface = mnl_attr_get_u32(attr);
		break;
	}
	return MNL_CB_OK;
}

static int take_way(const struct nlmsghdr *header, void *data)
{
	if (header->nlmsg_type == RTM_NEWROUTE)
		mnl_attr_parse(header, sizeof(struct rtmsg), take_way_attr, data);
	return MNL_CB_OK;
}

static int find_way(struct netlink *netlink, const struct ip_address *toward, uint32_t mark, struct way *way)
{
	char buffer[NETLINK_REQUEST_BYTES];
	struct nlmsghdr *request = netlink_request(buffer, RTM_GETROUTE, 0);
	struct rtmsg *message = mnl_nlmsg_put_extra_header(request, sizeof(*message));

	message->rtm_family = (unsigned char)family_of(toward);
	message->rtm_dst_len = (unsigned char)(8 * ip_address_len(toward));
	mnl_attr_put(request, RTA_DST, ip_address_len(toward), toward->bytes);
	if (mark)
		mnl_attr_put_u32(request, RTA_MARK, mark);
	*way = (struct way){ .next = *toward };
	return netlink_talk(netlink, request, take_way, way);
}

struct neighbour {
	uint8_t *out;
	size_t len;
};

static int take_neighbour_attr(const struct nlattr *attr, void *data)
{
	struct neighbour *neighbour = data;
	size_t len = mnl_attr_get_payload_len(attr);

	if (mnl_attr_get_type(attr) != NDA_LLADDR || len == 0 || len > HARDWARE_MAX)
		return MNL_CB_OK;
	memcpy(neighbour->out, mnl_attr_get_payload(attr), len);
	neighbour->len = len;
	return MNL_CB_OK;
}

static int take_neighbour(const struct nlmsghdr *header, void *data)
{
	const struct ndmsg *message = mnl_nlmsg_get_payload(header);

	if (header->nlmsg_type == RTM_NEWNEIGH &&
		!(message->ndm_state & (NUD_INCOMPLETE | NUD_FAILED | NUD_NOARP)))
		mnl_attr_parse(header, sizeof(*message), take_neighbour_attr, data);
	return MNL_CB_OK;
}

static struct nlmsghdr *neighbour_request(
	char buffer[NETLINK_REQUEST_BYTES], uint16_t type, uint16_t flags, const struct way *way)
{
	struct nlmsghdr *request = netlink_request(buffer, type, flags);
	struct ndmsg *message = mnl_nlmsg_put_extra_header(request, sizeof(*message));

	message->ndm_family = (uint8_t)family_of(&way->next);
	message->ndm_ifindex = (int)way->interface;
	mnl_attr_put(request, NDA_DST, ip_address_len(&way->next), way->next.bytes);
	return request;
}

/* The number of bytes; 0: not known. */
static size_t find_hardware(struct netlink *netlink, const struct way *way, uint8_t out[HARDWARE_MAX])
{
	char buffer[NETLINK_REQUEST_BYTES];
	struct neighbour neighbour = { .out = out };

	return netlink_talk(
		       netlink, neighbour_request(buffer, RTM_GETNEIGH, 0, way), take_neighbour, &neighbour)
		       ? 0
		       : neighbour.len;
}

int net_gateway(const struct ip_address *toward, uint32_t mark, struct net_gateway *out)
{
	struct net_gateway gateway = { 0 };
	struct netlink netlink;
	struct way way;
	int err;

	if (toward->family == IP_NONE)
		return -ENETUNREACH;
	err = netlink_open(&netlink, NETLINK_ROUTE);
	if (err)
		return err;
	err = find_way(&netlink, toward, mark, &way);
	if (!err) {
		gateway.interface = way.interface;
		if (!ip_address_equal(&way.next, toward))
			gateway.address = way.next;
		gateway.hardware_len = find_hardware(&netlink, &way, gateway.hardware);
		*out = gateway;
	}
	netlink_close(&netlink);
	return err;
}

void net_identity_learn(const struct ip_address *toward, uint32_t mark)
{
	char buffer[NETLINK_REQUEST_BYTES];
	struct nlmsghdr *request;
	struct netlink netlink;
	uint8_t hardware[HARDWARE_MAX];
	struct way way;

	if (toward->family == IP_NONE || netlink_open(&netlink, NETLINK_ROUTE))
		return;
	if (find_way(&netlink, toward, mark, &way) == 0 && find_hardware(&netlink, &way, hardware) == 0) {
		/* "As if somebody wanted to send there." */
		request = neighbour_request(
			buffer, RTM_NEWNEIGH, NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE, &way);
		((struct ndmsg *)mnl_nlmsg_get_payload(request))->ndm_flags = NTF_USE;
		(void)netlink_talk(&netlink, request, NULL, NULL);
	}
	netlink_close(&netlink);
}

/* ---- which network ---- */

static int take_kind(const struct nlmsghdr *header, void *data)
{
	if (header->nlmsg_type == RTM_NEWLINK)
		*(uint16_t *)data = ((const struct ifinfomsg *)mnl_nlmsg_get_payload(header))->ifi_type;
	return MNL_CB_OK;
}

/* As ARPHRD_* has it; ARPHRD_VOID: unknown. */
static uint16_t kind_of(uint32_t interface)
{
	char buffer[NETLINK_REQUEST_BYTES];
	uint16_t kind = ARPHRD_VOID;
	struct nlmsghdr *request;
	struct ifinfomsg *message;
	struct netlink netlink;

	if (netlink_open(&netlink, NETLINK_ROUTE))
		return kind;
	request = netlink_request(buffer, RTM_GETLINK, 0);
	message = mnl_nlmsg_put_extra_header(request, sizeof(*message));
	message->ifi_index = (int)interface;
	(void)netlink_talk(&netlink, request, take_kind, &kind);
	netlink_close(&netlink);
	return kind;
}

int net_identity(const struct ip_address *toward, uint32_t mark, uint8_t out[NET_IDENTITY_MAX], size_t *len)
{
	struct net_gateway gateway;
	uint8_t ssid[NET_SSID_MAX];
	uint16_t kind;
	int ssid_len;

	if (net_gateway(toward, mark, &gateway))
		return -ENOENT;
	if (gateway.hardware_len) {
		memcpy(out, gateway.hardware, gateway.hardware_len);
		*len = gateway.hardware_len;
		return 0;
	}
	kind = kind_of(gateway.interface);
	ssid_len = net_ssid(gateway.interface, ssid);
	if (ssid_len <= 0 && kind != ARPHRD_PPP && kind != ARPHRD_RAWIP)
		return -ENOENT;
	/* Longer than any hardware address, so that the two are never taken for each other. */
	memset(out, 0, NET_IDENTITY_MAX);
	memcpy(out, &kind, sizeof(kind));
	if (ssid_len > 0)
		memcpy(out + sizeof(kind), ssid, (size_t)ssid_len);
	*len = NET_IDENTITY_MAX;
	return 0;
}
