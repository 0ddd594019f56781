/* SPDX-License-Identifier: MIT */
/* The privileged side of an engine's seam. Called by wgtcpd for each tunnel and by the dialler of a
 * standalone engine; one thread. All that may become ready hangs on one epoll descriptor; a turn asks each
 * part in its order. */
#include "platform/linux/front_state.h"

#include "core/port/clock.h"
#include "platform/linux/device.h"

#include <errno.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* One change of network comes as many messages. */
#define NETWORK_SETTLE_MS 200

static int open_parts(struct front *front, const struct front_settings *settings)
{
	uint32_t changed;
	int err;

	front->epoll = epoll_create1(EPOLL_CLOEXEC);
	front->timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (front->epoll < 0 || front->timer < 0)
		return -errno;
	/* First the socket: it finds out whether an engine for this interface lives already. */
	err = relay_open(settings->uapi_directory, settings->interface, &front->relay);
	if (!err)
		err = dialler_open(&front->dialler);
	if (!err)
		err = netlink_open(&front->netlink, NETLINK_ROUTE);
	if (!err)
		err = net_watch_open(&front->watch);
	if (!err)
		err = device_open(&front->netlink, settings->interface, settings->take_over, &front->tun,
			&front->index);
	if (!err)
		err = front_sockets_fit(&front->sockets, &front->config, NULL, &changed);
	if (!err)
		err = front_epoll(front, front->timer, EPOLLIN, EPOLL_CTL_ADD);
	if (!err)
		err = front_epoll(front, relay_handle(front->relay), EPOLLIN, EPOLL_CTL_ADD);
	if (!err)
		err = front_epoll(front, dialler_handle(front->dialler), EPOLLIN, EPOLL_CTL_ADD);
	if (!err)
		err = front_epoll(front, net_watch_handle(front->watch), EPOLLIN, EPOLL_CTL_ADD);
	return err;
}

int front_open(const struct front_settings *settings, struct front **out, int *engine_handle)
{
	struct front *front = calloc(1, sizeof(*front));
	int err;

	if (!front)
		return -ENOMEM;
	front->epoll = front->timer = front->tun = -1;
	front->sockets = FRONT_SOCKETS_NONE;
	front->network_due = MONO_NEVER;
	front->reachable = true;
	front->floor = settings->timestamp_floor;
	err = open_parts(front, settings);
	if (!err) {
		front_look_at_link(front);
		err = front_new_seam(front, engine_handle);
	}
	if (err) {
		front_close(front);
		return err;
	}
	*out = front;
	return 0;
}

/* An engine that hangs would keep the device alive with its own descriptor. */
static void delete_device(struct front *front)
{
	struct ifreq request = { 0 };

	if (front->gone || ioctl(front->tun, TUNGETIFF, &request) < 0 || (request.ifr_flags & IFF_PERSIST))
		return;
	char buffer[NETLINK_REQUEST_BYTES];
	struct nlmsghdr *message = netlink_request(buffer, RTM_DELLINK, 0);
	struct ifinfomsg *info = mnl_nlmsg_put_extra_header(message, sizeof(*info));
	info->ifi_index = (int)front->index;
	(void)netlink_talk(&front->netlink, message, NULL, NULL);
}

void front_close(struct front *front)
{
	if (!front)
		return;
	seam_close(front->seam);
	/* The socket goes first: whoever sees the device vanish may start anew at once, and bind there. */
	relay_close(front->relay);
	if (front->tun >= 0) {
		delete_device(front);
		close(front->tun);
	}
	front_sockets_close(&front->sockets);
	dialler_close(front->dialler);
	net_watch_close(front->watch);
	netlink_close(&front->netlink);
	front_config_wipe(&front->config);
	if (front->timer >= 0)
		close(front->timer);
	if (front->epoll >= 0)
		close(front->epoll);
	free(front);
}

int front_restart(struct front *front, int *engine_handle)
{
	uint32_t changed;
	int err;

	if (front->seam)
		front_drop_seam(front);
	/* The new engine knows nothing, so neither should the front. The mark stays: what is sent before the
	 * first request must not enter the tunnel either. */
	uint32_t mark = front->config.fwmark;
	front_config_wipe(&front->config);
	front->config.fwmark = mark;
	front->reachable = true;
	err = front_sockets_fit(&front->sockets, &front->config, NULL, &changed);
	return err ? err : front_new_seam(front, engine_handle);
}

int front_handle(const struct front *front)
{
	return front->epoll;
}

bool front_has_dialled(const struct front *front)
{
	return front->dialled;
}

uint32_t front_interface_index(const struct front *front)
{
	return front->index;
}

int front_send(struct front *front, const struct seam_message *message)
{
	return front->seam ? seam_send(front->seam, message) : -EPIPE;
}

void front_ignore(struct front *front, uint32_t index)
{
	net_watch_ignore(front->watch, index);
}

static void pump_watch(struct front *front, struct mono now)
{
	struct pollfd ready = { .fd = net_watch_handle(front->watch), .events = POLLIN };

	while (poll(&ready, 1, 0) > 0) {
		uint32_t gone;
		int changed = net_watch_take(front->watch, front->index, &gone);

		if (changed < 0)
			break;
		if (changed)
			front->network_due = mono_add_ms(now, NETWORK_SETTLE_MS);
		if (gone == front->index)
			front->gone = true;
		front_look_at_link(front);
	}
	if (mono_reached(now, front->network_due)) {
		front->network_due = MONO_NEVER;
		front->reachable = front_reachable(front);
		front->tell |= TELL_NETWORK;
		front->network_event = true;
	}
}

static void arm_timer(struct front *front)
{
	struct mono deadline = mono_min(
		front->network_due, mono_min(dialler_deadline(front->dialler), relay_deadline(front->relay)));
	struct itimerspec when = { 0 };

	if (deadline.ns != MONO_NEVER.ns) {
		when.it_value.tv_sec = (time_t)(deadline.ns / 1000000000u);
		when.it_value.tv_nsec = (long)(deadline.ns % 1000000000u);
	}
	/* Also clears an expiry that was waiting. */
	timerfd_settime(front->timer, TFD_TIMER_ABSTIME, &when, NULL);
}

int front_turn(struct front *front, struct front_event *out)
{
	struct mono now = clock_now(NULL);

	pump_watch(front, now);
	if (front_pump_seam(front, now, out))
		return 1;
	front_pump_relay(front, now);
	if (front->seam)
		front_pump_dials(front, now);
	front_tell(front);
	*out = (struct front_event){ .kind = FRONT_NOTHING };
	if (front->gone && !front->gone_told) {
		front->gone_told = true;
		out->kind = FRONT_LINK_GONE;
	} else if (front->network_event) {
		front->network_event = false;
		out->kind = FRONT_NETWORK;
	}
	arm_timer(front);
	return out->kind != FRONT_NOTHING;
}
