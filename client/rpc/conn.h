/* SPDX-License-Identifier: MIT */
/* A client's side of a connection, without I/O: requests in, bytes out; bytes in, answers and notices out.
 * The command line drives it by client.h; a window drives it from its own loop. */
#ifndef WGTCP_CLIENT_RPC_CONN_H
#define WGTCP_CLIENT_RPC_CONN_H

#include "client/rpc/types.h"

/* Requests that wait for their answers at one time. */
#define RPC_CONN_PENDING_MAX 32

struct rpc_conn;

enum rpc_event_kind { RPC_EVENT_RESULT, RPC_EVENT_ERROR, RPC_EVENT_NOTICE };

struct rpc_event {
	enum rpc_event_kind kind;
	int64_t id; /* of the request, for a result or an error; 0: an error that names no request */
	union {
		struct rpc_result result;
		struct rpc_error error;
		struct rpc_notice notice;
	};
};

void rpc_event_free(struct rpc_event *event);
/* How many bytes of text came beside the stream and belong into this event; 0: none. What carries the stream puts
 * them there (result.exported.text, as malloc gives it), before anybody sees the event. */
uint32_t rpc_event_beside(const struct rpc_event *event);

/* NULL when memory is short. */
struct rpc_conn *rpc_conn_new(void);
void rpc_conn_free(struct rpc_conn *conn);

/* Queues a request (its id is set here) and returns that id, from 1 on. -EMSGSIZE: longer than a line may be;
 * -EBUSY: too many wait for answers; -ENOMEM. */
int64_t rpc_conn_request(struct rpc_conn *conn, const struct rpc_request *request);
const char *rpc_conn_output(const struct rpc_conn *conn, size_t *len);
void rpc_conn_sent(struct rpc_conn *conn, size_t len);

/* As rpc_server_feed. */
int rpc_conn_feed(struct rpc_conn *conn, const char *bytes, size_t len);
/* 1: *out is the next event, the caller's to free; 0: none yet; -EPROTO: what came is not our protocol.
 * Notices and answers that this version does not know are skipped. */
int rpc_conn_next(struct rpc_conn *conn, struct rpc_event *out);

#endif
