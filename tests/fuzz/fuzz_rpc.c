/* SPDX-License-Identifier: MIT */
/* Any bytes, cut at any place, to the daemon's side and to a client's side. The first byte chooses the cut.
 */
#include "client/rpc/conn.h"
#include "client/rpc/server.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void to_server(const char *bytes, size_t len, size_t step)
{
	struct rpc_server *server = rpc_server_new();
	struct rpc_request request;
	size_t waiting;

	if (!server)
		return;
	for (size_t at = 0; at < len; at += step) {
		if (rpc_server_feed(server, bytes + at, len - at < step ? len - at : step))
			break;
		while (rpc_server_next(server, &request)) {
			struct rpc_result result = { .method = RPC_METHOD_WATCH };

			/* What was read can be answered. */
			rpc_server_reply(server, &request.id, &result);
			rpc_request_free(&request);
		}
	}
	rpc_server_output(server, &waiting);
	if (waiting > RPC_OUTPUT_MAX)
		abort();
	rpc_server_free(server);
}

static void to_client(const char *bytes, size_t len, size_t step)
{
	static const enum rpc_method asked[] = { RPC_METHOD_DAEMON_INFO, RPC_METHOD_TUNNEL_LIST,
		RPC_METHOD_TUNNEL_UP, RPC_METHOD_TUNNEL_DOWN, RPC_METHOD_TUNNEL_STATUS,
		RPC_METHOD_TUNNEL_EXPORT, RPC_METHOD_LOGS };
	struct rpc_conn *conn = rpc_conn_new();
	struct rpc_event event;

	if (!conn)
		return;
	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		struct rpc_request request = { .method = asked[i], .name = "a" };

		rpc_conn_request(conn, &request);
	}
	for (size_t at = 0; at < len; at += step) {
		if (rpc_conn_feed(conn, bytes + at, len - at < step ? len - at : step))
			break;
		while (rpc_conn_next(conn, &event) == 1)
			rpc_event_free(&event);
	}
	rpc_conn_free(conn);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	size_t step = data[0] == 0xff ? RPC_LINE_MAX : (size_t)data[0] + 1;

	to_server((const char *)data + 1, size - 1, step);
	to_client((const char *)data + 1, size - 1, step);
	return 0;
}
