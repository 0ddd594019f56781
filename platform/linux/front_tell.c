/* SPDX-License-Identifier: MIT */
/* What the front tells its engine. The front's thread. */
#include "platform/linux/front_state.h"

#include "platform/linux/device.h"
#include "platform/linux/handles.h"
#include "platform/linux/seam_handle.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define TELL_ALL (TELL_FLOOR | TELL_TUN | TELL_LINK | TELL_UDP | TELL_LISTENERS)
#define VALUE_CLOSED 0x100

int front_epoll(struct front *front, int fd, uint32_t events, int operation)
{
	struct epoll_event event = { .events = events };

	return epoll_ctl(front->epoll, operation, fd, &event) < 0 ? -errno : 0;
}

static int tell_pair(struct front *front, enum seam_kind kind, const struct socket_pair *pair)
{
	int err = 0;

	/* First what is closed, so that the port told last is the one in use. */
	for (int open = 0; open < 2; open++)
		for (int i = 0; i < 2 && !err; i++) {
			struct seam_message message = { .kind = kind, .value = i == 0 ? 4 : 6 };

			if ((pair->fd[i] >= 0) != open)
				continue;
			if (open)
				message.port = pair->port;
			else
				message.value |= VALUE_CLOSED;
			err = seam_send_handle(front->seam, &message, pair->fd[i]);
		}
	return err;
}

static int tell_one(struct front *front, uint32_t what)
{
	struct seam_message message = { 0 };

	switch (what) {
	case TELL_FLOOR:
		message.kind = SEAM_FLOOR;
		message.wall = front->floor;
		return seam_send(front->seam, &message);
	case TELL_TUN:
		message.kind = SEAM_TUN;
		return seam_send_handle(front->seam, &message, front->tun);
	case TELL_LINK:
		message.kind = SEAM_LINK;
		message.value = front->mtu;
		message.flag = front->up;
		return seam_send(front->seam, &message);
	case TELL_UDP:
		return tell_pair(front, SEAM_UDP, &front->sockets.udp);
	case TELL_LISTENERS:
		return tell_pair(front, SEAM_LISTENER, &front->sockets.listeners);
	case TELL_NETWORK:
		message.kind = SEAM_NETWORK;
		message.flag = front->reachable;
		return seam_send(front->seam, &message);
	}
	return 0;
}

void front_tell(struct front *front)
{
	for (uint32_t what = TELL_FLOOR; front->seam && what <= TELL_NETWORK; what <<= 1) {
		if (!(front->tell & what))
			continue;
		/* Full: the rest when there is room. Gone: seam_receive will say so. */
		if (tell_one(front, what))
			break;
		front->tell &= ~what;
	}
	bool wait = front->seam && front->tell;
	if (wait != front->waiting_for_room && front->seam)
		front_epoll(front, seam_descriptor(front->seam), wait ? EPOLLIN | EPOLLOUT : EPOLLIN,
			EPOLL_CTL_MOD);
	front->waiting_for_room = wait;
}

int front_new_seam(struct front *front, int *engine_handle)
{
	int ends[2];
	int err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
		return -errno;
	err = seam_adopt(ends[0], &front->seam);
	if (err) {
		front->seam = NULL;
		close(ends[1]);
		return err;
	}
	err = front_epoll(front, ends[0], EPOLLIN, EPOLL_CTL_ADD);
	if (err) {
		front_drop_seam(front);
		close(ends[1]);
		return err;
	}
	front->waiting_for_room = false;
	front->tell = TELL_ALL | (front->reachable ? 0u : (uint32_t)TELL_NETWORK);
	front_tell(front);
	*engine_handle = ends[1];
	return 0;
}

void front_drop_seam(struct front *front)
{
	seam_close(front->seam); /* epoll forgets it */
	front->seam = NULL;
	front->waiting_for_room = false;
	dial_cancel_all(front->dialler);
	relay_drop_all(front->relay);
}

void front_look_at_link(struct front *front)
{
	struct net_link link;

	if (front->gone || netlink_link(&front->netlink, NULL, front->index, &link))
		return;
	if (link.mtu != front->mtu)
		device_fit_bursts(&front->netlink, front->index, link.mtu);
	if (link.mtu != front->mtu || link.up != front->up)
		front->tell |= TELL_LINK;
	front->mtu = link.mtu;
	front->up = link.up;
}

/* A route into the tunnel itself leads nowhere. */
static bool leads_out(struct front *front, const struct endpoint *endpoint)
{
	uint32_t interface, mtu;

	return !netlink_route_lookup(
		       &front->netlink, &endpoint->address, front->config.fwmark, &interface, &mtu) &&
	       interface != front->index;
}

bool front_reachable(struct front *front)
{
	bool known = false;

	for (size_t i = 0; i < front->config.peer_count; i++) {
		const struct front_peer *peer = &front->config.peers[i];

		if (endpoint_is_set(&peer->endpoint) && leads_out(front, &peer->endpoint))
			return true;
		for (size_t k = 0; k < peer->tcp_count; k++)
			if (leads_out(front, &peer->tcp[k]))
				return true;
		known |= endpoint_is_set(&peer->endpoint) || peer->tcp_count;
	}
	return !known;
}
