/* SPDX-License-Identifier: MIT */
/* The gateway's hardware address, by rtnetlink: the route tells the gateway, the neighbour table its address.
 * The daemon's thread. Source: rtnetlink(7). */
#include "core/port/net_identity.h"

#include "platform/linux/netlink.h"

#include <errno.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

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

	if (mnl_attr_get_type(attr) != NDA_LLADDR || len == 0 || len > NET_IDENTITY_MAX)
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

int net_identity(const struct ip_address *toward, uint32_t mark, uint8_t out[NET_IDENTITY_MAX], size_t *len)
{
	char buffer[NETLINK_REQUEST_BYTES];
	struct neighbour neighbour = { .out = out };
	struct nlmsghdr *request;
	struct netlink netlink;
	struct ndmsg *message;
	struct way way;
	int err;

	if (toward->family == IP_NONE)
		return -ENOENT;
	err = netlink_open(&netlink, NETLINK_ROUTE);
	if (err)
		return err;
	err = find_way(&netlink, toward, mark, &way);
	if (err)
		goto out;
	request = netlink_request(buffer, RTM_GETNEIGH, 0);
	message = mnl_nlmsg_put_extra_header(request, sizeof(*message));
	message->ndm_family = (uint8_t)family_of(&way.next);
	message->ndm_ifindex = (int)way.interface;
	mnl_attr_put(request, NDA_DST, ip_address_len(&way.next), way.next.bytes);
	err = netlink_talk(&netlink, request, take_neighbour, &neighbour);
	if (!err)
		*len = neighbour.len;
out:
	netlink_close(&netlink);
	return err || !neighbour.len ? -ENOENT : 0;
}
