/* SPDX-License-Identifier: MIT */
/* A client's side of a connection. Answers find their shape by the id of the request that they answer. */
#include "client/rpc/conn.h"

#include "client/rpc/lines.h"
#include "client/rpc/message.h"

#include <errno.h>
#include <stdlib.h>

struct pending {
	int64_t id; /* 0: free */
	enum rpc_method method;
};

struct rpc_conn {
	struct lines in;
	struct outbox out;
	int64_t last_id;
	struct pending pending[RPC_CONN_PENDING_MAX];
	bool broken;
};

void rpc_event_free(struct rpc_event *event)
{
	switch (event->kind) {
	case RPC_EVENT_RESULT:
		rpc_result_free(&event->result);
		break;
	case RPC_EVENT_ERROR:
		rpc_error_free(&event->error);
		break;
	case RPC_EVENT_NOTICE:
		rpc_notice_free(&event->notice);
		break;
	}
	*event = (struct rpc_event){ 0 };
}

uint32_t rpc_event_beside(const struct rpc_event *event)
{
	return event->kind == RPC_EVENT_RESULT && event->result.method == RPC_METHOD_TUNNEL_EXPORT
		       ? event->result.exported.beside
		       : 0;
}

struct rpc_conn *rpc_conn_new(void)
{
	return calloc(1, sizeof(struct rpc_conn));
}

void rpc_conn_free(struct rpc_conn *conn)
{
	if (!conn)
		return;
	lines_wipe(&conn->in);
	outbox_wipe(&conn->out);
	free(conn);
}

static struct pending *find_pending(struct rpc_conn *conn, int64_t id)
{
	for (size_t i = 0; i < RPC_CONN_PENDING_MAX; i++) {
		if (conn->pending[i].id == id)
			return &conn->pending[i];
	}
	return NULL;
}

int64_t rpc_conn_request(struct rpc_conn *conn, const struct rpc_request *request)
{
	struct rpc_request numbered = *request;
	struct pending *pending = find_pending(conn, 0);
	struct message message;
	int64_t err = 0;

	if (!pending)
		return -EBUSY;
	numbered.id = (struct rpc_id){ .kind = RPC_ID_NUMBER, .number = conn->last_id + 1 };
	if (!message_write_request(&numbered, &message))
		return -ENOMEM;
	if (message.len > RPC_LINE_MAX) {
		err = -EMSGSIZE;
		goto out;
	}
	outbox_add(&conn->out, message.text, message.len);
	if (conn->out.failed) {
		err = -ENOMEM;
		goto out;
	}
	conn->last_id++;
	*pending = (struct pending){ conn->last_id, request->method };
out:
	message_free(&message);
	return err ? err : conn->last_id;
}

const char *rpc_conn_output(const struct rpc_conn *conn, size_t *len)
{
	*len = conn->out.len;
	return conn->out.len ? conn->out.bytes + conn->out.start : NULL;
}

void rpc_conn_sent(struct rpc_conn *conn, size_t len)
{
	outbox_sent(&conn->out, len);
}

int rpc_conn_feed(struct rpc_conn *conn, const char *bytes, size_t len)
{
	int err = conn->broken ? -EMSGSIZE : lines_feed(&conn->in, bytes, len);

	if (err)
		conn->broken = true;
	return err;
}

/* An exported text is in the answer or beside it, never nowhere and never in both. */
static bool is_complete(const struct rpc_result *result)
{
	return result->method != RPC_METHOD_TUNNEL_EXPORT ||
	       (result->exported.text != NULL) == (result->exported.beside == 0);
}

/* As rpc_conn_next, for one line. */
static int take_line(struct rpc_conn *conn, const char *line, size_t len, struct rpc_event *out)
{
	struct message_in message;
	struct rpc_event event = { 0 };
	struct pending *pending;
	int taken = -EPROTO;

	message_read(line, len, &message);
	pending = message.id > 0 ? find_pending(conn, message.id) : NULL;
	event.id = message.id;
	switch (message.kind) {
	case MESSAGE_BAD:
		break;
	case MESSAGE_UNKNOWN_NOTICE:
		taken = 0;
		break;
	case MESSAGE_NOTICE:
		event.kind = RPC_EVENT_NOTICE;
		event.id = 0;
		if (message_notice(&message, &event.notice))
			taken = 1;
		break;
	case MESSAGE_RESULT:
		if (!pending) {
			taken = 0; /* answered before, or never asked */
			break;
		}
		event.kind = RPC_EVENT_RESULT;
		if (!message_result(&message, pending->method, &event.result))
			break;
		if (is_complete(&event.result))
			taken = 1;
		else
			rpc_result_free(&event.result);
		break;
	case MESSAGE_ERROR:
		if (!pending && message.id) {
			taken = 0;
			break;
		}
		event.kind = RPC_EVENT_ERROR;
		if (message_error(&message, &event.error))
			taken = 1;
		break;
	}
	if (taken == 1) {
		if (pending && event.kind != RPC_EVENT_NOTICE)
			pending->id = 0;
		*out = event;
	}
	message_in_free(&message);
	return taken;
}

int rpc_conn_next(struct rpc_conn *conn, struct rpc_event *out)
{
	const char *line;
	size_t len;

	while (!conn->broken && (line = lines_next(&conn->in, &len))) {
		int taken = take_line(conn, line, len, out);

		if (taken == 1)
			return 1;
		if (taken < 0)
			conn->broken = true;
	}
	return conn->broken ? -EPROTO : 0;
}
