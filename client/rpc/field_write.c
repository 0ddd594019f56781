/* SPDX-License-Identifier: MIT */
/* Structs to JSON by tables, which stand in shapes.c. */
#include "client/rpc/field.h"

#include "client/rpc/utf8.h"
#include "core/base/wipe.h"

#include <json-c/json.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- text ---- */

struct json_object *field_text_new(const char *text)
{
	size_t text_len = strlen(text), len = 0;
	char *valid = malloc(text_len * 3 + 1);
	struct json_object *object = NULL;

	if (!valid)
		return NULL;
	while (*text) {
		size_t character = utf8_character_len(text);

		if (character) {
			memcpy(valid + len, text, character);
			len += character;
			text += character;
		} else {
			memcpy(valid + len, "\xef\xbf\xbd", 3);
			len += 3;
			text++;
		}
	}
	valid[len] = '\0';
	if (len < INT32_MAX)
		object = json_object_new_string_len(valid, (int)len);
	memory_wipe(valid, len);
	free(valid);
	return object;
}

void field_wipe_and_put(struct json_object *object)
{
	if (!object)
		return;
	switch (json_object_get_type(object)) {
	case json_type_string:
		/* json-c gives no way to write to a string in place, yet this memory is its own and was never
		 * constant. */
		memory_wipe((char *)(uintptr_t)json_object_get_string(object),
			(size_t)json_object_get_string_len(object));
		break;
	case json_type_array:
		for (size_t i = 0; i < json_object_array_length(object); i++)
			field_wipe_and_put(json_object_get(json_object_array_get_idx(object, i)));
		break;
	case json_type_object: {
		struct json_object_iterator at = json_object_iter_begin(object),
					    end = json_object_iter_end(object);

		for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at))
			field_wipe_and_put(json_object_get(json_object_iter_peek_value(&at)));
		break;
	}
	case json_type_null:
	case json_type_boolean:
	case json_type_double:
	case json_type_int:
		break;
	}
	json_object_put(object);
}

/* ---- writing ---- */

static struct json_object *write_ms(uint32_t us)
{
	char text[24];

	/* The digits by hand: printf's would follow the locale. */
	snprintf(text, sizeof(text), "%u.%03u", us / 1000, us % 1000);
	return json_object_new_double_s((double)us / 1000, text);
}

static struct json_object *write_list(const struct field *field, const char *items, size_t count)
{
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; list && i < count; i++) {
		struct json_object *item = field->kind == FIELD_LIST
						   ? fields_write(field->sub, items + i * field->size, false)
						   : field_text_new(((char *const *)(const void *)items)[i]);

		if (!item || json_object_array_add(list, item)) {
			field_wipe_and_put(item);
			field_wipe_and_put(list);
			return NULL;
		}
	}
	return list;
}

/* *value: the JSON value, NULL for null; *empty: the struct says nothing. False when memory is short. */
static bool write_value(const struct field *field, const char *from, struct json_object **value, bool *empty)
{
	const char *at = from + field->offset;
	uint32_t u32;
	uint64_t u64;
	int32_t i32;
	int64_t i64;
	size_t count;
	int word;
	const char *text = NULL;
	const char *items;

	*value = NULL;
	*empty = false;
	switch (field->kind) {
	case FIELD_TEXT:
	case FIELD_STRING:
		if (field->kind == FIELD_TEXT)
			text = *at ? at : NULL;
		else
			memcpy(&text, at, sizeof(text));
		*empty = !text;
		if (!text)
			return true;
		*value = field_text_new(text);
		break;
	case FIELD_BOOL:
		*empty = !*(const bool *)at;
		*value = json_object_new_boolean(!*empty);
		break;
	case FIELD_U32:
		memcpy(&u32, at, sizeof(u32));
		*empty = !u32;
		*value = json_object_new_int64(u32);
		break;
	case FIELD_U64:
		memcpy(&u64, at, sizeof(u64));
		*empty = !u64;
		*value = json_object_new_uint64(u64);
		break;
	case FIELD_I32:
		memcpy(&i32, at, sizeof(i32));
		*value = json_object_new_int(i32);
		break;
	case FIELD_I64:
		memcpy(&i64, at, sizeof(i64));
		*value = json_object_new_int64(i64);
		break;
	case FIELD_MS:
		memcpy(&u32, at, sizeof(u32));
		*empty = !u32;
		if (!u32)
			return true;
		*value = write_ms(u32);
		break;
	case FIELD_WORD:
		memcpy(&word, at, sizeof(word));
		*value = json_object_new_string(field->words[word]);
		break;
	case FIELD_OBJECT:
		*value = fields_write(field->sub, at, false);
		break;
	case FIELD_LIST:
	case FIELD_TEXTS:
		memcpy(&items, at, sizeof(items));
		memcpy(&count, from + field->count, sizeof(count));
		*empty = !count;
		*value = write_list(field, items, count);
		break;
	}
	return *value != NULL;
}

struct json_object *fields_write(const struct field *fields, const void *from, bool sparse)
{
	struct json_object *object = json_object_new_object();

	for (const struct field *field = fields; object && field->key; field++) {
		struct json_object *value;
		bool empty;

		if (field->has && !*((const bool *)((const char *)from + field->has)))
			continue;
		if (!write_value(field, from, &value, &empty))
			goto fail;
		if (sparse && empty && !field->required && !field->has) {
			field_wipe_and_put(value);
			continue;
		}
		if (json_object_object_add(object, field->key, value)) {
			field_wipe_and_put(value);
			goto fail;
		}
	}
	return object;
fail:
	field_wipe_and_put(object);
	return NULL;
}
