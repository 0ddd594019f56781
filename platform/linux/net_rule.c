/* SPDX-License-Identifier: MIT */
/* Policy rules by rtnetlink. The daemon's thread. Source: rtnetlink(7), linux/fib_rules.h, ip-rule(8). */
#include "core/port/net_rule.h"

#include "platform/linux/netlink.h"

#include <errno.h>
#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

/* The system's own rule for the main table has 32766; all of ours come before it. In each pair the one for
 * the main table goes first, and a tunnel of some prefixes before one of all. */
#define PRIORITY_PART 32762
#define PRIORITY_FULL 32764

/* Prefixes up to this long count as a default route: halves of everything in IPv4, 2000::/3 in IPv6. */
#define DEFAULT_BITS_V4 1
#define DEFAULT_BITS_V6 3

struct rule {
	enum ip_family family;
	uint32_t priority, table, mark;
	bool only_specific; /* what stands for a default route there does not count */
};

static uint8_t default_bits(enum ip_family family)
{
	return family == IP_V4 ? DEFAULT_BITS_V4 : DEFAULT_BITS_V6;
}

bool net_takes_all(const struct ip_prefix *prefix)
{
	return prefix->address.family != IP_NONE && prefix->bits <= default_bits(prefix->address.family);
}

static int change(struct netlink *netlink, uint16_t type, uint16_t flags, const struct rule *rule)
{
	char buffer[NETLINK_REQUEST_BYTES];
	struct nlmsghdr *request = netlink_request(buffer, type, flags);
	struct fib_rule_hdr *header = mnl_nlmsg_put_extra_header(request, sizeof(*header));

	header->family = rule->family == IP_V4 ? AF_INET : AF_INET6;
	header->action = FR_ACT_TO_TBL;
	header->table = rule->table < 256 ? (uint8_t)rule->table : (uint8_t)RT_TABLE_UNSPEC;
	mnl_attr_put_u32(request, FRA_TABLE, rule->table);
	mnl_attr_put_u32(request, FRA_PRIORITY, rule->priority);
	header->flags = FIB_RULE_INVERT;
	mnl_attr_put_u32(request, FRA_FWMARK, rule->mark);
	mnl_attr_put_u32(request, FRA_FWMASK, UINT32_MAX);
	if (rule->only_specific)
		mnl_attr_put_u32(request, FRA_SUPPRESS_PREFIXLEN, default_bits(rule->family));
	return netlink_talk(netlink, request, NULL, NULL);
}

/* The second is the one that sends packets into the tunnel: first on, last off. Both name the mark, so that
 * no two tunnels share one. */
static void rules_of(enum ip_family family, uint32_t mark, uint32_t priority, struct rule out[2])
{
	out[0] = (struct rule){ .family = family,
		.priority = priority,
		.table = RT_TABLE_MAIN,
		.mark = mark,
		.only_specific = true };
	out[1] = (struct rule){ .family = family, .priority = priority + 1, .table = mark, .mark = mark };
}

static int remove_rules(struct netlink *netlink, const struct rule rules[2])
{
	int err, first = 0;

	for (int i = 1; i >= 0; i--) {
		err = change(netlink, RTM_DELRULE, 0, &rules[i]);
		if (err && err != -ENOENT && err != -ESRCH && err != -EAFNOSUPPORT && !first)
			first = err;
	}
	return first;
}

int net_full_tunnel_remove(enum ip_family family, uint32_t mark)
{
	static const uint32_t priorities[] = { PRIORITY_PART, PRIORITY_FULL };
	struct netlink netlink;
	struct rule rules[2];
	int err = netlink_open(&netlink, NETLINK_ROUTE), first = 0;

	if (err)
		return err;
	for (size_t i = 0; i < 2; i++) {
		rules_of(family, mark, priorities[i], rules);
		err = remove_rules(&netlink, rules);
		first = first ? first : err;
	}
	netlink_close(&netlink);
	return first;
}

