/* SPDX-License-Identifier: MIT */
/* The envelope, read. Source: jsonrpc.org/specification (2.0), without batches and without positional params.
 */
#include "client/rpc/message.h"

#include "client/rpc/field.h"
#include "client/rpc/shapes.h"
#include "core/base/wipe.h"

#include <json-c/json.h>
#include <json-c/printbuf.h>
#include <stdio.h>
#include <string.h>

/* json-c counts values, so an empty array or object could lie one level deeper than one that holds something.
 */
static bool too_deep(const char *line, size_t len)
{
	size_t depth = 0;
	bool quoted = false;

	for (size_t i = 0; i < len; i++) {
		char c = line[i];

		if (quoted && c == '\\')
			i++;
		else if (c == '"')
			quoted = !quoted;
		else if (!quoted && (c == '{' || c == '['))
			depth++;
		else if (!quoted && (c == '}' || c == ']') && depth)
			depth--;
		if (depth > RPC_DEPTH_MAX)
			return true;
	}
	return false;
}

static bool make_room(struct printbuf *buffer, size_t len)
{
	/* printbuf_memappend adds a byte for the end. */
	if (printbuf_memset(buffer, 0, 0, (int)len + 1) < 0)
		return false;
	printbuf_reset(buffer);
	return true;
}

/* NULL and a reason when it is not one JSON value of bounded depth. */
static struct json_object *parse(const char *line, size_t len, const char **why)
{
	struct json_tokener *tokener = NULL;
	struct json_object *root = NULL;
	enum json_tokener_error error;

	*why = "it does not fit into memory";
	if (len > RPC_LINE_MAX)
		return NULL;
	if (too_deep(line, len)) {
		*why = "it is more than 16 levels deep";
		return NULL;
	}
	tokener = json_tokener_new_ex(RPC_DEPTH_MAX + 1);
	if (!tokener)
		return NULL;
	/* What it has read of a text lies in there, and may be a key: with room for all it never grows, which
	 * would leave copies behind, and can be wiped. */
	if (!make_room(tokener->pb, len))
		goto out;
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	root = json_tokener_parse_ex(tokener, line, (int)len);
	error = json_tokener_get_error(tokener);
	if (error == json_tokener_continue)
		*why = "it ends in the middle";
	else if (error != json_tokener_success)
		*why = json_tokener_error_desc(error);
	else if (!root)
		*why = "it is null";
	else if (json_tokener_get_parse_end(tokener) != len)
		*why = "something follows the JSON value";
	else
		goto out;
	field_wipe_and_put(root);
	root = NULL;
out:
	memory_wipe(tokener->pb->buf, (size_t)tokener->pb->size);
	json_tokener_free(tokener);
	return root;
}

/* Reads "id": false when it is neither an integer nor a short text. */
static bool read_id(struct json_object *value, struct rpc_id *out)
{
	struct rpc_id id = { .kind = RPC_ID_NONE };

	switch (json_object_get_type(value)) {
	case json_type_int:
		id.kind = RPC_ID_NUMBER;
		id.number = json_object_get_int64(value);
		break;
	case json_type_string:
		id.kind = RPC_ID_TEXT;
		if ((size_t)json_object_get_string_len(value) >= sizeof(id.text) ||
			strlen(json_object_get_string(value)) != (size_t)json_object_get_string_len(value))
			return false;
		strcpy(id.text, json_object_get_string(value));
		break;
	case json_type_null:
	case json_type_boolean:
	case json_type_double:
	case json_type_array:
	case json_type_object:
		return false;
	}
	*out = id;
	return true;
}

static bool is_2_0(struct json_object *root)
{
	struct json_object *version = NULL;

	return json_object_object_get_ex(root, "jsonrpc", &version) &&
	       json_object_is_type(version, json_type_string) &&
	       !strcmp(json_object_get_string(version), "2.0");
}

bool message_read_request(const char *line, size_t len, struct rpc_request *out, struct rpc_id *id,
	struct rpc_error *error, bool *answer)
{
	struct rpc_request request = { 0 };
	struct json_object *value = NULL, *params = NULL, *none = NULL;
	struct field_error bad;
	const char *why;
	int method;
	bool ok = false;
	struct json_object *root = parse(line, len, &why);

