/* SPDX-License-Identifier: MIT */
/* The daemon's side of one connection. */
#include "client/rpc/server.h"

#include "client/rpc/fit.h"
#include "client/rpc/lines.h"
#include "client/rpc/message.h"

#include <errno.h>
#include <stdlib.h>

struct rpc_server {
	struct lines in;
	struct outbox out;
	bool closing; /* nothing more is read */
};

struct rpc_server *rpc_server_new(void)
{
	return calloc(1, sizeof(struct rpc_server));
}

void rpc_server_free(struct rpc_server *server)
{
	if (!server)
		return;
	lines_wipe(&server->in);
	outbox_wipe(&server->out);
	free(server);
}

static void queue(struct rpc_server *server, struct message *message)
{
	outbox_add(&server->out, message->text, message->len);
	message_free(message);
}

static void answer_error(struct rpc_server *server, const struct rpc_id *id, const struct rpc_error *error)
{
	struct message message;

	if (!message_write_error(id, error, &message)) {
		server->out.failed = true;
		return;
	}
	if (message.len > RPC_LINE_MAX) {
		struct rpc_error shorter = *error;

		/* Only notes can be that many. */
		message_free(&message);
		shorter.notes.count = shorter.notes.count / 2;
		answer_error(server, id, &shorter);
		return;
	}
	queue(server, &message);
}

int rpc_server_feed(struct rpc_server *server, const char *bytes, size_t len)
{
	static const struct rpc_id nobody = { .kind = RPC_ID_NONE };
	struct rpc_error error;
	int err;

	if (server->closing)
		return -EMSGSIZE;
	err = lines_feed(&server->in, bytes, len);
	if (err == -EMSGSIZE) {
		rpc_error_set(
			&error, RPC_CODE_INVALID_REQUEST, "a line may have at most %d bytes.", RPC_LINE_MAX);
		answer_error(server, &nobody, &error);
	}
	if (err) {
		server->closing = true;
		lines_wipe(&server->in);
	}
	return err;
}

bool rpc_server_next(struct rpc_server *server, struct rpc_request *out)
{
	const char *line;
	size_t len;

	while (!server->out.failed && (line = lines_next(&server->in, &len))) {
		struct rpc_error error;
		struct rpc_id id;
		bool answer;

		if (message_read_request(line, len, out, &id, &error, &answer))
			return true;
		if (answer)
			answer_error(server, &id, &error);
	}
	return false;
}

void rpc_server_reply(struct rpc_server *server, const struct rpc_id *id, const struct rpc_result *result)
{
	struct message message;
	struct rpc_error error;
	int err;

	if (id->kind == RPC_ID_NONE)
		return;
	err = fit_result(id, result, &message);
	if (!err) {
		queue(server, &message);
		return;
	}
	if (err == -EMSGSIZE) {
		rpc_error_set(&error, RPC_CODE_INTERNAL, "the answer is longer than the protocol's %d bytes.",
			RPC_LINE_MAX);
		answer_error(server, id, &error);
		return;
	}
	server->out.failed = true;
}

void rpc_server_reply_error(struct rpc_server *server, const struct rpc_id *id, const struct rpc_error *error)
{
	if (id->kind != RPC_ID_NONE)
		answer_error(server, id, error);
}

void rpc_server_notify(struct rpc_server *server, const struct rpc_notice *notice)
{
	struct message message;
	int err = fit_notice(notice, &message);

	if (!err)
		queue(server, &message);
	else if (err == -ENOMEM)
		server->out.failed = true;
}

const char *rpc_server_output(const struct rpc_server *server, size_t *len)
{
	*len = server->out.len;
	return server->out.len ? server->out.bytes + server->out.start : NULL;
}

void rpc_server_sent(struct rpc_server *server, size_t len)
{
	outbox_sent(&server->out, len);
}

bool rpc_server_failed(const struct rpc_server *server)
{
	return server->out.failed;
}
