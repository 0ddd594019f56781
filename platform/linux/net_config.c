/* SPDX-License-Identifier: MIT */
/* Addresses, routes and links by rtnetlink. The daemon's thread; each call waits for the kernel's answer
 * only. Source: rtnetlink(7). */
#include "core/port/net_config.h"
#include "core/port/net_guard.h"

#include "platform/linux/netlink.h"

#include <errno.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>

struct net_config {
	struct netlink netlink;
};

int net_config_open(struct net_config **out)
{
	struct net_config *net = calloc(1, sizeof(*net));

	if (!net)
		return -ENOMEM;
	int err = netlink_open(&net->netlink, NETLINK_ROUTE);
	if (err) {
		free(net);
		return err;
	}
	*out = net;
	return 0;
}

void net_config_close(struct net_config *net)
{
	if (!net)
		return;
	netlink_close(&net->netlink);
	free(net);
}

int net_link_find(struct net_config *net, const char *name, struct net_link *out)
{
	return netlink_link(&net->netlink, name, 0, out);
}

int net_link_at(struct net_config *net, uint32_t index, struct net_link *out)
{
	return index ? netlink_link(&net->netlink, NULL, index, out) : -ENODEV;
}

/* Linux before 6.2 answers -EBUSY for a link that is up. */
int net_link_rename(struct net_config *net, uint32_t index, const char *name)
{
	int err = netlink_link_rename(&net->netlink, index, name);

	if (err != -EBUSY)
		return err;
	err = netlink_link_set(&net->netlink, index, 0, false);
	return err ? err : netlink_link_rename(&net->netlink, index, name);
}

int net_link_set(struct net_config *net, uint32_t index, uint32_t mtu, bool up)
{
	return netlink_link_set(&net->netlink, index, mtu, up);
}

int net_link_delete(struct net_config *net, uint32_t index)
{
	char buffer[NETLINK_REQUEST_BYTES];
	struct nlmsghdr *request = netlink_request(buffer, RTM_DELLINK, 0);
	struct ifinfomsg *info = mnl_nlmsg_put_extra_header(request, sizeof(*info));

	/* Index 0 would mean "all links" to some kernels. */
	if (!index)
		return -ENODEV;
	info->ifi_index = (int)index;
	return netlink_talk(&net->netlink, request, NULL, NULL);
}

static int change_address(struct net_config *net, uint16_t type, uint16_t flags, uint32_t index,
	const struct ip_prefix *address, uint32_t more)
{
	char buffer[NETLINK_REQUEST_BYTES];
	struct nlmsghdr *request = netlink_request(buffer, type, flags);
	struct ifaddrmsg *message = mnl_nlmsg_put_extra_header(request, sizeof(*message));
	size_t len = ip_address_len(&address->address);

	if (!len)
		return -EINVAL;
	message->ifa_family = len == 4 ? AF_INET : AF_INET6;
	message->ifa_prefixlen = address->bits;
	message->ifa_index = index;
	/* A tunnel has no neighbour to ask whether the address is taken, and the first packet should not wait
	 * for that. */
	message->ifa_flags = len == 16 ? IFA_F_NODAD : 0;
	if (more)
		mnl_attr_put_u32(request, IFA_FLAGS, message->ifa_flags | more);
	mnl_attr_put(request, IFA_LOCAL, len, address->address.bytes);
	mnl_attr_put(request, IFA_ADDRESS, len, address->address.bytes);
	return netlink_talk(&net->netlink, request, NULL, NULL);
}

int net_address_add(struct net_config *net, uint32_t index, const struct ip_prefix *address)
{
	int err = change_address(net, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, index, address, 0);

	return err == -EEXIST ? 0 : err;
}

int net_address_add_alone(struct net_config *net, uint32_t index, const struct ip_prefix *address)
{
	int err = change_address(
		net, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, index, address, IFA_F_NOPREFIXROUTE);

	return err == -EEXIST ? 0 : err;
}

int net_address_remove(struct net_config *net, uint32_t index, const struct ip_prefix *address)
{
	int err = change_address(net, RTM_DELADDR, 0, index, address, 0);

	return err == -EADDRNOTAVAIL || err == -ENODEV ? 0 : err;
}

static uint32_t table_of(const struct net_route *route)
{
	return route->table ? route->table : (uint32_t)RT_TABLE_MAIN;
}

