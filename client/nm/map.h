/* SPDX-License-Identifier: MIT */
/* A profile as the data and the secrets of a NetworkManager connection, which are texts under names:
 * "allowed-ips" for AllowedIPs, "peer-1.allowed-ips" in the first [Peer], "post-up.2" for the second PostUp.
 * All keys of the profile format, no other ones, and for each secret its "...-flags". Pure. */
#ifndef WGTCP_CLIENT_NM_MAP_H
#define WGTCP_CLIENT_NM_MAP_H

#include "core/config/pairs.h"

#define NM_MAP_PEERS_MAX 256
#define NM_MAP_KEY_LEN 48

struct nm_entry {
	const char *key, *value;
	bool secret; /* from the secrets, not from the data */
};

/* On success *out is the caller's to free with profile_free; else error has a sentence. complete: the secrets
 * must be there too; else what is missing there stays zero. */
bool nm_map_read(const struct nm_entry *entries, size_t count, bool complete, struct profile *out,
	struct profile_error *error);

/* Calls one for each entry of the profile, but for a private key that is zero. False when one said so, or
 * memory is short. */
bool nm_map_write(const struct profile *profile,
	bool (*one)(const char *key, const char *value, bool secret, void *user), void *user);

/* Whether it is the name of a secret, of which peer (from 0; SIZE_MAX: none). */
bool nm_map_is_secret(const char *key, size_t *peer);

/* The name for a key of the profile; peer from 0, or PROFILE_EDIT_INTERFACE. */
void nm_map_key(const char *key, size_t peer, char out[NM_MAP_KEY_LEN]);

#endif
