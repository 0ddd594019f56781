/* SPDX-License-Identifier: MIT */
/* JSON to structs by tables, which stand in shapes.c. */
#include "client/rpc/field.h"

#include <json-c/json.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* No list that fits a line in earnest is longer; a line of "{}," must not cost megabytes. */
#define LIST_ITEMS_MAX 8192

static bool refuse(struct field_error *error, const char *key, const char *what)
{
	snprintf(error->text, sizeof(error->text), "'%s' %s", key, what);
	return false;
}

/* A NUL inside would silently cut the text short. */
static bool has_nul(struct json_object *value)
{
	return strlen(json_object_get_string(value)) != (size_t)json_object_get_string_len(value);
}

static bool read_text(
	const struct field *field, struct json_object *value, char *at, struct field_error *error)
{
	const char *text;
	size_t len;

	if (!json_object_is_type(value, json_type_string))
		return refuse(error, field->key, "must be a text");
	if (has_nul(value))
		return refuse(error, field->key, "must not contain a NUL character");
	text = json_object_get_string(value);
	len = strlen(text);
	if (field->kind == FIELD_TEXT) {
		if (len >= field->size)
			return refuse(error, field->key, "is too long");
		memcpy(at, text, len + 1);
		return true;
	}
	char *copy = malloc(len + 1);

	if (!copy)
		return refuse(error, field->key, "does not fit into memory");
	memcpy(copy, text, len + 1);
	memcpy(at, &copy, sizeof(copy));
	return true;
}

static bool read_number(
	const struct field *field, struct json_object *value, char *at, struct field_error *error)
{
	uint64_t max = field->kind == FIELD_U32   ? UINT32_MAX
		       : field->kind == FIELD_U64 ? UINT64_MAX
						  : INT64_MAX;

	if (!json_object_is_type(value, json_type_int))
		return refuse(error, field->key, "must be a whole number");
	int64_t number = json_object_get_int64(value);

	if (field->kind == FIELD_I64) {
		memcpy(at, &number, sizeof(number));
		return true;
	}
	if (field->kind == FIELD_I32) {
		int32_t small = (int32_t)number;

		if (small != number)
			return refuse(error, field->key, "is out of range");
		memcpy(at, &small, sizeof(small));
		return true;
	}
	if (number < 0)
		return refuse(error, field->key, "must not be negative");
	uint64_t u64 = json_object_get_uint64(value);

	if (u64 > max)
		return refuse(error, field->key, "is too large");
	if (field->kind == FIELD_U32) {
		uint32_t u32 = (uint32_t)u64;

		memcpy(at, &u32, sizeof(u32));
	} else {
		memcpy(at, &u64, sizeof(u64));
	}
	return true;
}

static bool read_ms(const struct field *field, struct json_object *value, char *at, struct field_error *error)
{
	if (!json_object_is_type(value, json_type_int) && !json_object_is_type(value, json_type_double))
		return refuse(error, field->key, "must be a number");
	double us = json_object_get_double(value) * 1000 + 0.5;

	if (!(us >= 0 && us <= UINT32_MAX))
		return refuse(error, field->key, "is out of range");
	uint32_t u32 = (uint32_t)us;

	memcpy(at, &u32, sizeof(u32));
	return true;
}

static bool read_word(
	const struct field *field, struct json_object *value, char *at, struct field_error *error)
{
	char what[160] = "must be one of";
	size_t len = strlen(what);

	if (json_object_is_type(value, json_type_string) && !has_nul(value)) {
		for (int i = 0; field->words[i]; i++) {
			if (!strcmp(field->words[i], json_object_get_string(value))) {
				memcpy(at, &i, sizeof(i));
				return true;
			}
		}
	}
	for (int i = 0; field->words[i] && len < sizeof(what) - 1; i++)
		len += (size_t)snprintf(
			what + len, sizeof(what) - len, "%s %s", i ? "," : "", field->words[i]);
	return refuse(error, field->key, what);
}

static bool read_list(
	const struct field *field, struct json_object *value, char *to, struct field_error *error)
{
	size_t count, size = field->kind == FIELD_LIST ? field->size : sizeof(char *);
	const struct field item_text = { .key = field->key, .kind = FIELD_STRING };

	if (!json_object_is_type(value, json_type_array))
		return refuse(error, field->key, "must be an array");
	count = json_object_array_length(value);
	if (!count)
		return true;
	if (count > LIST_ITEMS_MAX)
		return refuse(error, field->key, "has too many items");
	char *items = calloc(count, size);

	if (!items)
		return refuse(error, field->key, "does not fit into memory");
	/* Handed over at once, so that the usual free finds what was read when a later item is wrong. */
	memcpy(to + field->offset, &items, sizeof(items));
	memcpy(to + field->count, &count, sizeof(count));
	for (size_t i = 0; i < count; i++) {
		struct json_object *item = json_object_array_get_idx(value, i);

		if (field->kind == FIELD_TEXTS ? !read_text(&item_text, item, items + i * size, error)
					       : !fields_read(field->sub, item, items + i * size, error))
			return false;
	}
	return true;
}

static bool read_value(
	const struct field *field, struct json_object *value, char *to, struct field_error *error)
{
	char *at = to + field->offset;

	switch (field->kind) {
	case FIELD_TEXT:
	case FIELD_STRING:
		return read_text(field, value, at, error);
	case FIELD_BOOL:
		if (!json_object_is_type(value, json_type_boolean))
			return refuse(error, field->key, "must be true or false");
		*(bool *)at = json_object_get_boolean(value);
		return true;
	case FIELD_U32:
	case FIELD_U64:
	case FIELD_I32:
	case FIELD_I64:
		return read_number(field, value, at, error);
	case FIELD_MS:
		return read_ms(field, value, at, error);
	case FIELD_WORD:
		return read_word(field, value, at, error);
	case FIELD_OBJECT:
		return fields_read(field->sub, value, at, error);
	case FIELD_LIST:
	case FIELD_TEXTS:
		return read_list(field, value, to, error);
	}
	return false;
}

bool fields_read(const struct field *fields, struct json_object *object, void *to, struct field_error *error)
{
	if (!json_object_is_type(object, json_type_object)) {
		snprintf(error->text, sizeof(error->text), "an object is missing");
		return false;
	}
	for (const struct field *field = fields; field->key; field++) {
		struct json_object *value = NULL;

		json_object_object_get_ex(object, field->key, &value);
		if (!value) {
			if (field->required)
				return refuse(error, field->key, "is missing");
			continue;
		}
		if (!read_value(field, value, to, error))
			return false;
		if (field->has)
			*(bool *)((char *)to + field->has) = true;
	}
	return true;
}
