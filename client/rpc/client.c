/* SPDX-License-Identifier: MIT */
/* conn.h over a stream, waiting. */
#include "client/rpc/client.h"

#include "core/base/wipe.h"

#include <errno.h>
#include <stdlib.h>

struct rpc_client {
	struct rpc_conn *conn;
	struct ipc *ipc;
	char buffer[4096];
};

/* A daemon that does not read for so long is stuck. */
#define SEND_TIMEOUT_MS 5000

int rpc_client_open(const char *path, struct rpc_client **out)
{
	struct rpc_client *client = calloc(1, sizeof(*client));
	int err = -ENOMEM;

	if (!client)
		return -ENOMEM;
	client->conn = rpc_conn_new();
	if (client->conn)
		err = ipc_connect(path, &client->ipc);
	if (err) {
		rpc_conn_free(client->conn);
		free(client);
		return err;
	}
	*out = client;
	return 0;
}

void rpc_client_close(struct rpc_client *client)
{
	if (!client)
		return;
	ipc_close(client->ipc);
	rpc_conn_free(client->conn);
	memory_wipe(client->buffer, sizeof(client->buffer));
	free(client);
}

int64_t rpc_client_send(struct rpc_client *client, const struct rpc_request *request)
{
	uint32_t left_ms = SEND_TIMEOUT_MS;
	int64_t id = rpc_conn_request(client->conn, request);
	const char *bytes;
	size_t len;
	int err;

	if (id < 0)
		return id;
	bytes = rpc_conn_output(client->conn, &len);
	err = ipc_send(client->ipc, bytes, len, &left_ms);
	if (err)
		return err;
	rpc_conn_sent(client->conn, len);
	return id;
}

/* 1, or -errno and the event is freed. */
static int take_text(struct rpc_client *client, struct rpc_event *event)
{
	uint32_t beside = rpc_event_beside(event);
	int err = beside ? ipc_take_text(client->ipc, beside, &event->result.exported.text) : 0;

	if (!err)
		return 1;
	rpc_event_free(event);
	return err;
}

int rpc_client_next(struct rpc_client *client, uint32_t *left_ms, struct rpc_event *out)
{
	for (;;) {
		int taken = rpc_conn_next(client->conn, out);
		long got;

		if (taken == 1)
			return take_text(client, out);
		if (taken)
			return taken;
		got = ipc_receive(client->ipc, client->buffer, sizeof(client->buffer), left_ms);
		if (got == -ETIMEDOUT)
			return 0;
		if (got == 0)
			return -EPIPE;
		if (got < 0)
			return (int)got;
		int err = rpc_conn_feed(client->conn, client->buffer, (size_t)got);

		memory_wipe(client->buffer, (size_t)got);
		if (err)
			return err == -EMSGSIZE ? -EPROTO : err;
	}
}

int rpc_client_call(struct rpc_client *client, const struct rpc_request *request, uint32_t timeout_ms,
	struct rpc_event *out)
{
	int64_t id = rpc_client_send(client, request);

	if (id < 0)
		return (int)id;
	for (;;) {
		struct rpc_event event;
		int taken = rpc_client_next(client, &timeout_ms, &event);

		if (taken != 1)
			return taken;
		/* An error without an id can only be about what we sent. */
		if (event.kind != RPC_EVENT_NOTICE && (event.id == id || !event.id)) {
			*out = event;
			return 1;
		}
		rpc_event_free(&event);
	}
}
