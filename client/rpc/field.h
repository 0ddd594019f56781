/* SPDX-License-Identifier: MIT */
/* A struct and a JSON object, each from the other, by a table that has one line a field. Only client/rpc
 * includes this. */
#ifndef WGTCP_CLIENT_RPC_FIELD_H
#define WGTCP_CLIENT_RPC_FIELD_H

#include <stdbool.h>
#include <stddef.h>

struct json_object;

enum field_kind {
	FIELD_TEXT,   /* char[size] */
	FIELD_STRING, /* char *, owned */
	FIELD_BOOL,
	FIELD_U32,
	FIELD_U64,
	FIELD_I32,
	FIELD_I64,
	FIELD_MS,     /* uint32_t of microseconds; on the wire milliseconds with a fraction, null for 0 */
	FIELD_WORD,   /* an enum, by words */
	FIELD_OBJECT, /* a struct, by sub */
	FIELD_LIST,   /* pointer to structs of `size` bytes, by sub, and a size_t at `count` */
	FIELD_TEXTS,  /* pointer to char *, and a size_t at `count` */
};

struct field {
	const char *key; /* NULL ends a table */
	enum field_kind kind;
	bool required; /* reading fails without it */
	size_t offset, size, count;
	size_t has; /* offset of the bool that says whether it is there; 0: there is none */
	const char *const *words;
	const struct field *sub;
};

#define FIELD_ROOM(type, member) sizeof(((type *)0)->member)

/* Why a text was refused. */
struct field_error {
	char text[200];
};

/* A new object; NULL when memory is short. sparse leaves out what is not set (requests); otherwise every key
 * is there. Bytes that are not UTF-8 become U+FFFD. */
struct json_object *fields_write(const struct field *fields, const void *from, bool sparse);
/* Reads into a zeroed struct. On false it may be filled in part: free it in the usual way. Unknown keys are
 * skipped. */
bool fields_read(const struct field *fields, struct json_object *object, void *to, struct field_error *error);
/* Text as a JSON string, made valid as above; NULL when memory is short. */
struct json_object *field_text_new(const char *text);
/* Overwrites every text in it, and the text made from it, then lets go of it. NULL is allowed. */
void field_wipe_and_put(struct json_object *object);

#endif
