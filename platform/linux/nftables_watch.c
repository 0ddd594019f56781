/* SPDX-License-Identifier: MIT */
/* nftables' own notices. The daemon's thread. Source: linux/netfilter/nf_tables.h, nfnetlink.h. */
#include "platform/linux/nftables_watch.h"

#include "platform/linux/netlink.h"
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE_BYTES 16384

struct nftables_watch {
	struct mnl_socket *socket;
	char message[MESSAGE_BYTES];
};

int nftables_watch_open(struct nftables_watch **out)
{
	struct nftables_watch *watch = calloc(1, sizeof(*watch));
	int err;

	if (!watch)
		return -ENOMEM;
	err = netlink_subscribe(NETLINK_NETFILTER, NETLINK_GROUP(NFNLGRP_NFTABLES), &watch->socket);
	if (err) {
		free(watch);
		return err;
	}
	*out = watch;
	return 0;
}

void nftables_watch_close(struct nftables_watch *watch)
{
	if (!watch)
		return;
	mnl_socket_close(watch->socket);
	free(watch);
}

int nftables_watch_handle(const struct nftables_watch *watch)
{
	return mnl_socket_get_fd(watch->socket);
}

struct taken {
	const char *prefix;
	bool gone;
};

static int take_name(const struct nlattr *attr, void *data)
{
	struct taken *taken = data;

	/* The same number in every kind of message that is looked at. */
	if (mnl_attr_get_type(attr) == NFTA_TABLE_NAME && mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) == 0 &&
		!strncmp(mnl_attr_get_str(attr), taken->prefix, strlen(taken->prefix)))
		taken->gone = true;
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

bool nftables_watch_take(struct nftables_watch *watch, const char *prefix)
{
	struct taken taken = { .prefix = prefix };

	for (;;) {
		ssize_t n = mnl_socket_recvfrom(watch->socket, watch->message, sizeof(watch->message));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == ENOBUFS) {
			taken.gone = true; /* more was told than the socket could hold */
			continue;
		}
		if (n < 0)
			return taken.gone;
		mnl_cb_run(watch->message, (size_t)n, 0, 0, take_message, &taken);
	}
}