static int add_rules(enum ip_family family, uint32_t mark, uint32_t priority)
{
	struct netlink netlink;
	struct rule rules[2];
	int err = netlink_open(&netlink, NETLINK_ROUTE);

	if (err)
		return err;
	rules_of(family, mark, priority, rules);
	for (int i = 0; i < 2 && !err; i++) {
		err = change(&netlink, RTM_NEWRULE, NLM_F_CREATE | NLM_F_EXCL, &rules[i]);
		if (err == -EEXIST)
			err = 0;
	}
	if (err)
		remove_rules(&netlink, rules);
	netlink_close(&netlink);
	return err;
}

int net_full_tunnel_add(enum ip_family family, uint32_t mark)
{
	return add_rules(family, mark, PRIORITY_FULL);
}

int net_part_tunnel_add(enum ip_family family, uint32_t mark)
{
	return add_rules(family, mark, PRIORITY_PART);
}

/* ---- what there is ---- */

struct mark_search {
	uint32_t mark;
	int family;
	unsigned count;
};

static int take_mark(const struct nlattr *attr, void *data)
{
	struct mark_search *search = data;

	if (mnl_attr_get_type(attr) == FRA_FWMARK && mnl_attr_get_u32(attr) == search->mark)
		search->count++;
	return MNL_CB_OK;
}

static int count_rule(const struct nlmsghdr *header, void *data)
{
	const struct fib_rule_hdr *rule = mnl_nlmsg_get_payload(header);
	const struct mark_search *search = data;

	if (header->nlmsg_type == RTM_NEWRULE && rule->family == search->family && (rule->flags & FIB_RULE_INVERT))
		mnl_attr_parse(header, sizeof(*rule), take_mark, data);
	return MNL_CB_OK;
}

bool net_tunnel_rules_are_there(enum ip_family family, uint32_t mark)
{
	char buffer[NETLINK_REQUEST_BYTES];
	struct nlmsghdr *request = netlink_request(buffer, RTM_GETRULE, NLM_F_DUMP);
	struct fib_rule_hdr *header = mnl_nlmsg_put_extra_header(request, sizeof(*header));
	struct mark_search search = { .mark = mark, .family = family == IP_V4 ? AF_INET : AF_INET6 };
	struct netlink netlink;

	if (netlink_open(&netlink, NETLINK_ROUTE))
		return true; /* nothing can be done either */
	header->family = (uint8_t)search.family;
	netlink_talk(&netlink, request, count_rule, &search);
	netlink_close(&netlink);
	return search.count >= 2;
}

struct table_search {
	uint32_t table;
	int family;
	bool found;
};

static int take_attr(const struct nlattr *attr, void *data)
{
	struct table_search *search = data;

	if (mnl_attr_get_type(attr) == FRA_TABLE && mnl_attr_get_u32(attr) == search->table)
		search->found = true;
	return MNL_CB_OK;
}

static int take_rule(const struct nlmsghdr *header, void *data)
{
	const struct fib_rule_hdr *rule = mnl_nlmsg_get_payload(header);
	const struct table_search *search = data;

	if (header->nlmsg_type == RTM_NEWRULE && rule->family == search->family)
		mnl_attr_parse(header, sizeof(*rule), take_attr, data);
	return MNL_CB_OK;
}

bool net_table_in_use(enum ip_family family, uint32_t table)
{
	char buffer[NETLINK_REQUEST_BYTES];
	struct nlmsghdr *request = netlink_request(buffer, RTM_GETRULE, NLM_F_DUMP);
	struct fib_rule_hdr *header = mnl_nlmsg_put_extra_header(request, sizeof(*header));
	struct netlink netlink;
	struct table_search search = { .table = table, .family = family == IP_V4 ? AF_INET : AF_INET6 };

	if (netlink_open(&netlink, NETLINK_ROUTE))
		return false;
	header->family = (uint8_t)search.family;
	netlink_talk(&netlink, request, take_rule, &search);
	netlink_close(&netlink);
	return search.found;
}
