/* SPDX-License-Identifier: MIT */
/* What the service hands over to NetworkManager of a tunnel that is up. Source: nm-vpn-dbus-interface.h. */
#ifndef WGTCP_CLIENT_NM_IP_CONFIG_H
#define WGTCP_CLIENT_NM_IP_CONFIG_H

#include "client/rpc/types.h"
#include "core/config/profile.h"

#include <glib.h>

/* Device, MTU, gateway, which families. banner: NULL: none. A floating GVariant. */
GVariant *ip_config_generic(
	const struct profile *profile, const struct rpc_tunnel *tunnel, const char *banner);
/* Of one family; NULL when the profile has no address of it. routes: prefixes that NetworkManager is to
 * route; NULL: a configuration that has nothing in common with the real one (service.c, link_is_back). */
GVariant *ip_config_family(
	const struct profile *profile, enum ip_family family, const struct rpc_texts *routes);

#endif
