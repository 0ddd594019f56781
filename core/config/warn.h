/* SPDX-License-Identifier: MIT */
/* What a valid profile may still surprise a person with. Private to core/config. */
#ifndef WGTCP_CORE_CONFIG_WARN_H
#define WGTCP_CORE_CONFIG_WARN_H

#include "core/config/parse.h"

/* Lines to point at; 0 where there is none. */
struct profile_places {
	unsigned interface, dns, hook, save_config;
};

/* False when memory is short; warnings are then incomplete. */
bool profile_warn(const struct profile *profile, const struct profile_places *places,
	struct profile_warnings *warnings);

#endif
