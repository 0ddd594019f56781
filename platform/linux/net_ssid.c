/* SPDX-License-Identifier: MIT */
/* The name of a wireless network, by generic netlink. The daemon's thread. Source: linux/nl80211.h,
 * linux/genetlink.h. */
#include "core/port/net_identity.h"

#include "platform/linux/netlink.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/nl80211.h>
#include <string.h>

struct name {
	uint8_t bytes[NET_SSID_MAX];
	size_t len;
};

static struct nlmsghdr *request_of(char buffer[NETLINK_REQUEST_BYTES], uint16_t family, uint8_t command)
{
	struct nlmsghdr *request = netlink_request(buffer, family, 0);
	struct genlmsghdr *header = mnl_nlmsg_put_extra_header(request, sizeof(*header));

	header->cmd = command;
	header->version = 1;
	return request;
}

static int take_family_attr(const struct nlattr *attr, void *data)
{
	if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID &&
		mnl_attr_get_payload_len(attr) >= sizeof(uint16_t))
		*(uint16_t *)data = mnl_attr_get_u16(attr);
	return MNL_CB_OK;
}

static int take_family(const struct nlmsghdr *header, void *data)
{
	return mnl_attr_parse(header, sizeof(struct genlmsghdr), take_family_attr, data);
}

static int take_name_attr(const struct nlattr *attr, void *data)
{
	struct name *name = data;
	size_t len = mnl_attr_get_payload_len(attr);

	if (mnl_attr_get_type(attr) == NL80211_ATTR_SSID && len <= sizeof(name->bytes)) {
		memcpy(name->bytes, mnl_attr_get_payload(attr), len);
		name->len = len;
	}
	return MNL_CB_OK;
}

static int take_name(const struct nlmsghdr *header, void *data)
{
	return mnl_attr_parse(header, sizeof(struct genlmsghdr), take_name_attr, data);
}

int net_ssid(uint32_t interface, uint8_t out[NET_SSID_MAX])
{
	char buffer[NETLINK_REQUEST_BYTES];
	struct nlmsghdr *request;
	struct name name = { 0 };
	struct netlink netlink;
	uint16_t family = 0;
	int err = netlink_open(&netlink, NETLINK_GENERIC);

	if (err)
		return err;
	request = request_of(buffer, GENL_ID_CTRL, CTRL_CMD_GETFAMILY);
	mnl_attr_put_strz(request, CTRL_ATTR_FAMILY_NAME, NL80211_GENL_NAME);
	err = netlink_talk(&netlink, request, take_family, &family);
	if (err || !family) {
		err = -EOPNOTSUPP; /* no wireless at all in this kernel */
		goto out;
	}
	request = request_of(buffer, family, NL80211_CMD_GET_INTERFACE);
	mnl_attr_put_u32(request, NL80211_ATTR_IFINDEX, interface);
	if (netlink_talk(&netlink, request, take_name, &name))
		err = -EOPNOTSUPP; /* not an interface of that family */
	else if (!name.len)
		err = -ENOENT;
	else
		memcpy(out, name.bytes, name.len);
out:
	netlink_close(&netlink);
	return err ? err : (int)name.len;
}
