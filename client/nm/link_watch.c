/* SPDX-License-Identifier: MIT */
/* See link_watch.h. */
#include "client/nm/link_watch.h"

#include <errno.h>
#include <glib-unix.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

struct link_watch {
	int fd, index;
	guint source;
	bool was_down;
	void (*back)(void *user);
	void *user;
};

/* True: it is up again. */
static bool take(struct link_watch *watch, const struct nlmsghdr *message)
{
	const struct ifinfomsg *info = NLMSG_DATA(message);

	if (message->nlmsg_type != RTM_NEWLINK || message->nlmsg_len < NLMSG_LENGTH(sizeof(*info)) ||
		info->ifi_index != watch->index)
		return false;
	if (!(info->ifi_flags & IFF_UP)) {
		watch->was_down = true;
		return false;
	}
	if (!watch->was_down)
		return false;
	watch->was_down = false;
	return true;
}

static gboolean readable(gint fd, GIOCondition condition, gpointer user)
{
	_Alignas(struct nlmsghdr) char bytes[16384];
	struct link_watch *watch = user;
	ssize_t got = recv(fd, bytes, sizeof(bytes), 0);
	bool back = false;
	size_t left;

	(void)condition;
	/* What was lost for want of room may have been ours. */
	if (got < 0 && errno == ENOBUFS)
		back = true;
	left = got > 0 ? (size_t)got : 0;
	for (struct nlmsghdr *message = (struct nlmsghdr *)(void *)bytes;
		left >= sizeof(*message) && message->nlmsg_len >= sizeof(*message) &&
		message->nlmsg_len <= left;) {
		size_t step = NLMSG_ALIGN(message->nlmsg_len);

		back |= take(watch, message);
		left = step < left ? left - step : 0;
		message = (struct nlmsghdr *)(void *)((char *)message + step);
	}
	if (back)
		watch->back(watch->user);
	return G_SOURCE_CONTINUE;
}

struct link_watch *link_watch_new(const char *interface, void (*back)(void *user), void *user)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK };
	struct link_watch *watch = g_new0(struct link_watch, 1);

	watch->back = back;
	watch->user = user;
	watch->index = (int)if_nametoindex(interface);
	watch->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
	if (watch->index && watch->fd >= 0 &&
		bind(watch->fd, (struct sockaddr *)&address, sizeof(address)) == 0) {
		watch->source = g_unix_fd_add(watch->fd, G_IO_IN, readable, watch);
		return watch;
	}
	link_watch_free(watch);
	return NULL;
}

void link_watch_free(struct link_watch *watch)
{
	if (!watch)
		return;
	if (watch->source)
		g_source_remove(watch->source);
	if (watch->fd >= 0)
		close(watch->fd);
	g_free(watch);
}
