/* SPDX-License-Identifier: MIT */
/* A profile as single keys and values, for those who keep it elsewhere than in a text (NetworkManager's
 * connections, fields of the protocol). Every value passes the parser's own checks. */
#ifndef WGTCP_CORE_CONFIG_PAIRS_H
#define WGTCP_CORE_CONFIG_PAIRS_H

#include "core/config/edit.h"

enum profile_pair_kind {
	PROFILE_PAIR_NONE, /* no such key there */
	PROFILE_PAIR_ONE,
	PROFILE_PAIR_LIST,     /* elements parted by commas */
	PROFILE_PAIR_REPEATED, /* each value stands alone, with any comma in it */
	PROFILE_PAIR_SECRET,
};

/* What key (any letter case; "Name" too) is in [Interface] (peer false) or in a [Peer]. */
enum profile_pair_kind profile_pair_kind(const char *key, bool peer);

/* The key of that index as the table has it, for those who walk over all of them; NULL at the end. */
const char *profile_pair_key(size_t index);

/* Sets key of [Interface] (peer is PROFILE_EDIT_INTERFACE) or of the peer with that index to value; a list or
 * a repeated key gets more. No byte below 0x20 and no 0x7f, and nothing that the text of a profile could not
 * hold. False with error filled (line 0), and the profile as it was but for a part of a list. */
bool profile_pair_set(struct profile *profile, size_t peer, const char *key, const char *value, size_t len,
	struct profile_error *error);

/* What only the whole can tell: a key that is missing, two peers that are one. Call it when all is set. */
bool profile_pairs_check(const struct profile *profile, struct profile_error *error);

/* Calls one for each key that is not as by default, in the order of the text; a list comes as one value, a
 * repeated key once for each. False when one said so, or memory is short. */
bool profile_pairs_each(const struct profile *profile,
	bool (*one)(size_t peer, const char *key, const char *value, void *user), void *user);

#endif
