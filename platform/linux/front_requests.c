/* SPDX-License-Identifier: MIT */
/* UAPI requests on their way through the front. The front's thread. */
#include "platform/linux/front_state.h"

#include "core/port/clock.h"
#include "platform/linux/seam_handle.h"

#include <errno.h>
#include <unistd.h>

/* Ports, mark and endpoints of a SET, before the engine sees it. 0: pass it on. */
static int judge_set(struct front *front, const struct relay_event *event)
{
	struct uapi_device request;
	struct front_config next = front->config;
	uint32_t changed;
	int err;

	/* What does not parse is refused by the engine, in its words. */
	if (uapi_parse_set(event->text, event->len, &request))
		return 0;
	front_config_interface(&next, &request);
	err = front_sockets_fit(&front->sockets, &next, &request, &changed);
	if (err)
		goto out;
	front->tell |= (changed & FRONT_UDP_CHANGED ? TELL_UDP : 0u) |
		       (changed & FRONT_LISTENERS_CHANGED ? TELL_LISTENERS : 0u);
	front->config = next;
	if (!front_config_peers(&front->config, &request))
		err = -ENOMEM;
	/* Only closes: a peer that needed a socket may have gone. */
	if (!front_sockets_fit(&front->sockets, &front->config, NULL, &changed))
		front->tell |= (changed & FRONT_UDP_CHANGED ? TELL_UDP : 0u) |
			       (changed & FRONT_LISTENERS_CHANGED ? TELL_LISTENERS : 0u);
	if (front_reachable(front) != front->reachable) {
		front->reachable = !front->reachable;
		front->tell |= TELL_NETWORK;
	}
	front_tell(front);
out:
	uapi_device_free(&request);
	return err;
}

void front_pump_relay(struct front *front, struct mono now)
{
	struct seam_message message = { .kind = SEAM_CONTROL };
	struct relay_event event;

	for (;;) {
		relay_next(front->relay, now, &event);
		switch (event.kind) {
		case RELAY_NOTHING:
			return;
		case RELAY_STREAM:
			/* Where the engine can not take it, closing this end tells the client. */
			if (front->seam)
				(void)seam_send_handle(front->seam, &message, event.fd);
			close(event.fd);
			break;
		case RELAY_SET: {
			int err = judge_set(front, &event);
			if (err)
				relay_refuse(front->relay, err, now);
			else
				relay_pass(front->relay, now);
			break;
		}
		}
	}
}

int front_control(struct front *front)
{
	if (!front->seam)
		return -EPIPE;
	int fd = relay_connect(front->relay);
	if (fd >= 0)
		front_pump_relay(front, clock_now(NULL));
	return fd;
}
