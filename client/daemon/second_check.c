/* SPDX-License-Identifier: MIT */
/* Whether what FallbackProfile names can serve, and what to say of it. Called by second.c. */
#include "client/daemon/second.h"

#include "core/port/net_config.h"

#include <stdio.h>
#include <string.h>

/* False. */
static bool refuse(struct tunnel *tunnel, const char *sentence, const char *name)
{
	rpc_error_set(&tunnel->failure, RPC_CODE_CONFIG, sentence, name);
	tunnel_fail(tunnel, RPC_CAUSE_CONFIG);
	return false;
}

static bool is_free(struct tunnel *tunnel, const char *name)
{
	const struct tunnel *other = manager_find(tunnel->daemon->manager, name);
	struct net_link link;

	if (other && other->phase != TUNNEL_DOWN) {
		rpc_error_set(&tunnel->failure, RPC_CODE_BUSY,
			"%s, the FallbackProfile of %s, is %s already: `wgtcp-cli down %s` first", name,
			tunnel->name, other->first ? "in use by another tunnel" : "up by itself",
			other->first ? other->first->name : name);
		tunnel_fail(tunnel, RPC_CAUSE_BUSY);
		return false;
	}
	if (net_link_find(tunnel->daemon->net, name, &link) == 0) {
		rpc_error_set(&tunnel->failure, RPC_CODE_BUSY,
			"there is an interface called %s already, which the FallbackProfile of %s needs: end "
			"what made "
			"it, or import that profile under another name",
			name, tunnel->name);
		tunnel_fail(tunnel, RPC_CAUSE_BUSY);
		return false;
	}
	return true;
}

static void warn(struct tunnel *tunnel, const struct loaded *other, const char *name)
{
	const struct profile *own = &tunnel->loaded.profile;
	char text[RPC_SENTENCE_LEN];

	snprintf(text, sizeof(text),
		"where this profile does not answer, FallbackProfile %s takes over, with addresses of its "
		"own: open "
		"connections inside break then, and once more on the way back",
		name);
	tunnel_warn(tunnel, text);
	if (other->exposed) {
		snprintf(text, sizeof(text),
			"everybody on this machine can read the keys in %.200s: `chmod 600` it", other->path);
		tunnel_warn(tunnel, text);
	}
	if (other->profile.auto_connect) {
		snprintf(text, sizeof(text),
			"AutoConnect = on in %s brings that up by itself, and then it cannot serve as a "
			"FallbackProfile: set "
			"it in %s alone",
			name, tunnel->name);
		tunnel_warn(tunnel, text);
	}
	if (other->profile.kill_switch && !own->kill_switch) {
		snprintf(text, sizeof(text),
			"KillSwitch = on in %s is not used while it is a FallbackProfile: set it in %s, "
			"which covers "
			"both",
			name, tunnel->name);
		tunnel_warn(tunnel, text);
	}
	if (other->profile.fwmark && other->profile.fwmark != own->fwmark) {
		snprintf(text, sizeof(text),
			"FwMark of %s is not used while it is a FallbackProfile: both use that of %s", name,
			tunnel->name);
		tunnel_warn(tunnel, text);
	}
}

bool second_check(struct tunnel *tunnel, const char *name, bool *used, enum transport *transport)
{
	struct rpc_error error = { 0 };
	struct loaded other = { 0 };
	bool ok = false;

	*used = false;
	if (tunnel_is_managed(tunnel)) {
		tunnel_warn(tunnel,
			"FallbackProfile is not used, since another program sets this tunnel's addresses and "
			"routes");
		return true;
	}
	if (!strcmp(name, tunnel->name))
		return refuse(tunnel,
			"FallbackProfile = %s names the profile itself: name another one, or leave it out",
			name);
	if (!profiles_load(tunnel->daemon->profiles, name, &other, &error)) {
		rpc_error_set(&tunnel->failure, RPC_CODE_CONFIG,
			"FallbackProfile = %s cannot be used: %.400s", name, error.message);
		rpc_error_free(&error);
		tunnel_fail(tunnel, RPC_CAUSE_CONFIG);
		return false;
	}
	if (other.profile.fallback_profile[0]) {
		refuse(tunnel,
			"FallbackProfile = %s names a profile that has a FallbackProfile itself: chains are "
			"not "
			"possible, take it out there",
			name);
		goto out;
	}
	if (!is_free(tunnel, name))
		goto out;
	ok = true;
	/* Obeyed: not one packet on the other carrier. */
	if (tunnel->wishes.has_transport && tunnel->wishes.transport == TRANSPORT_UDP &&
		other.profile.transport != TRANSPORT_UDP) {
		tunnel_warn(tunnel, "FallbackProfile is not used, since UDP was asked for and nothing else");
		goto out;
	}
	warn(tunnel, &other, name);
	*transport = other.profile.transport;
	*used = true;
out:
	loaded_free(&other);
	return ok;
}
