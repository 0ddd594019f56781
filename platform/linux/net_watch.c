/* SPDX-License-Identifier: MIT */
/* Changes of addresses, routes and links, by rtnetlink's multicast groups. The owner's thread.
 *
 * The kernel reports much that is no change to a carrier: lifetimes that a router renews, wireless
 * statistics, its own local and multicast routes. A false alarm costs a redial, so each kind is looked at.
 * Source: rtnetlink(7). */
#include "core/port/net_config.h"
#include "platform/linux/netlink.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE_BYTES 32768
#define FLAGS_THAT_MATTER (IFF_UP | IFF_RUNNING | 0x10000 /* IFF_LOWER_UP */)

struct net_watch {
	struct mnl_socket *socket;
	uint32_t ignored;
	char message[MESSAGE_BYTES];
};

struct taken {
	uint32_t except, ignored;
	bool changed;
	uint32_t link_gone;
};

int net_watch_open(struct net_watch **out)
{
	struct net_watch *watch = calloc(1, sizeof(*watch));
	int err;

	if (!watch)
		return -ENOMEM;
	err = netlink_subscribe(NETLINK_ROUTE,
		RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE,
		&watch->socket);
	if (err) {
		free(watch);
		return err;
	}
	*out = watch;
	return 0;
}

void net_watch_close(struct net_watch *watch)
{
	if (!watch)
		return;
	mnl_socket_close(watch->socket);
	free(watch);
}

int net_watch_handle(const struct net_watch *watch)
{
	return mnl_socket_get_fd(watch->socket);
}

void net_watch_ignore(struct net_watch *watch, uint32_t index)
{
	watch->ignored = index;
}

static bool matters(const struct taken *taken, uint32_t index)
{
	return index != taken->except && (!index || index != taken->ignored);
}

static void take_link(const struct nlmsghdr *header, struct taken *taken)
{
	const struct ifinfomsg *info = mnl_nlmsg_get_payload(header);

	/* Bridges report their ports' departure with the same type. */
	if (info->ifi_family != AF_UNSPEC)
		return;
	if (header->nlmsg_type == RTM_DELLINK)
		taken->link_gone = (uint32_t)info->ifi_index;
	if (!matters(taken, (uint32_t)info->ifi_index) || (info->ifi_flags & IFF_LOOPBACK))
		return;
	/* All bits "changed" is a link just made, which carries nothing yet. */
	if (header->nlmsg_type == RTM_DELLINK ||
		(info->ifi_change != UINT32_MAX && (info->ifi_change & FLAGS_THAT_MATTER)))
		taken->changed = true;
}

static int take_cache_info(const struct nlattr *attr, void *data)
{
	bool *renewed = data;
	struct ifa_cacheinfo info;

	if (mnl_attr_get_type(attr) == IFA_CACHEINFO && mnl_attr_get_payload_len(attr) >= sizeof(info)) {
		memcpy(&info, mnl_attr_get_payload(attr), sizeof(info));
		*renewed = info.cstamp != info.tstamp;
	}
	return MNL_CB_OK;
}

static void take_address(const struct nlmsghdr *header, struct taken *taken)
{
	const struct ifaddrmsg *message = mnl_nlmsg_get_payload(header);
	bool renewed = false;

	if (!matters(taken, message->ifa_index) || message->ifa_scope == RT_SCOPE_HOST)
		return;
	/* A lifetime that was renewed: the address was there before. One that can not be used yet is reported
	 * again. */
	if (header->nlmsg_type == RTM_NEWADDR) {
		mnl_attr_parse(header, sizeof(*message), take_cache_info, &renewed);
		if (renewed || (message->ifa_flags & IFA_F_TENTATIVE))
			return;
	}
	taken->changed = true;
}

static int take_interface(const struct nlattr *attr, void *data)
{
	uint32_t *interface = data;

	if (mnl_attr_get_type(attr) == RTA_OIF)
		*interface = mnl_attr_get_u32(attr);
	return MNL_CB_OK;
}

static void take_route(const struct nlmsghdr *header, struct taken *taken)
{
	const struct rtmsg *message = mnl_nlmsg_get_payload(header);
	uint32_t interface = 0;

	if (message->rtm_table == RT_TABLE_LOCAL || (message->rtm_flags & RTM_F_CLONED) ||
		message->rtm_type == RTN_MULTICAST || message->rtm_type == RTN_LOCAL ||
		message->rtm_type == RTN_ANYCAST || message->rtm_type == RTN_BROADCAST)
		return;
	mnl_attr_parse(header, sizeof(*message), take_interface, &interface);
	if (!interface || matters(taken, interface))
		taken->changed = true;
}

static int take_message(const struct nlmsghdr *header, void *data)
{
	struct taken *taken = data;

	switch (header->nlmsg_type) {
	case RTM_NEWLINK:
	case RTM_DELLINK:
		if (mnl_nlmsg_get_payload_len(header) >= sizeof(struct ifinfomsg))
			take_link(header, taken);
		break;
	case RTM_NEWADDR:
	case RTM_DELADDR:
		if (mnl_nlmsg_get_payload_len(header) >= sizeof(struct ifaddrmsg))
			take_address(header, taken);
		break;
	case RTM_NEWROUTE:
	case RTM_DELROUTE:
		if (mnl_nlmsg_get_payload_len(header) >= sizeof(struct rtmsg))
			take_route(header, taken);
		break;
	}
	return MNL_CB_OK;
}

int net_watch_take(struct net_watch *watch, uint32_t except, uint32_t *link_gone)
{
	struct taken taken = { .except = except, .ignored = watch->ignored };

	/* One deletion a call can be told; the next waits in the socket. */
	while (!taken.link_gone) {
		ssize_t n = mnl_socket_recvfrom(watch->socket, watch->message, sizeof(watch->message));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0 && errno == ENOBUFS) {
			taken.changed = true; /* more happened than the socket could hold */
			continue;
		}
		if (n < 0)
			return -errno;
		mnl_cb_run(watch->message, (size_t)n, 0, 0, take_message, &taken);
	}
	*link_gone = taken.link_gone;
	return taken.changed;
}
