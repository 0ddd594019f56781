/* SPDX-License-Identifier: MIT */
/* The profiles on disk: NAME.conf in the daemon's own folder, else in /etc/wireguard, which is read and never
 * written. A file counts only if nobody but its owner, root (or who the daemon runs as), can change it. Main
 * thread. */
#ifndef WGTCP_CLIENT_DAEMON_PROFILES_H
#define WGTCP_CLIENT_DAEMON_PROFILES_H

#include "client/rpc/types.h"
#include "core/config/name.h"
#include "core/config/parse.h"

#define PROFILES_WG_QUICK "/etc/wireguard"

struct profiles;

struct profile_file {
	char name[PROFILE_NAME_LEN];
	bool read_only; /* lies in the second folder */
};

/* A profile as it was read: the caller frees it with loaded_free, which wipes. */
struct loaded {
	char *text;
	size_t len;
	char path[RPC_PATH_LEN];
	bool read_only;
	bool exposed; /* others may read the keys in it */
	struct profile profile;
	struct profile_warnings warnings;
};

/* second: NULL: none. Borrowed. The folders need not exist yet. */
struct profiles *profiles_new(const char *folder, const char *second);
void profiles_free(struct profiles *profiles);

/* Sorted by name; *out is the caller's to free. A profile in both folders counts once. */
size_t profiles_list(const struct profiles *profiles, struct profile_file **out);
bool profiles_find(const struct profiles *profiles, const char *name, struct profile_file *out);
/* NAME as a person gave it ("office", "office.conf"), into *name; else error says that there is none of that
 * name. */
bool profiles_name(const struct profiles *profiles, const char *given, char name[PROFILE_NAME_LEN],
	struct rpc_error *error);

/* On failure out is untouched and error holds what to tell (RPC_CODE_NO_SUCH_TUNNEL, RPC_CODE_CONFIG with its
 * notes, RPC_CODE_OTHER), and is the caller's to free. */
bool profiles_load(
	const struct profiles *profiles, const char *name, struct loaded *out, struct rpc_error *error);
void loaded_free(struct loaded *loaded);
/* Writes NAME.conf into the first folder, mode 0600, whole or not at all. path is where it lies then. */
bool profiles_store(struct profiles *profiles, const char *name, const char *text, size_t len,
	char path[RPC_PATH_LEN], struct rpc_error *error);
/* RPC_CODE_NOT_PERMITTED for one that lies only in the second folder. */
bool profiles_delete(struct profiles *profiles, const char *name, struct rpc_error *error);

/* A parser's error as one to answer with. file is how the person knows the text. */
void profile_error_tell(struct rpc_error *out, const char *file, const struct profile_error *error);
/* Adds a warning; text is cut where it is too long. */
void notes_add(struct rpc_notes *notes, uint32_t line, const char *text);

#endif
