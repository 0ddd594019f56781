/* SPDX-License-Identifier: MIT */
/* A NetworkManager connection of our kind and its profile, each from the other. For the service, the plugin
 * and the editors: libnm, no GTK. */
#ifndef WGTCP_CLIENT_NM_CONNECTION_H
#define WGTCP_CLIENT_NM_CONNECTION_H

#include "core/config/parse.h"

#include <NetworkManager.h>

/* The profile in the connection. complete: its secrets must be there. False with a sentence in error; *out is
 * the caller's to free with profile_free. */
bool connection_read(
	NMConnection *connection, bool complete, struct profile *out, struct profile_error *error);

/* Puts the profile into the connection's VPN setting in place of what is there. flags: who
 * keeps the secrets. */
bool connection_write(NMConnection *connection, const struct profile *profile, NMSettingSecretFlags flags);

/* A secret that is needed to connect and is not there; NULL: none. Borrowed from the setting or constant. */
const char *connection_missing_secret(NMConnection *connection);

/* A new connection from a profile; id is what people call it. NULL when memory is short. */
NMConnection *connection_new(const struct profile *profile, const char *id);

/* What NetworkManager must not do beside a tunnel that takes everything: the policy rules are the daemon's.
 */
void connection_fit_ip(NMConnection *connection, const struct profile *profile);

bool profile_takes_all(const struct profile *profile);

#endif
