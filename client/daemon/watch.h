/* SPDX-License-Identifier: MIT */
/* Clients that watch, and the second's beat: it runs only while somebody watches a tunnel that is there, or
 * one moves something or is not where it should be. Else tunnels are read each half minute, so that an idle
 * machine is hardly woken, and nothing is sent. Main thread. */
#ifndef WGTCP_CLIENT_DAEMON_WATCH_H
#define WGTCP_CLIENT_DAEMON_WATCH_H

#include "client/daemon/listener.h"
#include "client/daemon/tunnel.h"

struct manager;
struct watch;

struct watch *watch_new(const struct manager *manager);
/* NULL is allowed. */
void watch_free(struct watch *watch);

/* Sends all that a new watcher is to know, and each change from now on. */
void watch_add(struct watch *watch, struct client *client);
void watch_client_gone(struct watch *watch, struct client *client);
/* Something may be worth a beat now. */
void watch_wake(struct watch *watch);

void watch_tell_state(struct watch *watch, const struct tunnel *tunnel);
void watch_tell_sample(struct watch *watch, const struct tunnel *tunnel, const struct rpc_sample *sample);
/* The profile was deleted. */
void watch_tell_gone(struct watch *watch, const char *name);

#endif