static int change_route(struct net_config *net, uint16_t type, uint16_t flags, const struct net_route *route)
{
	char buffer[NETLINK_REQUEST_BYTES];
	struct nlmsghdr *request = netlink_request(buffer, type, flags);
	struct rtmsg *message = mnl_nlmsg_put_extra_header(request, sizeof(*message));
	struct ip_prefix network = ip_prefix_network(&route->destination);
	size_t len = ip_address_len(&network.address);

	if (!len)
		return -EINVAL;
	message->rtm_family = len == 4 ? AF_INET : AF_INET6;
	message->rtm_dst_len = network.bits;
	message->rtm_table = table_of(route) < 256 ? (uint8_t)table_of(route) : (uint8_t)RT_TABLE_UNSPEC;
	if (type == RTM_NEWROUTE) {
		message->rtm_protocol = RTPROT_STATIC;
		message->rtm_type = RTN_UNICAST;
		message->rtm_scope = len == 4 ? RT_SCOPE_LINK : RT_SCOPE_UNIVERSE;
	} else {
		message->rtm_scope = RT_SCOPE_NOWHERE; /* any */
	}
	mnl_attr_put(request, RTA_DST, len, network.address.bytes);
	mnl_attr_put_u32(request, RTA_OIF, route->interface);
	mnl_attr_put_u32(request, RTA_TABLE, table_of(route));
	if (route->metric)
		mnl_attr_put_u32(request, RTA_PRIORITY, route->metric);
	return netlink_talk(&net->netlink, request, NULL, NULL);
}

/* ---- what there is ---- */

struct address_list {
	uint32_t interface;
	void (*take)(const struct ip_prefix *address, void *user);
	void *user;
};

struct dumped_address {
	size_t len;
	bool local;
	struct ip_prefix prefix;
};

static int take_address_attr(const struct nlattr *attr, void *data)
{
	struct dumped_address *dumped = data;
	uint16_t type = mnl_attr_get_type(attr);

	/* On a link with two ends the other one's is the "address". */
	if (mnl_attr_get_payload_len(attr) != dumped->len || (type != IFA_LOCAL && type != IFA_ADDRESS) ||
		(type == IFA_ADDRESS && dumped->local))
		return MNL_CB_OK;
	memcpy(dumped->prefix.address.bytes, mnl_attr_get_payload(attr), dumped->len);
	dumped->local = dumped->local || type == IFA_LOCAL;
	return MNL_CB_OK;
}

static int take_address(const struct nlmsghdr *header, void *data)
{
	const struct ifaddrmsg *message = mnl_nlmsg_get_payload(header);
	const struct address_list *list = data;
	struct dumped_address dumped = { .prefix.bits = message->ifa_prefixlen };

	if (header->nlmsg_type != RTM_NEWADDR || message->ifa_index != list->interface ||
		(message->ifa_family != AF_INET && message->ifa_family != AF_INET6))
		return MNL_CB_OK;
	dumped.prefix.address.family = message->ifa_family == AF_INET ? IP_V4 : IP_V6;
	dumped.len = ip_address_len(&dumped.prefix.address);
	mnl_attr_parse(header, sizeof(*message), take_address_attr, &dumped);
	list->take(&dumped.prefix, list->user);
	return MNL_CB_OK;
}

int net_addresses_each(struct net_config *net, uint32_t interface,
	void (*take)(const struct ip_prefix *address, void *user), void *user)
{
	static const unsigned char families[] = { AF_INET, AF_INET6 };
	struct address_list list = { .interface = interface, .take = take, .user = user };

	for (size_t i = 0; i < 2; i++) {
		char buffer[NETLINK_REQUEST_BYTES];
		struct nlmsghdr *request = netlink_request(buffer, RTM_GETADDR, NLM_F_DUMP);
		struct ifaddrmsg *message = mnl_nlmsg_put_extra_header(request, sizeof(*message));
		int err;

		message->ifa_family = families[i];
		message->ifa_index = interface;
		err = netlink_talk(&net->netlink, request, take_address, &list);
		/* A link that never had IPv6 is not one to this dump. */
		if (err && err != -ENODEV && err != -EAFNOSUPPORT)
			return err;
	}
	return 0;
}

/* The search for one route in a dump. */
struct route_search {
	const struct net_route *wanted;
	struct ip_prefix network;
	bool found;
};

struct dumped_route {
	struct ip_address destination;
	size_t len;
	uint32_t interface, table, metric;
};

static int take_attr(const struct nlattr *attr, void *data)
{
	struct dumped_route *route = data;

	switch (mnl_attr_get_type(attr)) {
	case RTA_DST:
		if (mnl_attr_get_payload_len(attr) == route->len)
			memcpy(route->destination.bytes, mnl_attr_get_payload(attr), route->len);
		break;
	case RTA_OIF:
		route->interface = mnl_attr_get_u32(attr);
		break;
	case RTA_TABLE:
		route->table = mnl_attr_get_u32(attr);
		break;
	case RTA_PRIORITY:
		route->metric = mnl_attr_get_u32(attr);
		break;
	}
	return MNL_CB_OK;
}

