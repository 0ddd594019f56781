/* SPDX-License-Identifier: MIT */
/* Netlink requests with libmnl, and the few about links that more than one part needs. The owner's thread; a
 * request to the kernel is answered before the call returns, so nothing here waits for anybody else. Source:
 * netlink(7), rtnetlink(7). */
#include "platform/linux/netlink.h"

#include "core/base/wipe.h"

#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Room for one part of a dump. */
#define ANSWER_BYTES 32768

int netlink_open(struct netlink *out, int bus)
{
	struct sockaddr_nl own = { .nl_family = AF_NETLINK };
	socklen_t own_len = sizeof(own);
	int one = 1;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, bus);

	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&own, sizeof(own)) < 0 ||
		getsockname(fd, (struct sockaddr *)&own, &own_len) < 0) {
		int err = -errno;
		close(fd);
		return err;
	}
	/* Dumps then come filtered; a kernel before 4.20 sends all, and the taker filters. */
	(void)!setsockopt(fd, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &one, sizeof(one));
	/* An error then comes without the request that it is about: no copy of its keys, and room for it. */
	(void)!setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	*out = (struct netlink){ .open = true, .handle = fd, .port = own.nl_pid, .sequence = 1 };
	return 0;
}

void netlink_adopt(struct netlink *out, int handle)
{
	*out = (struct netlink){ .open = true, .handle = handle, .sequence = 1 };
}

void netlink_close(struct netlink *netlink)
{
	if (netlink->open)
		close(netlink->handle);
	netlink->open = false;
}

int netlink_subscribe(int bus, uint32_t groups, struct mnl_socket **out)
{
	struct mnl_socket *socket = mnl_socket_open2(bus, SOCK_CLOEXEC | SOCK_NONBLOCK);
	int err;

	if (!socket)
		return -errno;
	if (mnl_socket_bind(socket, groups, MNL_SOCKET_AUTOPID) < 0) {
		err = -errno;
		mnl_socket_close(socket);
		return err;
	}
	*out = socket;
	return 0;
}

struct nlmsghdr *netlink_request(char buffer[NETLINK_REQUEST_BYTES], uint16_t type, uint16_t flags)
{
	struct nlmsghdr *header;

	memset(buffer, 0, NETLINK_REQUEST_BYTES);
	header = mnl_nlmsg_put_header(buffer);
	header->nlmsg_type = type;
	header->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags);
	return header;
}

static int take_error(const struct nlmsghdr *header, void *data)
{
	const struct nlmsgerr *error = mnl_nlmsg_get_payload(header);

	(void)data;
	errno = EBADMSG;
	if (mnl_nlmsg_get_payload_len(header) < sizeof(error->error))
		return MNL_CB_ERROR;
	errno = -error->error;
	return error->error ? MNL_CB_ERROR : MNL_CB_STOP;
}

/* The end of a dump; the error in it, which older kernels do not send, is one that came up on the way. */
static int take_done(const struct nlmsghdr *header, void *data)
{
	if (mnl_nlmsg_get_payload_len(header) < sizeof(int))
		return MNL_CB_STOP;
	return take_error(header, data);
}

static bool ends_dump(const char *answer, size_t len, uint32_t sequence)
{
	const struct nlmsghdr *header = (const struct nlmsghdr *)answer;
	int left = (int)len;

	for (; mnl_nlmsg_ok(header, left); header = mnl_nlmsg_next(header, &left))
		if (header->nlmsg_seq == sequence &&
			(header->nlmsg_type == NLMSG_DONE || header->nlmsg_type == NLMSG_ERROR))
			return true;
	return false;
}

