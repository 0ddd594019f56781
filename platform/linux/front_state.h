/* SPDX-License-Identifier: MIT */
/* The struct behind core/port/front.h, shared by its parts: front.c (its life and turns), front_tell.c (what goes down
 * the seam), front_engine.c (what comes up it), front_requests.c (UAPI). */
#ifndef WGTCP_PLATFORM_LINUX_FRONT_STATE_H
#define WGTCP_PLATFORM_LINUX_FRONT_STATE_H

#include "core/port/front.h"

#include "platform/linux/dial.h"
#include "platform/linux/front_sockets.h"
#include "platform/linux/netlink.h"
#include "platform/linux/relay.h"

/* What the engine has yet to be told; each is told with its newest value, so a full seam loses nothing. In
 * the order of telling. */
enum {
	TELL_FLOOR = 1,
	TELL_TUN = 2,
	TELL_LINK = 4,
	TELL_UDP = 8,
	TELL_LISTENERS = 16,
	TELL_NETWORK = 32,
};

struct front {
	int epoll, timer;
	struct netlink netlink;
	struct net_watch *watch;
	struct relay *relay;
	struct dialler *dialler;
	struct seam *seam; /* NULL: the engine is gone */

	int tun;
	uint32_t index, mtu;
	bool up, gone, gone_told;
	struct wall floor;
	struct front_config config;
	struct front_sockets sockets;

	uint32_t tell;           /* TELL_* */
	bool waiting_for_room;   /* epoll watches the seam for it */
	bool reachable;          /* some endpoint, or none is known */
	struct mono network_due; /* changes are told together; MONO_NEVER: none waits */
	bool network_event;
	bool dialled; /* a dial has ended well */
};

/* Tells as much as the seam takes. */
void front_tell(struct front *front);
/* A new seam to the engine, which is to be told all. *engine_handle: its other end. */
int front_new_seam(struct front *front, int *engine_handle);
void front_drop_seam(struct front *front);
int front_epoll(struct front *front, int fd, uint32_t events, int operation);
/* Reads its own link's state again. */
void front_look_at_link(struct front *front);
/* Whether a route leads out to any endpoint; true if none is known. */
bool front_reachable(struct front *front);

/* Let in what waits: requests and clients; ended dials; the engine's messages (true: *out is an event). */
void front_pump_relay(struct front *front, struct mono now);
void front_pump_dials(struct front *front, struct mono now);
bool front_pump_seam(struct front *front, struct mono now, struct front_event *out);

#endif
