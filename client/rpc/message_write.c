/* SPDX-License-Identifier: MIT */
/* The envelope, written. Source: jsonrpc.org/specification (2.0), without batches and without positional
 * params. */
#include "client/rpc/message.h"

#include "client/rpc/field.h"
#include "client/rpc/shapes.h"
#include "core/base/wipe.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void message_free(struct message *message)
{
	if (message->text)
		memory_wipe(message->text, message->len);
	free(message->text);
	*message = (struct message){ 0 };
}

static bool take(struct json_object *object, bool newline, struct message *out)
{
	size_t len = 0;
	const char *text = NULL;
	char *copy = NULL;

	if (object)
		text = json_object_to_json_string_length(
			object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &len);
	if (text)
		copy = malloc(len + 2);
	if (copy) {
		memcpy(copy, text, len);
		if (newline)
			copy[len] = '\n';
		copy[len + newline] = '\0';
		*out = (struct message){ copy, len + newline };
	}
	/* json-c keeps the text it made in a buffer of its own, until the object goes. */
	if (text)
		memory_wipe((char *)(uintptr_t)text, len);
	field_wipe_and_put(object);
	return copy != NULL;
}

bool message_take_json(struct json_object *object, struct message *out)
{
	return take(object, false, out);
}

/* Adds value, which may be NULL for null, and lets go of it when that fails. */
static bool add(struct json_object *object, const char *key, struct json_object *value)
{
	if (!json_object_object_add(object, key, value))
		return true;
	field_wipe_and_put(value);
	return false;
}

static bool add_text(struct json_object *object, const char *key, const char *text)
{
	struct json_object *value = field_text_new(text);

	return value && add(object, key, value);
}

static bool add_number(struct json_object *object, const char *key, int64_t number)
{
	struct json_object *value = json_object_new_int64(number);

	return value && add(object, key, value);
}

static bool add_id(struct json_object *object, const struct rpc_id *id)
{
	switch (id->kind) {
	case RPC_ID_NONE:
		return add(object, "id", NULL);
	case RPC_ID_NUMBER:
		return add_number(object, "id", id->number);
	case RPC_ID_TEXT:
		return add_text(object, "id", id->text);
	}
	return false;
}

static struct json_object *envelope_new(void)
{
	struct json_object *root = json_object_new_object();

	if (root && !add_text(root, "jsonrpc", "2.0")) {
		json_object_put(root);
		return NULL;
	}
	return root;
}

/* Puts body (NULL: memory was short) under key and makes the line. */
static bool finish(
	struct json_object *root, bool good, const char *key, struct json_object *body, struct message *out)
{
	if (!root || !good || !body) {
		field_wipe_and_put(root);
		field_wipe_and_put(body);
		return false;
	}
	if (!add(root, key, body)) {
		field_wipe_and_put(root);
		return false;
	}
	return take(root, true, out);
}

bool message_write_request(const struct rpc_request *request, struct message *out)
{
	struct json_object *root = envelope_new();
	bool good = root && (request->id.kind == RPC_ID_NONE || add_id(root, &request->id)) &&
		    add_text(root, "method", rpc_method_words[request->method]);

	return finish(
		root, good, "params", fields_write(shape_of_params(request->method), request, true), out);
}

struct json_object *message_result_json(const struct rpc_result *result)
{
	struct json_object *versioned = json_object_new_object();
	struct json_object *fields = fields_write(shape_of_result(result->method), result, false);
	bool good = versioned && fields && add_number(versioned, "version", RPC_VERSION);

	/* "version" stands first, for people. */
	if (good) {
		json_object_object_foreach(fields, key, value)
		{
			good = good && add(versioned, key, json_object_get(value));
		}
	}
	if (good) {
		json_object_put(fields);
		return versioned;
	}
	field_wipe_and_put(fields);
	field_wipe_and_put(versioned);
	return NULL;
}

bool message_write_result(const struct rpc_id *id, const struct rpc_result *result, struct message *out)
{
	struct json_object *root = envelope_new();

	return finish(root, root && add_id(root, id), "result", message_result_json(result), out);
}

bool message_write_error(const struct rpc_id *id, const struct rpc_error *error, struct message *out)
{
	struct json_object *root = envelope_new();

	return finish(root, root && add_id(root, id), "error", fields_write(shape_error, error, false), out);
}

bool message_write_notice(const struct rpc_notice *notice, struct message *out)
{
	struct json_object *root = envelope_new();

	return finish(root, root && add_text(root, "method", rpc_notice_words[notice->kind]), "params",
		fields_write(shape_of_notice(notice->kind), notice, false), out);
}
