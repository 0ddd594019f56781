/* SPDX-License-Identifier: MIT */
/* One client's connection as the daemon sees it, without I/O: bytes in, requests out; answers in, bytes out.
 *
 *     on readable:  n = recv(...);  if (rpc_server_feed(server, bytes, n)) close after flushing;
 *                   while (rpc_server_next(server, &request)) { ...; rpc_request_free(&request); }
 *     on writable:  bytes = rpc_server_output(server, &len);  n = send(...);  rpc_server_sent(server, n);
 *
 * What is not a good request (junk, unknown method, wrong field) is answered here and never seen by the
 * daemon. Who may do what is for the daemon to decide, by the socket's credentials. */
#ifndef WGTCP_CLIENT_RPC_SERVER_H
#define WGTCP_CLIENT_RPC_SERVER_H

#include "client/rpc/types.h"

struct rpc_server;

/* NULL when memory is short. */
struct rpc_server *rpc_server_new(void);
/* NULL is allowed. */
void rpc_server_free(struct rpc_server *server);

/* Takes in len bytes, at most RPC_LINE_MAX of them; call rpc_server_next until it is false before feeding
 * again. 0; -EMSGSIZE: a line was too long (the error for it waits in the output); -ENOMEM. After an error
 * nothing more is read: flush the output if it goes at once, and close. */
int rpc_server_feed(struct rpc_server *server, const char *bytes, size_t len);
/* The next request, into *out, which the caller frees; false: none yet. */
bool rpc_server_next(struct rpc_server *server, struct rpc_request *out);

/* Answers, in any order and at any time. Nothing is sent for an id of kind RPC_ID_NONE.
 * A status that does not fit a line leaves out peers (peers_total says so) and the oldest log lines stay out;
 * any other result that does not fit is answered as an RPC_CODE_INTERNAL error instead. */
void rpc_server_reply(struct rpc_server *server, const struct rpc_id *id, const struct rpc_result *result);
void rpc_server_reply_error(
	struct rpc_server *server, const struct rpc_id *id, const struct rpc_error *error);
void rpc_server_notify(struct rpc_server *server, const struct rpc_notice *notice);

/* What is to be sent; NULL and 0 when there is nothing. Valid until the next call. */
const char *rpc_server_output(const struct rpc_server *server, size_t *len);
void rpc_server_sent(struct rpc_server *server, size_t len);
/* More than RPC_OUTPUT_MAX waited, or memory was short: close the connection now. */
bool rpc_server_failed(const struct rpc_server *server);

#endif
