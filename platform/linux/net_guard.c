/* SPDX-License-Identifier: MIT */
/* Losses by rtnetlink's multicast groups. The daemon's thread.
 *
 * The kernel does not tell of the IPv4 routes that go with a link or with its last address; it tells of the
 * link and of the address, so the owner looks at everything of an interface of which anything is told.
 * Source: rtnetlink(7), linux/fib_rules.h. */
#include "core/port/net_guard.h"
#include "platform/linux/netlink.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/fib_rules.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdlib.h>

#define MESSAGE_BYTES 32768

struct net_guard {
	struct mnl_socket *socket;
	char message[MESSAGE_BYTES];
};

struct taken {
	void (*lost)(const struct net_loss *loss, void *user);
	void *user;
};

int net_guard_open(struct net_guard **out)
{
	struct net_guard *guard = calloc(1, sizeof(*guard));
	int err;

	if (!guard)
		return -ENOMEM;
	err = netlink_subscribe(NETLINK_ROUTE,
		NETLINK_GROUP(RTNLGRP_LINK) | NETLINK_GROUP(RTNLGRP_IPV4_IFADDR) |
			NETLINK_GROUP(RTNLGRP_IPV6_IFADDR) | NETLINK_GROUP(RTNLGRP_IPV4_ROUTE) |
			NETLINK_GROUP(RTNLGRP_IPV6_ROUTE) | NETLINK_GROUP(RTNLGRP_IPV4_RULE) |
			NETLINK_GROUP(RTNLGRP_IPV6_RULE),
		&guard->socket);
	if (err) {
		free(guard);
		return err;
	}
	*out = guard;
	return 0;
}

void net_guard_close(struct net_guard *guard)
{
	if (!guard)
		return;
	mnl_socket_close(guard->socket);
	free(guard);
}

int net_guard_handle(const struct net_guard *guard)
{
	return mnl_socket_get_fd(guard->socket);
}

/* Whatever has changed: which name or MTU it had before is not in the message, and up again is told too, in
 * case it was down for so short a time that both wait here. */
static void take_link(const struct nlmsghdr *header, const struct taken *taken)
{
	const struct ifinfomsg *info = mnl_nlmsg_get_payload(header);
	struct net_loss loss = { .interface = (uint32_t)info->ifi_index };

	if (info->ifi_family == AF_UNSPEC)
		taken->lost(&loss, taken->user);
}

static void take_address(const struct nlmsghdr *header, const struct taken *taken)
{
	const struct ifaddrmsg *message = mnl_nlmsg_get_payload(header);
	struct net_loss loss = { .interface = message->ifa_index };

	taken->lost(&loss, taken->user);
}

static int take_route_attr(const struct nlattr *attr, void *data)
{
	struct net_loss *loss = data;

	switch (mnl_attr_get_type(attr)) {
	case RTA_OIF:
		loss->interface = mnl_attr_get_u32(attr);
		break;
	case RTA_TABLE:
		loss->table = mnl_attr_get_u32(attr);
		break;
	}
	return MNL_CB_OK;
}

static void take_route(const struct nlmsghdr *header, const struct taken *taken)
{
	const struct rtmsg *message = mnl_nlmsg_get_payload(header);
	struct net_loss loss = { .table = message->rtm_table };

	if (message->rtm_table == RT_TABLE_LOCAL || (message->rtm_flags & RTM_F_CLONED))
		return;
	mnl_attr_parse(header, sizeof(*message), take_route_attr, &loss);
	taken->lost(&loss, taken->user);
}

/* One that was added beside others takes nothing away, but may be asked first. */
static void take_new_route(const struct nlmsghdr *header, const struct taken *taken)
{
	const struct rtmsg *message = mnl_nlmsg_get_payload(header);
	struct net_loss loss = { .table = message->rtm_table };

	mnl_attr_parse(header, sizeof(*message), take_route_attr, &loss);
	if (loss.table == RT_TABLE_LOCAL || (message->rtm_flags & RTM_F_CLONED))
		return;
	taken->lost(&(struct net_loss){ .rule = true }, taken->user);
}

static int take_rule_attr(const struct nlattr *attr, void *data)
{
	struct net_loss *loss = data;

	if (mnl_attr_get_type(attr) == FRA_FWMARK)
		loss->mark = mnl_attr_get_u32(attr);
	return MNL_CB_OK;
}

static void take_rule(const struct nlmsghdr *header, const struct taken *taken)
{
	struct net_loss loss = { .rule = true };

	if (header->nlmsg_type == RTM_DELRULE)
		mnl_attr_parse(header, sizeof(struct fib_rule_hdr), take_rule_attr, &loss);
	taken->lost(&loss, taken->user);
}

static int take_message(const struct nlmsghdr *header, void *data)
{
	size_t len = mnl_nlmsg_get_payload_len(header);

	switch (header->nlmsg_type) {
	case RTM_NEWLINK:
		if (len >= sizeof(struct ifinfomsg))
			take_link(header, data);
		break;
	case RTM_DELADDR:
		if (len >= sizeof(struct ifaddrmsg))
			take_address(header, data);
		break;
	case RTM_NEWROUTE:
		if (len < sizeof(struct rtmsg))
			break;
		if (header->nlmsg_flags & NLM_F_REPLACE)
			take_route(header, data);
		else
			take_new_route(header, data);
		break;
	case RTM_DELROUTE:
		if (len >= sizeof(struct rtmsg))
			take_route(header, data);
		break;
	case RTM_NEWRULE:
	case RTM_DELRULE:
		if (len >= sizeof(struct fib_rule_hdr))
			take_rule(header, data);
		break;
	}
	return MNL_CB_OK;
}

void net_guard_take(
	struct net_guard *guard, void (*lost)(const struct net_loss *loss, void *user), void *user)
{
	struct taken taken = { .lost = lost, .user = user };

	for (;;) {
		ssize_t n = mnl_socket_recvfrom(guard->socket, guard->message, sizeof(guard->message));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == ENOBUFS) {
			lost(&(struct net_loss){ .unknown = true }, user);
			continue;
		}
		if (n < 0)
			return;
		mnl_cb_run(guard->message, (size_t)n, 0, 0, take_message, &taken);
	}
}
