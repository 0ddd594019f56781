/* SPDX-License-Identifier: MIT */
/* The part of core/port/kill_switch.h that listens, by nftables' own notices. The daemon's thread.
 * Source: linux/netfilter/nf_tables.h, nfnetlink.h. */
#include "core/port/kill_switch.h"

#include "platform/linux/kill_switch_text.h"
#include "platform/linux/nftables.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE_BYTES 16384

struct kill_switch_watch {
	struct mnl_socket *socket;
	char message[MESSAGE_BYTES];
};

int kill_switch_watch_open(struct kill_switch_watch **out)
{
	struct kill_switch_watch *watch = calloc(1, sizeof(*watch));
	int group = NFNLGRP_NFTABLES, err;

	if (!watch)
		return -ENOMEM;
	watch->socket = mnl_socket_open2(NETLINK_NETFILTER, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (!watch->socket) {
		err = -errno;
		goto fail;
	}
	if (mnl_socket_bind(watch->socket, 0, MNL_SOCKET_AUTOPID) < 0 ||
		mnl_socket_setsockopt(watch->socket, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group)) < 0) {
		err = -errno;
		mnl_socket_close(watch->socket);
		goto fail;
	}
	*out = watch;
	return 0;
fail:
	free(watch);
	return err;
}

void kill_switch_watch_close(struct kill_switch_watch *watch)
{
	if (!watch)
		return;
	mnl_socket_close(watch->socket);
	free(watch);
}

int kill_switch_watch_handle(const struct kill_switch_watch *watch)
{
	return mnl_socket_get_fd(watch->socket);
}

static int take_name(const struct nlattr *attr, void *data)
{
	bool *ours = data;

	/* The same number in every kind of message that is looked at. */
	if (mnl_attr_get_type(attr) == NFTA_TABLE_NAME && mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) == 0 &&
		!strcmp(mnl_attr_get_str(attr), KILL_SWITCH_TABLE))
		*ours = true;
	return MNL_CB_OK;
}

/* A flush of all rules takes the table's content with it; each is told by itself. */
static int take_message(const struct nlmsghdr *header, void *data)
{
	switch (NFNL_MSG_TYPE(header->nlmsg_type)) {
	case NFT_MSG_DELTABLE:
	case NFT_MSG_DELCHAIN:
	case NFT_MSG_DELRULE:
		if (NFNL_SUBSYS_ID(header->nlmsg_type) == NFNL_SUBSYS_NFTABLES)
			mnl_attr_parse(header, sizeof(struct nfgenmsg), take_name, data);
		break;
	}
	return MNL_CB_OK;
}

bool kill_switch_watch_take(struct kill_switch_watch *watch)
{
	bool gone = false;

	for (;;) {
		ssize_t n = mnl_socket_recvfrom(watch->socket, watch->message, sizeof(watch->message));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == ENOBUFS) {
			gone = true; /* more was told than the socket could hold */
			continue;
		}
		if (n < 0)
			return gone;
		mnl_cb_run(watch->message, (size_t)n, 0, 0, take_message, &gone);
	}
}

bool kill_switch_is_there(void)
{
	return nftables_run("list chain inet " KILL_SWITCH_TABLE " " KILL_SWITCH_LAST_CHAIN "\n", NULL, 0) ==
	       0;
}
