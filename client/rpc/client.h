/* SPDX-License-Identifier: MIT */
/* A client that waits for its answers: for the command line. One thread. */
#ifndef WGTCP_CLIENT_RPC_CLIENT_H
#define WGTCP_CLIENT_RPC_CLIENT_H

#include "client/rpc/conn.h"
#include "core/port/ipc.h"

struct rpc_client;

/* 0 or -errno as ipc_connect. */
int rpc_client_open(const char *path, struct rpc_client **out);
/* NULL is allowed. */
void rpc_client_close(struct rpc_client *client);

/* Sends; the id (from 1 on), or -errno as rpc_conn_request and ipc_send. */
int64_t rpc_client_send(struct rpc_client *client, const struct rpc_request *request);
/* Waits for the next answer or notice. 1: *out, the caller's to free; 0: none within *left_ms (IPC_FOREVER:
 * no limit), from which the time that passed is taken; -EINTR: the person pressed Ctrl-C; -EPIPE: the daemon
 * closed; -EPROTO. */
int rpc_client_next(struct rpc_client *client, uint32_t *left_ms, struct rpc_event *out);
/* Sends and waits for the answer to it; notices that come before are dropped. As rpc_client_next; 1 also when
 * the answer is an error. */
int rpc_client_call(struct rpc_client *client, const struct rpc_request *request, uint32_t timeout_ms,
	struct rpc_event *out);

#endif