	*id = (struct rpc_id){ 0 };
	*answer = true;
	if (!root) {
		rpc_error_set(error, RPC_CODE_PARSE, "the line is not one JSON-RPC message: %s.", why);
		return false;
	}
	if (!json_object_is_type(root, json_type_object)) {
		rpc_error_set(error, RPC_CODE_INVALID_REQUEST,
			"a request is one JSON object on a line; batches are not supported.");
		goto out;
	}
	if (json_object_object_get_ex(root, "id", &value)) {
		if (!read_id(value, id)) {
			rpc_error_set(error, RPC_CODE_INVALID_REQUEST,
				"'id' must be an integer or a text of at most 63 bytes.");
			goto out;
		}
	}
	if (!is_2_0(root)) {
		rpc_error_set(error, RPC_CODE_INVALID_REQUEST, "'jsonrpc' must be \"2.0\".");
		goto out;
	}
	if (!json_object_object_get_ex(root, "method", &value) ||
		!json_object_is_type(value, json_type_string)) {
		rpc_error_set(error, RPC_CODE_INVALID_REQUEST, "'method' must be a text.");
		goto out;
	}
	/* From here on it is a request, and one without an id wants no answer. */
	*answer = id->kind != RPC_ID_NONE;
	if (!rpc_word_parse(rpc_method_words, json_object_get_string(value), &method)) {
		rpc_error_set(error, RPC_CODE_UNKNOWN_METHOD,
			"this daemon has no method '%.60s'; it may be older than its client.",
			json_object_get_string(value));
		goto out;
	}
	request.method = (enum rpc_method)method;
	request.id = *id;
	if (!json_object_object_get_ex(root, "params", &params) || !params)
		params = none = json_object_new_object();
	if (!fields_read(shape_of_params(request.method), params, &request, &bad)) {
		rpc_error_set(error, RPC_CODE_INVALID_PARAMS, "%s: %s.", rpc_method_words[method], bad.text);
		goto out;
	}
	*out = request;
	request = (struct rpc_request){ 0 };
	ok = true;
out:
	rpc_request_free(&request);
	json_object_put(none);
	field_wipe_and_put(root);
	return ok;
}

void message_read(const char *line, size_t len, struct message_in *out)
{
	struct message_in message = { .kind = MESSAGE_BAD };
	struct json_object *method = NULL, *id = NULL;
	const char *why;
	int notice;

	*out = message;
	message.root = parse(line, len, &why);
	if (!message.root || !json_object_is_type(message.root, json_type_object) || !is_2_0(message.root))
		goto out;
	if (json_object_object_get_ex(message.root, "method", &method)) {
		if (!json_object_is_type(method, json_type_string))
			goto out;
		if (!rpc_word_parse(rpc_notice_words, json_object_get_string(method), &notice)) {
			message.kind = MESSAGE_UNKNOWN_NOTICE;
		} else if (json_object_object_get_ex(message.root, "params", &message.body)) {
			message.kind = MESSAGE_NOTICE;
			message.notice = (enum rpc_notice_kind)notice;
		}
		goto out;
	}
	json_object_object_get_ex(message.root, "id", &id);
	if (id && !json_object_is_type(id, json_type_int))
		goto out; /* our ids are integers */
	message.id = id ? json_object_get_int64(id) : 0;
	if (json_object_object_get_ex(message.root, "error", &message.body) && message.body)
		message.kind = MESSAGE_ERROR;
	else if (json_object_object_get_ex(message.root, "result", &message.body))
		message.kind = MESSAGE_RESULT;
out:
	*out = message;
}

void message_in_free(struct message_in *message)
{
	field_wipe_and_put(message->root);
	*message = (struct message_in){ 0 };
}

bool message_result(const struct message_in *message, enum rpc_method method, struct rpc_result *out)
{
	struct rpc_result result = { .method = method };
	struct field_error bad;
	bool ok = fields_read(shape_of_result(method), message->body, &result, &bad);

	if (!ok)
		rpc_result_free(&result);
	*out = result;
	return ok;
}

bool message_error(const struct message_in *message, struct rpc_error *out)
{
	struct rpc_error error = { 0 };
	struct field_error bad;
	bool ok = fields_read(shape_error, message->body, &error, &bad);

	if (!ok)
		rpc_error_free(&error);
	*out = error;
	return ok;
}

bool message_notice(const struct message_in *message, struct rpc_notice *out)
{
	struct rpc_notice notice = { .kind = message->notice };
	struct field_error bad;
	bool ok = fields_read(shape_of_notice(message->notice), message->body, &notice, &bad);

	if (!ok)
		rpc_notice_free(&notice);
	*out = notice;
	return ok;
}
