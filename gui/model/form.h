/* SPDX-License-Identifier: MIT */
/* A profile as fields to fill in, each checked by the same parser that the daemon has. Works on text with hidden keys;
 * the keys themselves never come here. Pure. */
#ifndef WGTCP_GUI_MODEL_FORM_H
#define WGTCP_GUI_MODEL_FORM_H

#include "core/config/edit.h"

#define FORM_VALUE_MAX 4096
#define FORM_INTERFACE PROFILE_EDIT_INTERFACE

enum form_kind { FORM_TEXT, FORM_SECRET, FORM_CHOICE, FORM_SWITCH };

struct form_field {
	const char *key;
	const char *title; /* N_() */
	enum form_kind kind;
	unsigned section; /* PROFILE_IN_INTERFACE or PROFILE_IN_PEER */
	/* FORM_CHOICE: values, the first is the default, ended by NULL; and what they are called, N_(). */
	const char *const *values, *const *labels;
};

extern const struct form_field form_fields[];
extern const size_t form_field_count;

/* All zero: empty. */
struct form {
	char *text; /* owned; valid by itself: hidden keys stand in as a made-up one */
	size_t len;
	size_t peer_count;
};

/* exported: what tunnel.export with hide_keys gave. False with error filled when it is no profile. */
bool form_open(struct form *form, const char *file_name, const char *exported, struct profile_error *error);
void form_close(struct form *form);

/* The value of a field, several lines of one key as one list; "" when it has none, PROFILE_HIDDEN for a key. False: it
 * is longer than FORM_VALUE_MAX, and cannot be edited here. peer: an index, or FORM_INTERFACE. */
bool form_value(const struct form *form, size_t peer, const char *key, char out[FORM_VALUE_MAX]);
/* The name of the peer that people see, its public key else. */
void form_peer_title(const struct form *form, size_t peer, char *out, size_t size);
/* Sets a field ("" takes it away), or says what is wrong with the value and leaves the form as it is. */
bool form_set(struct form *form, size_t peer, const char *key, const char *value, struct profile_error *error);

#endif
