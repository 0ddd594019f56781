/* SPDX-License-Identifier: MIT */
/* The daemon's side of the probe (probe.h): requests and their answers, the sockets that it asks with, and a
 * new one when it dies. Main thread, GLib main loop. */
#ifndef WGTCP_CLIENT_DAEMON_PROBER_H
#define WGTCP_CLIENT_DAEMON_PROBER_H

#include "client/daemon/probe.h"
#include "client/daemon/underlay.h"

struct daemon;
struct prober;

/* message: borrowed; with message->last set it is over. Other requests may be made and given up in it. */
typedef void prober_answered(const struct probe_message *message, void *user);

struct prober *prober_new(struct daemon *daemon);
/* NULL is allowed. */
void prober_free(struct prober *prober);

/* Asks on sockets with this mark (0: none). The request's number, or 0 when there is no probe just now: ask
 * again later. Answers come from the main loop. */
uint32_t prober_look_up(struct prober *prober, const char *host, const struct underlay *underlay,
	uint32_t mark, prober_answered *answered, void *user);
/* check: the address that a person chose to be asked, "" for none. */
uint32_t prober_portal(struct prober *prober, const char *check, const struct underlay *underlay,
	uint32_t mark, prober_answered *answered, void *user);
/* No answer comes any more. 0 is allowed. */
void prober_cancel(struct prober *prober, uint32_t id);

#endif
