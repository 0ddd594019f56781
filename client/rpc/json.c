/* SPDX-License-Identifier: MIT */
/* --json. */
#include "client/rpc/json.h"

#include "client/rpc/field.h"
#include "client/rpc/fit.h"
#include "client/rpc/shapes.h"
#include "core/base/wipe.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

static char *text_of(struct json_object *object)
{
	struct message message = { 0 };

	message_take_json(object, &message);
	return message.text;
}

/* {"version":1,key:value}; takes value, of which NULL means that memory was short. */
static char *versioned(const char *key, struct json_object *value)
{
	struct json_object *root = json_object_new_object();
	struct json_object *version = json_object_new_int(RPC_VERSION);

	if (!root || !version || !value || json_object_object_add(root, "version", version)) {
		json_object_put(version);
		goto fail;
	}
	if (json_object_object_add(root, key, value))
		goto fail;
	return text_of(root);
fail:
	json_object_put(root);
	field_wipe_and_put(value);
	return NULL;
}

char *rpc_json_result(const struct rpc_result *result)
{
	return text_of(fit_result_json(result));
}

char *rpc_json_error(const struct rpc_error *error)
{
	return versioned("error", fields_write(shape_error, error, false));
}

char *rpc_json_notice(const struct rpc_notice *notice)
{
	return versioned(
		rpc_notice_words[notice->kind], fields_write(shape_of_notice(notice->kind), notice, false));
}

char *rpc_json_pair(const char *key, const char *value)
{
	return versioned(key, field_text_new(value));
}

void rpc_json_free(char *text)
{
	if (text)
		memory_wipe(text, strlen(text));
	free(text);
}
