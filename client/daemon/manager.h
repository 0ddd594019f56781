/* SPDX-License-Identifier: MIT */
/* All tunnels, who waits for them, and who watches them. Main thread.
 * Files: manager.c (the table), requests.c (what is asked, and the answers that come later), waiters.c,
 * watch.c. */
#ifndef WGTCP_CLIENT_DAEMON_MANAGER_H
#define WGTCP_CLIENT_DAEMON_MANAGER_H

#include "client/daemon/listener.h"
#include "client/daemon/tunnel.h"
#include "core/base/time.h"

struct manager;

struct manager *manager_new(struct daemon *daemon);
/* Takes all tunnels down. NULL is allowed. */
void manager_free(struct manager *manager);

/* NULL when that profile has not been brought up since the start. */
struct tunnel *manager_find(const struct manager *manager, const char *name);
enum rpc_state manager_state(const struct manager *manager, const char *name);
/* Calls each tunnel that has been up since the start. */
void manager_each(const struct manager *manager, void (*call)(struct tunnel *tunnel, void *user), void *user);
/* Forgets a tunnel that is down. */
void manager_forget(struct manager *manager, const char *name);

/* Answers client by `tunnel.up`'s rules, now or later. */
void manager_up(struct manager *manager, const char *name, const struct tunnel_wishes *wishes,
	uint32_t timeout_ms, struct client *client, const struct rpc_id *id);
/* The same by nobody's request: it goes on trying for ever. */
void manager_auto_connect(struct manager *manager, const char *name, const char *why);
/* Takes it down and answers when its processes are gone too. */
void manager_down(
	struct manager *manager, const char *name, struct client *client, const struct rpc_request *request);
void manager_switch(struct manager *manager, const char *name, enum transport transport, const char *peer,
	struct client *client, const struct rpc_id *id);
/* Answers `tunnel.status`, when the numbers are fresh. name "": all tunnels. */
void manager_status(struct manager *manager, const char *name, uint32_t from, struct client *client,
	const struct rpc_id *id);
/* Sends all that a new watcher is to know, and the numbers each second from now on. */
void manager_watch(struct manager *manager, struct client *client);
/* The client has gone: nothing is to be sent to it any more. */
void manager_client_gone(struct manager *manager, struct client *client);
/* Takes all tunnels down and calls done when their processes are gone, or after 3 s. */
void manager_stop(struct manager *manager, void (*done)(void *user), void *user);

/* ---- for the tunnels ---- */
/* Something that would outlive a daemon that is killed is about to be made, or has gone. */
void manager_leftovers_changed(struct manager *manager);
/* The kill switch has been opened, closed or ended. */
void manager_lockdown_changed(struct manager *manager);
/* Whether another tunnel's packets carry this mark; whether another one has policy rules. */
bool manager_mark_in_use(const struct manager *manager, const struct tunnel *but, uint32_t mark);
bool manager_has_rules(const struct manager *manager, const struct tunnel *but);
/* Another tunnel than this one takes all traffic: its name, else NULL. */
const char *manager_full_tunnel(const struct manager *manager, const struct tunnel *but);
void manager_sampled(struct manager *manager, const struct tunnel *tunnel, const struct rpc_sample *sample);
void manager_timestamp(struct manager *manager, const struct wall *newest);
void manager_memory_changed(struct manager *manager);
void manager_address_book_changed(struct manager *manager);
/* The mark of packets that go past the full tunnel; 0: there is none. */
uint32_t manager_outside_mark(const struct manager *manager);
/* Another program has a tunnel up, whose names it sets. */
bool manager_any_managed(const struct manager *manager);
/* Whether this interface is a tunnel of ours. */
bool manager_has_interface(const struct manager *manager, uint32_t index);

#endif