/* The bytes of one part, or -errno. */
static ssize_t receive(const struct netlink *netlink, char answer[ANSWER_BYTES])
{
	for (;;) {
		struct sockaddr_nl from = { 0 };
		socklen_t from_len = sizeof(from);
		ssize_t n = recvfrom(netlink->handle, answer, ANSWER_BYTES, MSG_TRUNC,
			(struct sockaddr *)&from, &from_len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -ECONNRESET;
		if (n > ANSWER_BYTES)
			return -EMSGSIZE;
		/* Another process, which is nobody that we asked. */
		if (from_len >= sizeof(from) && from.nl_family == AF_NETLINK && from.nl_pid)
			continue;
		return n;
	}
}

int netlink_talk(struct netlink *netlink, struct nlmsghdr *request, mnl_cb_t take, void *data)
{
	mnl_cb_t control[] = { [NLMSG_ERROR] = take_error, [NLMSG_DONE] = take_done };
	/* Not from the heap: what takes rules and routes away must work where memory is short. */
	_Alignas(struct nlmsghdr) char answer[ANSWER_BYTES];
	size_t used = 0;
	int err = 0;

	request->nlmsg_flags |= NLM_F_ACK;
	request->nlmsg_seq = ++netlink->sequence;
	/* Without an address it goes to the kernel. */
	if (send(netlink->handle, request, request->nlmsg_len, MSG_NOSIGNAL) < 0) {
		err = -errno;
		goto out;
	}
	for (;;) {
		ssize_t n = receive(netlink, answer);

		if (n < 0) {
			err = (int)n;
			break;
		}
		if ((size_t)n > used)
			used = (size_t)n;
		int more = mnl_cb_run2(answer, (size_t)n, request->nlmsg_seq, netlink->port, take, data,
			control, sizeof(control) / sizeof(control[0]));
		/* The answer to an earlier request that was given up. */
		if (more < 0 && errno == EPROTO)
			continue;
		if (more < 0 && !err)
			err = -errno;
		if (more == MNL_CB_STOP)
			break;
		if (more < 0) {
			/* A dump that is not read to its end would make the next one fail. */
			if ((request->nlmsg_flags & NLM_F_DUMP) != NLM_F_DUMP ||
				ends_dump(answer, (size_t)n, request->nlmsg_seq))
				break;
			take = NULL;
		}
	}
out:
	memory_wipe(answer, used);
	return err;
}

static int take_link_kind(const struct nlattr *attr, void *data)
{
	struct net_link *link = data;

	if (mnl_attr_get_type(attr) == IFLA_INFO_KIND) {
		link->tun = strcmp(mnl_attr_get_str(attr), "tun") == 0;
		link->wireguard = strcmp(mnl_attr_get_str(attr), "wireguard") == 0;
	}
	return MNL_CB_OK;
}

static int take_link_attr(const struct nlattr *attr, void *data)
{
	struct net_link *link = data;

	switch (mnl_attr_get_type(attr)) {
	case IFLA_IFNAME:
		strncpy(link->name, mnl_attr_get_str(attr), sizeof(link->name) - 1);
		break;
	case IFLA_MTU:
		link->mtu = mnl_attr_get_u32(attr);
		break;
	case IFLA_STATS64:
		if (mnl_attr_get_payload_len(attr) >= offsetof(struct rtnl_link_stats64, rx_errors)) {
			struct rtnl_link_stats64 stats = { 0 };

			memcpy(&stats, mnl_attr_get_payload(attr),
				offsetof(struct rtnl_link_stats64, rx_errors));
			link->rx_bytes = stats.rx_bytes;
			link->tx_bytes = stats.tx_bytes;
		}
		break;
	case IFLA_LINKINFO:
		mnl_attr_parse_nested(attr, take_link_kind, link);
		break;
	}
	return MNL_CB_OK;
}

static int take_link(const struct nlmsghdr *header, void *data)
{
	const struct ifinfomsg *info = mnl_nlmsg_get_payload(header);
	struct net_link *link = data;

	if (header->nlmsg_type != RTM_NEWLINK)
		return MNL_CB_OK;
	link->index = (uint32_t)info->ifi_index;
	link->up = info->ifi_flags & IFF_UP;
	mnl_attr_parse(header, sizeof(*info), take_link_attr, link);
	return MNL_CB_OK;
}

int netlink_link(struct netlink *netlink, const char *name, uint32_t index, struct net_link *out)
{
	char buffer[NETLINK_REQUEST_BYTES];
	struct nlmsghdr *request = netlink_request(buffer, RTM_GETLINK, 0);
	struct ifinfomsg *info = mnl_nlmsg_put_extra_header(request, sizeof(*info));
	struct net_link link = { 0 };

	info->ifi_index = (int)index;
	if (name) {
		if (strlen(name) >= sizeof(link.name))
			return -ENODEV;
		mnl_attr_put_strz(request, IFLA_IFNAME, name);
	}
	int err = netlink_talk(netlink, request, take_link, &link);
	if (err)
		return err;
	if (!link.index)
		return -ENODEV;
	*out = link;
	return 0;
}

int netlink_link_set(struct netlink *netlink, uint32_t index, uint32_t mtu, bool up)
{
	char buffer[NETLINK_REQUEST_BYTES];
	struct nlmsghdr *request = netlink_request(buffer, RTM_NEWLINK, 0);
	struct ifinfomsg *info = mnl_nlmsg_put_extra_header(request, sizeof(*info));

	info->ifi_index = (int)index;
	info->ifi_change = IFF_UP;
	info->ifi_flags = up ? IFF_UP : 0;
	if (mtu)
		mnl_attr_put_u32(request, IFLA_MTU, mtu);
	return netlink_talk(netlink, request, NULL, NULL);
}

int netlink_link_rename(struct netlink *netlink, uint32_t index, const char *name)
{
	char buffer[NETLINK_REQUEST_BYTES];
	struct nlmsghdr *request = netlink_request(buffer, RTM_NEWLINK, 0);
	struct ifinfomsg *info = mnl_nlmsg_put_extra_header(request, sizeof(*info));

	info->ifi_index = (int)index;
	mnl_attr_put_strz(request, IFLA_IFNAME, name);
	return netlink_talk(netlink, request, NULL, NULL);
}

int netlink_link_set_burst(struct netlink *netlink, uint32_t index, uint32_t segments)
{
	char buffer[NETLINK_REQUEST_BYTES];
	struct nlmsghdr *request = netlink_request(buffer, RTM_NEWLINK, 0);
	struct ifinfomsg *info = mnl_nlmsg_put_extra_header(request, sizeof(*info));

	info->ifi_index = (int)index;
	mnl_attr_put_u32(request, IFLA_GSO_MAX_SEGS, segments);
	return netlink_talk(netlink, request, NULL, NULL);
}

int netlink_link_no_autoconf(struct netlink *netlink, uint32_t index)
{
	char buffer[NETLINK_REQUEST_BYTES];
	struct nlmsghdr *request = netlink_request(buffer, RTM_NEWLINK, 0);
	struct ifinfomsg *info = mnl_nlmsg_put_extra_header(request, sizeof(*info));

	info->ifi_index = (int)index;
	struct nlattr *families = mnl_attr_nest_start(request, IFLA_AF_SPEC);
	struct nlattr *v6 = mnl_attr_nest_start(request, AF_INET6);
	mnl_attr_put_u8(request, IFLA_INET6_ADDR_GEN_MODE, IN6_ADDR_GEN_MODE_NONE);
	mnl_attr_nest_end(request, v6);
	mnl_attr_nest_end(request, families);
	return netlink_talk(netlink, request, NULL, NULL);
}

struct found_route {
	uint8_t type;
	uint32_t interface, mtu;
};

static int take_metric(const struct nlattr *attr, void *data)
{
	struct found_route *route = data;

	if (mnl_attr_get_type(attr) == RTAX_MTU)
		route->mtu = mnl_attr_get_u32(attr);
	return MNL_CB_OK;
}

static int take_route_attr(const struct nlattr *attr, void *data)
{
	struct found_route *route = data;

	switch (mnl_attr_get_type(attr)) {
	case RTA_OIF:
		route->interface = mnl_attr_get_u32(attr);
		break;
	case RTA_METRICS:
		mnl_attr_parse_nested(attr, take_metric, route);
		break;
	}
	return MNL_CB_OK;
}

static int take_route(const struct nlmsghdr *header, void *data)
{
	const struct rtmsg *message = mnl_nlmsg_get_payload(header);
	struct found_route *route = data;

	if (header->nlmsg_type != RTM_NEWROUTE)
		return MNL_CB_OK;
	route->type = message->rtm_type;
	mnl_attr_parse(header, sizeof(*message), take_route_attr, route);
	return MNL_CB_OK;
}

int netlink_route_lookup(struct netlink *netlink, const struct ip_address *address, uint32_t mark,
	uint32_t *interface, uint32_t *mtu)
{
	char buffer[NETLINK_REQUEST_BYTES];
	struct nlmsghdr *request = netlink_request(buffer, RTM_GETROUTE, 0);
	struct rtmsg *message = mnl_nlmsg_put_extra_header(request, sizeof(*message));
	size_t len = ip_address_len(address);
	struct found_route route = { 0 };
	struct net_link link;

	if (!len)
		return -EINVAL;
	message->rtm_family = len == 4 ? AF_INET : AF_INET6;
	message->rtm_dst_len = (uint8_t)(len * 8);
	mnl_attr_put(request, RTA_DST, len, address->bytes);
	if (mark)
		mnl_attr_put_u32(request, RTA_MARK, mark);
	int err = netlink_talk(netlink, request, take_route, &route);
	/* A route of type unreachable, prohibit or blackhole answers with its own error; all of them are
	 * "none". */
	if (err == -EHOSTUNREACH || err == -EACCES || err == -EINVAL || err == -EAGAIN)
		return -ENETUNREACH;
	if (err)
		return err;
	if ((route.type != RTN_UNICAST && route.type != RTN_LOCAL) || !route.interface)
		return -ENETUNREACH;
	if (!route.mtu) {
		err = netlink_link(netlink, NULL, route.interface, &link);
		if (err)
			return err;
		route.mtu = link.mtu;
	}
	*interface = route.interface;
	*mtu = route.mtu;
	return 0;
}
