/* SPDX-License-Identifier: MIT */
/* The table of keys: where each may stand and how its value is read. Private to core/config. */
#ifndef WGTCP_CORE_CONFIG_KEYS_H
#define WGTCP_CORE_CONFIG_KEYS_H

#include "core/config/edit.h"
#include "core/config/line.h"

/* One value being read. */
struct profile_reading {
	struct profile *profile;
	struct profile_peer *peer; /* NULL in [Interface] */
	const struct profile_line *line;
	const struct profile_key *key;
	struct profile_error *error;
};

#define PROFILE_KEY_LIST 1u   /* repeatable; a list of comma-separated values, which may be empty */
#define PROFILE_KEY_HOOK 2u   /* repeatable; the whole line with any '#' */
#define PROFILE_KEY_SECRET 4u /* may be PROFILE_HIDDEN in an edit; never in a sentence */

struct profile_key {
	const char *name;
	unsigned sections; /* PROFILE_IN_* */
	unsigned flags;
	const char *example;
	/* False with error filled. The value is not empty. */
	bool (*read)(struct profile_reading *reading, const char *value, size_t len);
};

extern const struct profile_key profile_keys[];
extern const size_t profile_key_count;
#define PROFILE_KEYS_MAX 40

/* NULL when there is none of this name, whatever the letter case. */
const struct profile_key *profile_key_find(const char *name, size_t len);

/* What a wrong key was probably meant to be, among the keys of the sections: NULL when nothing is near. */
const char *profile_key_nearest(const char *name, size_t len, unsigned sections);
/* Where a line break was probably lost: the first "KEY =" or "[Interface]", "[Peer]" inside a value. NULL
 * when there is none; else *name_len bytes of the value. */
const char *profile_lost_line(const char *value, size_t len, size_t *name_len);

#endif