static int take_route(const struct nlmsghdr *header, void *data)
{
	const struct rtmsg *message = mnl_nlmsg_get_payload(header);
	struct route_search *search = data;
	const struct net_route *wanted = search->wanted;
	struct dumped_route route = { .destination.family = search->network.address.family,
		.len = ip_address_len(&search->network.address),
		.table = message->rtm_table };

	if (header->nlmsg_type != RTM_NEWROUTE || message->rtm_dst_len != search->network.bits ||
		message->rtm_family != (route.len == 4 ? AF_INET : AF_INET6))
		return MNL_CB_OK;
	mnl_attr_parse(header, sizeof(*message), take_attr, &route);
	if (route.interface == wanted->interface && route.table == table_of(wanted) &&
		(!wanted->metric || route.metric == wanted->metric) &&
		ip_address_equal(&route.destination, &search->network.address))
		search->found = true;
	return MNL_CB_OK;
}

struct route_list {
	uint32_t interface;
	void (*take)(const struct net_route *route, void *user);
	void *user;
};

static int list_route(const struct nlmsghdr *header, void *data)
{
	const struct rtmsg *message = mnl_nlmsg_get_payload(header);
	const struct route_list *list = data;
	struct dumped_route route = { .table = message->rtm_table };
	struct net_route found = { .destination.bits = message->rtm_dst_len };

	if (header->nlmsg_type != RTM_NEWROUTE ||
		(message->rtm_family != AF_INET && message->rtm_family != AF_INET6) ||
		message->rtm_type != RTN_UNICAST)
		return MNL_CB_OK;
	/* In IPv6 the one that the kernel makes for an address stands beside another for the same prefix. */
	if (message->rtm_family == AF_INET6 && message->rtm_protocol == RTPROT_KERNEL)
		return MNL_CB_OK;
	route.destination.family = message->rtm_family == AF_INET ? IP_V4 : IP_V6;
	route.len = ip_address_len(&route.destination);
	mnl_attr_parse(header, sizeof(*message), take_attr, &route);
	if (route.interface != list->interface)
		return MNL_CB_OK;
	found.destination.address = route.destination;
	found.interface = route.interface;
	found.table = route.table == RT_TABLE_MAIN ? 0 : route.table;
	found.metric = route.metric;
	list->take(&found, list->user);
	return MNL_CB_OK;
}

int net_routes_each(struct net_config *net, uint32_t interface,
	void (*take)(const struct net_route *route, void *user), void *user)
{
	static const unsigned char families[] = { AF_INET, AF_INET6 };
	struct route_list list = { .interface = interface, .take = take, .user = user };

	for (size_t i = 0; i < 2; i++) {
		char buffer[NETLINK_REQUEST_BYTES];
		struct nlmsghdr *request = netlink_request(buffer, RTM_GETROUTE, NLM_F_DUMP);
		struct rtmsg *message = mnl_nlmsg_put_extra_header(request, sizeof(*message));
		int err;

		message->rtm_family = families[i];
		mnl_attr_put_u32(request, RTA_OIF, interface);
		err = netlink_talk(&net->netlink, request, list_route, &list);
		if (err && err != -ENODEV && err != -EAFNOSUPPORT && err != -EOPNOTSUPP)
			return err;
	}
	return 0;
}

/* 1: there, 0: not, or -errno. */
static int route_exists(struct net_config *net, const struct net_route *route)
{
	char buffer[NETLINK_REQUEST_BYTES];
	struct nlmsghdr *request = netlink_request(buffer, RTM_GETROUTE, NLM_F_DUMP);
	struct rtmsg *message = mnl_nlmsg_put_extra_header(request, sizeof(*message));
	struct route_search search = { .wanted = route, .network = ip_prefix_network(&route->destination) };

	message->rtm_family = search.network.address.family == IP_V4 ? AF_INET : AF_INET6;
	mnl_attr_put_u32(request, RTA_TABLE, table_of(route));
	mnl_attr_put_u32(request, RTA_OIF, route->interface);
	int err = netlink_talk(&net->netlink, request, take_route, &search);
	return err ? err : search.found;
}

int net_route_add(struct net_config *net, const struct net_route *route)
{
	int err = change_route(net, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, route);

	/* The kernel says the same when another interface has the destination; that is not what was asked
	 * for. */
	if (err == -EEXIST && route_exists(net, route) == 1)
		return 0;
	return err;
}

int net_route_take_over(struct net_config *net, const struct net_route *route)
{
	return change_route(net, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, route);
}

int net_route_take_from(struct net_config *net, const struct net_route *route, uint32_t from)
{
	struct net_route theirs = *route;
	int err = change_route(net, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, route);

	theirs.interface = from;
	if (err != -EEXIST || route_exists(net, route) == 1)
		return err == -EEXIST ? 0 : err;
	if (route_exists(net, &theirs) != 1)
		return -EEXIST;
	return change_route(net, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, route);
}

int net_route_remove(struct net_config *net, const struct net_route *route)
{
	int err = change_route(net, RTM_DELROUTE, 0, route);

	return err == -ESRCH || err == -ENODEV || err == -ENOENT ? 0 : err;
}

int net_route_lookup(struct net_config *net, const struct ip_address *address, uint32_t mark,
	uint32_t *interface, uint32_t *mtu)
{
	return netlink_route_lookup(&net->netlink, address, mark, interface, mtu);
}
