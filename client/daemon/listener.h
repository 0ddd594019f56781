/* SPDX-License-Identifier: MIT */
/* The daemon's socket and its clients. Who they are is read once, from the socket's credentials. Main thread.
 */
#ifndef WGTCP_CLIENT_DAEMON_LISTENER_H
#define WGTCP_CLIENT_DAEMON_LISTENER_H

#include "client/rpc/types.h"

struct client;
struct daemon;
struct listener;

/* The group whose members may do all, besides root. */
#define LISTENER_GROUP "wgtcp"
#define LISTENER_CLIENTS_MAX 128
/* Of these, one user who may only read has so many, and all such users together half: whoever may do all
 * always finds a place. */
#define LISTENER_READER_MAX 16
#define LISTENER_READERS_MAX (LISTENER_CLIENTS_MAX / 2)

/* given: a listening socket that the service manager handed over, which becomes the listener's; -1: it makes
 * its own at path. 0 or -errno as of listener_socket_open. */
int listener_open(struct daemon *daemon, const char *path, int given, struct listener **out);
/* Disconnects all; what waits to be sent is tried once. NULL is allowed. */
void listener_close(struct listener *listener);

bool client_may_do_all(const struct client *client);
/* Root itself: may read keys. */
bool client_is_root(const struct client *client);
/* The user id, for the log. */
unsigned client_user(const struct client *client);
/* Has the person there asked by polkit for the right to an action, in favour of one request. answered is
 * called once, later, unless the client goes before. False: nobody can be asked, or he is being asked
 * already. */
bool client_ask(struct client *client, const char *action, const struct rpc_request *request,
	void (*answered)(struct daemon *daemon, struct client *client, const struct rpc_request *request,
		bool allowed));
void client_reply(struct client *client, const struct rpc_id *id, const struct rpc_result *result);
/* The same with a text of len bytes beside the answer (core/port/handover.h). 0, or -errno and nothing is sent: -EBUSY: one
 * is on its way to this client already. */
int client_reply_beside(struct client *client, const struct rpc_id *id, const struct rpc_result *result,
	const char *text, size_t len);
/* Frees what the error holds. */
void client_reply_error(struct client *client, const struct rpc_id *id, struct rpc_error *error);
void client_notify(struct client *client, const struct rpc_notice *notice);
/* It wants `log` notices from now on. */
void client_follow_log(struct client *client);

#endif
