/* SPDX-License-Identifier: MIT */
/* One line and one message, each from the other: JSON-RPC 2.0's envelope around the shapes. Pure.
 * Only client/rpc and its tests include this.
 *
 * The write functions give a line with its newline, on the heap, to be freed by message_free; NULL: memory
 * was short. They do not check its length: lines.h does, where it is queued. */
#ifndef WGTCP_CLIENT_RPC_MESSAGE_H
#define WGTCP_CLIENT_RPC_MESSAGE_H

#include "client/rpc/conn.h"
#include "client/rpc/types.h"

struct json_object;

struct message {
	char *text;
	size_t len;
};

void message_free(struct message *message);

bool message_write_request(const struct rpc_request *request, struct message *out);
bool message_write_result(const struct rpc_id *id, const struct rpc_result *result, struct message *out);
bool message_write_error(const struct rpc_id *id, const struct rpc_error *error, struct message *out);
bool message_write_notice(const struct rpc_notice *notice, struct message *out);

/* A line without its newline, as a server reads it. On false *error is the answer, to be sent to *id (kind
 * NONE and answer true: to the id null); answer false: it asked for none. */
bool message_read_request(const char *line, size_t len, struct rpc_request *out, struct rpc_id *id,
	struct rpc_error *error, bool *answer);

/* A line as a client reads it, in two steps since the method of a result is known only by its id. */
enum message_kind { MESSAGE_BAD, MESSAGE_RESULT, MESSAGE_ERROR, MESSAGE_NOTICE, MESSAGE_UNKNOWN_NOTICE };

struct message_in {
	enum message_kind kind;
	int64_t id; /* 0: null */
	struct json_object *root, *body;
	enum rpc_notice_kind notice;
};

void message_read(const char *line, size_t len, struct message_in *out);
void message_in_free(struct message_in *message);
/* Of kind RESULT, ERROR, NOTICE in turn. False: not of our shape; *out is then zero. */
bool message_result(const struct message_in *message, enum rpc_method method, struct rpc_result *out);
bool message_error(const struct message_in *message, struct rpc_error *out);
bool message_notice(const struct message_in *message, struct rpc_notice *out);

/* Any JSON object as compact text without a newline, and the object is gone; false when memory was short. */
bool message_take_json(struct json_object *object, struct message *out);
/* The parts that stand in an envelope, for --json as well; each has "version". NULL when memory is short. */
struct json_object *message_result_json(const struct rpc_result *result);

#endif
